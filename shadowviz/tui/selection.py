"""The cursor that all screens share, and the way back along it."""

from typing import Final

import msgspec

from shadowviz.tui.frame import Crumb, Selection

MAX_TRAIL: Final = 50
"""Steps that `back` leads."""


class SelectionTrail:
    """What is selected, on which screen, and where the user came from."""

    def __init__(self, screen: str = "live") -> None:
        self.current = Crumb(screen, Selection())
        self._trail: list[Crumb] = []

    @property
    def trail(self) -> tuple[Crumb, ...]:
        """Where `back` leads, oldest first."""
        return tuple(self._trail)

    def select(self, **changes: object) -> None:
        """Change some of what is selected, on this screen: request, node, token, seq."""
        selection = msgspec.structs.replace(self.current.selection, **changes)
        self.current = Crumb(self.current.screen, selection)

    def drill(self, screen: str) -> None:
        """Go to another screen with the same selection, and remember the way back."""
        self._trail = [*self._trail, self.current][-MAX_TRAIL:]
        self.current = Crumb(screen, self.current.selection)

    def visit(self, screen: str) -> None:
        """Go to another screen, as by its number: the way back ends here."""
        self._trail = []
        self.current = Crumb(screen, self.current.selection)

    def back(self) -> bool:
        """Return to where the user came from, with what was selected there; whether there was such a place."""
        if not self._trail:
            return False
        self.current = self._trail.pop()
        return True

    def forget(self) -> None:
        """Select nothing: what was selected is of another log."""
        self.current = Crumb(self.current.screen, Selection())
        self._trail = []
