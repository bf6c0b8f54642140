"""Every row of resume_state is needed: without it the output changes, unless no query of the suffix reads it."""

import pytest
import torch
from paged_runs import ColdRun, Row, Snapshot, World, cold_run, needed_rows_of, resume_in, run_steps, subject

from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.step import Selection
from shadowviz_engine.model.transformer import Transformer

BATCH = 24
CASES = [("near", length) for length in (1, 3, 4, 7, 15, 16, 17, 19, 20, 31, 32, 33, 46, 64)] + [("tiny-512", 130)]
LONG_CASES = [("near", length) for length in range(1, 80)] + [("tiny-512", length) for length in (127, 128, 257, 510)]


def suffix_of(model_name: str, length: int) -> int:
    """One token past the next multiple of the largest ratio: every open window has closed and been read by then."""
    largest = 16 if model_name == "near" else 128
    return (length // largest + 1) * largest + 1


def check_every_row(model_name: str, length: int) -> None:
    model = subject(model_name)
    transformer = model.transformer()
    stop = suffix_of(model_name, length)
    cold = cold_run(model, model.tokens(stop), transformer)
    read = rows_read(transformer, cold, length, stop)
    rows = needed_rows_of(model, length)
    assert rows
    page = model.geometry.page_size
    for first in range(0, len(rows), BATCH):
        batch = rows[first : first + BATCH]
        world = World(model, len(batch) * (stop // page + 2), len(batch) * stop)
        sequences = [resume_in(world, cold, length, stop) for _ in batch]
        for sequence, row in zip(sequences, batch, strict=True):
            world.spoil(sequence, row)
        for row, logits in zip(
            batch, run_steps(transformer, world, sequences, [[length, stop]] * len(batch)), strict=True
        ):
            same = torch.equal(logits, cold.logits[length:stop])
            assert same != (row in read), f"{row} is {'not ' * (row not in read)}read, output is same: {same}"


def rows_read(transformer: Transformer, cold: ColdRun, length: int, stop: int) -> set[Row]:
    """Needed rows that the suffix reads, worked out from what the indexer chose for its queries."""
    config = transformer.config
    csa = next(compressor for compressor in config.compressors if compressor.indexed)
    chosen: set[tuple[int, int]] = set()

    def note(selection: Selection) -> None:
        if selection.position >= length:
            chosen.update((selection.layer, entry) for entry in selection.entries)

    transformer.observer = note
    transformer.forward([cold.sequence.step(0, stop)], cold.world.full_to_swa, cold.world.buffers)
    transformer.observer = None
    scored = stop // csa.ratio > config.index_topk

    def is_read(row: Row) -> bool:
        if row.label in ("index_k", "index_tail"):
            # A key counts once it competes; until more entries than index_topk are closed, all are taken.
            return scored
        if row.label == "csa_kv":
            return (row.layer, row.index) in chosen
        if row.label == "csa_tail":
            # A token goes into the entry of its own window and, by the overlap, into the next.
            own = row.index // csa.ratio
            open_now = own >= length // csa.ratio
            entries = {own + 1} | ({own} if open_now else set())
            return any((row.layer, entry) in chosen for entry in entries)
        return True

    return {row for row in needed_rows_of(cold.world.model, length) if is_read(row)}


@pytest.mark.parametrize(("model_name", "length"), CASES)
def test_taking_away_a_row_that_is_read_changes_the_output(model_name: str, length: int) -> None:
    check_every_row(model_name, length)


@pytest.mark.slow
@pytest.mark.parametrize(("model_name", "length"), LONG_CASES)
def test_taking_away_a_row_that_is_read_changes_the_output_at_more_lengths(model_name: str, length: int) -> None:
    check_every_row(model_name, length)


def test_nearly_all_rows_are_read_when_the_suffix_is_long_enough() -> None:
    model = subject("near")
    transformer = model.transformer()
    cold = cold_run(model, model.tokens(49), transformer)
    rows = needed_rows_of(model, 33)
    read = rows_read(transformer, cold, 33, 49)
    assert len(read) > 0.9 * len(rows)
    assert {row.label for row in read} == {kind.label for kind in model.geometry.kinds}


def test_a_spoilt_row_outside_resume_state_changes_nothing() -> None:
    model = subject("near")
    transformer = model.transformer()
    length, stop = 37, 49
    cold = cold_run(model, model.tokens(stop), transformer)
    world = World(model, 10, 100)
    sequence = resume_in(world, cold, length, stop)
    world.map_tokens(sequence, Extent(0, length))
    snapshot = Snapshot(world)
    (logits,) = run_steps(transformer, world, [sequence], [[length, stop]])
    assert torch.equal(logits, cold.logits[length:stop])
    snapshot.restore()
    world.spoil(sequence, Row("swa_kv", 0, length - model.config.n_win))
    (logits,) = run_steps(transformer, world, [sequence], [[length, stop]])
    assert torch.equal(logits, cold.logits[length:stop])
    snapshot.restore()
    world.spoil(sequence, Row("swa_kv", 0, length - model.config.n_win + 1))
    (logits,) = run_steps(transformer, world, [sequence], [[length, stop]])
    assert not torch.equal(logits, cold.logits[length:stop])
