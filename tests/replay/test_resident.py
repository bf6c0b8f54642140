"""Which rows of a prompt are there: by definition, and as the plan of reuse sees it."""

import random

import pytest
from cache_driver import Driver, options
from hypothesis import given
from hypothesis import strategies as st
from lookup_runs import ExplainedRun, ids
from trees import replayed, walked

from shadowviz.replay.resident import path_tokens, prompt_state, request_prompt, request_row, resident_rows
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import StepDone
from shadowviz_engine.core.kinds import Shape, needed_rows
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.core.snapshot import unpack_ids
from shadowviz_engine.core.spans import Extent, merge


def holds(extents: tuple[Extent, ...], rows: Extent) -> bool:
    return not rows or any(extent.start <= rows.start and rows.stop <= extent.stop for extent in extents)


@given(
    full=st.sets(st.integers(0, 60)),
    swa=st.sets(st.integers(0, 60)),
    name=st.sampled_from(["recall", "article", "v4-pro"]),
)
def test_a_row_is_there_when_the_slot_that_it_lives_at_is(full: set[int], swa: set[int], name: str) -> None:
    geometry = preset(name)
    runs = [[Extent(token, token + 1) for token in sorted(tokens)] for tokens in (full, swa)]
    found = resident_rows(geometry, merge(runs[0]), merge(runs[1]))
    for kind in geometry.kinds:
        rows = {row for extent in found[kind.label] or () for row in range(*extent)}
        if kind.shape is Shape.RANGE:
            assert rows == {token // kind.unit for token in full if token % kind.unit == kind.unit - 1}
        else:
            assert rows == swa


@pytest.mark.parametrize("seed", range(12))
def test_the_longest_length_whose_rows_are_all_there_is_what_a_lookup_reuses(seed: int) -> None:
    rng = random.Random(seed)
    run = ExplainedRun(preset("recall"), num_full_pages=60, num_swa_pages=14, resume=ResumeRule.ANY)
    stem = [rng.randrange(3) for _ in range(90)]
    for _ in range(12):
        run.run([*stem[: rng.randrange(1, 90)], *(rng.randrange(3) for _ in range(rng.randrange(1, 30)))], output=[1])
    state = run.explainer.state
    gating = [kind for kind in run.geometry.kinds if kind.gates]
    cut = 0
    for _ in range(20):
        asked = [*stem[: rng.randrange(1, 90)], *(rng.randrange(3) for _ in range(5))]
        there = prompt_state(state, ids(asked), "")
        lengths = range(min(there.found.common, there.found.cap) + 1)
        whole = [n for n in lengths if all(holds(there.rows[k.label] or (), needed_rows(k, n)) for k in gating)]
        usable = max(whole)
        assert usable == there.found.usable
        cut += usable < there.found.matched
    assert seed or cut, "no lookup was cut: the property said nothing"


def test_a_running_request_has_what_it_computed_and_not_what_it_took_slots_for() -> None:
    geometry, chosen = preset("recall"), options()
    driver = Driver(geometry, chosen)
    request, _ = driver.start(range(100))
    assert driver.manager.extend(request, 100) is None
    emitter = driver.manager.state.emitter
    seq, t_ns = emitter.next()
    emitter.emit(StepDone(seq=seq, t_ns=t_ns, prefill=((request, 0, 40),)))
    state = replayed(driver, geometry, chosen)
    row = request_row(state, request)
    there = prompt_state(state, request_prompt(state, row), "", row)
    assert there.rows["csa_kv"] == (Extent(0, 10),)
    assert there.rows["swa_kv"] == (Extent(0, 40),)
    assert there.path == ()


def test_a_kind_that_no_event_speaks_of_is_unknown() -> None:
    rows = resident_rows(preset("qwen3.5"), [Extent(0, 64)], [])
    assert rows["full_kv"] == (Extent(0, 64),)
    assert rows["delta_state"] is None


def test_a_request_that_was_not_submitted_is_told_with_the_event() -> None:
    _, state = walked(1, 20)
    with pytest.raises(InputError, match=f"'nobody' is not there after event {state.seq}"):
        request_row(state, "nobody")


@given(st.integers(0, 2**32))
def test_the_path_of_a_node_has_the_tokens_of_all_nodes_on_it(seed: int) -> None:
    state = walked(seed, 60)[1]
    expected: dict[int, list[int]] = {0: []}
    for node in sorted(state.node_states(), key=lambda node: node.start):
        expected[node.node] = [*expected[node.parent], *unpack_ids(node.tokens)]
        assert path_tokens(state, node.node).tolist() == expected[node.node]
