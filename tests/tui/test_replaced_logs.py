"""A log that another takes the place of: read anew, every screen shows that one, and nothing of the one before."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from boundary_logs import small_stress_log
from textual.pilot import Pilot
from textual.widgets import Input
from tui_logs import chat_log, write_log
from tui_runs import press, run_app, same_twice, screen_text, settled

from shadowviz.sources.logfile import LogFile
from shadowviz.sources.states import LogState
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.registry import SCREENS
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.events import Event, LogClosed

OTHER = "other-"
"""Before every name of a request in the second log."""


def renamed(event: Event) -> Event:
    """The event of another run of the same course: other names, other tokens."""
    fields = msgspec.structs.asdict(event)
    if fields.get("request"):
        fields["request"] = OTHER + fields["request"]
    if fields.get("tokens"):
        fields["tokens"] = (np.frombuffer(fields["tokens"], "<i4") + 100).tobytes()
    for name in ("prefill", "decode"):
        if name in fields:
            fields[name] = tuple((OTHER + row[0], *row[1:]) for row in fields[name])
    return type(event)(**fields)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return chat_log(tmp_path / "run.jsonl")


@pytest.fixture
def other(log: Path, tmp_path: Path) -> bytes:
    """A log with as many events and as many of everything."""
    events = [renamed(event) for event in LogFile(log).events() if not isinstance(event, LogClosed)]
    return write_log(tmp_path / "other.jsonl", events, closed=True).read_bytes()


def replace(log: Path, data: bytes) -> None:
    beside = log.with_suffix(".new")
    beside.write_bytes(data)
    beside.replace(log)


async def finished(app: ShadowvizApp, pilot: Pilot) -> str:
    """What is shown once all that is read a slice a frame has been read."""
    if app.current_mode == "live":
        await same_twice(app, pilot)
    app.screen.finish()
    await settled(app, pilot)
    return screen_text(app)


async def from_the_top(app: ShadowvizApp, pilot: Pilot) -> list[str]:
    """What is shown with the cursor in the first row, however its lines are broken."""
    return (await press(app, pilot, "home")).split()


async def read_anew(app: ShadowvizApp, pilot: Pilot, data: bytes) -> None:
    replace(app.session.follower.path, data)
    await settled(app, pilot)
    assert app.frame.log is LogState.REPLACED
    await press(app, pilot, "R")
    await finished(app, pilot)
    assert app.frame.log in (LogState.CLOSED, LogState.FOLLOWING)


def screens_of(log: Path, digits: Sequence[str]) -> dict[str, str]:
    """What a fresh interface shows."""
    found = {}

    async def look(app: ShadowvizApp, pilot: Pilot) -> None:
        for digit in digits:
            await press(app, pilot, digit)
            found[digit] = await finished(app, pilot)

    run_app(log, look)
    return found


def test_every_screen_shows_the_log_that_took_the_place_of_the_one_before(log: Path, other: bytes) -> None:
    digits = [entry.key for entry in SCREENS]
    shown: dict[str, str] = {}

    async def look(app: ShadowvizApp, pilot: Pilot) -> None:
        for digit in digits:
            await press(app, pilot, digit)
        await press(app, pilot, "1")
        await read_anew(app, pilot, other)
        for digit in digits:
            await press(app, pilot, digit)
            shown[digit] = await finished(app, pilot)

    run_app(log, look)
    expected = screens_of(log, digits)
    for digit in digits:
        assert shown[digit] == expected[digit]
    assert OTHER in shown["1"]


def test_a_screen_that_is_on_while_the_log_is_read_anew_shows_it_as_well(log: Path, other: bytes) -> None:
    digits, first = [entry.key for entry in SCREENS], log.read_bytes()
    shown: dict[str, list[str]] = {}

    async def look(app: ShadowvizApp, pilot: Pilot) -> None:
        for turn, digit in enumerate(digits):
            await press(app, pilot, digit)
            await read_anew(app, pilot, first if turn % 2 else other)
            shown[digit] = await from_the_top(app, pilot)

    async def directly(app: ShadowvizApp, pilot: Pilot) -> None:
        for digit in digits:
            app.session.selection.forget()
            await press(app, pilot, digit)
            await finished(app, pilot)
            expected.setdefault(digit, await from_the_top(app, pilot))

    run_app(log, look)
    found = {}
    for data in (first, other):
        expected: dict[str, list[str]] = {}
        replace(log, data)
        run_app(log, directly)
        found[data] = expected
    for turn, digit in enumerate(digits):
        assert shown[digit] == found[first if turn % 2 else other][digit]


@pytest.mark.parametrize(("screen", "pattern"), [("live", "r4"), ("tree", "5500"), ("events", "SpanInserted")])
def test_a_filter_holds_for_the_new_log_and_what_a_search_found_is_forgotten(
    log: Path, other: bytes, screen: str, pattern: str
) -> None:
    shown = []

    async def look(app: ShadowvizApp, pilot: Pilot) -> None:
        if not shown or screen != "tree":
            await press(app, pilot, "slash")
            app.screen.query_one(Input).value = pattern
            await press(app, pilot, "enter")
        if not shown:
            await read_anew(app, pilot, other)
        await same_twice(app, pilot)
        shown.append(await from_the_top(app, pilot))

    run_app(log, look, options=AppOptions(screen=screen))
    run_app(log, look, options=AppOptions(screen=screen))
    assert shown[0] == shown[1]


def test_checks_of_a_grid_are_those_of_the_new_record(tmp_path: Path) -> None:
    log = small_stress_log(tmp_path / "stress.jsonl")
    other = log.read_bytes().replace(b'"outcome":"differs"', b'"outcome":"same"')
    shown: list[str] = []

    async def look(app: ShadowvizApp, pilot: Pilot) -> None:
        if not shown:
            await read_anew(app, pilot, other)
        shown.append(screen_text(app))

    run_app(log, look, options=AppOptions(screen="stress"))
    run_app(log, look, options=AppOptions(screen="stress"))
    assert shown[0] == shown[1]


def test_nothing_of_the_log_before_is_shown_where_the_new_one_has_not_begun(log: Path) -> None:
    digits, whole = [entry.key for entry in SCREENS], log.read_bytes()
    expected: dict[str, list[str]] = {}

    async def look(app: ShadowvizApp, pilot: Pilot) -> None:
        for digit in digits:
            await press(app, pilot, digit)
        for digit in digits:
            log.write_bytes(whole)
            await press(app, pilot, "R", digit)
            os.truncate(log, 0)
            await settled(app, pilot)
            await press(app, pilot, "R")
            assert app.frame.log is LogState.WAITING
            assert (await press(app, pilot, digit)).split() == expected[digit]

    async def wait(app: ShadowvizApp, pilot: Pilot) -> None:
        for digit in digits:
            expected[digit] = (await press(app, pilot, digit)).split()

    log.write_bytes(b"")
    run_app(log, wait)
    log.write_bytes(whole)
    run_app(log, look)
