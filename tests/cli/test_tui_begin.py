"""What `shadowviz tui` refuses before anything is drawn: one clear line, exit code 2, no file."""

import os
import sys
from pathlib import Path

import pytest
from tui_logs import chat_log

from shadowviz.cli.tui_begin import check_theme
from shadowviz.cli.tui_engine import setup_of
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.session import Session
from shadowviz_engine.core.errors import InputError


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--force", "expected -o FILE with it"),
        ("--at 3", "expected a source with it"),
        ("RUN -o x.jsonl", "expected no other source beside it"),
        ("RUN --pool-bytes 9", "expected no source beside it"),
        ("--address 127.0.0.1:0", "expected --web beside it"),
        ("--web --plain", "neither --plain nor -o"),
        ("--web -o x.jsonl", "neither --plain nor -o"),
        ("--web --force -o x.jsonl", "neither --plain nor -o"),
        ("--web --pool-bytes 9", "no --pool-bytes beside it"),
        ("RUN --plain --theme nord", "expected no --theme beside it"),
        ("RUN --plain --keys none.json", "expected no --keys beside it"),
        ("RUN --theme none", "'none' is no theme: expected one of"),
        ("RUN --theme \x1b[2J", "is no theme"),
        ("RUN --screen none", "is no screen: expected one of live, tree"),
    ],
)
def test_what_does_not_go_together_is_refused(
    command, line: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chat_log(tmp_path / "RUN")
    done = command("tui", *line.split())
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1
    assert "\x1b" not in done.err
    assert [file.name for file in tmp_path.iterdir()] == ["RUN"]


def test_every_theme_that_the_interface_offers_is_one(tmp_path: Path) -> None:
    session = Session(chat_log(tmp_path / "run.jsonl"))
    for name in ShadowvizApp(session, "run").available_themes:
        check_theme(name)
    session.close()
    check_theme("")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux alone")
def test_a_record_with_a_name_that_no_engine_can_be_told_is_refused() -> None:
    with pytest.raises(InputError, match=r"is no name in UTF-8"):
        setup_of(os.fsdecode(b"run-\xff.jsonl"), force=False, pace_s=0.0)
