"""The engine of the terminal interface: the tour's, or one with room for prompts of the user's own."""

from pathlib import Path

import pytest
from cli_runs import Command
from tui_processes import wait_for

from shadowviz.cli.tui_engine import EngineFile, start_engine
from shadowviz.sources.logfile import LogFile
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import LookupDone

TOO_LONG = 5_000
"""Tokens that have no room in the pools of the tour."""


def test_an_engine_of_ones_own_takes_what_the_tour_has_no_room_for_and_knows_what_is_cold(tmp_path: Path) -> None:
    child = start_engine(EngineFile("", False, 64 << 20), tmp_path)
    answers = []

    def answered() -> bool:
        answers.extend(answer for answer in child.poll() if answer.id >= 0)
        return len(answers) == 1

    try:
        child.submit({"token_ids": [5] * TOO_LONG, "max_tokens": 1})
        wait_for(answered, "the answer")
        assert answers[0].taken, answers[0].words
        wait_for(lambda: any(isinstance(one, LookupDone) for one in LogFile(child.log).events()), "the lookup")
    finally:
        child.close()
    lookups = [event for event in LogFile(child.log).events() if isinstance(event, LookupDone)]
    # No tour has run before it, so nothing has been forgotten.
    assert [(one.num_prompt, one.ghost_overflowed) for one in lookups] == [(TOO_LONG, False)]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("run.jsonl",), "expected no source beside it"),
        (("--web",), "expected no --pool-bytes beside it"),
        (("--plain",), "expected a terminal to type them in"),
        ((), "expected a terminal to type them in"),
    ],
)
def test_room_is_for_the_engine_of_a_terminal_alone(command: Command, more: tuple[str, ...], words: str) -> None:
    done = command("tui", "--pool-bytes", "1000000", *more)
    assert done.code == 2
    assert words in done.err


@pytest.mark.parametrize("more", [(), ("--pool-bytes", "1000000"), ("--force",)])
def test_a_record_that_cannot_be_read_back_is_refused_at_once(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to("/dev/full")
    for name in ("/dev/full", "link"):
        with pytest.raises(InputError, match="no regular file"):
            start_engine(EngineFile(name, "--force" in more, len(more) == 2), tmp_path)
    assert "no regular file" in command("tui", "-o", "/dev/full").err
