"""What a step tells about its rows: equal in a cold and a resumed run, and it names the first row that differs."""

import numpy as np
import pytest
import torch
from paged_runs import ColdRun, Row, Subject, World, cold_run, resume_in, run_steps, subject

from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.trace import Stage, Traced

STOP = 100
Key = tuple[Stage, str, int, int]


class Notes:
    """Rows of one sequence as a trace tells them, in order; a key's later rows must equal its first."""

    def __init__(self, sequence: int = 0) -> None:
        self._sequence = sequence
        self.rows: dict[Key, tuple[list[int], torch.Tensor]] = {}

    def take(self, traced: Traced) -> None:
        """Note one call of the trace."""
        for place in np.flatnonzero(traced.sequences == self._sequence):
            key = (traced.stage, traced.kind, traced.layer, int(traced.rows[place]))
            columns: list[int] = []
            value = traced.values[place]
            if traced.columns is not None:
                shown = traced.columns[place] >= 0
                columns = traced.columns[place][shown].tolist()
                value = value[torch.from_numpy(shown)]
            known = self.rows.setdefault(key, (columns, value))
            assert known[0] == columns
            assert torch.equal(known[1].nan_to_num(), value.nan_to_num()), key


def traced_cold(model: Subject, stop: int = STOP) -> tuple[ColdRun, Notes]:
    transformer, notes = model.transformer(), Notes()
    transformer.trace = notes.take
    return cold_run(model, model.tokens(stop), transformer), notes


def traced_resume(cold: ColdRun, length: int, wrong: Row | None = None) -> Notes:
    model = cold.world.model
    world = World(model, 16, 2 * STOP)
    sequence = resume_in(world, cold, length, STOP)
    if wrong is not None:
        world.spoil(sequence, wrong)
    transformer, notes = model.transformer(), Notes()
    transformer.trace = notes.take
    run_steps(transformer, world, [sequence], [sorted({length, min(length + 5, STOP), STOP})])
    return notes


def first_difference(cold: Notes, resumed: Notes) -> Key | None:
    for key, (columns, value) in resumed.rows.items():
        if cold.rows[key][0] != columns or not torch.equal(cold.rows[key][1], value):
            return key
    return None


@pytest.mark.parametrize("name", ["near", "odd"])
def test_a_resumed_run_traces_the_bits_of_the_cold_run(name: str) -> None:
    cold, notes = traced_cold(subject(name))
    for length in (1, 15, 16, 17, 29, 30, 31, 64, 99):
        resumed = traced_resume(cold, length)
        assert resumed.rows
        assert first_difference(notes, resumed) is None


@pytest.mark.parametrize("name", ["near", "odd"])
def test_a_cold_run_traces_every_row_that_it_stores_and_every_query(name: str) -> None:
    model = subject(name)
    _, notes = traced_cold(model)
    for kind in model.geometry.kinds:
        for layer in kind.owners:
            stored = [row for stage, label, at, row in notes.rows if (stage, label, at) == ("state", kind.label, layer)]
            assert sorted(stored) == list(range(STOP // kind.unit))
    ratio, top_k = model.config.compressors[0].ratio, model.config.index_topk
    ranked = [row for stage, label, layer, row in notes.rows if (stage, label, layer) == ("read", "index_k", 2)]
    assert ranked == [row for row in range(STOP) if (row + 1) // ratio > top_k]
    columns, scores = notes.rows[Stage.READ, "swa_kv", 0, STOP - 1]
    assert columns == list(range(STOP - model.config.n_win, STOP))
    assert scores.shape == (model.config.n_win, model.config.num_heads)


@pytest.mark.parametrize(
    "wrong",
    [
        Row("swa_kv", 3, 62),
        Row("csa_tail", 2, 57),
        Row("index_tail", 4, 61),
        Row("hca_tail", 5, 60),
        Row("csa_kv", 2, 3),
        Row("hca_kv", 3, 1),
    ],
)
def test_the_first_difference_names_the_wrong_row(wrong: Row) -> None:
    length = 63
    cold, notes = traced_cold(subject("near"))
    assert first_difference(notes, traced_resume(cold, length, wrong)) == (
        "state",
        wrong.label,
        wrong.layer,
        wrong.index,
    )


def test_a_batch_of_fast_steps_is_traced_sequence_by_sequence() -> None:
    model = subject("near")
    transformer = model.transformer(Numerics.FAST)
    world = World(model, 16, 4 * STOP)
    sequences = [world.place(model.tokens(40, seed), 40) for seed in (1, 2)]
    for sequence in sequences:
        world.map_tokens(sequence, Extent(0, 40))
    notes = [Notes(0), Notes(1)]
    transformer.trace = lambda traced: [note.take(traced) for note in notes] and None
    run_steps(transformer, world, sequences, [[0, 17, 38], [0, 37, 38]])
    for number, note in enumerate(notes):
        window = [row for stage, label, layer, row in note.rows if (stage, label, layer) == ("read", "swa_kv", 0)]
        assert sorted(window) == list(range(38)), number
        columns, _ = note.rows[Stage.READ, "hca_kv", 3, 37]
        assert columns == [0, 1]


def test_tracing_changes_no_logit() -> None:
    model = subject("near")
    cold, _ = traced_cold(model)
    assert torch.equal(cold.logits, cold_run(model, model.tokens(STOP), model.transformer()).logits)


def test_only_the_stages_that_are_asked_for_are_told() -> None:
    model = subject("odd")
    for stages in ({Stage.STATE}, {Stage.READ, Stage.HEAD}, {Stage.ROUTE}, set()):
        transformer, notes = model.transformer(), Notes()
        transformer.trace, transformer.stages = notes.take, frozenset(stages)
        cold_run(model, model.tokens(40), transformer)
        assert {key[0] for key in notes.rows} == stages


def test_rows_for_the_vocabulary_give_the_same_logits_in_any_company() -> None:
    model = subject("odd")
    transformer, notes = model.transformer(), Notes()
    transformer.trace, transformer.stages = notes.take, frozenset({Stage.HEAD})
    cold = cold_run(model, model.tokens(60), transformer)
    rows = torch.stack([notes.rows[Stage.HEAD, "head", len(model.config.schedule.layers), at][1] for at in range(60)])
    for at in ([0], [59], [7, 3, 3], range(20, 57), range(60)):
        assert torch.equal(transformer.logits(rows[list(at)]), cold.logits[list(at)]), list(at)


def test_a_router_tells_which_experts_score_best() -> None:
    model = subject("odd")
    transformer = model.transformer()
    seen: list[Traced] = []
    transformer.trace, transformer.stages = seen.append, frozenset({Stage.ROUTE})
    cold_run(model, model.tokens(40), transformer)
    assert {traced.layer for traced in seen} == {at for at, by_id in enumerate(model.config.hash_layers) if not by_id}
    for traced in seen:
        best = traced.values[..., 0].topk(model.config.num_experts_per_tok, dim=1).indices.sort(dim=1).values
        assert [row[row >= 0].tolist() for row in traced.columns] == best.tolist()
