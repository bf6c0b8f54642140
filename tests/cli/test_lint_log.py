"""`shadowviz lint-log`: what it prints, and how it ends."""

import io
import json
import os
import sys
from pathlib import Path

import pytest
from cli_runs import Command

SAMPLE = """\
[INFO] ShadowRadix initialized with m=32, m'=128, n_win=2048
[DEBUG] ShadowRadix: Found longest prefix match for len=42. Logical span: [0, 42].
[DEBUG] ShadowRadix: Deriving physical state for [0, 42]...
[DEBUG] ShadowRadix: -> CSA blocks: [15, 16, 17] (3 blocks, each covers 32 tokens)
[DEBUG] ShadowRadix: -> HCA blocks: [3] (1 block, covers 128 tokens)
[DEBUG] ShadowRadix: -> SWA range: [26, 42] (last 16 tokens within window)
[DEBUG] ShadowRadix: -> Tail offset: 0 (no tail, 42 is multiple of 32 and 128)
[INFO] Cache hit! Reusing 3 CSA blocks, 1 HCA block, and SWA state for 16 tokens.
"""


def test_each_wrong_claim_is_named_with_its_line(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "sample.log"
    path.write_text(SAMPLE)
    done = command("lint-log", str(path))
    assert done.code == 1
    lines = done.out.splitlines()
    assert [line.split(": ")[0] for line in lines[:4]] == [f"{path}:{line}" for line in (4, 5, 6, 7)]
    assert lines[0].endswith(": CSA blocks: found 3, expected 1 (42 = 1 x 32 + 10)")
    assert lines[-1] == "4 contradictions in 1 of 1 lookup, 8 lines checked"


def test_json_has_what_the_text_says(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "sample.log"
    path.write_text(SAMPLE)
    done = command("lint-log", str(path), "--json")
    shown = json.loads(done.out)
    assert (done.code, done.err) == (1, "")
    assert [item["claim"] for item in shown["contradictions"]] == ["CSA blocks", "HCA blocks", "SWA range", "tail"]
    assert shown["contradictions"][0] == {
        "line": 4, "claim": "CSA blocks", "found": "3", "expected": "1", "why": "42 = 1 x 32 + 10",
        "lookup_line": 2, "length": 42,
    }  # fmt: skip


def test_a_run_goes_through_both_commands(command: Command, story_log: Path, tmp_path: Path) -> None:
    path = tmp_path / "story.log"
    assert command("export", str(story_log), "-o", str(path)).code == 0
    done = command("lint-log", str(path))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("no contradiction in 6 lookups, 43 lines checked")
    one = json.loads(command("why", str(story_log), "again", "--json").out)["lookups"][0]["lookup"]
    assert f"len={one['reused']}." in path.read_text().split("[INFO]")[2]
    wrong = path.read_text().replace(f"len={one['reused']}.", f"len={one['reused'] + 1}.", 1)
    path.write_text(wrong)
    assert command("lint-log", str(path)).code == 1


def test_stdin_is_read(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SAMPLE.replace("\n", "\r\n").encode())))
    done = command("lint-log", "-")
    assert done.code == 1
    assert done.out.startswith("stdin:4: ")


def test_a_pipe_is_read_whole(command: Command) -> None:
    reader, writer = os.pipe()
    os.write(writer, SAMPLE.encode())
    os.close(writer)
    done = command("lint-log", f"/dev/fd/{reader}")
    os.close(reader)
    assert (done.code, done.out.splitlines()[-1]) == (1, "4 contradictions in 1 of 1 lookup, 8 lines checked")


def test_what_was_not_checked_is_told(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "part.log"
    path.write_text("\n".join(SAMPLE.splitlines()[1:3]) + "\n[DEBUG] ShadowRadix: what?\n[DEBUG] ShadowRadix: -> SW")
    done = command("lint-log", str(path))
    assert done.code == 0
    for words in (
        "1 line cannot be read and was not checked: 3",
        "lacks one of its seven",
        "line 4 is cut",
        "init line",
    ):
        assert words in done.err


@pytest.mark.parametrize("name", ["", "missing.log", "."])
def test_a_file_that_cannot_be_read_is_told(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("lint-log", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("shadowviz: ")


def test_a_file_of_other_things_is_no_such_log(command: Command, story_log: Path) -> None:
    done = command("lint-log", str(story_log.with_name("prompts.jsonl")))
    assert done.code == 2
    assert "none of them of the form" in done.err
    record = command("lint-log", str(story_log))
    assert record.code == 2
    assert "is the record of a run: expected a log of lookups, such as `shadowviz export RUN -f text-log" in record.err
