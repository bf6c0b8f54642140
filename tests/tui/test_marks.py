"""The help tells what every mark means that a screen draws."""

from pathlib import Path

import pytest
from boundary_logs import small_stress_log
from textual.pilot import Pilot
from tui_logs import chat_log
from tui_runs import press, run_app

from shadowviz.diagrams.roles import OUTCOMES
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.models.cells import BAR_MARKS
from shadowviz.tui.themed import AppOptions
from shadowviz.tui.widgets.text_pane import TextPane


async def helped(app: ShadowvizApp, pilot: Pilot) -> list[str]:
    """Lines of the help behind the head of its marks."""
    await press(app, pilot, "question_mark")
    text = app.screen.query_one(TextPane).text
    await press(app, pilot, "escape")
    head, found, marks = text.partition("\nMarks")
    assert found, head
    return [line.strip() for line in marks.splitlines() if line.strip()]


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_every_mark_of_a_bar_and_of_a_verdict_is_told(tmp_path: Path, size: tuple[int, int], ascii_only: bool) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        lines = await helped(app, pilot)
        told = {line.split()[0] for line in lines}
        assert set(BAR_MARKS[ascii_only]) | set("HCM?") <= told
        words = app.screen.query_one("#title").text.split()
        columns = {"request", "state", "prompt", "reused", "lost", "ttft", "verdict", "[follows]", "█", "#"}
        assert columns >= set(words), "the head of the list is not cut inside a word"
        assert words.count("reused") == (2 if size == (80, 24) else 1), "where there is a bar, it is named"

    run_app(chat_log(tmp_path / "chat.jsonl"), keys, size, AppOptions(ascii=ascii_only))


def test_kinds_and_outcomes_are_told_where_they_are_drawn(tmp_path: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        for screen in ("tree", "ruler"):
            app.action_visit(screen)
            await press(app, pilot)
            lines = await helped(app, pilot)
            assert sum("rows of " in line for line in lines) == len(app.frame.opened.geometry.kinds)
            marks = {mark for line in lines for mark in line.partition("   ")[0].split()}
            assert marks >= set("▽-?◐■◉↩" if screen == "tree" else "RUMC◆═╌✗╳┊▌▲━")
        app.action_visit("events")
        await press(app, pilot)
        assert [line[0] for line in await helped(app, pilot)] == ["◆", "■"]
        app.action_visit("stress")
        await press(app, pilot)
        assert len(await helped(app, pilot)) == len(OUTCOMES) + 1

    run_app(small_stress_log(tmp_path / "stress.jsonl"), keys)


def test_every_key_of_a_step_is_told(tmp_path: Path) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "question_mark")
        lines = app.screen.query_one(TextPane).text.splitlines()
        steps = {line.split("  ")[-1].strip(): line[:18].strip() for line in lines if "events." in line}
        assert (steps["events.back"].split(), steps["events.step"].split()) == (["<,", ","], [">,", "."])

    run_app(chat_log(tmp_path / "chat.jsonl"), keys, options=AppOptions(screen="events"))
