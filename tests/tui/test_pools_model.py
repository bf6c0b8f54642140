"""Rows by kind and what fits, beside a count row by row."""

import pytest
from walked_logs import LoggedWalk

from shadowviz.tui.models.pools_model import fits, kind_fills, spark
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.replayer import Replayer


def states(seed: int) -> list[Replayer]:
    events = LoggedWalk(seed, 120).events()
    found = []
    for stop in range(20, len(events), 60):
        state = Replayer()
        for event in events[:stop]:
            state.apply(event)
        found.append(state)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_rows_by_kind_are_those_counted_node_by_node(seed: int) -> None:
    for state in states(seed):
        opened = state.opened
        assert opened is not None
        for fill in kind_fills(state, opened):
            kind = opened.geometry.kind(fill.kind)
            runs_of = state.full_runs if fill.pool == "full" else state.swa_runs
            tree = locked = 0
            for node in range(1, len(state.nodes)):
                for start, stop, _ in runs_of(node) if state.nodes.alive[node] else ():
                    closes = (
                        t for t in range(start, stop) if kind.shape is not Shape.RANGE or (t + 1) % kind.unit == 0
                    )
                    num = sum(1 for _ in closes)
                    tree += num
                    locked += num if state.nodes.locks[node] else 0
            assert (fill.tree, fill.locked) == (tree, locked), fill.kind


def test_sessions_fit_as_their_pages_do() -> None:
    opened = LogOpened(
        seq=0, t_ns=0, schema=1, geometry=preset("v4-flash"), policy="lru", num_full_pages=1000, num_swa_pages=30
    )
    by_length = {fit.length: fit for fit in fits(opened)}
    assert by_length[4096].full == 1000 // (4096 // 256)
    # The window of 128 tokens before a whole page lies in one page.
    assert by_length[4096].swa == 30
    assert by_length[4096].sessions == 30
    assert by_length[1_048_576].sessions == 0
    assert by_length[4096].num_bytes > 0


def test_a_pool_whose_pages_are_not_known_has_no_figure() -> None:
    opened = LogOpened(seq=0, t_ns=0, schema=1, geometry=preset("v4-flash"), policy="lru", num_full_pages=1000)
    found = fits(opened)
    assert {fit.swa for fit in found} == {None}
    assert [fit.sessions for fit in found] == [fit.full for fit in found]


def test_bars_rise_with_their_values_and_a_gap_is_a_blank() -> None:
    assert spark([0.0, 0.5, 1.0, None], ascii_only=False) == "▁▅█ "
    assert spark([0.0, 1.0, None], ascii_only=True) == ".% "
