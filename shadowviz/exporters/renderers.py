"""Programs of others that lay out a graph: which is there, and how one is run without ever waiting for ever."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InputError, ShadowvizError

VARIABLE: Final = "SHADOWVIZ_DOT"
"""Names the program to use, before all others."""
DOT: Final = "dot"
WHEEL: Final = "graphviz-pure"
"""Graphviz in a Python package; its command has the same name."""
VERSION_S: Final = 10.0
"""How long a program may take to say its version."""


class Program(msgspec.Struct, frozen=True):
    """A program that takes dot text on stdin and gives a drawing on stdout."""

    path: str
    found: str
    """Where it was found: the variable, the PATH, or the Python package."""
    version: str
    """Name and version, such as "dot 2.43.0"."""


class RendererError(ShadowvizError):
    """A program that failed, took too long, or gave nothing."""


def find_programs(environ: Mapping[str, str] | None = None) -> tuple[Program, ...]:
    """Programs that are there and can be run, the one to use first.

    Raises:
        InputError: the variable names a program that cannot be run.
    """
    environ = os.environ if environ is None else environ
    found: list[Program] = []
    named = environ.get(VARIABLE, "").strip()
    if named:
        found.append(_named_program(named, environ))
    for name, place in ((DOT, "on the PATH"), (WHEEL, f"of the package {WHEEL}")):
        path = _beside_python(name, environ) if name == WHEEL else shutil.which(name, path=environ.get("PATH", ""))
        if path is None or any(Path(path).samefile(program.path) for program in found):
            continue
        version = _version(path)
        if version:
            found.append(Program(path, place, version))
    return tuple(found)


def run_program(program: Program, source: str, form: str, timeout_s: float) -> bytes:
    """What the program makes of dot text in its format `form`, such as svg; it is ended when it takes too long.

    Raises:
        RendererError: it cannot be started, fails, gives nothing, or takes longer than `timeout_s`.
    """
    try:
        process = subprocess.Popen(
            [program.path, f"-T{form}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A group of its own, so that what it starts ends with it.
            start_new_session=True,
        )
    except OSError as error:
        raise RendererError(f"{program.version} cannot be started: {error.strerror or error}") from None
    try:
        out, said = process.communicate(source.encode(), timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise RendererError(f"{program.version} took longer than {timeout_s:g} s") from None
    finally:
        _end(process)
    if process.returncode != 0 or not out:
        reason = shorten(" ".join(said.decode(errors="replace").split()), 200) or "it gave nothing"
        raise RendererError(f"{program.version} failed with exit code {process.returncode}: {reason}")
    if form == "svg" and not _is_svg(out):
        raise RendererError(f"{program.version} gave something else than an svg")
    return out


def _is_svg(out: bytes) -> bool:
    try:
        text = out.decode()
    except UnicodeDecodeError:
        return False
    return "<svg" in text and text.rstrip().endswith("</svg>")


def _named_program(named: str, environ: Mapping[str, str]) -> Program:
    path = shutil.which(named, path=environ.get("PATH", ""))
    version = _version(path) if path else ""
    if path is None or not version:
        raise InputError(
            f"{VARIABLE} is {shorten(named, 200)!r}, which cannot be run: expected the path of Graphviz's dot, "
            f"or unset it"
        )
    return Program(path, f"named by {VARIABLE}", version)


def _beside_python(name: str, environ: Mapping[str, str]) -> str | None:
    """A command of this Python environment, which need not be on the PATH."""
    beside = shutil.which(name, path=str(Path(sys.executable).parent))
    return beside or shutil.which(name, path=environ.get("PATH", ""))


def _version(path: str) -> str:
    try:
        stamp = Path(path).stat().st_mtime_ns
    except OSError:
        return ""
    return _version_of(path, stamp)


@lru_cache(maxsize=16)
def _version_of(path: str, _stamp: int) -> str:
    """Name and version as the program says them; empty where it does not run or is no Graphviz."""
    try:
        done = subprocess.run([path, "-V"], capture_output=True, timeout=VERSION_S, check=False, input=b"")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    said = (done.stderr + done.stdout).decode(errors="replace")
    version = re.search(r"version (\d[\w.~+-]*)", said)
    if done.returncode != 0 or version is None or "graphviz" not in said.lower():
        return ""
    name = WHEEL if WHEEL in said else DOT
    return f"{name} {version[1]}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it and what it started, and take its remains."""
    if process.poll() is None:
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
