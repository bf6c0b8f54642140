"""The list of requests by filter, when another log takes the place of the one before."""

from pathlib import Path

from walked_logs import LoggedWalk, write_log

from shadowviz.tui.models.request_rows import RequestRows
from shadowviz.tui.session import Session


def rows_of(rows: RequestRows, session: Session, pattern: str) -> list[int]:
    rows.pattern = pattern
    rows.sync(session, session.settle())
    return [rows.at(place) for place in range(len(rows))]


def test_verdicts_of_another_log_are_worked_out_anew(tmp_path: Path) -> None:
    first, second = (Session(write_log(tmp_path / f"{seed}.jsonl", LoggedWalk(seed, 60).events())) for seed in (1, 2))
    kept, num_changed = RequestRows(), 0
    for pattern in ("cold", "full_hit", "cut_by", "too_short", "page_aligned"):
        before = rows_of(kept, first, pattern)
        after = rows_of(kept, second, pattern)
        assert after == rows_of(RequestRows(), second, pattern)
        num_changed += after != before
    assert num_changed > 1
    first.close()
    second.close()
