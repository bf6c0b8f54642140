"""Asks for one line of text over whatever is shown."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class AskScreen(ModalScreen[str | None]):
    """A line at the foot; gives what was typed, None where the user let it be."""

    DEFAULT_CSS = """
    AskScreen { align: left bottom; background: transparent; }
    AskScreen > Vertical { height: 2; width: 100%; background: $panel; }
    AskScreen Static { height: 1; padding: 0 1; color: $text-muted; }
    AskScreen Input { height: 1; border: none; padding: 0 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave", id="ask.leave")]

    def __init__(self, about: str, value: str = "") -> None:
        super().__init__()
        self._about, self._value = about, value

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._about, markup=False)
            yield Input(self._value, compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        """Let it be."""
        self.dismiss(None)
