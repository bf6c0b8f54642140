"""The request that the diff compares with is the one that the explanation names, for every request of a run."""

import re
from math import inf
from pathlib import Path

import pytest
from scripted_runs import record
from tui_logs import chat_log
from tui_runs import press, run_app, settled

from shadowviz.replay.explain import Explanation, explain_events
from shadowviz.sources.logfile import LogFile
from shadowviz.tokens.words import words_of
from shadowviz.tui.models.comparison import rival_of
from shadowviz.tui.plain import plain_lines
from shadowviz.tui.session import Session
from shadowviz_engine.core.verdict import Verdict

ABOUT = {
    Verdict.OTHER_NAMESPACE: r"are stored by (\S+) under namespace",
    Verdict.EVICTED: r"of it, stored by (\S+), are remembered as gone",
    Verdict.NOT_STORED: r"(?:of it, stored by|gone: computed by) (\S+?),? (?:are|but)",
    Verdict.IN_FLIGHT: r"being computed by (\S+) at",
}
"""What the sentences of `shadowviz why` say of the request that a verdict is about."""
NEAREST = (
    r"it parts from a stored path \(node n\d+, stored by (\S+?)(?: as its output)?\)",
    r"equal to a stored path \(node n\d+, stored by (\S+?)\)",
    r"being computed by (\S+) at",
)
KNOWN = {
    "demo": {
        "library-2": "library-1",
        "inbox-2": "inbox-1",
        "log-follow-up": "log-1",
        "log-follow-up-2": "log-follow-up",
        "inbox-two-marks": "inbox-1",
        "library-effort": "library-1",
        "log-harbour-office": "log-1",
        "plain-text": "library-1",
    },
    "tour": {
        "inbox-of-the-clerks": "inbox",
        "first-of-all-again": "first-of-all",
        "pupil-at-once": "pupil",
        "asked-again": "given-up",
        "asked-after-flush": "asked-again",
    },
}


def named(explanation: Explanation) -> str:
    """The request that the sentences of an explanation name, those about the verdict before others."""
    text = "\n".join(fact.text for fact in explanation.facts)
    about = ABOUT.get(explanation.verdict.verdict)
    for pattern in (*((about,) if about else ()), *NEAREST):
        found = re.search(pattern, text)
        if found:
            return found[1]
    return ""


@pytest.fixture(scope="module", params=["demo", "tour"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    return request.param, record(request.param, tmp_path_factory.mktemp("runs"))


def test_the_partner_of_every_request_is_the_one_that_its_explanation_names(run: tuple[str, Path]) -> None:
    script, path = run
    log = LogFile(str(path))
    expected = {found.request: named(found) for found in explain_events(log.events(), words_of(log.opened))}
    session = Session(path)
    session.settle()
    partners = {name: rival_of(session, name, inf).name for name in session.state.requests.names}
    assert partners == expected
    assert partners.items() >= KNOWN[script].items()
    assert sum(map(bool, partners.values())) == len(partners) - 1
    session.close()


def test_the_partner_is_the_same_at_every_moment_from_the_lookup_on(run: tuple[str, Path]) -> None:
    _, path = run
    session = Session(path)
    session.settle()
    head, state = session.timeline.at, session.state
    at_the_end = {
        name: (state.requests.lookup[row], rival_of(session, name, inf)) for name, row in state.requests.index.items()
    }
    for name, (seq, rival) in list(at_the_end.items())[::4]:
        for moment in (seq, (seq + head) // 2, head):
            session.go_to(moment)
            session.settle()
            assert rival_of(session, name, inf) == rival
        session.go_to(seq - 1)
        session.settle()
        assert not rival_of(session, name, inf).name
    session.close()


def test_a_request_that_met_nothing_is_compared_with_nothing_and_says_so(tmp_path: Path) -> None:
    log = chat_log(tmp_path / "run.jsonl")
    met_nothing = "When B was looked up, nothing like B was stored or being computed"

    async def keys(app, pilot):
        await press(app, pilot, "G", "d")
        app.screen.finish()
        await settled(app, pilot)
        assert app.screen._names == ("", "r1")
        told = app.screen.inspector.text
        assert met_nothing in told
        assert "Name a second prompt with A." in told

    run_app(log, keys)
    session = Session(log)
    session.selection.select(request="r1")
    assert met_nothing in "\n".join(plain_lines(session, "diff", 80, ascii_only=True))
    session.close()
