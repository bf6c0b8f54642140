"""Without a terminal and without a record, the tour is run to its end and printed."""

from pathlib import Path

import pytest

from shadowviz.cli.main import main
from shadowviz_engine.core.log_reader import read_log


def test_the_tour_is_printed_at_its_end_and_its_record_kept_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "tour.jsonl"
    assert main(["tui", "-o", str(kept)]) == 0
    printed = capsys.readouterr()
    assert "no terminal to draw in" in printed.err
    for verdict in ("COLD", "FULL_HIT", "CUT_BY_SWA", "IN_FLIGHT", "NOT_STORED(flush)"):
        assert verdict in printed.out
    reader = read_log(kept)
    assert [type(event).__name__ for event in reader][-1] == "LogClosed"
    assert main(["tui", str(kept), "--plain"]) == 0
    again = capsys.readouterr()
    assert (again.out, again.err) == (printed.out, "")


def test_a_record_that_is_there_is_not_replaced_by_a_tour(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("mine")
    assert main(["tui", "--plain", "-o", str(there)]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert there.read_text() == "mine"
