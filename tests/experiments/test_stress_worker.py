"""The processes that check cells: what they answer, and what becomes of a run whose process ends."""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from shadowviz.experiments.stress import pool
from shadowviz.experiments.stress.plans import Asked, plans_of
from shadowviz.experiments.stress.record import ContinuedRecord, Record, progress_of
from shadowviz.experiments.stress.run import StressRun
from shadowviz.experiments.stress.wire import Check, Checked, Failed, Prepare, Ready, Reply, Results, reply_of, to_line
from shadowviz.experiments.stress.work import CellResult, Group, Plan
from shadowviz.experiments.stress.worker import Desk, plain
from shadowviz_engine.core.errors import InvariantError
from shadowviz_engine.core.events import BoundaryChecked
from shadowviz_engine.core.log_reader import read_log

PLAN = Plan(level="arithmetic", subject="recall", lengths=((1, 20),), modes=("resume",))
GROUP = Group("resume", (3, 4))


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that a pool begins meanwhile."""
    found: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)
            found.append(self)

    monkeypatch.setattr(pool.subprocess, "Popen", Noted)
    yield found
    assert all(process.returncode is not None for process in found), "no process outlives its run"


def test_a_plan_is_answered_with_its_groups_and_a_group_with_its_results() -> None:
    desk = Desk()
    (ready,) = desk.answers(Prepare(plan=5, asked=PLAN))
    assert isinstance(ready, Ready)
    assert (ready.plan, ready.subject) == (5, "recall")
    assert [length for group in ready.groups for length in group.lengths] == list(range(1, 20))
    *results, last = desk.answers(Check(plan=5, asked=PLAN, group=GROUP))
    assert last == Checked(plan=5)
    cells = [cell for one in results if isinstance(one, Results) for cell in one.cells]
    assert cells == [CellResult(mode="resume", length=3), CellResult(mode="resume", length=4)]


@pytest.mark.parametrize("field", [{"subject": "nothing"}, {"level": "nothing"}, {"modes": ("nothing",)}])
def test_a_plan_that_cannot_run_is_answered_with_why(field: dict[str, object]) -> None:
    (reply,) = Desk().answers(Prepare(plan=0, asked=msgspec.structs.replace(PLAN, **field)))
    assert isinstance(reply, Failed)
    assert "nothing" in reply.error
    assert reply.exit_code == 2


def test_every_message_is_the_same_behind_the_pipe() -> None:
    replies: list[Reply] = list(Desk().answers(Check(plan=1, asked=PLAN, group=GROUP)))
    replies += Desk().answers(Prepare(plan=1, asked=PLAN))
    assert [reply_of(to_line(reply)) for reply in replies] == replies


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_difference_that_is_no_number_is_the_largest_there_is(value: float) -> None:
    cell = plain(CellResult(mode="cold", length=3, outcome="differs", difference=value, detail="row 5"))
    assert cell.difference == sys.float_info.max
    assert cell.detail == "not finite; row 5"
    assert reply_of(to_line(Results(plan=0, cells=(cell,)))) == Results(plan=0, cells=(cell,))


def test_a_detail_that_no_line_can_hold_is_made_harmless() -> None:
    cell = plain(CellResult(mode="cold", length=3, detail="\ud800\x1b" + "x" * 10_000))
    assert cell.detail.isprintable()
    assert len(cell.detail) < 500
    assert reply_of(to_line(Results(plan=0, cells=(cell,)))) == Results(plan=0, cells=(cell,))


def watch_and_kill(run: StressRun, begun: list[subprocess.Popen[bytes]]) -> None:
    for event in run.events():
        if isinstance(event, BoundaryChecked) and begun[-1].poll() is None:
            os.kill(begun[-1].pid, signal.SIGKILL)


def test_a_process_that_ends_is_told_and_what_it_checked_stays(
    tmp_path: Path, begun: list[subprocess.Popen[bytes]]
) -> None:
    path = tmp_path / "run.jsonl"
    plans = plans_of(Asked(subjects=("recall",), levels=("arithmetic",), modes=("derive",), lengths="1:301"))
    run = StressRun(plans, Record(str(path)), 1)
    expected = r"checked arithmetic of recall, mode derive at 1 to \d+ ended with signal 9"
    with pytest.raises(InvariantError, match=expected):
        watch_and_kill(run, begun)
    checked = [event.length for event in read_log(path) if isinstance(event, BoundaryChecked)]
    assert 0 < len(checked) < 300
    progress = progress_of(str(path))
    again = StressRun(progress.plans, ContinuedRecord(str(path), progress), 1)
    assert sorted(event.length for event in again.events() if isinstance(event, BoundaryChecked)) == list(range(1, 301))


def claims_run(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> StressRun:
    """A run over the claims of a module that is written there."""
    (folder / "claimed.py").write_text(f"import os, sys\n\n\ndef derive(length):\n    {body}\n")
    monkeypatch.chdir(folder)
    asked = Asked(subjects=("recall",), lengths="1:9", options={"claims": "claimed:derive"})
    return StressRun(plans_of(asked), Record(), 1)


def test_a_derivation_that_prints_and_reads_disturbs_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    body = "print('at', length); os.write(1, b'raw'); sys.stdin.read(); return {'swa_kv': [max(0, length - 7), length]}"
    run = claims_run(tmp_path, monkeypatch, body)
    outcomes = [event.outcome for event in run.events() if isinstance(event, BoundaryChecked)]
    assert outcomes == ["same"] * 8
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "raw" in shown.err


def test_a_derivation_that_ends_its_process_is_told_with_the_way_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = claims_run(tmp_path, monkeypatch, "os._exit(7)")
    with pytest.raises(InvariantError, match="arithmetic of recall, mode claims at 1 to 8 ended with exit code 7"):
        list(run.events())


def test_a_derivation_that_raises_is_a_finding_with_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = claims_run(tmp_path, monkeypatch, "return {'swa_kv': [0, length // (length - 5)]}")
    found = [event for event in run.events() if isinstance(event, BoundaryChecked) and event.length == 5]
    assert [event.outcome for event in found] == ["refused"]
    assert "ZeroDivisionError" in found[0].detail
    assert found[0].command.endswith("--lengths 5 --seed 0 --claims claimed:derive")


def test_a_run_that_is_left_ends_its_processes(begun: list[subprocess.Popen[bytes]]) -> None:
    events = StressRun([PLAN], Record(), 2).events()
    next(events)
    events.close()
    assert begun


def test_no_more_processes_than_asked_for_are_begun(begun: list[subprocess.Popen[bytes]]) -> None:
    plans = plans_of(Asked(subjects=("random:0:5",), levels=("arithmetic",), modes=("resume",), lengths="1:20"))
    assert sum(isinstance(event, BoundaryChecked) for event in StressRun(plans, Record(), 2).events()) == 5 * 19
    assert 1 <= len(begun) <= 2


@pytest.mark.parametrize("module", ["worker", pytest.param("blind_child", marks=pytest.mark.slow)])
def test_a_process_whose_asker_was_ended_ends_without_a_word(module: str) -> None:
    """As after a signal that only the asker got, in the middle of a group."""
    plan = msgspec.structs.replace(PLAN, lengths=((1, 3000),))
    group = Group("resume", tuple(range(1, 3000)))
    check = to_line(Check(plan=0, asked=plan, group=group))
    blind = b'{"type":"Go","subject":"random:7","seed":0,"mode":"blind","length":24}\n'
    program = f"from shadowviz.experiments.stress.{module} import serve; serve()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(check if module == "worker" else blind)
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
