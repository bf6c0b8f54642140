"""The palette of commands, for whoever types faster than it opens or searches."""

from collections.abc import Callable, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.command import CommandInput, CommandList, CommandPalette, Provider, SearchIcon
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from shadowviz.tui.screens.ask import KeysAhead, TakesKeysAhead


class _Line(CommandInput):
    """A line that asks about each key before it waits with others to be read."""

    def __init__(self, comes_behind: Callable[[events.Key], bool], placeholder: str) -> None:
        super().__init__(placeholder=placeholder, select_on_focus=False)
        self._comes_behind = comes_behind

    def _forward_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key) or not self._comes_behind(event):
            super()._forward_event(event)


class Palette(CommandPalette, TakesKeysAhead):
    """Textual's, with two differences: keys that come before its line are for it, and Enter waits for the search.

    Without the second, Enter would choose from what was found for fewer letters. Keys that come behind Enter wait for
    what it chooses, all but Escape, which leaves.
    """

    DEFAULT_CSS = """
    Palette.-ascii #--input { border: ascii $panel-lighten-2; }
    Palette.-ascii #--input.--list-visible { border-bottom: none; }
    Palette.-ascii CommandList { border: none; scrollbar-size-vertical: 0; }
    """

    def __init__(self, providers: Sequence[type[Provider]] | None = None, about: str = "a command") -> None:
        super().__init__(providers, placeholder=about, id="--command-palette")
        self._keys = KeysAhead()
        self._searched = ""
        """What is searched for, or was last."""
        self._is_done = False
        """Whether that search has come to its end."""
        self._waits = False
        """Enter was pressed before it had."""
        self._behind: list[events.Key] | None = None
        """Keys that came behind Enter; None = it was not pressed, or has found nothing to choose."""
        self._is_chosen = False
        """Enter has chosen something, and this screen is about to go."""
        self._enter_comes = False
        """Enter is on its way to the line, behind keys that are."""

    def on_mount(self) -> None:
        # Textual's own sign is none that every terminal has.
        self.query_one(SearchIcon).icon = ":"
        self.set_class(self.app.look.ascii, "-ascii")  # type: ignore[attr-defined]
        for key in self._keys.come_late():
            self._do(key)

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            yield _Line(self.comes_behind, widget.placeholder) if isinstance(widget, CommandInput) else widget

    def _forward_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key) or event.is_forwarded or not self.comes_behind(event):
            super()._forward_event(event)

    def comes_behind(self, key: events.Key) -> bool:
        """Take a key that comes from the terminal where it comes behind Enter; whether it does."""
        if self._holds(key):
            return True
        if key.key == "enter":
            # What the line has been given before is still to be read.
            self._behind, self._enter_comes = [], True
        return False

    def typed_ahead(self, key: events.Key) -> bool:
        return self._keys.take_early(key) or self._do(key)

    def _holds(self, key: events.Key) -> bool:
        """Keep a key that came behind Enter; whether it is one."""
        if self._behind is None or (key.key == "escape" and not self._is_chosen):
            return False
        self._behind.append(events.Key(key.key, key.character))
        return True

    def on_unmount(self) -> None:
        """What was typed behind Enter is for what it has chosen."""
        for key in self._behind or ():
            self.app.post_message(key)

    def _do(self, key: events.Key) -> bool:
        if not self._enter_comes and self._holds(key):
            return True
        line = self.query_one(CommandInput)
        if key.key == "escape":
            self._behind = None
            self._action_escape()
        elif key.key == "enter":
            self._choose()
        elif key.key == "backspace":
            line.action_delete_left()
        elif key.character is not None and key.is_printable:
            line.insert_text_at_cursor(key.character)
        else:
            return False
        return True

    def _gather_commands(self, search_value: str) -> Worker[None]:
        self._searched, self._is_done = search_value, False
        return super()._gather_commands(search_value)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A search has come to its end, unless another has begun meanwhile."""
        if event.state is WorkerState.SUCCESS and event.worker.group == self._GATHER_COMMANDS_GROUP:
            self._is_done = True
            if self._waits:
                self._choose()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        event.prevent_default()
        self._choose()

    def _choose(self) -> None:
        """Do what is chosen, once what was typed has been searched for."""
        self._behind, self._enter_comes = self._behind or [], False
        self._waits = not self._is_done or self.query_one(CommandInput).value.strip() != self._searched
        if self._waits:
            return
        commands = self.query_one(CommandList)
        # Where several are offered and none is marked, the first is marked.
        self._is_chosen = self._hit_count > 0 and (commands.highlighted is not None or commands.option_count == 1)
        if self._hit_count:
            self._select_or_command()
        if not self._is_chosen:
            # What was typed behind it goes on with the line.
            behind, self._behind = self._behind, None
            for key in behind:
                self._do(key) or self.app.post_message(key)
