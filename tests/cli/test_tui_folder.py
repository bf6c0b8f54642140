"""What an interface that was killed has left among the temporary files goes at the next start, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tui_processes import wait_for

from shadowviz.cli.tui_folder import OWNER, fleeting_folder, remove_abandoned

ABANDONED = "shadowviz-tui-abcd1234"

KILLED = """
import os, signal
from shadowviz.cli.tui_folder import fleeting_folder
with fleeting_folder() as folder:
    (folder / "run.jsonl").write_text("a record")
    (folder / "more").mkdir()
    (folder / "more" / "file").touch()
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


def abandoned(parent: Path, name: str = ABANDONED) -> Path:
    folder = parent / name
    folder.mkdir()
    (folder / OWNER).touch()
    (folder / "run.jsonl").write_text("a record")
    return folder


def test_a_folder_is_there_until_the_end(parent: Path) -> None:
    with fleeting_folder() as folder:
        (folder / "run.jsonl").touch()
        assert folder.parent == parent
        assert folder.stat().st_mode & 0o077 == 0
    assert list(parent.iterdir()) == []


def test_what_a_killed_interface_has_left_goes_and_what_a_living_one_uses_stays(parent: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False)
    left = Path(done.stdout.strip())
    assert left.parent == parent
    assert left.is_dir()
    with fleeting_folder() as ours:
        # The start of an interface removes it beside everything else; whoever comes first does.
        remove_abandoned(parent)
        wait_for(lambda: not left.exists(), "that it has gone")
        assert ours.is_dir()
        assert (ours / OWNER).exists()


def test_nothing_else_is_touched(parent: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("mine")
    (mine / OWNER).touch()
    for name in ("shadowviz-other", "shadowviz-tui-", "shadowviz-tui-abcd12345", "xshadowviz-tui-abcd1234"):
        abandoned(parent, name)
    (parent / "shadowviz-tui-linklink").symlink_to(mine)
    (parent / "shadowviz-tui-filefile").write_text("a file")
    without = parent / "shadowviz-tui-noowner1"
    without.mkdir()
    fifo = abandoned(parent, "shadowviz-tui-linkown1")
    (fifo / OWNER).unlink()
    (fifo / OWNER).symlink_to(mine / OWNER)
    before = sorted(parent.rglob("*"))
    remove_abandoned(parent)
    assert sorted(parent.rglob("*")) == before
    assert (mine / "precious").read_text() == "mine"


def test_links_in_an_abandoned_folder_are_removed_and_what_they_lead_to_stays(parent: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("mine")
    folder = abandoned(parent)
    (folder / "link").symlink_to(mine)
    (folder / "sub").mkdir()
    (folder / "sub" / "link").symlink_to(mine)
    remove_abandoned(parent)
    assert not folder.exists()
    assert (mine / "precious").read_text() == "mine"


def test_a_folder_of_another_user_stays(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = abandoned(parent)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    remove_abandoned(parent)
    assert folder.is_dir()
