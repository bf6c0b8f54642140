"""The list of requests by filter, when another log takes the place of the one before."""

from pathlib import Path

import msgspec
from walked_logs import LoggedWalk, write_log

from shadowviz.tui.models.request_rows import RequestRows
from shadowviz.tui.session import Session
from shadowviz_engine.core.events import LookupDone


def names_of(rows: RequestRows, session: Session) -> list[str]:
    rows.pattern = "not_stored(off)"
    rows.sync(session, session.settle())
    return [session.state.requests.names[rows.at(place)] for place in range(len(rows))]


def test_verdicts_of_another_log_are_worked_out_anew(tmp_path: Path) -> None:
    events = LoggedWalk(1, 60).events()[:-1]
    off = [
        msgspec.structs.replace(event, cache_on=False) if isinstance(event, LookupDone) else event for event in events
    ]
    first, second = Session(write_log(tmp_path / "on", events)), Session(write_log(tmp_path / "off", off))
    rows = RequestRows()
    assert names_of(rows, first) == []
    assert len(names_of(rows, second)) > 3
    first.close()
    second.close()
