"""Records of the scripts that the package has, run by a real engine."""

from pathlib import Path
from typing import Any

from shadowviz.sources.child_wire import Setup
from shadowviz.sources.script import TOUR_OPTIONS
from shadowviz.sources.scripted import record_script

OPTIONS: dict[str, dict[str, Any]] = {"tour": TOUR_OPTIONS, "demo": {}}


def record(script: str, folder: Path) -> Path:
    """The record of `tour` or `demo`, without the waits between its steps."""
    path = folder / f"{script}.jsonl"
    refused: list[str] = []
    record_script(Setup(options=OPTIONS[script], log=str(path), script=script), refused.append)
    assert not refused, refused
    return path
