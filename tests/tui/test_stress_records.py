"""What befalls the record of a stress run while the run writes it is told, and nothing else is taken for it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from boundary_logs import small_stress_log
from tui_processes import PATIENCE_S, wait_for

from shadowviz.tui.stress_checks import StressChecks
from shadowviz.tui.stress_run import StressRun
from shadowviz.tui.stress_words import stand_of, stand_words


class Shown:
    """A run, and the checks of it that are shown."""

    def __init__(self, arguments: list[str], record: Path) -> None:
        self.run, self.checks = StressRun(arguments, record), StressChecks()

    @property
    def words(self) -> str:
        """What the screen says of it."""
        self.run.poll()
        if self.run.session is None:
            return ""
        self.run.session.tick(PATIENCE_S)
        follower = self.run.session.follower
        self.checks.sync(follower, follower.head, None, PATIENCE_S)
        return stand_words(stand_of(self.checks, self.run, follower.state, follower.head), "x", "c", "n")

    def stop(self) -> None:
        """End it, and wait until it has ended."""
        self.run.stop()
        wait_for(lambda: self.run.poll() is None and not self.run.state.alive, "its end")


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[Shown]:
    record = tmp_path / "run.jsonl"
    found = Shown(["stress", "v4-flash", "--level", "arithmetic", "--lengths", "1:60001", "-o", str(record)], record)
    wait_for(lambda: found.words.startswith("RUNNING"), "the first checks")
    yield found
    found.run.close()


def removed(record: Path) -> None:
    record.unlink()


def replaced(record: Path) -> None:
    small_stress_log(record.with_name("other.jsonl")).replace(record)


def cut(record: Path) -> None:
    os.truncate(record, 3_000)


@pytest.mark.parametrize(
    ("befall", "loss"), [(removed, "moved or removed"), (replaced, "replaced by another file"), (cut, "cut off")]
)
def test_a_record_that_is_lost_is_told_and_not_gone_on_with(
    shown: Shown, befall: Callable[[Path], None], loss: str
) -> None:
    befall(shown.run.record)
    assert shown.words == f"RUNNING, but its record was {loss}: what it checks is lost; x stops it"
    shown.stop()
    assert shown.words == f"STOPPED, but its record was {loss}: there is nothing to go on with"


def test_closing_a_run_whose_record_is_lost_advises_nothing_that_cannot_work(shown: Shown) -> None:
    record = shown.run.record
    removed(record)
    assert shown.run.close() == f"the stress run was stopped; its record {record} was moved or removed meanwhile"


def test_a_run_that_goes_on_takes_the_place_of_its_record_once(shown: Shown) -> None:
    shown.stop()
    shown.run.close()
    record = shown.run.record
    again = Shown(["stress", "--continue", str(record)], record)
    wait_for(lambda: again.words.startswith(("RUNNING, no finding", "RUNNING, about")), "it")
    replaced(record)
    assert "replaced by another file" in again.words
    assert "replaced by another file" in again.words
    again.run.close()
