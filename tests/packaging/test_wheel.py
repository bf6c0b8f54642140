"""The wheel holds what the program needs and runs in an environment of its own, away from the checkout."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

PACKAGES = {"shadowviz": "shadowviz", "shadowviz_engine": "engine/shadowviz_engine"}
PACKAGE_DATA = ("shadowviz/py.typed", "shadowviz_engine/py.typed", "shadowviz/data/demo.jsonl")
CHECKPOINTS = "shadowviz_engine/model/checkpoints/"


def run(command: list[str | Path], cwd: Path) -> str:
    """Standard output of a command that is given no path and no setting of this checkout."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment.pop("VIRTUAL_ENV", None)
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def files_of_packages(repository: Path) -> set[str]:
    """Names in the wheel of all files that git would keep under the two packages."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *PACKAGES.values()]
    listed = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True).stdout.splitlines()
    return {name.removeprefix("engine/") for name in listed if (repository / name).is_file()}


@pytest.fixture(scope="session")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", folder, repository], check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the commands of a fresh environment that holds this wheel, and ours' dependencies behind it.

    The dependencies come by a path file. The editable install there is one too, and path files work only in the site
    folder of an environment itself: so this checkout can't be reached from the new one.
    """
    home = tmp_path_factory.mktemp("elsewhere") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    python = home / "bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, wheel], check=True, capture_output=True)
    site = run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], home).strip()
    (Path(site) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin"


def test_the_wheel_holds_every_file_of_both_packages_and_nothing_else(repository: Path, wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == files_of_packages(repository)


def test_the_wheel_carries_what_the_program_reads_at_run_time(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    assert not [name for name in PACKAGE_DATA if name not in sizes]
    checkpoints = [name for name in sizes if name.startswith(CHECKPOINTS) and name.endswith(".safetensors")]
    assert len(checkpoints) >= 2
    assert all(0 < sizes[name] < 1_400_000 for name in checkpoints)


def test_the_wheel_carries_the_licence_and_one_command(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (licence,) = [name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE")]
    assert b"Apache License" in archive.read(licence)
    (scripts,) = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
    assert "shadowviz = shadowviz.cli.main:main" in archive.read(scripts).decode()


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_the_installed_package_is_the_wheels_own(
    repository: Path, installed: Path, tmp_path: Path, package: str
) -> None:
    origin = Path(run([installed / "python", "-c", f"import {package}; print({package}.__file__)"], tmp_path).strip())
    assert origin.is_relative_to(installed.parent)
    assert not origin.is_relative_to(repository)


def test_the_installed_command_shows_its_help(installed: Path, tmp_path: Path) -> None:
    assert "Usage" in run([installed / "shadowviz", "--help"], tmp_path)


def test_the_installed_command_derives_as_json(installed: Path, tmp_path: Path) -> None:
    answer = json.loads(run([installed / "shadowviz", "derive", "1000", "--json"], tmp_path))
    rows = {part["kind"]: part["rows"] for part in answer["owned"]}
    assert rows["csa_kv"] == [0, 250]
    assert rows["hca_kv"] == [0, 7]


def test_the_installed_command_runs_the_demo_and_reads_its_record(installed: Path, tmp_path: Path) -> None:
    command = installed / "shadowviz"
    table = run([command, "run", "--demo", "-o", "demo.jsonl"], tmp_path)
    assert "FULL_HIT" in table
    assert "COLD" in table
    assert "TOKENS_DIFFER(CRLF)" in run([command, "why", "demo.jsonl"], tmp_path)
    probed = json.loads(run([command, "probe", "--log", "demo.jsonl", "--text", "Never asked.", "--json"], tmp_path))
    assert probed["lookups"][0]["verdict"] == "COLD"


def test_the_installed_command_counts_bytes_and_names_its_version(installed: Path, tmp_path: Path) -> None:
    assert "6.72 GiB" in run([installed / "shadowviz", "memory"], tmp_path)
    assert json.loads(run([installed / "shadowviz", "version", "--json"], tmp_path))["schema"] == 1


def test_the_installed_package_carries_the_trained_checkpoints(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "ids.jsonl").write_text('{"token_ids": [0, 5, 6, 7], "max_tokens": 1}\n', encoding="utf-8")
    shown = json.loads(run([installed / "shadowviz", "run", "ids.jsonl", "--model", "recall", "--json"], tmp_path))
    assert shown["lookups"][0]["num_output"] == 1
