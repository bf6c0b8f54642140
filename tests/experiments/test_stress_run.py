"""A stress run: several processes, one record, and the same cells however often it is stopped and taken up."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from shadowviz.experiments.stress.plans import Asked, plans_of
from shadowviz.experiments.stress.record import ContinuedRecord, Record, progress_of
from shadowviz.experiments.stress.run import StressRun
from shadowviz.experiments.stress.work import Plan
from shadowviz.sources.logfile import LogFile
from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted, Event, LogClosed, LogOpened
from shadowviz_engine.core.log_reader import read_log

SMALL = Asked(subjects=("recall", "random:3"), levels=("arithmetic",), lengths="1:61", modes=("derive", "resume"))
CELLS = 2 * 2 * 60
"""Subjects, modes and lengths."""


def run(path: Path, stop_after: int | None = None, jobs: int = 2) -> list[Event]:
    """Events of a run that is recorded, and stopped after so many checks."""
    return watched(StressRun(plans_of(SMALL), Record(str(path)), jobs), stop_after)


def go_on(path: Path, stop_after: int | None = None) -> list[Event]:
    progress = progress_of(str(path))
    return watched(StressRun(progress.plans, ContinuedRecord(str(path), progress), 2), stop_after)


def watched(stress: StressRun, stop_after: int | None) -> list[Event]:
    events: list[Event] = []
    for event in stress.events():
        events.append(event)
        if len(cells(events[-1:])) and len(cells(events)) == stop_after:
            stress.stop()
    return events


def cells(events: Iterable[Event]) -> list[tuple[str, str, int, str]]:
    checks = [event for event in events if isinstance(event, BoundaryChecked)]
    return [(check.subject, check.mode, check.length, check.outcome) for check in checks]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a run that nobody stopped."""
    path = tmp_path_factory.mktemp("whole") / "stress.jsonl"
    run(path)
    return path


def test_a_run_checks_every_cell_once_and_records_what_it_gives(whole: Path) -> None:
    events = list(read_log(whole))
    assert isinstance(events[0], LogOpened)
    assert isinstance(events[-1], LogClosed)
    started = [event for event in events if isinstance(event, BoundaryStressStarted)]
    assert [(event.subject, event.cells) for event in started] == [("recall", 120), ("random:3", 120)]
    expected = {(subject, mode, length, "same") for subject in ("recall", "random:3") for mode in ("derive", "resume")
                for length in range(1, 61)}  # fmt: skip
    assert Counter(cells(events)) == Counter(expected)


def test_a_record_is_a_log_that_replays_to_its_digest(whole: Path) -> None:
    log = LogFile(whole)
    log.replay()
    assert log.summary.complete


def test_one_process_and_several_come_to_the_same(whole: Path, tmp_path: Path) -> None:
    alone = run(tmp_path / "alone.jsonl", jobs=1)
    assert Counter(cells(alone)) == Counter(cells(read_log(whole)))


@pytest.mark.parametrize("stop_after", [1, 100, CELLS - 1])
def test_a_run_that_was_stopped_goes_on_to_the_same_cells(stop_after: int, whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "stopped.jsonl"
    stopped = cells(run(path, stop_after))
    assert stop_after <= len(stopped)
    assert LogFile(path).summary.complete, "what is on record is whole"
    assert Counter(cells(read_log(path))) == Counter(stopped)
    shown = cells(go_on(path))
    assert shown[: len(stopped)] == stopped, "what was done before comes first"
    assert Counter(cells(read_log(path))) == Counter(shown) == Counter(cells(read_log(whole)))
    assert LogFile(path).summary.complete


def test_a_run_can_be_stopped_and_taken_up_again_and_again(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "stopped.jsonl"
    run(path, 1)
    for _ in range(20):
        if progress_of(str(path)).complete:
            break
        go_on(path, len(cells(read_log(path))) + 60)
    assert Counter(cells(read_log(path))) == Counter(cells(read_log(whole)))
    times = [event.t_ns for event in read_log(path)]
    assert times == sorted(times)


@pytest.mark.parametrize("lost", [1, 40, 4000])
def test_a_record_that_was_torn_off_is_taken_up(lost: int, whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    path.write_bytes(whole.read_bytes()[:-lost])
    go_on(path)
    assert Counter(cells(read_log(path))) == Counter(cells(read_log(whole)))
    assert LogFile(path).summary.complete


def test_a_complete_record_is_read_and_left_as_it_is(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "copy.jsonl"
    path.write_bytes(whole.read_bytes())
    assert cells(go_on(path)) == cells(read_log(whole))
    assert path.read_bytes() == whole.read_bytes()


def test_a_record_is_taken_up_by_one_run_at_a_time(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    path.write_bytes(whole.read_bytes()[:-400])
    progress = progress_of(str(path))
    first = ContinuedRecord(str(path), progress)
    with pytest.raises(LogError, match="is being written by another run"):
        ContinuedRecord(str(path), progress)
    first.discard()
    assert path.read_bytes() == whole.read_bytes()[:-400]
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_record_of_something_else_is_refused(tmp_path: Path, repository: Path) -> None:
    with pytest.raises(InputError, match="is no record of a stress run: event 1 is a RequestSubmitted"):
        progress_of(str(repository / "fixtures" / "logs" / "schema-1.jsonl"))


def test_a_record_of_other_cells_than_this_version_has_is_refused(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(whole.read_bytes().replace(b'"cells":120', b'"cells":140'))
    before = path.read_bytes()
    with pytest.raises(InputError, match="was begun with 140 cells of arithmetic on recall, and this version has 120"):
        go_on(path)
    assert path.read_bytes() == before


def test_a_plan_that_cannot_run_is_said_before_anything_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "none.jsonl"
    plans = plans_of(Asked(subjects=("recall", "no-such"), levels=("arithmetic",)))
    with pytest.raises(InputError, match="no geometry is called 'no-such'"):
        watched(StressRun(plans, Record(str(path)), 1), None)
    assert not path.exists()


def test_two_subjects_of_one_name_are_refused(tmp_path: Path) -> None:
    plan = Plan(level="arithmetic", subject="recall", lengths=((1, 3),))
    with pytest.raises(InputError, match="are both called recall"):
        watched(StressRun([plan, plan], Record(), 1), None)
