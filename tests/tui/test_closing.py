"""A state that is not the one which the engine had at the end is told of, and only there."""

import msgspec
import pytest
from tui_logs import chat_log
from tui_runs import press, run_app, screen_text

from shadowviz.tui import closing
from shadowviz.tui.session import Session

WORDS = "the state shown differs from the one that the engine had at the end"


@pytest.fixture
def altered(tmp_path):
    """A log whose engine claims another state at its end."""
    path = chat_log(tmp_path / "run.jsonl")
    *lines, last = path.read_bytes().splitlines(keepends=True)
    end = msgspec.json.decode(last)
    path.write_bytes(b"".join([*lines, msgspec.json.encode(end | {"digest": "0" * 32}), b"\n"]))
    return path


def test_another_digest_is_told_in_words_at_the_end_alone(altered):
    async def keys(app, pilot):
        shown = screen_text(app)
        assert "the state shown differs" in shown
        assert WORDS in app.frame.log_words
        app.session.go_to(40)
        await press(app, pilot, "j")
        assert WORDS not in app.frame.log_words
        app.session.live()
        await press(app, pilot, "j")
        assert WORDS in app.frame.log_words

    run_app(altered, keys)


@pytest.mark.parametrize("most", [0, 5_000])
def test_nothing_is_said_of_the_same_state_nor_of_a_tree_too_large_to_compare(tmp_path, altered, monkeypatch, most):
    monkeypatch.setattr(closing, "MOST_COMPARED", most)
    session = Session(altered if not most else chat_log(tmp_path / "same.jsonl"))
    assert session.settle().log_words == ""
    session.close()
