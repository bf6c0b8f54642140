"""Where on the ruler the user is: token, zoom, layer and a cut of the user's own."""

from typing import Final

ZOOMS: Final = (1, 4, 16, 128, 1024, 8192)
"""Tokens of a cell, behind `SPELLED`."""
SPELLED: Final = 0
"""Zoom at which each token has several cells, for its text."""
SPELLED_CELLS: Final = 6


class RulerPlace:
    """A window on the tokens that follows its cursor."""

    def __init__(self) -> None:
        self.token = 0
        self.first = 0
        """Token at the left edge."""
        self.zoom = 1
        self.layer = -1
        """-1 = all."""
        self.own_cut: int | None = None
        """Another cut than that of the lookup."""

    @property
    def per_cell(self) -> int:
        """Tokens of one cell, or of one group of cells where tokens are spelled."""
        return self.zoom or 1

    def num_cells(self, width: int) -> int:
        """Cells, or groups of them, in so many columns."""
        return max(1, width // SPELLED_CELLS if self.zoom == SPELLED else width)

    def move(self, token: int, length: int, width: int) -> None:
        """Put the cursor on a token, or behind the last one; what is seen moves as far as it must."""
        self.token = max(0, min(token, length))
        cells, per_cell = self.num_cells(width), self.per_cell
        place = (self.token - self.first) // per_cell
        if not 0 <= place < cells:
            # Some of what lies before stays seen.
            ahead = cells // 4 if place < 0 or place >= cells else 0
            lead = cells - 1 - ahead if place >= cells else ahead
            self.first = max(0, self.token // per_cell - lead) * per_cell
        self.first -= self.first % per_cell
        self.first = max(0, min(self.first, (length // per_cell + 1 - min(cells, length // per_cell + 1)) * per_cell))

    def centre(self, token: int, length: int, width: int) -> None:
        """Put the cursor on a token, with as much of what lies before it as behind it."""
        self.first = max(0, token // self.per_cell - self.num_cells(width) // 2) * self.per_cell
        self.move(token, length, width)

    def rescale(self, step: int, length: int, width: int) -> None:
        """More tokens a cell, or fewer; the cursor stays about where it is seen."""
        levels = (SPELLED, *ZOOMS)
        column = (self.token - self.first) // self.per_cell / self.num_cells(width)
        self.zoom = levels[max(0, min(len(levels) - 1, levels.index(self.zoom) + step))]
        lead = int(column * self.num_cells(width))
        self.first = max(0, self.token // self.per_cell - lead) * self.per_cell
        self.move(self.token, length, width)

    @property
    def shows_letters(self) -> bool:
        """Whether each token has a single cell, which has no room for its text."""
        return self.zoom == 1

    @property
    def zoom_words(self) -> str:
        """The zoom, for the title."""
        return "tokens spelled" if self.zoom == SPELLED else f"1 cell = {self.zoom:,} token{'s' * (self.zoom > 1)}"
