"""`shadowviz stress`: what it prints, how it ends, and how it is interrupted and taken up."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from cli_runs import Command

from shadowviz.cli.show import columns_of
from shadowviz.experiments.stress.record import Record
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted
from shadowviz_engine.core.log_reader import read_log
from shadowviz_engine.core.presets import preset

FOUND = {
    "outcome": "differs",
    "stage": "state",
    "kind": "hca_tail",
    "layer": 3,
    "row": 128,
    "offset": 4,
    "difference": 0.25,
}


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A complete record: numeric with a finding, and a fault that is found, one that is missed and one that hides."""
    path = tmp_path / "run.jsonl"
    writer = Record(str(path))
    tiny = preset("tiny")
    writer.open(tiny)
    for level, cells in (("numeric", 600), ("faults", 4)):
        writer.tell(
            BoundaryStressStarted,
            level=level,
            subject="tiny",
            geometry=tiny,
            seed=7,
            modes=(),
            lengths=((1, 301),),
            cells=cells,
        )
    for mode in ("cold/any/all", "resumed/any/window"):
        for length in range(1, 301):
            fields = FOUND if (mode, length) == ("resumed/any/window", 131) else {}
            command = f"shadowviz stress tiny --mode {mode} --lengths {length}" if fields else ""
            writer.tell(
                BoundaryChecked, level="numeric", subject="tiny", mode=mode, length=length, command=command, **fields
            )
    put_in = {"level": "faults", "subject": "tiny", "mode": "hca_tail_lost", "fault": "hca_tail_lost"}
    named = {"fault_kind": "hca_tail", "fault_layer": 3, "fault_row": 128, "predicted": 4}
    writer.tell(BoundaryChecked, length=131, **put_in, **FOUND, **named)
    writer.tell(BoundaryChecked, length=128, **put_in, detail="no raw rows at a multiple of 128")
    writer.tell(BoundaryChecked, length=140, **put_in | {"outcome": "missed", "command": "shadowviz stress tiny"})
    writer.tell(BoundaryChecked, level="faults", subject="tiny", mode="none", length=131)
    writer.close()
    return path


def test_a_run_without_findings_says_so_and_ends_with_0(command: Command) -> None:
    done = command("stress", "recall", "--level", "arithmetic", "--lengths", "1:30", "--jobs", "1")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("recall: no finding in ")
    assert lines[0].endswith(" checks (arithmetic)")
    assert ["derive", "1-29", "29", "0"] in [line.split() for line in lines]
    assert "multiple of csa 4" in done.out
    assert done.err == ""


def test_what_is_not_checked_is_told_with_the_reason(command: Command) -> None:
    line = ("stress", "jamba", "tiny", "--level", "arithmetic", "--lengths", "4090:4100", "--jobs", "1")
    done = command(*line)
    told = " ".join(done.out.split())
    assert "not checked: slots of jamba at 10 of 10 lengths: its cache has no compressed entries to lay out" in told
    assert "not checked: slots of tiny at 3 of 10 lengths: paths are laid out up to 4,096 tokens" in told
    left_out = {run["subject"]: run["left_out"] for run in json.loads(command(*line, "--json").out)["runs"]}
    assert [len(reasons) for reasons in left_out.values()] == [1, 1]


def test_findings_end_with_1_and_each_has_its_command(command: Command, record: Path) -> None:
    done = command("stress", "--continue", str(record))
    assert done.code == 1
    assert done.out.startswith("tiny: 2 findings in 604 checks (numeric, faults)\n")
    assert (
        "numeric of tiny, resumed/any/window at 131: differs; state hca_tail layer 3 row\n"
        "128, token 4 behind the cut; largest difference 0.25\n"
        "  shadowviz stress tiny --mode resumed/any/window --lengths 131\n"
    ) in done.out
    assert "hca_tail layer 3" in done.out


def test_a_table_tells_of_each_fault_what_was_found_and_why_the_rest_hides(command: Command, record: Path) -> None:
    out = command("stress", "--continue", str(record)).out
    rows = [line.split() for line in out.splitlines()]
    assert ["hca_tail_lost", "3", "1", "1", "1", "1/1", "1/1", "0.25"] in rows
    assert ["none", "1", "0", "0", "0", "0/0", "0/0", "0"] in rows
    assert "hidden: hca_tail_lost, 1 length: no raw rows at a multiple of 128" in out


def test_a_fault_that_is_found_is_told_with_its_place_its_lengths_and_its_command(
    command: Command, record: Path
) -> None:
    text = record.read_text().replace('"fault_row":128', '"fault_row":128,"command":"shadowviz stress alone"')
    record.write_text(text)
    done = command("stress", "--continue", str(record))
    assert (
        "faults of tiny, hca_tail_lost at 131: found; state hca_tail layer 3 row 128,\n"
        "token 4 behind the cut; largest difference 0.25; fault hca_tail_lost\n"
        "  shadowviz stress alone\n"
    ) in done.out


def test_the_table_of_faults_counts_all_subjects_together(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    line = ("stress", "recall", "random:7", "--level", "faults", "--mode", "swa_oldest_other", "--mode", "none")
    done = command(*line, "--lengths", "1,20", "--jobs", "1", "-o", str(path))
    rows = [row.split() for row in done.out.splitlines()]
    assert [row[:5] for row in rows if row[:1] == ["swa_oldest_other"]] == [["swa_oldest_other", "4", "2", "0", "2"]]
    assert [row[:5] for row in rows if row[:2] == ["none", "4"]] == [["none", "4", "0", "0", "0"]]
    assert done.out.count("hidden: swa_oldest_other, ") == 1
    each = json.loads(command("stress", "--continue", str(path), "--json").out)["runs"]
    assert [sum(one["checks"] for one in run["faults"]) for run in each] == [4, 4]


def test_answers_are_a_table_in_percent_and_no_difference(command: Command, record: Path, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    writer = Record(str(path))
    writer.open(preset("recall"))
    plan = {"level": "faults", "subject": "recall", "seed": 0, "modes": (), "lengths": ((20, 21),), "cells": 1}
    writer.tell(BoundaryStressStarted, geometry=preset("recall"), **plan)
    cell = {"level": "faults", "subject": "recall", "mode": "answers/csa_tail_lost", "length": 20}
    shares = ((2, 1.0, 1.0), (1, 0.98, 0.02))
    writer.tell(BoundaryChecked, **cell, fault="csa_tail_lost", outcome="differs", stage="answer", answers=shares)
    writer.close()
    done = command("stress", "--continue", str(path))
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines()]
    assert ["answers/csa_tail_lost", "20", "1", "0", "96", "%"] in rows
    assert ["answers", "of", "recall", "length", "L-2", "L-1"] in rows
    assert ["whole", "state", "20", "100", "98"] in rows
    assert ["csa_tail_lost", "20", "100", "2"] in rows
    assert not any(row[:2] == ["fault", "put"] for row in rows)
    (run,) = json.loads(command("stress", "--continue", str(path), "--json").out)["runs"]
    needles = [{"before": 2, "whole": 1.0, "faulty": 1.0}, {"before": 1, "whole": 0.98, "faulty": 0.02}]
    assert run["answers"] == [{"fault": "csa_tail_lost", "length": 20, "needles": needles}]
    assert (run["modes"][0]["difference"], run["faults"]) == (0.0, [])


def test_the_names_of_faults_are_listed_with_what_they_do(command: Command) -> None:
    done = command("stress", "--fault", "list")
    assert done.code == 0
    assert "\ncsa_partial            the open window counts as closed: ceil for floor\n" in done.out
    assert max(map(columns_of, done.out.splitlines())) <= 80
    words = " ".join(done.out.split())
    listed = json.loads(command("stress", "--fault", "list", "--json").out)["faults"]
    assert all(f"{one['fault']} {one['what']}" in words for one in listed)
    shown = json.loads(command("stress", "recall-hca", "--fault", "list", "--json").out)["faults"]
    assert {one["kind"] for one in shown if not one["trap"]} == {"swa_kv", "hca_tail", "hca_kv"}
    traps = {one["fault"]: one["trap"] for one in shown if not one["kind"]}
    assert traps["abort_published"] == "abort in mid-prefill"


def test_the_map_keeps_to_80_columns_and_shows_where_the_finding_is(command: Command, record: Path) -> None:
    out = command("stress", "--continue", str(record), "--rows", "kind").out
    assert max(map(columns_of, out.splitlines())) <= 80
    rows = {line[:16].strip(): line[17:] for line in out.splitlines() if line.startswith(("all rows", "hca_tail la"))}
    assert rows["all rows"].index("✗") == rows["hca_tail layer 3"].index("✗") == (131 - 1) // 6
    assert "\x1b" not in out


def test_the_map_is_readable_where_stdout_has_only_ascii(record: Path) -> None:
    line = [sys.executable, "-m", "shadowviz.cli.main", "stress", "--continue", str(record)]
    done = subprocess.run(line, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=False)
    assert done.returncode == 1
    assert b"X differs" in done.stdout
    assert done.stdout.isascii()
    assert b"\\u" not in done.stdout


def test_json_holds_the_figures_of_the_tables(command: Command, record: Path) -> None:
    done = command("stress", "--continue", str(record), "--json")
    assert done.code == 1
    shown = json.loads(done.out)
    assert (shown["checks"], shown["cells"], shown["findings"], shown["interrupted"]) == (604, 604, 2, False)
    assert shown["log"] == str(record)
    numeric, faults = shown["runs"]
    assert [mode["findings"] for mode in numeric["modes"]] == [0, 1]
    assert numeric["faults"] == []
    assert {fault["fault"]: fault["missed"] for fault in faults["faults"]} == {"hca_tail_lost": 1, "": 0}
    assert [finding["length"] for finding in shown["first_findings"]] == [131, 140]


def test_the_record_holds_what_was_printed(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    done = command("stress", "recall", "--level", "arithmetic", "--lengths", "1:9", "-o", str(path), "--json")
    assert (done.code, done.err) == (0, f"recorded in {path}\n")
    checks = [event for event in read_log(path) if isinstance(event, BoundaryChecked)]
    assert len(checks) == json.loads(done.out)["checks"]
    again = command("stress", "recall", "--level", "arithmetic", "-o", str(path))
    assert (again.code, again.out) == (2, "")
    assert "is not empty: choose another file for -o, or replace it with --force" in again.err
    forced = command("stress", "recall", "--level", "arithmetic", "--lengths", "5", "-o", str(path), "--force")
    assert forced.code == 0
    assert {event.length for event in read_log(path) if isinstance(event, BoundaryChecked)} == {5}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--level numerical", "level 'numerical' is not known: expected one of arithmetic, numeric, oracle, faults"),
        ("nothing --level arithmetic", "no geometry is called 'nothing'"),
        ("--level arithmetic --mode cold", "mode 'cold' is unknown: expected one of derive"),
        ("--lengths 9:2", "--lengths '9:2' is no range"),
        ("--force", "--force replaces a record: expected -o RUN with it"),
        ("tiny --continue run.jsonl", "--continue run.jsonl brings its own run and record"),
        ("--continue none.jsonl", "cannot read none.jsonl: No such file or directory"),
        ("--level arithmetic --naive", "--naive times the exact proof of a model: expected level numeric with it"),
        ("--level arithmetic --retention window", "--retention means nothing to level arithmetic"),
        (
            "jamba --level arithmetic --mode slots --lengths 1:9 --jobs 1",
            "nothing to check: slots of jamba at 8 of 8 lengths: its cache has no compressed entries to lay out",
        ),
    ],
)
def test_wrong_usage_is_one_line_and_ends_with_2(
    line: str, message: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("stress", *shlex.split(line))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("shadowviz: ")
    assert message in done.err
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_ctrl_c_leaves_a_whole_record_that_is_taken_up(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    plan = ["stress", "recall", "--level", "arithmetic", "--mode", "derive", "--lengths", "1:601"]
    line = [sys.executable, "-m", "shadowviz.cli.main", *plan, "-o", str(path), "--jobs", "1"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not path.exists() or path.read_bytes().count(b"BoundaryChecked") == 0:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130
    assert f"of 600 checks done; go on with: shadowviz stress --continue {path}" in err
    done_before = sum(isinstance(event, BoundaryChecked) for event in read_log(path))
    assert read_log(path).summary.complete
    assert out.startswith(f"recall: no finding in {done_before} of 600 checks")
    assert 0 < done_before < 600
    done = command("stress", "--continue", str(path), "--jobs", "1")
    assert done.code == 0
    lengths = [event.length for event in read_log(path) if isinstance(event, BoundaryChecked)]
    assert sorted(lengths) == list(range(1, 601))


def test_names_from_a_record_are_harmless_on_a_terminal(command: Command, record: Path) -> None:
    text = record.read_text().replace(
        '"kind":"hca_tail"', msgspec.json.encode({"kind": "\x1b[2J\u202e"}).decode()[1:-1]
    )
    record.write_text(text)
    out = command("stress", "--continue", str(record)).out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\\u001b[2J" in out
