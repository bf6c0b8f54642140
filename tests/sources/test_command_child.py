"""A command beside the interface is asked once to end, and hears it whatever it is doing."""

import time
from pathlib import Path

import pytest
from tui_processes import PATIENCE_S

from shadowviz.sources.command_child import CommandChild
from shadowviz_engine.core.log_reader import read_log

SWALLOWS = """
import os, signal, sys

class Swallows:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1000):
                    pass
            except KeyboardInterrupt:
                pass

sys.meta_path.insert(0, Swallows())
"""
NO_MODULE = "shadowviz.none"


def code_of_run(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> int:
    """Exit code of a short run that is interrupted while a module is imported, by one that swallows it."""
    (folder / "sitecustomize.py").write_text(SWALLOWS.format(name=name))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    lengths = ["--level", "arithmetic", "--mode", "derive", "--lengths", "1:3"]
    child = CommandChild(["stress", "recall", *lengths, "-o", str(folder / "run.jsonl")])
    code = child._process.wait(PATIENCE_S)
    child.close()
    return code


@pytest.mark.parametrize(
    "name",
    [
        "shadowviz.cli.main",
        "shadowviz.cli.stress_view",
        "shadowviz.experiments.stress.run",
        "shadowviz.cli.stress_progress",
    ],
)
def test_an_interrupt_that_an_import_swallows_ends_the_command_all_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert code_of_run(tmp_path, monkeypatch, name) == 130
    assert not (tmp_path / "run.jsonl").exists()


def test_without_an_interrupt_the_same_command_ends_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert code_of_run(tmp_path, monkeypatch, NO_MODULE) == 0
    assert (tmp_path / "run.jsonl").exists()


@pytest.mark.parametrize("wait_s", [0.0, 0.3, 0.6, 0.9, 1.5])
def test_a_command_that_is_asked_and_then_left_alone_is_interrupted_once(tmp_path: Path, wait_s: float) -> None:
    record = tmp_path / "run.jsonl"
    child = CommandChild(["stress", "v4-flash", "--level", "arithmetic", "--lengths", "1:60001", "-o", str(record)])
    time.sleep(wait_s)
    child.interrupt()
    child.interrupt()
    assert child._process.stdin is not None
    child._process.stdin.close()
    code = child._process.wait(PATIENCE_S)
    child.close()
    assert code == 130
    # A second interrupt would leave it without its end, or with nothing in it.
    assert not record.exists() or read_log(record).summary.complete
