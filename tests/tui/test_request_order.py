"""Orders of the live list, each worked out again from the events alone."""

from pathlib import Path

import pytest
from walked_logs import LoggedWalk, write_log

from shadowviz.tui.models.request_rows import RequestRows
from shadowviz.tui.session import Session
from shadowviz_engine.core.events import Event, LookupDone, RequestSubmitted


def figures(events: tuple[Event, ...]) -> tuple[list[str], dict[str, int], dict[str, int]]:
    """Names in order of submission; tokens of each prompt; tokens that its last lookup left to compute."""
    names, prompts, computed = [], {}, {}
    for event in events:
        if isinstance(event, RequestSubmitted):
            names.append(event.request)
            prompts[event.request] = len(event.tokens) // 4
        elif isinstance(event, LookupDone):
            computed[event.request] = event.num_prompt - event.reused
    return names, prompts, computed


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sort", ["newest", "oldest", "longest prompt", "most computed"])
def test_requests_come_in_the_order_that_is_asked_for(tmp_path: Path, seed: int, sort: str) -> None:
    events = LoggedWalk(seed, 150).events()
    names, prompts, computed = figures(events)
    newest = names[::-1]
    expected = {
        "newest": newest,
        "oldest": names,
        "longest prompt": sorted(newest, key=lambda name: -prompts[name]),
        "most computed": sorted(newest, key=lambda name: -computed.get(name, 0)),
    }[sort]
    session = Session(write_log(tmp_path / "run.jsonl", events))
    rows = RequestRows()
    rows.sort = sort
    rows.sync(session, session.settle())
    shown = [session.state.requests.names[rows.at(place)] for place in range(len(rows))]
    assert len(shown) > 5
    assert shown == expected
    assert [rows.place_of(rows.at(place)) for place in range(len(rows))] == list(range(len(rows)))
    session.close()
