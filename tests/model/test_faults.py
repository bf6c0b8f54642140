"""What is told of the faults of the model: where each exists, where it shows first, and what it does to rows."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from paged_runs import Subject, World, subject

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.fault_forms import RowFault
from shadowviz_engine.model.fault_rows import HeldRows, RowEditor
from shadowviz_engine.model.faults import MODEL_FAULTS, faults_of, place_fault

NEAR = subject("near")
"""Page 16, window 16, ratios 4 with overlap and 16, four entries chosen."""


@pytest.mark.parametrize(
    ("name", "length", "row", "offset", "must_show"),
    [
        ("csa_overlap_dropped", 9, 4, 2, True),
        ("csa_overlap_lost", 9, 4, 2, True),
        ("index_overlap_lost", 9, 4, 10, False),
        ("csa_tail_rolled", 10, 8, 1, True),
        ("csa_tail_lost", 29, 28, 2, False),
        ("index_tail_other", 41, 40, 2, False),
        ("hca_tail_first_lost", 33, 32, 14, True),
        ("hca_last_other", 32, 1, 0, True),
        ("csa_last_zeroed", 9, 1, 0, True),
        ("index_last_zeroed", 9, 1, 10, False),
        ("csa_next_rope", 8, 2, 3, True),
        ("hca_end_rope", 15, 0, 0, True),
        ("hca_partial", 17, 17, 14, True),
        ("hca_unclosed", 14, 0, 0, True),
        ("hca_unclosed", 15, 1, 1, True),
        ("csa_unclosed", 9, 2, 0, True),
        ("csa_unclosed", 16, 4, 0, False),
        ("swa_window_narrow", 40, 25, 0, True),
        ("swa_window_narrow", 3, 0, 12, True),
        ("swa_window_wide", 40, 24, 0, True),
        ("swa_oldest_zeroed", 40, 25, 0, True),
        ("swa_newest_other", 40, 39, 0, True),
        ("index_unranked", 2, 4, 17, False),
    ],
)
def test_the_arithmetic_of_a_fault(name: str, length: int, row: int, offset: int, must_show: bool) -> None:
    fault, geometry = MODEL_FAULTS[name], NEAR.geometry
    assert fault.reason_absent(geometry, length) == ""
    assert (fault.first_row(geometry, length), fault.first_offset(geometry, length)) == (row, offset)
    assert fault.must_show(geometry, length) is must_show


@pytest.mark.parametrize(
    ("name", "length", "reason"),
    [
        ("csa_overlap_dropped", 3, "csa_tail has no overlap there"),
        ("csa_overlap_lost", 3, "csa_tail has no such row there"),
        ("hca_tail_lost", 32, "hca_tail has no such row there"),
        ("hca_tail_rolled", 33, "hca_tail has a single row there"),
        ("hca_last_rope", 15, "hca_kv has no such row there"),
        ("csa_partial", 8, "no window is open there"),
    ],
)
def test_where_there_is_no_fault_the_reason_is_told(name: str, length: int, reason: str) -> None:
    assert MODEL_FAULTS[name].reason_absent(NEAR.geometry, length) == reason


def test_an_entry_that_is_seen_too_early_is_ranked_first_where_a_query_must_choose() -> None:
    fault = MODEL_FAULTS["csa_unclosed"]
    kinds = [fault.first_kind(NEAR.geometry, stop) for stop in (17, 19, 20, 33)]
    assert kinds == ["csa_kv", "csa_kv", "index_k", "index_k"]
    assert MODEL_FAULTS["hca_unclosed"].first_kind(NEAR.geometry, 99) == "hca_kv"


def test_a_window_of_one_token_cannot_be_narrower() -> None:
    geometry = replace(NEAR.config, n_win=1).geometry("one", 16)
    assert MODEL_FAULTS["swa_window_narrow"].reason_absent(geometry, 9)
    assert not MODEL_FAULTS["swa_window_wide"].reason_absent(geometry, 9)


@given(st.sampled_from(sorted(MODEL_FAULTS)), st.sampled_from(["near", "odd"]), st.integers(1, 200))
def test_a_fault_exists_where_it_has_rows_and_shows_within_reach(name: str, model: str, length: int) -> None:
    fault, geometry = MODEL_FAULTS[name], subject(model).geometry
    rows = fault.rows(geometry, length) if isinstance(fault, RowFault) else Extent(0, 1)
    assert bool(rows) == (not fault.reason_absent(geometry, length)) or not isinstance(fault, RowFault)
    if not fault.reason_absent(geometry, length):
        reach = max(16, geometry.n_win, (geometry.index_topk + 1) * 4)
        assert 0 <= fault.first_offset(geometry, length) <= reach
        assert fault.first_row(geometry, length) >= 0


def whole_world(model: Subject, length: int) -> tuple[World, HeldRows, HeldRows]:
    """Two sequences whose rows are all different random numbers."""
    world = World(model, 24, 2 * length)
    torch.manual_seed(5)
    for label, layer in world.buffers.keys:
        rows = world.buffers.rows(label, layer)
        rows[1:] = torch.randn(rows[1:].shape)
    held = []
    for seed in (1, 2):
        sequence = world.place(model.tokens(length, seed), length)
        world.map_tokens(sequence, Extent(0, length))
        held.append(HeldRows(sequence.slots, world.full_to_swa[sequence.slots]))
    return world, held[0], held[1]


@pytest.mark.parametrize("name", [name for name, fault in MODEL_FAULTS.items() if isinstance(fault, RowFault)])
@pytest.mark.parametrize("model", ["near", "odd"])
def test_wrong_rows_are_the_ones_that_are_told_and_are_put_right_again(name: str, model: str) -> None:
    chosen, length = subject(model), 47
    world, own, other = whole_world(chosen, length)
    editor = RowEditor(chosen.config, chosen.geometry, world.buffers)
    before = {key: world.buffers.rows(*key).clone() for key in world.buffers.keys}
    placed = place_fault(name, chosen.geometry)
    assert isinstance(placed.fault, RowFault)
    changed = editor.apply(placed, length, own, other)
    told = placed.fault.rows(chosen.geometry, length)
    assert told
    ratio = chosen.geometry.kind(placed.fault.kind).unit
    swa = chosen.geometry.kind(placed.fault.kind).shape != "range"
    expected = {
        int(own.swa[row]) if swa else int(own.slots[row * ratio]) // ratio for row in range(told.start, told.stop)
    }
    for label, layer in world.buffers.keys:
        now = world.buffers.rows(label, layer)
        wrong = set(np.flatnonzero((now != before[label, layer]).any(dim=1).numpy()).tolist())
        assert wrong == (expected if label == placed.fault.kind else set()), (label, layer)
    assert [item.layer for item in changed] == list(placed.layers)
    assert {item.first_row for item in changed} == {told.start}
    for item in reversed(changed):
        item.restore(world.buffers)
    assert all(torch.equal(before[key], world.buffers.rows(*key)) for key in world.buffers.keys)


def test_rows_of_another_request_that_are_equal_change_nothing() -> None:
    world, own, _ = whole_world(NEAR, 47)
    editor = RowEditor(NEAR.config, NEAR.geometry, world.buffers)
    assert editor.apply(place_fault("hca_tail_other", NEAR.geometry), 47, own, own) == []
    assert editor.apply(place_fault("hca_tail_other", NEAR.geometry), 47, own, None) == []


def test_a_fault_of_one_layer_leaves_the_others_alone() -> None:
    world, own, other = whole_world(NEAR, 47)
    placed = place_fault("csa_tail_lost@4", NEAR.geometry)
    changed = RowEditor(NEAR.config, NEAR.geometry, world.buffers).apply(placed, 47, own, other)
    assert ([item.layer for item in changed], placed.name) == ([4], "csa_tail_lost@4")


def test_only_the_half_that_the_next_entry_reads_is_lost_of_an_overlap() -> None:
    world, own, other = whole_world(NEAR, 41)
    slot = int(own.swa[36])
    row = world.buffers.rows("csa_tail", 2)[slot].clone()
    RowEditor(NEAR.config, NEAR.geometry, world.buffers).apply(
        place_fault("csa_overlap_lost", NEAR.geometry), 41, own, other
    )
    dim = NEAR.config.head_dim
    now = world.buffers.rows("csa_tail", 2)[slot]
    assert torch.equal(now[:dim], torch.zeros(dim))
    assert torch.equal(now[2 * dim : 3 * dim], torch.full((dim,), -torch.inf))
    assert torch.equal(now[dim : 2 * dim], row[dim : 2 * dim])
    assert torch.equal(now[3 * dim :], row[3 * dim :])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gremlin", "no fault of the model is called 'gremlin'"),
        ("csa_tail_lost@3", "names no layer of csa_tail: expected one of (2, 4)"),
        ("csa_tail_lost@x", "names no layer"),
        ("hca_partial@3", "acts on all layers together"),
    ],
)
def test_a_fault_that_there_is_not_is_refused(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words.replace("(", r"\(").replace(")", r"\)")):
        place_fault(name, NEAR.geometry)


def test_a_model_has_the_faults_of_its_rows() -> None:
    assert faults_of(NEAR.geometry) == tuple(MODEL_FAULTS.values())
