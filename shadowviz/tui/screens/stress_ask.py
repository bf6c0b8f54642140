"""Asks what a stress run is to check, with something good in every field, and shows the command that it comes to."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from shadowviz.tokens.inert import printable
from shadowviz.tui.screens.ask import KeysAhead, TakesKeysAhead, type_over
from shadowviz.tui.stress_ask import PARTS, SUBJECTS, StressAsk, command_line
from shadowviz_engine.core.errors import InputError

if TYPE_CHECKING:
    from shadowviz.tui.app import ShadowvizApp

_FIELDS = (
    ("subject", SUBJECTS),
    ("lengths", "lengths to go on at: ranges and single ones, such as 1:129,256; 1:129 ends before 129"),
    ("record", "a file that is not there yet: the run is recorded in it, and can be gone on with"),
)
"""Fields to type into, and what is said of each."""
_PART = "space, left and right choose another sort of check"


class PartChoice(Static, can_focus=True):
    """The sort of check: one of a few."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,right", "step(1)", "another sort", show=False, id="stress-ask.part"),
        Binding("left", "step(-1)", "the sort before", show=False, id="stress-ask.part-before"),
    ]

    def action_step(self, by: int) -> None:
        """Choose the next one, or the one before."""
        cast("StressAskScreen", self.screen).step_part(by)


class StressAskScreen(ModalScreen[StressAsk | None], TakesKeysAhead):
    """A form at the foot; gives what is asked for, None where the user let it be."""

    DEFAULT_CSS = """
    StressAskScreen { align: left bottom; background: transparent; }
    StressAskScreen > Vertical { height: auto; width: 100%; background: $panel; }
    StressAskScreen Horizontal { height: 1; }
    StressAskScreen Static { height: 1; padding: 0 1; }
    StressAskScreen .name { width: 11; color: $text-muted; }
    StressAskScreen Input { height: 1; border: none; padding: 0 1; }
    StressAskScreen PartChoice { padding: 0; }
    StressAskScreen PartChoice:focus { background: $primary; color: $text; }
    StressAskScreen #about { height: 2; color: $text-muted; }
    StressAskScreen #command { height: 2; }
    """

    # Before the field that has the keys: it would take those that come with them at once.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", id="stress-ask.leave"),
        Binding("enter", "start", "start", id="stress-ask.start", priority=True),
        Binding("tab,down", "field(1)", "next field", id="stress-ask.next", priority=True),
        Binding("shift+tab,up", "field(-1)", "field before", id="stress-ask.previous", priority=True),
    ]

    def __init__(self, ask: StressAsk) -> None:
        super().__init__()
        self._ask = ask
        self._keys = KeysAhead()
        self._is_done = False
        """Whether it was started or left; the screen may stay for a moment, and other keys may be on their way."""
        self._fault: tuple[StressAsk | None, str] = (None, "")
        """What was asked for last that cannot be done, and why."""

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(" Begin a stress run: enter starts it, tab goes to the next field, esc leaves", markup=False)
            yield from self._field("subject")
            with Horizontal():
                yield Static("checks", classes="name", markup=False)
                yield PartChoice(PARTS[self._ask.part].title, id="part", markup=False)
            yield from self._field("lengths")
            yield from self._field("record")
            yield Static("", id="about", markup=False)
            yield Static("", id="command", markup=False)

    def _field(self, name: str) -> ComposeResult:
        with Horizontal():
            yield Static(name, classes="name", markup=False)
            yield Input(getattr(self._ask, name), id=name, compact=True)

    def on_mount(self) -> None:
        self.set_focus(self.query_one("#subject", Input))
        self._tell()
        for key in self._keys.come_late():
            self._do(key)
            if key.key in ("enter", "escape"):
                break

    def typed_ahead(self, key: events.Key) -> bool:
        return self._keys.take_early(key) or self._do(key)

    def _do(self, key: events.Key) -> bool:
        """What a key does that came before the field was there that it is for; whether that is anything."""
        focused = self.focused
        if key.key in _DOES:
            _DOES[key.key](self)
        elif isinstance(focused, PartChoice) and key.key == "space":
            self.step_part(1)
        elif isinstance(focused, Input) and key.character is not None and key.is_printable:
            type_over(focused, key.character, getattr(self._ask, focused.id or ""))
        else:
            return False
        return True

    def action_field(self, by: int) -> None:
        """Give the keys to the next field, or to the one before."""
        if not self._keys.take_early(events.Key("tab" if by > 0 else "shift+tab", None)):
            self.focus_next() if by > 0 else self.focus_previous()

    def step_part(self, by: int) -> None:
        """Choose another sort of check."""
        self._ask = self._typed().with_part((self._ask.part + by) % len(PARTS))
        self.query_one("#part", PartChoice).update(PARTS[self._ask.part].title)
        for name, _ in _FIELDS:
            self.query_one(f"#{name}", Input).value = getattr(self._ask, name)
        self._tell()

    def _typed(self) -> StressAsk:
        subject, lengths, record = (self.query_one(f"#{name}", Input).value for name, _ in _FIELDS)
        return StressAsk(part=self._ask.part, subject=subject, lengths=lengths, record=record)

    def _tell(self) -> None:
        """What the field is for, and the command that it all comes to, or why it does not."""
        focused = self.focused.id if isinstance(self.focused, Widget) else ""
        self.query_one("#about", Static).update(dict(_FIELDS).get(focused or "subject", _PART))
        ask = self._typed()
        try:
            words = self._fault[1] if self._fault[0] == ask else command_line(ask.arguments())
        except InputError as error:
            words = str(error)
        self.query_one("#command", Static).update(self._shown(words))

    def _shown(self, words: str) -> str:
        return cast("ShadowvizApp", self.app).look.shown(printable(words))

    @on(Input.Changed)
    def _changed(self) -> None:
        self._tell()

    def on_descendant_focus(self) -> None:
        """Another field has the keys."""
        self._tell()

    def action_start(self) -> None:
        """Begin, unless something in a field is wrong: that is said."""
        if self._keys.take_early(events.Key("enter", None)):
            return
        # What was typed before Enter is on its way to its field.
        (self.focused or self).call_later(self._start)

    def _start(self) -> None:
        if self._is_done:
            return
        ask = self._typed()
        try:
            ask.ready()
        except InputError as error:
            self._fault = (ask, str(error))
            self._tell()
            return
        self._end(ask)

    def action_leave(self) -> None:
        """Let it be."""
        self._end(None)

    def _end(self, ask: StressAsk | None) -> None:
        if not self._is_done:
            self._is_done = True
            self.dismiss(ask)


_DOES: Mapping[str, Callable[[StressAskScreen], None]] = {
    "tab": lambda screen: screen.action_field(1),
    "shift+tab": lambda screen: screen.action_field(-1),
    "enter": StressAskScreen.action_start,
    "escape": StressAskScreen.action_leave,
}
"""Keys of the form itself."""
