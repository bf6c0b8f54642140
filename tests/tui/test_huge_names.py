"""Names and texts of a hundred thousand characters: a key costs no more than reading them a few times."""

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest
from rich import cells
from textual.pilot import Pilot
from textual.widgets import Input
from tui_logs import chat_log
from tui_runs import press, run_app

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.registry import SCREENS
from shadowviz.tui.themed import AppOptions

LENGTH = 100_000
MOST = 100
"""Times that a key may measure each character of the long text."""


class Measured:
    """Measures text as the interface does, and counts the characters."""

    def __init__(self) -> None:
        self.num, self._real = 0, cells.cell_len

    def __call__(self, text: str, *more: object) -> int:
        self.num += len(text)
        assert self.num <= MOST * LENGTH, f"{self.num:,} characters are measured for one key"
        return self._real(text, *more)


def measure(monkeypatch: pytest.MonkeyPatch) -> Measured:
    """Count what the interface measures from now on."""
    measured, real = Measured(), cells.cell_len
    for entry in SCREENS:
        import_module(entry.place.partition(":")[0])
    for module in list(sys.modules.values()):
        if getattr(module, "cell_len", None) is real:
            monkeypatch.setattr(module, "cell_len", measured)
    return measured


def long_log(log: Path, names: Mapping[str, str]) -> Path:
    """A log of a cache with other names of a request and a namespace in it."""
    chat_log(log, closed=False)
    text = log.read_text()
    for old, new in names.items():
        assert f'"{old}"' in text
        text = text.replace(f'"{old}"', f'"{new}"')
    log.write_text(text)
    return log


def long(words: str) -> str:
    return (words * LENGTH)[:LENGTH]


def test_a_name_of_a_hundred_thousand_characters_holds_up_no_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = measure(monkeypatch)

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        for entry in SCREENS:
            for key in (entry.key, "j", "k"):
                measured.num = 0
                await press(app, pilot, key)
        # The way that leads back names what was chosen on it.
        for key in ("1", "g", "enter", "enter", "t", "backspace"):
            measured.num = 0
            await press(app, pilot, key)

    run_app(long_log(tmp_path / "run.jsonl", {"r6": long("日x"), "tenant-b": long("t")}), keys)


def test_a_prompt_of_one_word_of_a_hundred_thousand_characters_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = measure(monkeypatch)

    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "B")
        app.screen.query_one(Input).value = f"text:{long('x')}"
        for key in ("enter", "j", "n", "A"):
            measured.num = 0
            await press(app, pilot, key)

    run_app(chat_log(tmp_path / "run.jsonl"), keys, options=AppOptions(screen="diff"))
