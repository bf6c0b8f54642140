"""Events of kinds that this version does not know, rows that cannot be read any more, and who holds a node."""

import json
import os
from pathlib import Path

import msgspec
from cache_driver import Driver, options
from textual.pilot import Pilot
from trees import opened_of
from tui_keys import told
from tui_logs import chat_log, write_log
from tui_runs import press, run_app, settled

from shadowviz.sources.follow import Follower
from shadowviz.sources.states import LogState
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.session import Session
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.presets import preset

FUTURE = "FutureThing"


def log_of_the_future(path: Path) -> Path:
    """A log whose last event is of a kind that is not known."""
    chat_log(path, closed=False)
    seq = len(path.read_text().splitlines())
    with path.open("a") as file:
        file.write(json.dumps({"type": FUTURE, "seq": seq, "t_ns": 0, "rank": 0}) + "\n")
    return path


def test_a_breakpoint_on_an_unknown_kind_is_refused_in_words(tmp_path: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "G", "b")
        assert "does not know events of that kind" in told(app)[-1]
        assert not app.screen.view.stops
        await press(app, pilot, "n", "N")
        assert "b sets a breakpoint" in told(app)[-1]

    run_app(log_of_the_future(tmp_path / "run.jsonl"), keys, options=AppOptions(screen="events"))


def test_events_of_an_unknown_kind_are_looked_for_in_vain(tmp_path: Path) -> None:
    follower = Follower(log_of_the_future(tmp_path / "run.jsonl"))
    follower.index(float("inf"))
    assert follower.next_of([FUTURE], -1) is None
    assert follower.previous_of([FUTURE], follower.head) is None
    assert follower.next_of([FUTURE, "LogOpened"], -1) == 0
    follower.close()


def test_a_click_on_an_event_that_was_cut_off_says_so_and_ends_nothing(tmp_path: Path) -> None:
    log = chat_log(tmp_path / "run.jsonl", closed=False)

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        os.truncate(log, 200)
        await settled(app, pilot)
        assert app.frame.log is LogState.TRUNCATED
        view = app.screen.view
        for _ in range(2):
            await pilot.click(view, offset=(20, 3))
            await pilot.pause()
        assert "[1 Live]" in await press(app, pilot, "1")

    run_app(log, keys, options=AppOptions(screen="events"))


def test_whoever_holds_a_node_holds_the_part_before_a_split_as_well(tmp_path: Path) -> None:
    geometry, chosen = preset("v4-flash"), options(num_swa_pages=14)
    driver, shared = Driver(geometry, chosen), list(range(1_000, 2_024))
    fields = msgspec.structs.asdict(opened_of(geometry, chosen))
    driver._emit(LogOpened, **{name: value for name, value in fields.items() if name not in ("seq", "t_ns", "rank")})
    driver.run([*shared, *range(5_000, 5_300)], output=range(9_000, 9_010))
    holder, _ = driver.start([*shared, *range(5_000, 5_300), *range(8_000, 8_300)])
    driver.prefill(holder, 1_024)
    # Another prompt parts from it inside what it holds: the part before that is a node with a higher number.
    driver.run([*shared[:512], *range(7_000, 7_600)], output=range(9_100, 9_110))
    log = write_log(tmp_path / "run.jsonl", driver.events, closed=False)
    session = Session(log)
    session.settle()
    nodes = session.state.nodes
    session.close()
    locked = [node for node in range(1, len(nodes)) if nodes.alive[node] and nodes.locks[node]]
    assert any(nodes.parent[node] > node for node in locked), "one was split"

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        for node in locked:
            app.screen._go(node)
            await settled(app, pilot)
            (line,) = [line for line in app.screen.inspector.text.split("\n") if line.startswith("locks")]
            assert line.split()[1:] == ["1,", "by", holder]

    run_app(log, keys, options=AppOptions(screen="tree"))
