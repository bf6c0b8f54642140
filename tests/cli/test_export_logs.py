"""`shadowviz export` to logs, traces and Mermaid: through the command, from a record and at any event."""

from pathlib import Path

import pytest
from cli_runs import Command
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

from shadowviz.sources.logfile import LogFile


def words(data: bytes) -> list[str]:
    """Names of everything that a trace tells."""
    return [packet.track_event.name or packet.track_descriptor.name for packet in Trace.FromString(data).packet]


def test_a_trace_has_every_request_and_verdict(command: Command, story_log: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.pftrace"
    done = command("export", str(story_log), "-o", str(path))
    assert (done.code, done.out) == (0, "")
    last = LogFile(story_log).summary.num_events
    assert done.err == f"{path}: {last:,} of {last:,} events shown, after event {last - 1:,} of {last - 1:,}\n"
    told = words(path.read_bytes())
    for name in ("first", "again", "line-ends", "TOKENS_DIFFER(CRLF)", "OTHER_NAMESPACE", "finished"):
        assert any(word.startswith(name) for word in told), name


def test_at_ends_a_log_and_a_trace_there(command: Command, story_log: Path, tmp_path: Path) -> None:
    ends = []
    for at in (0, 40, 10_000):
        path = tmp_path / f"{at}.log"
        done = command("export", str(story_log), "-o", str(path), "--at", str(at))
        ends.append((done.code, path.read_text().count("len=") if path.exists() else -1))
    assert ends[0] == (0, 0)
    assert ends[1][1] > 0
    assert ends[2] == (2, -1)
    short = command("export", str(story_log), "-f", "perfetto", "-o", str(tmp_path / "short"), "--at", "0")
    assert short.code == 0
    assert "queue" not in words((tmp_path / "short").read_bytes())


def test_a_tree_as_mermaid_goes_to_stdout(command: Command, story_log: Path) -> None:
    done = command("export", str(story_log), "-f", "mermaid", "--request", "again")
    assert done.code == 0
    assert "flowchart TB\n" in done.out
    assert "lookup of again" in done.out


def test_a_record_that_contradicts_itself_leaves_no_file(command: Command, story_log: Path, tmp_path: Path) -> None:
    lines = story_log.read_text().splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if '"type":"SpanInserted"' in line)
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text("".join([*lines[:place], lines[place].replace('"parent":', '"parent":77'), *lines[place + 1 :]]))
    for ending in ("log", "pftrace", "mmd"):
        done = command("export", str(wrong), "-o", str(tmp_path / f"out.{ending}"))
        assert done.code == 2, done.err
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.jsonl"]


@pytest.mark.parametrize("form", ["text-log", "perfetto"])
def test_what_means_nothing_for_a_log_is_told(command: Command, story_log: Path, form: str) -> None:
    for option in (["--request", "again"], ["--depth", "2"], ["--dark"], ["--diagram", "tree"]):
        assert command("export", str(story_log), "-f", form, "-o", "/nowhere/x", *option).code == 2
