"""A terminal of characters and inks, painted with what the interface sends to one."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from rich.cells import cell_len
from textual._compositor import CompositorUpdate
from textual.app import App

from shadowviz.tui.app import ShadowvizApp

_PIECES = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[([0-9;]*)m|(\n)|([^\x1b\n]+)")

Cell = tuple[str, str]
"""A character, and the ink it was written in."""


class Painted:
    """What a terminal shows after every update that it was sent so far."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], Cell] = {}
        """By row and column; the second half of a wide character is empty."""
        self.num_updates = 0

    def write(self, text: str) -> None:
        """Take one update."""
        self.num_updates += 1
        row = column = 0
        ink = ""
        for found in _PIECES.finditer(text):
            to_row, to_column, style, line, words = found.groups()
            if to_row:
                row, column = int(to_row) - 1, int(to_column) - 1
            elif line:
                row, column = row + 1, 0
            elif words is None:
                ink = "" if style in ("", "0") else style
            else:
                for character in words:
                    self.cells[row, column] = (character, ink)
                    width = cell_len(character)
                    self.cells |= {(row, column + half): ("", ink) for half in range(1, width)}
                    column += width

    def differences(self, other: "Painted") -> list[tuple[tuple[int, int], Cell | None, Cell | None]]:
        """Cells that differ, with what is there and what is there in the other."""
        places = sorted(self.cells.keys() | other.cells.keys())
        return [
            (place, self.cells.get(place), other.cells.get(place))
            for place in places
            if self.cells.get(place) != other.cells.get(place)
        ]


@contextmanager
def painting(app: App[Any], painted: Painted) -> Iterator[None]:
    """Have the updates of an app painted, which has no terminal."""

    def display(_screen: Any, update: Any) -> None:
        if isinstance(update, CompositorUpdate) and not app._batch_count:
            painted.write(update.render_segments(app.console))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "_display", display)
        yield


def painted_anew(app: ShadowvizApp) -> Painted:
    """What the screen is with nothing kept of how it was drawn before."""
    for part in (app.screen, *app.screen.walk_children()):
        part.notify_style_update()
        part._styles_cache.clear()
    painted = Painted()
    painted.write(app.screen._compositor.render_full_update().render_segments(app.console))
    return painted
