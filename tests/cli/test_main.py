"""How commands end: help, closed pipes, versions, and errors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import Command

needs_full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
COMMANDS = ("run", "why", "derive", "probe", "memory", "doctor", "version")


def test_help_names_every_command(command: Command) -> None:
    done = command("--help")
    assert done.code == 0
    assert [name for name in COMMANDS if f"\n  {name} " not in done.out] == []


def test_without_a_command_the_help_is_shown_as_it_is(command: Command) -> None:
    done = command()
    assert (done.code, done.out) == (2, "")
    assert done.err == command("--help").out
    assert command("unheard-of").err.count("\n") == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_within_80_columns(command: Command, name: str) -> None:
    done = command(name, "--help")
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80


def test_the_package_runs_as_the_command_does() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "shadowviz", "derive", "--song"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("shadowviz: ")
    assert "(see: shadowviz derive --help)" in done.stderr


def test_version_names_the_schema(command: Command) -> None:
    assert json.loads(command("version", "--json").out)["schema"] == 1
    assert command("version").out.startswith("shadowviz")


@pytest.mark.skipif(os.name == "nt", reason="pipes close in another way")
def test_a_closed_pipe_is_no_error(story_log: Path) -> None:
    shell = f"{sys.executable} -m shadowviz.cli.main why {story_log} --json | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_nothing_is_coloured_where_stdout_is_no_terminal(command: Command, story_log: Path) -> None:
    for arguments in (("why", str(story_log)), ("derive", "1000"), ("memory",)):
        assert "\x1b" not in command(*arguments).out


def test_tables_fit_80_columns(command: Command, story_log: Path) -> None:
    for arguments in (("why", str(story_log)), ("why", str(story_log), "line-ends"), ("derive", "1000"), ("memory",)):
        # A path is shown whole, however long it is.
        lines = [line.replace(str(story_log), "run.jsonl") for line in command(*arguments).out.splitlines()]
        assert max(map(len, lines)) <= 80


def test_an_error_stays_one_line_whatever_it_quotes(command: Command) -> None:
    for name in ("x" * 9000, "\x1b[31m", "a\nb", "\u202e"):
        done = command("why", name)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert len(done.err) < 700
        assert done.err.rstrip("\n").isprintable()


@pytest.mark.skipif(os.name == "nt", reason="descriptors close in another way")
@pytest.mark.parametrize(
    ("arguments", "streams", "code"),
    [
        ("derive 1000", ">&-", 2),
        ("derive 1000", ">&- 2>&-", 2),
        ("--help", ">&-", 2),
        ("export --span 1000 -f svg", ">&-", 2),
        ("run - --text a", "<&-", 2),
        ("why nowhere", "2>&-", 2),
        pytest.param("why nowhere", "2>/dev/full", 2, marks=needs_full_device),
        pytest.param("derive 1000", ">/dev/full", 2, marks=needs_full_device),
    ],
)
def test_streams_that_take_nothing_end_a_command_without_a_traceback(arguments: str, streams: str, code: int) -> None:
    shell = f"{sys.executable} -m shadowviz.cli.main {arguments} {streams}"
    # Buffered, as for most users: then what a stream did not take is still there when the interpreter ends.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False, env=buffered)
    assert done.returncode == code, done.stderr
    assert done.stderr.count("\n") <= 1


def test_names_that_the_encoding_lacks_are_escaped(story_log: Path, tmp_path: Path) -> None:
    path, name = tmp_path / "run.jsonl", "日本-é"
    path.write_text(story_log.read_text(encoding="utf-8").replace('"again"', json.dumps(name)), encoding="utf-8")
    shell = [sys.executable, "-m", "shadowviz.cli.main", "why", str(path)]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    plain, as_json = (
        subprocess.run([*shell, *more], capture_output=True, text=True, check=True, env=environment).stdout
        for more in ([name], [name, "--json"])
    )
    assert plain.startswith("\\u65e5\\u672c-\\xe9: FULL_HIT")
    assert json.loads(as_json)["lookups"][0]["request"] == name
