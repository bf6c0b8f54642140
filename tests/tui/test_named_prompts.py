"""What the diff screen takes a name for, and that reading it holds up no key."""

import os
import threading
from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui_logs import chat_log
from tui_runs import press, run_app, screen_text, settled, until

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.models import comparison
from shadowviz.tui.models.comparison import Comparison
from shadowviz_engine.core.presets import preset


def test_a_request_that_is_not_there_at_the_moment_shown_is_never_taken_for_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r3").write_text("a file that has the name of a request")

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        app.session.selection.select(request="r5", rival="r3")
        app.session.go_to(3)
        await settled(app, pilot)
        await press(app, pilot, "4")
        await settled(app, pilot)
        assert "there is no request 'r" in screen_text(app)
        assert "a file that has" not in screen_text(app)

    run_app(chat_log(tmp_path / "run.jsonl"), keys, (120, 30))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_a_file_that_gives_nothing_yet_holds_up_no_key(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "4")
        app.screen._set_name("a", "text:one prompt")
        app.screen._set_name("b", f"file:{pipe}")
        await pilot.pause()
        assert "being compared" in screen_text(app)
        await press(app, pilot, "6")
        assert app.current_mode == "pools"
        await press(app, pilot, "4")
        writer = threading.Thread(target=pipe.write_text, args=("another prompt",))
        writer.start()
        await until(app, pilot, lambda: "being compared" not in screen_text(app))
        writer.join()
        assert "{+another+} prompt" in screen_text(app)

    run_app(chat_log(tmp_path / "run.jsonl"), keys, (120, 30))


def test_a_comparison_that_fails_otherwise_than_foreseen_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(comparison, "compared", fault)
    found = Comparison("text:one", "text:two", preset("tiny"))
    found.wait()
    assert found.fault == "they cannot be compared: RecursionError: too deep"
    assert found.answer is None
