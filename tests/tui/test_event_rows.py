"""Rows of the list of events: all of them, or what a filter lets through."""

from contextlib import closing
from pathlib import Path

from walked_logs import LoggedWalk, lines_of, write_log

from shadowviz.sources.follow import Follower
from shadowviz.tui.models.event_rows import EventRows
from shadowviz.tui.models.event_words import event_fields, event_words, meaning
from shadowviz_engine.core.events import RequestSubmitted


def filled(follower: Follower, pattern: str) -> EventRows:
    rows = EventRows(follower, pattern)
    while rows.looked < 1:
        rows.sync(0.001)
    return rows


def test_without_a_filter_every_event_has_its_row(tmp_path: Path) -> None:
    events = LoggedWalk(2, 80).events()
    with closing(Follower(write_log(tmp_path / "run.jsonl", events))) as follower:
        rows = EventRows(follower)
        assert len(rows) == len(events)
        assert [rows.at(row) for row in range(len(rows))] == list(range(len(events)))
        assert rows.row_of(17) == 17


def test_a_filter_leaves_the_events_that_hold_every_word(tmp_path: Path) -> None:
    events = LoggedWalk(2, 80).events()
    follower = Follower(write_log(tmp_path / "run.jsonl", events))
    for pattern in ("spaninserted", "LookupDone reused", "n3 ", "slots swa", "no such thing"):
        rows = filled(follower, pattern)
        words = pattern.lower().split()
        expected = [e.seq for e in events if all(word in event_words(e).searched for word in words)]
        assert [rows.at(row) for row in range(len(rows))] == expected
        for seq in range(len(events)):
            assert rows.has(seq) == (seq in expected)
            before = [place for place, found in enumerate(expected) if found <= seq]
            assert rows.row_of(seq) == (before[-1] if before else 0)
    assert len(filled(follower, "spaninserted")) > 0
    follower.close()


def test_a_filter_goes_on_with_a_log_that_grows(tmp_path: Path) -> None:
    events = LoggedWalk(3, 60).events()
    path = tmp_path / "run.jsonl"
    path.write_bytes(lines_of(events[:50]))
    follower = Follower(path)
    rows = filled(follower, "lookupdone")
    before = len(rows)
    path.write_bytes(lines_of(events))
    follower.poll()
    assert rows.sync(10.0) or before == sum(type(e).__name__ == "LookupDone" for e in events)
    assert len(rows) == sum(type(e).__name__ == "LookupDone" for e in events)
    follower.close()


def test_every_event_has_words_fields_and_a_meaning() -> None:
    for event in LoggedWalk(5, 120).events():
        words = event_words(event)
        assert words.kind == type(event).__name__
        assert meaning(event).endswith(".")
        assert all(name not in ("seq", "t_ns") for name, _ in event_fields(event))


def test_what_a_record_says_is_shown_inert() -> None:
    event = RequestSubmitted(seq=0, t_ns=0, request="\x1b[31mred\u202e", tokens=b"", namespace="[bold]\x07")
    words = event_words(event)
    assert "\x1b" not in words.request + words.about
    assert "\u202e" not in words.request
    assert all("\x07" not in value for _, value in event_fields(event))
