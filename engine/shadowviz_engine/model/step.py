"""What one step computes and what it gives back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.model.config import ModelConfig

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SequenceStep:
    """Compute tokens [start, stop) of one sequence; the state of [0, start) is resident."""

    token_ids: Ints
    """Of positions [0, stop)."""
    slots: Ints
    """Full slots of positions [0, stop)."""
    start: int
    stop: int


@dataclass(frozen=True)
class NearTie:
    """An indexer whose last chosen and first unchosen score are so close that another kernel may choose otherwise."""

    layer: int
    sequence: int
    position: int
    margin: float


@dataclass(frozen=True)
class Selection:
    """Entries that an indexer chose for one query, ascending."""

    layer: int
    sequence: int
    position: int
    entries: tuple[int, ...]


Observer = Callable[[Selection], None]


@dataclass(frozen=True)
class StepResult:
    """Logits of a step."""

    logits: Tensor
    """`[steps, vocabulary]` in float32, of the last token of each step."""
    near_ties: tuple[NearTie, ...]


def check_steps(config: ModelConfig, steps: Sequence[SequenceStep], num_full_slots: int) -> None:
    """Raise a ModelError for a step that cannot be computed."""
    if not steps:
        raise ModelError("a step needs at least one sequence")
    for number, step in enumerate(steps):
        _check_extent(number, step, config.max_positions)
        tokens = step.token_ids[step.start :]
        if tokens.min() < 0 or tokens.max() >= config.vocab_size:
            wrong = int(tokens[(tokens < 0) | (tokens >= config.vocab_size)][0])
            raise ModelError(f"sequence {number} has token id {wrong}: expected 0 to {config.vocab_size - 1}")
        if step.slots.min() < 1 or step.slots.max() >= num_full_slots:
            position = int(np.argmax((step.slots < 1) | (step.slots >= num_full_slots)))
            raise ModelError(
                f"sequence {number} has full slot {step.slots[position]} at position {position}: "
                f"expected 1 to {num_full_slots - 1}"
            )
        _check_alignment(config, number, step)


def _check_extent(number: int, step: SequenceStep, max_positions: int) -> None:
    if not 0 <= step.start < step.stop <= max_positions:
        raise ModelError(
            f"sequence {number} computes [{step.start}, {step.stop}): "
            f"expected at least one token, below position {max_positions}"
        )
    for name, values in (("token_ids", step.token_ids), ("slots", step.slots)):
        if len(values) != step.stop:
            raise ModelError(f"sequence {number} stops at {step.stop}, but has {len(values)} {name}")


def _check_alignment(config: ModelConfig, number: int, step: SequenceStep) -> None:
    """An entry's row is the slot of its closing token divided by the ratio: that token must sit last in the row."""
    for compressor in config.used_compressors:
        ratio = compressor.ratio
        wrong = step.slots[ratio - 1 :: ratio] % ratio != ratio - 1
        if wrong.any():
            entry = int(np.argmax(wrong))
            position = (entry + 1) * ratio - 1
            raise ModelError(
                f"sequence {number} closes {compressor.name} entry {entry} at position {position} in full slot "
                f"{step.slots[position]}: expected a slot that is {ratio - 1} modulo {ratio}"
            )
