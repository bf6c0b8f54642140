"""Graphviz that is missing, wrong, slow or broken: a picture comes out all the same."""

import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from picture_samples import chain, tree

from shadowviz.exporters.formats import Look
from shadowviz.exporters.renderers import Program, RendererError, find_programs, run_program
from shadowviz.exporters.svg_tree import OWN, render
from shadowviz_engine.core.errors import InputError

posix = pytest.mark.skipif(os.name != "posix", reason="writes shell scripts")
VERSION = 'if [ "$1" = -V ]; then echo "dot - graphviz version 99.1 (0)" >&2; exit; fi\n'


def script(folder: Path, body: str, name: str = "dot") -> str:
    """A program that says it is Graphviz, and does what `body` says when it is to draw."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{VERSION}{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no Graphviz to be found but the one that the variable names."""
    tools = folder / "tools"
    tools.mkdir()
    sleep = shutil.which("sleep")
    assert sleep is not None
    (tools / "sleep").symlink_to(sleep)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setattr(sys, "executable", str(tools / "python"))


@posix
def test_where_one_graphviz_fails_the_next_one_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = script(tmp_path, "echo '<svg></svg>'", "whole")
    monkeypatch.setenv("SHADOWVIZ_DOT", script(tmp_path, "exit 3", "broken"))
    alone(tmp_path, monkeypatch)
    (tmp_path / "tools" / "dot").symlink_to(whole)
    drawing = render(tree(12))
    assert drawing.drawn_by == "dot 99.1"
    assert drawing.data == b"<svg></svg>\n"
    assert "failed with exit code 3" in drawing.notes[0]


@posix
def test_the_variable_comes_before_the_path_and_the_path_before_the_package(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    on_path, named = script(folder, "cat"), script(tmp_path, "cat", "mine")
    found = find_programs({"PATH": str(folder), "SHADOWVIZ_DOT": named})
    assert [program.path for program in found[:2]] == [named, on_path]
    assert found[0].version == "dot 99.1"
    assert find_programs({"PATH": str(folder)})[0].path == on_path


def test_a_variable_that_names_nothing_is_said(tmp_path: Path) -> None:
    for wrong in (str(tmp_path / "none"), str(tmp_path), sys.executable):
        with pytest.raises(InputError, match=r"SHADOWVIZ_DOT is .*, which cannot be run"):
            find_programs({"PATH": "", "SHADOWVIZ_DOT": wrong})


@posix
def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    program = Program(script(tmp_path, f"sleep 600 & echo $! > {pid}; wait"), "here", "dot 99.1")
    with pytest.raises(RendererError, match=r"took longer than 0\.5 s"):
        run_program(program, "digraph {}", "svg", 0.5)
    # The kernel may take a moment to let go of it.
    for _ in range(200):
        if not _runs(int(pid.read_text())):
            return
        time.sleep(0.01)
    raise AssertionError("what the program started still runs")


@posix
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("echo broken >&2; exit 3", "failed with exit code 3: broken"),
        ("exit 0", "it gave nothing"),
        ("kill -SEGV $$", "failed with exit code"),
        ("sleep 600", "took longer than"),
        ("exec 0<&-; echo '<svg/>'; exit 1", "failed with exit code 1"),
        ("echo no picture", "gave something else than an svg"),
        ("printf '<svg>\\377</svg>'", "gave something else than an svg"),
    ],
)
def test_where_graphviz_fails_the_built_in_layout_draws_and_says_why(
    body: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWVIZ_DOT", script(tmp_path, body))
    alone(tmp_path, monkeypatch)
    drawing = render(tree(12), Look(timeout_s=0.5))
    assert drawing.drawn_by == OWN
    assert said in drawing.notes[0]
    assert b"</svg>" in drawing.data
    with pytest.raises(RendererError):
        render(tree(12), Look(timeout_s=0.5, renderer="dot"))


@posix
def test_without_any_graphviz_the_built_in_layout_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SHADOWVIZ_DOT", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert find_programs() == ()
    drawing = render(tree(12))
    assert (drawing.drawn_by, drawing.notes) == (OWN, ())
    with pytest.raises(InputError, match="no dot is on the PATH"):
        render(tree(12), Look(renderer="dot"))


@posix
def test_a_tree_too_large_for_graphviz_is_not_given_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADOWVIZ_DOT", script(tmp_path, f"touch {tmp_path}/ran; exit 1"))
    assert render(tree(2_001, width=300)).drawn_by == OWN
    assert not (tmp_path / "ran").exists()
    with pytest.raises(InputError, match="2,001 nodes are more than Graphviz lays out"):
        render(tree(2_001, width=300), Look(renderer="dot"))


@posix
def test_a_deep_tree_is_given_to_graphviz_only_when_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWVIZ_DOT", script(tmp_path, "echo '<svg></svg>'"))
    alone(tmp_path, monkeypatch)
    assert render(chain(25)).drawn_by == "dot 99.1"
    assert render(chain(26)).drawn_by == OWN
    assert render(chain(26), Look(renderer="dot")).drawn_by == "dot 99.1"


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path("/proc/self").exists() else _alive(pid)
    except FileNotFoundError:
        return False


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
