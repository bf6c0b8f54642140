"""How commands end: help, closed pipes, versions, and errors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import Command

COMMANDS = ("run", "why", "derive", "probe", "memory", "version")


def test_help_names_every_command(command: Command) -> None:
    done = command("--help")
    assert done.code == 0
    assert [name for name in COMMANDS if f"\n  {name} " not in done.out] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_within_80_columns(command: Command, name: str) -> None:
    done = command(name, "--help")
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 80


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
        assert max(map(len, command(*arguments).out.splitlines())) <= 80


def test_an_error_stays_one_line_whatever_it_quotes(command: Command) -> None:
    for name in ("x" * 9000, "\x1b[31m", "a\nb", "\u202e"):
        done = command("why", name)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert len(done.err) < 700
        assert done.err.rstrip("\n").isprintable()
