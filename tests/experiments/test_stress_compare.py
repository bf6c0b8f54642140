"""The locator: which row of two runs differs first in the order of data flow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shadowviz.experiments.stress.cold_runs import ColdRun, Noise, cold_run
from shadowviz.experiments.stress.compare import (
    compare_heads,
    compare_logits,
    compare_logprobs,
    differing,
    first_differences,
)
from shadowviz_engine.model.trace import ROUTER, Stage, Traced

KIND, LAYER, COUNT = "swa_kv", 2, 12


def state(rows, values=None, *, kind: str = KIND, layer: int = LAYER, sequence: int = 0) -> Traced:
    rows = np.array(rows)
    values = torch.stack([torch.tensor([float(row), float(row) + 0.5]) for row in rows]) if values is None else values
    return Traced(Stage.STATE, kind, layer, np.full(len(rows), sequence), rows, None, values)


def read(readers, columns, *, kind: str = KIND, layer: int = LAYER) -> Traced:
    """Scores that depend on reader and column alone."""
    columns = np.array(columns)
    readers = np.array(readers)
    values = torch.from_numpy(np.where(columns < 0, 0, readers[:, None] * 100 + columns)).float().unsqueeze(-1)
    return Traced(Stage.READ, kind, layer, np.zeros(len(readers), np.int64), readers, columns, values)


def cold(*traced: Traced) -> ColdRun:
    return cold_run(np.arange(COUNT), traced, torch.arange(COUNT * 3.0).view(COUNT, 3))


def changed(traced: Traced, index: tuple[int, ...], by: float) -> Traced:
    values = traced.values.clone()
    values[index] += by
    return Traced(traced.stage, traced.kind, traced.layer, traced.sequences, traced.rows, traced.columns, values)


@given(st.lists(st.integers(0, COUNT - 1), min_size=1, unique=True), st.data())
def test_exactly_the_changed_rows_differ(rows: list[int], data: st.DataObject) -> None:
    run = cold(state(range(COUNT)))
    found = state(rows)
    assert not len(differing(found, run, Noise()))
    index = data.draw(st.integers(0, len(rows) - 1))
    assert differing(changed(found, (index, 1), 1e-6 * max(1, rows[index])), run, Noise()).tolist() == [index]


def test_one_rounding_step_is_a_difference_and_noise_forgives_it() -> None:
    run = cold(state(range(COUNT)))
    values = run.state[KIND, LAYER][3:4].clone()
    values[0, 0] = torch.nextafter(values[0, 0], torch.tensor(9.0))
    found = state([3], values)
    assert first_differences([found], {0: run})[0].row == 3
    assert not first_differences([found], {0: run}, Noise({("state", KIND, LAYER): 1e-6}))


@pytest.mark.parametrize("noise", [Noise(), Noise({("state", KIND, LAYER): 1e6})])
def test_no_number_always_differs(noise: Noise) -> None:
    found = changed(state([3, 4]), (1, 0), float("nan"))
    difference = first_differences([found], {0: cold(state(range(COUNT)))}, noise)[0]
    assert (difference.row, difference.amount) == (4, float("inf"))


def test_a_row_that_the_cold_run_never_had_differs() -> None:
    assert first_differences([state([COUNT])], {0: cold(state(range(COUNT)))})[0].row == COUNT
    assert first_differences([state([0], kind="hca_kv")], {0: cold(state(range(COUNT)))})[0].kind == "hca_kv"


def test_the_lowest_layer_comes_first_though_a_later_pass_tells_it() -> None:
    run = cold(state(range(COUNT)), state(range(COUNT), layer=0))
    wrong = [changed(state([5]), (0, 0), 1.0), changed(state([6], layer=0), (0, 0), 1.0)]
    difference = first_differences(wrong, {0: run})[0]
    assert (difference.layer, difference.row, difference.turn) == (0, 6, 1)


def test_each_sequence_has_a_first_difference_of_its_own() -> None:
    run = cold(state(range(COUNT)))
    both = Traced(
        Stage.STATE, KIND, LAYER, np.array([0, 0, 1, 1]), np.array([1, 2, 1, 2]), None, state([1, 2, 1, 2]).values
    )
    found = first_differences([changed(both, (3, 0), 1.0)], {0: run, 1: run})
    assert {sequence: difference.row for sequence, difference in found.items()} == {1: 2}
    assert not first_differences([changed(both, (3, 0), 1.0)], {0: run})


def test_reads_that_are_laid_out_in_other_columns_are_the_same() -> None:
    run = cold(read([4, 5], [[-1, 2, 3, 4], [2, 3, 4, 5]]))
    assert not first_differences([read([4], [[2, 3, 4]])], {0: run})
    assert not first_differences([read([5], [[-1, 2, 3, 4, 5, -1]])], {0: run})


def test_a_row_that_should_not_have_been_read_is_named() -> None:
    run = cold(read([5], [[2, 3, 4, 5]]))
    for seen, row in (([1, 2, 3, 4, 5], 1), ([3, 4, 5], 2)):
        difference = first_differences([read([5], [seen])], {0: run})[0]
        assert (difference.stage, difference.row, difference.reader) == ("read", row, 5)
        assert difference.amount == float("inf")


def test_a_score_that_differs_names_the_row_it_was_read_from() -> None:
    run = cold(read([5], [[2, 3, 4, 5]]))
    difference = first_differences([changed(read([5], [[2, 3, 4, 5]]), (0, 2, 0), 0.25)], {0: run})[0]
    assert (difference.row, difference.reader, difference.amount) == (4, 5, 0.25)


def test_another_reader_than_any_of_the_cold_run_is_named() -> None:
    difference = first_differences([read([6], [[3, 4]])], {0: cold(read([5], [[2, 3]]))})[0]
    assert (difference.row, difference.reader) == (3, 6)


@pytest.mark.parametrize(("gap", "tie"), [(1e-6, True), (1e-2, False)])
def test_another_choice_is_a_near_tie_only_where_the_scores_are_as_close_as_noise(gap: float, tie: bool) -> None:
    scores = Traced(
        Stage.READ,
        "index_k",
        LAYER,
        np.zeros(1, np.int64),
        np.array([9]),
        np.array([[0, 1, 2]]),
        torch.tensor([[[0.9], [0.5], [0.5 - gap]]]),
    )
    run = cold(scores, read([9], [[0, 1]], kind="csa_kv"))
    noise = Noise({("read", "index_k", LAYER): 1e-5})
    difference = first_differences([read([9], [[0, 2]], kind="csa_kv")], {0: run}, noise)[0]
    assert (difference.kind, difference.row, difference.near_tie) == ("csa_kv", 1, tie)


def test_logits_name_the_first_token_beyond_noise_and_the_largest_difference() -> None:
    run = cold(state(range(COUNT)))
    logits = run.logits[4:8].clone()
    assert compare_logits(logits, 4, run).position == -1
    logits[1, 0] += 0.125
    logits[2, 2] -= 2.0
    assert compare_logits(logits, 4, run) == compare_logits(logits, 4, run, Noise())
    assert (compare_logits(logits, 4, run).position, compare_logits(logits, 4, run).largest) == (5, 2.0)
    assert compare_logits(logits, 4, run, Noise(logits=0.5)).position == 6
    assert compare_logits(logits, 4, run, Noise(logits=3.0)).position == -1


def route(scores: list[float], chosen: list[int]) -> Traced:
    """What a router made of the token at position 9."""
    columns = np.array([[expert if expert in chosen else -1 for expert in range(len(scores))]])
    values = torch.tensor(scores).view(1, -1, 1)
    return Traced(Stage.ROUTE, ROUTER, LAYER, np.zeros(1, np.int64), np.array([9]), columns, values)


@pytest.mark.parametrize(("gap", "tie"), [(1e-6, True), (1e-2, False)])
def test_another_expert_is_a_near_tie_only_where_the_scores_are_as_close_as_noise(gap: float, tie: bool) -> None:
    run = cold(route([0.1, 0.9, 0.5, 0.5 - gap], [1, 2]))
    noise = Noise({("route", ROUTER, LAYER): 1e-5})
    difference = first_differences([route([0.1, 0.9, 0.5 - gap, 0.5], [1, 3])], {0: run}, noise)[0]
    assert (difference.stage, difference.kind, difference.row, difference.reader) == ("route", ROUTER, 2, 9)
    assert difference.near_tie is tie
    assert not first_differences([route([0.1, 0.9, 0.5, 0.5 - gap], [1, 2])], {0: run}, noise)


def test_an_expert_that_scores_otherwise_is_named_though_it_was_not_chosen() -> None:
    run = cold(route([0.1, 0.9, 0.5, 0.3], [1, 2]))
    difference = first_differences([route([0.2, 0.9, 0.5, 0.3], [1, 2])], {0: run})[0]
    assert (difference.row, difference.near_tie) == (0, False)
    assert difference.amount == pytest.approx(0.1)


def heads(values: torch.Tensor, sequence: int = 0) -> Traced:
    rows = np.arange(4, 4 + len(values))
    return Traced(Stage.HEAD, "head", 3, np.full(len(rows), sequence), rows, None, values)


def product(rows: torch.Tensor) -> torch.Tensor:
    return rows @ torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])


def test_rows_for_the_vocabulary_tell_what_their_logits_would() -> None:
    whole = Traced(Stage.HEAD, "head", 3, np.zeros(COUNT, np.int64), np.arange(COUNT), None, torch.rand(COUNT, 2))
    run = cold(whole)
    rows = whole.values[4:8].clone()
    assert not compare_heads(heads(rows), {0: run}, product)
    assert not compare_heads(heads(rows + 1, sequence=1), {0: run}, product)
    rows[1, 0] += 0.125
    rows[2, 1] -= 2.0
    for noise, position in ((Noise(), 5), (Noise(logits=0.5), 6), (Noise(logits=3.0), -1)):
        found = compare_heads(heads(rows), {0: run}, product, noise)[0]
        expected = compare_logits(product(rows), 4, cold_run(run.tokens, [], product(whole.values)), noise)
        assert found.position == expected.position == position
        assert found.largest == pytest.approx(2.0)
        assert expected.largest == pytest.approx(2.0)
    rows[3, 0] = float("nan")
    assert compare_heads(heads(rows), {0: run}, product, Noise(logits=3.0))[0].position == 7


def test_a_row_for_the_vocabulary_with_one_other_bit_differs() -> None:
    run = cold(Traced(Stage.HEAD, "head", 3, np.zeros(COUNT, np.int64), np.arange(COUNT), None, torch.ones(COUNT, 2)))
    rows = torch.ones(4, 2)
    rows[2, 1] = torch.nextafter(rows[2, 1], torch.tensor(2.0))
    assert compare_heads(heads(rows), {0: run}, lambda rows: rows * 0)[0].position == 6


def test_a_probability_that_differs_names_its_position() -> None:
    run = replace(cold(state(range(COUNT))), logprobs=tuple(-float(at) for at in range(COUNT - 1)))
    assert compare_logprobs([-4.0, -5.0], 4, run).position == -1
    found = compare_logprobs([-4.0, -5.5, -6.0], 4, run)
    assert (found.position, found.largest) == (5, 0.5)
    assert compare_logprobs([-4.0, float("nan")], 4, run).position == 5
