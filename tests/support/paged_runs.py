"""A model over paged state whose every unneeded row is NaN, and resumed runs on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from shadowviz_engine.core.derive import resume_state
from shadowviz_engine.core.geometry import Compressor, Geometry
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.buffers import StateBuffers
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.presets import model_preset
from shadowviz_engine.model.random_weights import random_weights
from shadowviz_engine.model.step import SequenceStep
from shadowviz_engine.model.transformer import Transformer

NAN = float("nan")
Ints = np.ndarray


@dataclass(frozen=True)
class Subject:
    """A model with seeded weights and the geometry of its cache."""

    config: ModelConfig
    geometry: Geometry
    weights: Mapping[str, Tensor]

    def transformer(self, numerics: Numerics = Numerics.EXACT) -> Transformer:
        """The model in one numeric mode."""
        return Transformer(self.config, self.weights, numerics)

    def tokens(self, length: int, seed: int = 0) -> Ints:
        """Random token ids."""
        return np.random.default_rng(seed).integers(0, self.config.vocab_size, length)


def subject(name: str) -> Subject:
    """A preset, or one of two models made for tests: `near`, where all is near, and `odd`, where nothing divides."""
    tiny = model_preset("tiny-512")
    configs = {
        "tiny-512": (tiny, 256),
        "tiny-article": (model_preset("tiny-article"), 128),
        "near": (_compressed(tiny, n_win=16, csa=4, hca=16, top_k=4), 16),
        "odd": (_compressed(tiny, n_win=7, csa=3, hca=10, top_k=5), 30),
    }
    config, page_size = configs[name]
    return Subject(config, config.geometry(name, page_size), random_weights(config))


def _compressed(config: ModelConfig, n_win: int, csa: int, hca: int, top_k: int) -> ModelConfig:
    compressors = (Compressor("csa", csa, overlap=True, indexed=True), Compressor("hca", hca))
    return replace(config, n_win=n_win, compressors=compressors, index_topk=top_k)


@dataclass(frozen=True)
class Row:
    """One row of state of a sequence: an entry, or what a token has at its SWA slot."""

    label: str
    layer: int
    index: int
    """Entry number, or position."""


class PlacedSequence:
    """Where one sequence's state lies."""

    def __init__(self, tokens: Ints, slots: Ints) -> None:
        self.tokens = tokens
        self.slots = slots

    def step(self, start: int, stop: int) -> SequenceStep:
        """Compute [start, stop)."""
        return SequenceStep(self.tokens[:stop], self.slots[:stop], start, stop)


class World:
    """Buffers, the SWA table, and pages handed out in random order; every row but the dummies starts as NaN."""

    def __init__(self, model: Subject, num_pages: int, num_swa_slots: int, seed: int = 0) -> None:
        self.model = model
        page = model.geometry.page_size
        self._random = np.random.default_rng(seed)
        self._pages = self._random.permutation(np.arange(1, num_pages + 1)).tolist()
        self._swa = self._random.permutation(np.arange(page, page + num_swa_slots)).tolist()
        self.full_to_swa = np.zeros((num_pages + 1) * page, np.int64)
        self.buffers = StateBuffers(model.config, len(self.full_to_swa), page + num_swa_slots)
        for label, layer in self.buffers.keys:
            rows = self.buffers.rows(label, layer)
            ratio = model.geometry.kind(label).unit
            rows[max(1, page // ratio) :] = NAN

    def place(self, tokens: Ints, length: int) -> PlacedSequence:
        """Slots for a sequence that resumes at `length`: from there on in pages of its own, as after a fork."""
        page = self.model.geometry.page_size
        positions = np.arange(len(tokens))
        pages = np.array([self._pages.pop() for _ in range(len(tokens) // page + 2)])
        # The page that `length` lies in is there twice: once for what was, once for what comes.
        branch = (positions >= length).astype(np.int64)
        return PlacedSequence(tokens, pages[positions // page + branch] * page + positions % page)

    def map_tokens(self, sequence: PlacedSequence, positions: Extent) -> None:
        """Give SWA slots to those of `positions` that have none."""
        for slot in sequence.slots[positions.start : positions.stop]:
            if not self.full_to_swa[slot]:
                self.full_to_swa[slot] = self._swa.pop()

    def row_number(self, sequence: PlacedSequence, label: str, index: int) -> int:
        """Row in the tensor of `label` of an entry, or of a position."""
        kind = self.model.geometry.kind(label)
        if kind.shape is Shape.RANGE:
            return int(sequence.slots[(index + 1) * kind.unit - 1]) // kind.unit
        return int(self.full_to_swa[sequence.slots[index]])

    def spoil(self, sequence: PlacedSequence, row: Row) -> None:
        """Make one row wrong.

        An index key becomes NaN, which shows wherever it competes. The others become finite numbers: NaN would show
        even where a mask keeps a query from reading it.
        """
        number = self.row_number(sequence, row.label, row.index)
        if row.label.startswith("index"):
            self.buffers.rows(row.label, row.layer)[number] = NAN
        else:
            self.buffers.rows(row.label, row.layer)[number] += 1


@dataclass(frozen=True)
class ColdRun:
    """A run from the first token on, in one pass, with all of its state."""

    world: World
    sequence: PlacedSequence
    logits: Tensor
    """`[tokens, vocabulary]`"""


def cold_run(model: Subject, tokens: Ints, transformer: Transformer) -> ColdRun:
    """Logits and state of `tokens`."""
    page = model.geometry.page_size
    world = World(model, len(tokens) // page + 2, len(tokens))
    sequence = world.place(tokens, len(tokens))
    world.map_tokens(sequence, Extent(0, len(tokens)))
    (logits,), _ = transformer.forward_all([sequence.step(0, len(tokens))], world.full_to_swa, world.buffers)
    return ColdRun(world, sequence, logits)


def needed_rows_of(model: Subject, length: int) -> list[Row]:
    """Every row that a resume at `length` needs."""
    state = resume_state(model.geometry, length)
    return [
        Row(item.kind, layer, index)
        for item in state
        for layer in model.geometry.kind(item.kind).owners
        for index in range(item.rows.start, item.rows.stop)
    ]


def resume_in(world: World, cold: ColdRun, length: int, stop: int) -> PlacedSequence:
    """Put the rows of `resume_state(length)`, and nothing else, into `world`, ready to compute up to `stop`."""
    sequence = world.place(cold.sequence.tokens[:stop], length)
    for item in resume_state(world.model.geometry, length):
        kind = world.model.geometry.kind(item.kind)
        if kind.shape is not Shape.RANGE:
            world.map_tokens(sequence, item.rows)
        indices = range(item.rows.start, item.rows.stop)
        source = [cold.world.row_number(cold.sequence, item.kind, index) for index in indices]
        target = [world.row_number(sequence, item.kind, index) for index in indices]
        for layer in kind.owners:
            world.buffers.rows(item.kind, layer)[target] = cold.world.buffers.rows(item.kind, layer)[source]
    world.map_tokens(sequence, Extent(length, stop))
    return sequence


class Snapshot:
    """The rows of a world at one moment, to go back to."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._rows = {key: world.buffers.rows(*key).clone() for key in world.buffers.keys}

    def restore(self) -> None:
        """Set every row as it was."""
        for key, rows in self._rows.items():
            self._world.buffers.rows(*key).copy_(rows)


def run_steps(
    transformer: Transformer, world: World, sequences: Sequence[PlacedSequence], cuts: Sequence[Sequence[int]]
) -> list[Tensor]:
    """Logits of every computed token: step i computes [cuts[s][i], cuts[s][i + 1]) of each sequence s that goes on."""
    logits: list[list[Tensor]] = [[] for _ in sequences]
    for turn in range(max(len(cut) for cut in cuts) - 1):
        active = [number for number, cut in enumerate(cuts) if turn + 1 < len(cut)]
        steps = [sequences[number].step(cuts[number][turn], cuts[number][turn + 1]) for number in active]
        results, _ = transformer.forward_all(steps, world.full_to_swa, world.buffers)
        for number, result in zip(active, results, strict=True):
            logits[number].append(result)
    return [torch.cat(parts) for parts in logits]
