"""The terminal interface in pseudo-terminals, each of which is closed at the end of its test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tui_terminal import Terminal


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Begins `shadowviz tui` with arguments; further ones are those of `Terminal`."""
    terminals = []

    def begin(*arguments: str, **more: object) -> Terminal:
        terminals.append(Terminal(["tui", *arguments], tmp_path, **more))
        return terminals[-1]

    yield begin
    for terminal in terminals:
        terminal.close()
