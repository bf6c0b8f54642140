"""The indexer's choice: equal scores by lowest entry, near ties reported, selections shown on request."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from paged_runs import Subject, World, subject

from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.indexer import Chosen, all_entries, choose_entries
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.step import NearTie, Selection


def choose(scores: list[list[float]], visible: list[int], top_k: int) -> Chosen:
    """What is chosen where only the first `visible` entries are closed."""
    unseen = torch.arange(len(scores[0])) >= torch.tensor(visible)[:, None]
    return choose_entries(torch.tensor(scores), unseen, top_k)


def chosen_by_sorting(scores: list[float], visible: int, top_k: int) -> list[int]:
    """The rule in a line: best score first, among equals the lowest entry."""
    ranked = sorted(range(visible), key=lambda entry: (-scores[entry], entry))
    return sorted(ranked[:top_k])


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.0]), min_size=5, max_size=80), st.integers(1, 4), st.data())
def test_equal_scores_are_chosen_by_lowest_entry(scores: list[float], top_k: int, data: st.DataObject) -> None:
    visible = data.draw(st.integers(0, len(scores)))
    chosen = choose([scores], [visible], top_k)
    kept = [entry for entry in chosen.entries[0].tolist() if entry < visible]
    assert kept == chosen_by_sorting(scores, visible, top_k)


def test_the_choice_among_equals_does_not_depend_on_the_number_of_entries() -> None:
    for length in range(9, 200):
        chosen = choose([[0.0] * length], [length], 8)
        assert chosen.entries.tolist() == [list(range(8))]


def test_the_margin_is_the_last_chosen_score_minus_the_first_that_was_not() -> None:
    chosen = choose([[3.0, 1.0, 2.0, 1.25], [1.0, 1.0, 1.0, 0.0]], [4, 4], 2)
    assert chosen.entries.tolist() == [[0, 2], [0, 1]]
    assert chosen.margin is not None
    assert chosen.margin.tolist() == [0.75, 0]


def test_where_all_visible_entries_are_taken_nothing_is_near_a_tie() -> None:
    assert all_entries(3, 5, torch.device("cpu")).margin is None
    chosen = choose([[1.0, 1.0, 1.0, 0.0]], [2], 2)
    assert chosen.entries.tolist() == [[0, 1]]
    assert chosen.margin is None


def test_a_spoilt_key_shows_in_every_query_that_sees_it() -> None:
    chosen = choose([[1.0, float("nan"), 3.0, 2.0], [1.0, 2.0, 3.0, float("nan")]], [4, 3], 2)
    assert chosen.best is not None
    assert chosen.best.isnan().flatten().tolist() == [True, False]


def tied_model() -> Subject:
    """A model whose index heads all weigh nothing, so that every score is 0."""
    near = subject("near")
    weights = dict(near.weights)
    heads = [name for name in weights if name.endswith("scorer.weights_proj.weight")]
    assert len(heads) == 2
    weights |= {name: torch.zeros_like(weights[name]) for name in heads}
    return replace(near, weights=weights)


def selections_of(
    model: Subject, numerics: Numerics, cuts: list[int]
) -> tuple[dict[tuple[int, int], tuple[int, ...]], list[NearTie]]:
    """What every query's indexer chose, by layer and position, and all near ties."""
    tokens = model.tokens(cuts[-1])
    world = World(model, len(tokens) // 16 + 2, len(tokens))
    sequence = world.place(tokens, len(tokens))
    world.map_tokens(sequence, Extent(0, len(tokens)))
    transformer = model.transformer(numerics)
    found: dict[tuple[int, int], tuple[int, ...]] = {}

    def note(selection: Selection) -> None:
        assert selection.sequence == 0
        found[selection.layer, selection.position] = selection.entries

    transformer.observer = note
    ties: list[NearTie] = []
    for start, stop in pairwise(cuts):
        ties += transformer.forward([sequence.step(start, stop)], world.full_to_swa, world.buffers).near_ties
    return found, ties


@pytest.mark.parametrize("numerics", list(Numerics))
def test_a_model_with_nothing_but_ties_takes_the_oldest_entries_and_reports_each(numerics: Numerics) -> None:
    model = tied_model()
    found, ties = selections_of(model, numerics, [0, 21, 22, 60])
    for (_, position), entries in found.items():
        assert entries == tuple(range(min((position + 1) // 4, 4)))
    # From position 19 on five entries are closed, one more than are taken.
    assert {(tie.layer, tie.position) for tie in ties} == {(layer, at) for layer in (2, 4) for at in range(19, 60)}
    assert all(tie.margin == 0 and tie.sequence == 0 for tie in ties)


def test_random_weights_give_no_near_tie_and_the_same_choice_in_any_chunks() -> None:
    model = subject("near")
    whole, ties = selections_of(model, Numerics.EXACT, [0, 60])
    pieces, _ = selections_of(model, Numerics.EXACT, [0, 3, 4, 30, 31, 60])
    assert ties == []
    assert whole == pieces
    assert whole.keys() == {(layer, position) for layer in (2, 4) for position in range(3, 60)}
    assert any(entries != tuple(range(4)) for entries in whole.values())


def test_near_ties_are_told_from_ties_by_their_margin() -> None:
    chosen = choose([[1.0, 0.5, 0.5 - 5e-6, 0.1]], [4], 2)
    assert chosen.margin is not None
    assert 0 < chosen.margin.item() < 1e-5
    assert chosen.entries.tolist() == [[0, 1]]
