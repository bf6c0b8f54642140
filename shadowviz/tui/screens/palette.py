"""The palette of commands, for whoever types faster than it opens or searches."""

from collections.abc import Sequence

from textual import events, on
from textual.command import CommandInput, CommandPalette, Provider, SearchIcon
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from shadowviz.tui.screens.ask import KeysAhead, TakesKeysAhead


class Palette(CommandPalette, TakesKeysAhead):
    """Textual's, with two differences: keys that come before its line are for it, and Enter waits for the search.

    Without the second, Enter would choose from what was found for fewer letters.
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

    def on_mount(self) -> None:
        # Textual's own sign is none that every terminal has.
        self.query_one(SearchIcon).icon = ":"
        self.set_class(self.app.look.ascii, "-ascii")  # type: ignore[attr-defined]
        for key in self._keys.come_late():
            self._do(key)

    def typed_ahead(self, key: events.Key) -> bool:
        return self._keys.take_early(key) or self._do(key)

    def _do(self, key: events.Key) -> bool:
        line = self.query_one(CommandInput)
        if key.key == "escape":
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
        self._waits = not self._is_done or self.query_one(CommandInput).value.strip() != self._searched
        if not self._waits and self._hit_count:
            self._select_or_command()
