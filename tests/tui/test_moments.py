"""Screens that were on at another moment: whatever leads back to them, they show the moment that is asked for."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from boundary_logs import small_stress_log
from textual.pilot import Pilot
from tui_logs import chat_log
from tui_runs import press, run_app, screen_text, settled

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.registry import SCREENS

DIGITS = tuple(entry.key for entry in SCREENS)
TO_EVENT_40 = ("number_sign", "4", "0", "enter")
TO_THE_FIRST = ("g", "enter")
BEFORE_THE_FIRST = ("g", "enter", "less_than_sign")
AROUND = (*DIGITS, "t", "backspace", "r", "backspace", "2", "enter", "backspace", "6", "enter", "backspace", "1", "d")
"""Every screen by its number, and most of them by Enter, another key that leads there, and Backspace."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


def words_shown(app: ShadowvizApp) -> list[str]:
    """What the terminal would show, however its lines are broken."""
    return screen_text(app).split()


def seen(log: Path, before: Sequence[str], keys: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Each key with what is shown behind it, once the keys before were pressed."""
    found = []

    async def drive(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, *before)
        for key in keys:
            await press(app, pilot, key)
            app.screen.finish()
            await settled(app, pilot)
            found.append((f"{key} to {app.current_mode}", words_shown(app)))

    run_app(log, drive)
    return found


@pytest.mark.parametrize(
    ("travel", "keys"),
    [(TO_EVENT_40, AROUND), (TO_THE_FIRST, ("2", "3", "6")), (BEFORE_THE_FIRST, DIGITS)],
    ids=["e40", "e0", "before e0"],
)
def test_screens_that_were_on_at_the_end_show_the_moment_before_it(
    log: Path, travel: Sequence[str], keys: Sequence[str]
) -> None:
    visited = seen(log, [*DIGITS, *travel], keys)
    assert visited == seen(log, ["7", *travel], keys)


@pytest.mark.parametrize("travel", [("number_sign", "2", "0", "enter"), TO_THE_FIRST], ids=["e20", "e0"])
def test_a_grid_that_was_on_at_the_end_shows_the_checks_before_it(tmp_path: Path, travel: Sequence[str]) -> None:
    log = small_stress_log(tmp_path / "stress.jsonl")
    visited = seen(log, ["5", "7", *travel], ["5", "backspace", "7", "5"])
    assert visited == seen(log, ["7", *travel], ["5", "backspace", "7", "5"])


@pytest.mark.parametrize(("seq", "opens", "digits"), [(40, "slash", "127"), (-1, "slash", "2"), (-1, "colon", "236")])
def test_a_list_under_a_question_or_the_palette_goes_back_in_time_as_well(
    log: Path, seq: int, opens: str, digits: str
) -> None:
    """A question leaves all but the foot of the list in sight, the palette nothing that counts."""

    async def under(app: ShadowvizApp, pilot: Pilot) -> None:
        for digit in digits:
            app.session.live()
            await press(app, pilot, digit)
            app.session.go_to(seq)
            directly = await press(app, pilot, digit)
            app.session.live()
            await press(app, pilot, digit, opens)
            assert len(app.screen_stack) == 2
            app.session.go_to(seq)
            await settled(app, pilot)
            if opens == "slash":
                assert screen_text(app).split("\n")[:-2] == directly.split("\n")[:-2]
            assert await press(app, pilot, "escape") == directly

    run_app(log, under)
