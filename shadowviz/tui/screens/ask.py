"""Asks for one line of text over whatever is shown."""

from typing import ClassVar

from textual import events
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
        self._ahead: list[events.Key] | None = []
        """Keys that came before the line was there; None = it is."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._about, markup=False)
            yield Input(self._value, compact=True)

    async def on_mount(self) -> None:
        ahead, self._ahead = self._ahead or [], None
        for key in ahead:
            if key.key == "escape":
                self.action_leave()
                return
            if key.key == "enter":
                await self.query_one(Input).action_submit()
                return
            self.typed_ahead(key)

    def typed_ahead(self, key: events.Key) -> bool:
        """Take a key that did not come by way of the line; whether it was one for it."""
        if self._ahead is not None:
            self._ahead.append(key)
        elif key.character is not None and key.is_printable:
            line = self.query_one(Input)
            if line.value == self._value:
                # It is typed over what stood there, and must not be typed over itself when the line is focused.
                line.value, line.select_on_focus = "", False
            line.insert_text_at_cursor(key.character)
        else:
            return False
        return True

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        """Let it be."""
        self.dismiss(None)
