"""Asks for one line of text over whatever is shown."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class KeysAhead:
    """Keys for a line that came before it was there."""

    def __init__(self) -> None:
        self._ahead: list[events.Key] | None = []
        """None = the line is there."""

    def take_early(self, key: events.Key) -> bool:
        """Keep a key until the line is there; whether it is not."""
        if self._ahead is None:
            return False
        # The event itself goes no further.
        self._ahead.append(events.Key(key.key, key.character))
        return True

    def come_late(self) -> list[events.Key]:
        """Those that came too early, in their order; the line is there from now on."""
        ahead, self._ahead = self._ahead or [], None
        return ahead


def type_over(line: Input, character: str, value: str) -> None:
    """Write into a line; what stood in it at first goes."""
    if line.value == value:
        # It is typed over what stood there, and must not be typed over itself when the line is focused.
        line.value, line.select_on_focus = "", False
    line.insert_text_at_cursor(character)


class Line(Input):
    """A line whose Enter holds for what was typed before it, and for nothing that was typed behind it."""

    def __init__(self, value: str) -> None:
        super().__init__(value, compact=True)
        self.behind: list[events.Key] | None = None
        """Keys that came behind Enter; None = it was not pressed."""

    async def _on_key(self, event: events.Key) -> None:
        # As a binding, Enter would make its way to the app and back, and letters would overtake it.
        if self.behind is not None:
            event.stop()
            event.prevent_default()
            self.behind.append(events.Key(event.key, event.character))
        elif event.key == "enter":
            event.stop()
            event.prevent_default()
            await self.action_submit()
        else:
            await super()._on_key(event)

    async def action_submit(self) -> None:
        if self.behind is None:
            self.behind = []
        await super().action_submit()


class TakesKeysAhead:
    """A screen with a line to type into, which is there a moment after the screen."""

    def typed_ahead(self, key: events.Key) -> bool:
        """Take a key that did not come by way of the line; whether it was one for it."""
        raise NotImplementedError


class AskScreen(ModalScreen[str | None], TakesKeysAhead):
    """A line at the foot; gives what was typed, None where the user let it be.

    Args:
        about: What is asked for.
        value: What stands in the line at first.
        as_is: Blanks at the ends are part of it.
    """

    DEFAULT_CSS = """
    AskScreen { align: left bottom; background: transparent; }
    AskScreen > Vertical { height: auto; width: 100%; background: $panel; }
    AskScreen Static { height: auto; padding: 0 1; color: $text-muted; }
    AskScreen ToastRack { margin-bottom: 4; }
    AskScreen Input { height: 1; border: none; padding: 0 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave", id="ask.leave")]

    def __init__(self, about: str, value: str = "", *, as_is: bool = False) -> None:
        super().__init__()
        self._about, self._value, self._as_is = about, value, as_is
        self._line = Line(value)
        self._keys = KeysAhead()
        self._is_done = False
        """Whether it was answered or left; the screen may stay for a moment, and other keys may be on their way."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._about, markup=False)
            yield self._line

    async def on_mount(self) -> None:
        late = self._keys.come_late()
        for place, key in enumerate(late, 1):
            if key.key in ("escape", "enter"):
                # What came behind it is for whatever is there when the line has gone.
                self._line.behind = late[place:]
                if key.key == "escape":
                    self.action_leave()
                else:
                    await self._line.action_submit()
                return
            self.typed_ahead(key)

    def typed_ahead(self, key: events.Key) -> bool:
        line = self._line
        if self._keys.take_early(key):
            return True
        if line.behind is not None:
            line.behind.append(events.Key(key.key, key.character))
            return True
        if key.key == "enter":
            line.behind = []
            self.call_later(line.action_submit)
            return True
        if key.character is None or not key.is_printable:
            return False
        type_over(line, key.character, self._value)
        return True

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._end(event.value if self._as_is else event.value.strip())

    def on_unmount(self) -> None:
        """What was typed behind Enter is for what the line has left."""
        for key in self._line.behind or ():
            self.app.post_message(key)

    def action_leave(self) -> None:
        """Let it be."""
        self._end(None)

    def _end(self, typed: str | None) -> None:
        if not self._is_done:
            self._is_done = True
            self.dismiss(typed)
