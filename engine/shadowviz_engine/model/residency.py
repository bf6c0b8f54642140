"""The sequences of a step side by side, and the check that the rows they need are mapped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.model.buffers import branch_labels
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.step import Ints, SequenceStep


@dataclass(frozen=True)
class Sequences:
    """Steps as flat arrays: the slots of all sequences behind one another."""

    start: Ints
    stop: Ints
    _tokens: Ints
    _slots: Ints
    _first: Ints

    @classmethod
    def of(cls, steps: Sequence[SequenceStep]) -> "Sequences":
        """The arrays of `steps`."""
        stop = np.array([step.stop for step in steps], np.int64)
        return cls(
            np.array([step.start for step in steps], np.int64),
            stop,
            np.concatenate([step.token_ids for step in steps]),
            np.concatenate([step.slots for step in steps]),
            np.cumsum(stop) - stop,
        )

    def slots_at(self, sequence: Ints, positions: Ints) -> Ints:
        """Full slots of `positions` of the sequences, broadcast against one another."""
        return np.take(self._slots, self._first[sequence] + positions)

    def tokens_at(self, sequence: Ints, positions: Ints) -> Ints:
        """Token ids of `positions` of the sequences."""
        return np.take(self._tokens, self._first[sequence] + positions)


def require_mapped(config: ModelConfig, sequences: Sequences, full_to_swa: Ints) -> None:
    """Raise a ModelError when a token whose SWA or tail row a step reads or writes has no SWA slot."""
    needs = list(_first_needed(config, sequences.start))
    # All of these ranges end at the stop, so the longest one covers the others.
    first = np.min([starts for _, starts in needs], axis=0)
    counts = sequences.stop - first
    owners = np.repeat(np.arange(len(counts)), counts)
    positions = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts - first, counts)
    slots = sequences.slots_at(owners, positions)
    mapped = full_to_swa[slots] != 0
    if mapped.all():
        return
    missing = int(np.argmin(mapped))
    number, position = int(owners[missing]), int(positions[missing])
    labels = [label for label, starts in needs if position >= starts[number]]
    raise ModelError(
        f"sequence {number} needs the {labels[0]} row of position {position}, but full slot {slots[missing]} has no "
        f"SWA slot: start at a length whose state is resident"
    )


def _first_needed(config: ModelConfig, start: Ints) -> Iterator[tuple[str, Ints]]:
    """For each kind of row at an SWA slot, the first position that a step from `start` needs."""
    yield "swa_kv", np.maximum(start - config.n_win + 1, 0)
    for compressor in config.used_compressors:
        overlap = compressor.ratio if compressor.overlap else 0
        first = np.maximum(start // compressor.ratio * compressor.ratio - overlap, 0)
        for _, tail_label, _ in branch_labels(config, compressor):
            yield tail_label, first
