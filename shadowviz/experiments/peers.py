"""Other projects' caches, fetched into `.peers/`: an environment apart from ours, for `make bench` and peers tests."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from shadowviz.experiments.tree_figures import TreeFigures
from shadowviz_engine.core.errors import InputError

PACKAGES = Path(__file__).with_name("peers.txt")
FOLDER = Path(".peers")


@dataclass(frozen=True)
class Peer:
    """A project whose wheel is unpacked and not installed: its declared dependencies are for a GPU server."""

    name: str
    version: str
    suffixes: tuple[str, ...]
    """Endings of the files that are unpacked; all of them if empty."""

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.name}=={self.version}"


SGLANG = Peer("sglang", "0.5.23", ())
VLLM = Peer("vllm", "0.33.0", (".py",))


class PeerError(InputError):
    """Something of the peers' environment that is not there or does not run."""


def build_peers(folder: Path, say: Callable[[str], None]) -> tuple[str, ...]:
    """Bring `folder` to what this version asks for; what stands is left alone.

    Args:
        folder: Made when it is not there: `venv` with the packages, and one unpacked folder a project.
        say: Gets a line before each step that takes long.

    Returns:
        One line for each part that could not be had; nothing when all stands.
    """
    missing = []
    steps: Sequence[Callable[[], None]] = (
        lambda: _install_packages(folder, say),
        lambda: _unpack(folder, SGLANG, say),
        lambda: _unpack(folder, VLLM, say),
    )
    for step in steps:
        try:
            step()
        except PeerError as error:
            missing.append(str(error))
    return tuple(missing)


def peer_figures(folder: Path, nseq: int, length: int, seed: int, page_size: int) -> dict[str, TreeFigures]:
    """SGLang's tree for full and sliding-window attention on `workload(nseq, length, seed)`, by core: `python`, `rust`.

    Raises:
        PeerError: The environment is not complete, or SGLang ends with an error.
    """
    python = _python(folder)
    if not python.is_file() or not (folder / SGLANG.name).is_dir():
        raise PeerError(f"{SGLANG.requirement} is not in {folder}: python -m shadowviz.experiments.peers")
    arguments = {"--nseq": nseq, "--length": length, "--seed": seed, "--page-size": page_size}
    command = [str(python), "-m", "shadowviz.experiments.peer_sglang"]
    command += [str(part) for pair in arguments.items() for part in pair]
    paths = [_our_sources(folder), (folder / SGLANG.name).resolve()]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PeerError(f"{SGLANG.requirement} does not run here: {_last_line(done.stderr)}")
    by_core = json.loads(_last_line(done.stdout))
    return {core: TreeFigures.from_fields(fields) for core, fields in by_core.items()}


def _python(folder: Path) -> Path:
    return folder.resolve() / "venv/bin/python"


def _our_sources(folder: Path) -> Path:
    """A folder from which the package `shadowviz` can be imported, and nothing that is installed beside it."""
    sources = folder.resolve() / "ours"
    sources.mkdir(parents=True, exist_ok=True)
    link = sources / "shadowviz"
    package = Path(__file__).resolve().parents[1]
    if not link.is_symlink() or link.resolve() != package:
        link.unlink(missing_ok=True)
        link.symlink_to(package, target_is_directory=True)
    return sources


def _install_packages(folder: Path, say: Callable[[str], None]) -> None:
    home, python = folder / "venv", _python(folder)
    wanted = hashlib.sha256(PACKAGES.read_bytes()).hexdigest()
    stamp = home / "installed-from"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    say(f"peers: installing what they import into {home}")
    if (
        not python.is_file()
        or subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode
    ):
        venv.create(home, clear=True, with_pip=True, symlinks=True)
    _pip(python, ["install", "-r", str(PACKAGES)], "the packages that peers import")
    stamp.write_text(wanted, encoding="utf-8")


def _unpack(folder: Path, peer: Peer, say: Callable[[str], None]) -> None:
    target = folder / peer.name
    if (target / f"{peer.name}-{peer.version}.dist-info").is_dir():
        return
    say(f"peers: fetching {peer.requirement}")
    partial, wheels = folder / f"{peer.name}.partial", folder / f"{peer.name}.wheel"
    for leftover in (partial, wheels):
        shutil.rmtree(leftover, ignore_errors=True)
    _pip(Path(sys.executable), ["download", "--no-deps", "--dest", str(wheels), peer.requirement], peer.requirement)
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        kept = [name for name in archive.namelist() if not peer.suffixes or name.endswith(peer.suffixes)]
        metadata = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        archive.extractall(partial, [*kept, *metadata])
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
    shutil.rmtree(wheels)


def _pip(python: Path, arguments: list[str], what: str) -> None:
    options = ["--quiet", "--disable-pip-version-check", "--retries", "1", "--only-binary", ":all:"]
    command = [str(python), "-m", "pip", arguments[0], *options, *arguments[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise PeerError(f"peers: no {what}: {errors[-1] if errors else _last_line(done.stderr)}")


def _runs(command: list[str | Path]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no output"


def main() -> int:
    """Build `.peers/` in the working directory; exit code 1 when a part is missing."""

    def say(line: str) -> None:
        sys.stderr.write(line + "\n")

    missing = build_peers(FOLDER, say)
    for line in missing:
        say(line)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
