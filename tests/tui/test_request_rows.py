"""The list of requests by filter and order, which know a verdict only once it is sure."""

from math import inf
from pathlib import Path

import msgspec
import pytest
from scripted_runs import record
from textual.theme import BUILTIN_THEMES
from tui_runs import run_app, screen_text, settled, until
from walked_logs import LoggedWalk, write_log

from shadowviz.tui.models.request_rows import RequestRows
from shadowviz.tui.session import Session
from shadowviz.tui.widgets.look import look_of
from shadowviz.tui.widgets.request_view import verdict_cells
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import LookupDone


def names_of(rows: RequestRows, session: Session, pattern: str) -> list[str]:
    """What the list has once all is explained; on the way there it only gains requests."""
    rows.pattern = pattern
    shown: set[str] = set()
    frame = session.settle()
    while True:
        rows.sync(session, frame)
        names = [session.state.requests.names[rows.at(place)] for place in range(len(rows))]
        assert shown <= set(names), "requests only come"
        shown = set(names)
        if not rows.num_open:
            return names
        rows.learn(session, 0.001)


def labels_of(session: Session) -> dict[str, str]:
    """Name, namespace, state and verdict of every request, each explained."""
    found = {}
    for facts in map(session.request, range(len(session.state.requests))):
        explanation = session.explain(facts.lookup.seq, inf) if facts.lookup is not None else None
        label = explanation.verdict.label if explanation is not None else ""
        found[facts.name] = f"{facts.name} {facts.namespace} {facts.state} {label}".lower()
    return found


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record("demo", tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize(
    "pattern", ["tokens_differ", "cold", "done full_hit", "inbox", "crlf", "library-1", "log tokens_differ(t"]
)
def test_a_filter_lets_those_through_whose_explanation_has_its_words(demo: Path, pattern: str) -> None:
    session, other = Session(demo), Session(demo)
    other.settle()
    labels = labels_of(other)
    expected = [name for name, text in labels.items() if all(word in text for word in pattern.split())]
    assert names_of(RequestRows(), session, pattern) == expected[::-1]
    assert expected
    session.close()
    other.close()


def test_all_that_parts_from_what_is_stored_is_found_and_nothing_else_is_called_cold(demo: Path) -> None:
    session = Session(demo)
    assert len(names_of(RequestRows(), session, "tokens_differ")) == 7
    cold = names_of(RequestRows(), session, "cold")
    assert {"cafe-decomposed", "log-edited", "log-crlf"}.isdisjoint(cold)
    session.close()


def test_names_that_no_verdict_can_have_leave_most_requests_unexplained(demo: Path) -> None:
    session = Session(demo)
    assert names_of(RequestRows(), session, "log-edited") == ["log-edited"]
    lookups = list(session.timeline.chronicle.lookups)
    assert sum(session.timeline.explained(seq) is not None for seq in lookups) < len(lookups) // 4
    session.close()


def test_requests_are_sorted_by_loss_and_by_time_to_the_first_token(demo: Path) -> None:
    session, rows = Session(demo), RequestRows()
    for sort, of in (("most lost", loss_of), ("longest TTFT", lambda session, row: session.request(row).ttft_ms)):
        rows.sort = sort
        assert len(names_of(rows, session, "")) == len(session.state.requests)
        measured = [of(session, rows.at(place)) for place in range(len(rows))]
        assert measured == sorted(measured, reverse=True)
        assert len(set(measured)) > 5
    session.close()


def loss_of(session: Session, row: int) -> int:
    lookup = session.request(row).lookup
    assert lookup is not None
    explanation = session.explain(lookup.seq, inf)
    assert explanation is not None
    return explanation.lost


def test_the_title_counts_what_is_not_explained_until_all_is_listed(demo: Path) -> None:
    async def keys(app, pilot):
        live = app.screen
        live._rows.pattern = "tokens_differ"
        live._rows.sync(app.session, app.frame)
        title = "".join(part.text for part in live.title_segments(80))
        assert f"  [{live._rows.num_open} not explained yet, /tokens_differ" in title[:80]
        app.tick()
        await until(app, pilot, lambda: not live.is_working, "all explanations")
        await settled(app, pilot)
        shown = screen_text(app)
        assert "not explained yet" not in shown
        assert shown.count("TOKENS_DIFFER(") >= 7

    run_app(demo, keys, (80, 24))


def test_a_verdict_that_may_change_is_not_shown_before_it_is_known(demo: Path) -> None:
    session = Session(demo)
    session.settle()
    plain = look_of(BUILTIN_THEMES["textual-dark"], ascii_only=True)
    num_open = 0
    for row in range(len(session.state.requests)):
        lookup = session.request(row).lookup
        assert lookup is not None
        before = verdict_cells(session, session.request(row), plain)
        is_sure = session.verdict(lookup).sure
        num_open += not is_sure
        explanation = session.explain(lookup.seq, inf)
        assert explanation is not None
        after = verdict_cells(session, session.request(row), plain)
        assert (after.words, after.lost) == (explanation.verdict.label, explanation.lost)
        assert before == (after if is_sure else (" ", "...", 0, plain.muted))
    assert num_open > 10
    session.close()


def test_a_verdict_of_which_the_record_does_not_say_what_it_met_keeps_its_question_mark(tmp_path: Path) -> None:
    events = LoggedWalk(1, 120).events()[:-1]
    session = Session(write_log(tmp_path / "run", events))
    session.settle()
    rows = [session.request(row) for row in range(len(session.state.requests))]
    unsure = next(facts for facts in rows if facts.lookup is not None and not session.verdict(facts.lookup).sure)
    # Its node is one that never was: the event can be read, and what it met not be found.
    gone = msgspec.structs.replace(unsure.lookup, near=10**6)
    session.follower.event_at = lambda seq: gone if seq == gone.seq else events[seq]  # type: ignore[method-assign]
    with pytest.raises(LogError):
        session.explain(gone.seq, inf)
    cells = verdict_cells(session, unsure, look_of(BUILTIN_THEMES["textual-dark"], ascii_only=True))
    assert cells.words.startswith(f"{session.verdict(gone).finding.label}?")
    assert cells.lost == 0
    session.close()


def test_verdicts_of_another_log_are_worked_out_anew(tmp_path: Path) -> None:
    events = LoggedWalk(1, 60).events()[:-1]
    off = [
        msgspec.structs.replace(event, cache_on=False) if isinstance(event, LookupDone) else event for event in events
    ]
    first, second = Session(write_log(tmp_path / "on", events)), Session(write_log(tmp_path / "off", off))
    rows = RequestRows()
    assert names_of(rows, first, "not_stored(off)") == []
    assert len(names_of(rows, second, "not_stored(off)")) > 3
    first.close()
    second.close()
