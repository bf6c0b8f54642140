"""The terminal interface: its screens, the selection they share, and the keys that work everywhere."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.actions import ActionParseResult
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.screen import Screen
from textual.widget import AwaitMount

from shadowviz.replay.nearest import Words
from shadowviz.tokens.inert import printable
from shadowviz.tui.app_commands import KEY_WORDS, answer_words, app_commands, places_provider
from shadowviz.tui.frame import Frame, Mode
from shadowviz.tui.helpers import Helpers
from shadowviz.tui.late_words import LateWords
from shadowviz.tui.pace import TICK_S, Pace
from shadowviz.tui.runs import STRESS, Runs, ShownRun
from shadowviz.tui.screens.ask import TakesKeysAhead
from shadowviz.tui.screens.registry import SCREENS, entry_of
from shadowviz.tui.session import Session
from shadowviz.tui.signals import Signals
from shadowviz.tui.stress_words import end_words
from shadowviz.tui.themed import AppOptions, ThemedApp
from shadowviz_engine.core.errors import LogError, ShadowvizError

if TYPE_CHECKING:
    from shadowviz.tui.keeping import KeptLog

LEAST_SAY_S, READ_PER_S = 4.0, 15.0
"""Seconds that something told stays at least, and characters of it that are read in one."""


class ShadowvizApp(ThemedApp):
    """One run on the screen."""

    TITLE = "shadowviz"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMMANDS: ClassVar[set[Any]] = ThemedApp.COMMANDS | {places_provider}
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {entry.name: entry.make for entry in SCREENS}

    CSS = """
    Screen { layers: base; }
    PaneScreen { layout: vertical; }
    #status { background: $panel; }
    #notice { display: none; }
    #body { layout: vertical; height: 1fr; }
    #main { layout: vertical; height: 1fr; }
    #inspector { height: 8; border-top: solid $panel-lighten-2; }
    .-low #inspector { height: 5; }
    .-tall #inspector { height: 14; }
    .-wide #body { layout: horizontal; }
    .-wide #main { width: 1fr; height: 1fr; }
    .-wide #inspector { width: 44; height: 1fr; border-top: none; border-left: solid $panel-lighten-2; }
    .-wide #inspector { padding: 0 0 0 1; }
    .-ascii #inspector { border-top: ascii $panel-lighten-2; }
    .-wide.-ascii #inspector { border-top: none; border-left: ascii $panel-lighten-2; }
    .-ascii Toast { border-left: ascii $primary !important; border-right: none !important; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(entry.key, f"visit('{entry.name}')", entry.title, show=False, id=f"screen.{entry.name}")
            for entry in SCREENS
        ),
        Binding("question_mark", "help", "help", id="app.help"),
        Binding("colon", "command_palette", "cmd", id="app.command", key_display=":"),
        Binding("backspace", "return", "back", show=False, id="app.back"),
        Binding("z", "zoom", "zoom", show=False, id="app.zoom"),
        Binding("ctrl+l", "redraw", "draw the screen anew", show=False, id="app.redraw"),
        Binding("R", "restart", "read the log anew, or start the engine anew", show=False, id="app.restart"),
        Binding("q", "leave", "quit", id="app.quit"),
    ]

    def __init__(self, session: Session, source: str, options: AppOptions | None = None) -> None:
        super().__init__(options)
        self.runs = Runs(ShownRun(session, source, fleeting=self.options.fleeting))
        self.entries = SCREENS
        self.kept: dict[Path, KeptLog] = {}
        """Logs that the user keeps, by where they are written."""
        self.being_kept = set[Path]()
        """Of which the first copy is made."""
        self.helpers = Helpers()
        self.signals: Signals | None = None
        """Which it heeds while it runs; None = they are for somebody else."""
        self.frame: Frame | None = None
        """Made last."""
        self.words_version = 0
        """Changes when the words do."""
        self._pace = Pace(time.monotonic)

    @property
    def session(self) -> Session:
        """Of the run that is shown."""
        return self.runs.shown.session

    @property
    def source(self) -> str:
        """The run that is shown, as the user named it."""
        return self.runs.shown.source

    @property
    def _words(self) -> LateWords | None:
        return self.runs.shown.words

    # Time

    def on_mount(self) -> None:
        self._heed_signals()
        self.tick()
        self.session.selection.visit(self.options.screen)
        self.switch_mode(self.options.screen)
        self._beat_in(TICK_S)

    def _heed_signals(self) -> None:
        """Ended from outside, it gives the terminal back and has the engine close its record, as after `q`."""
        if self.signals is None:
            return
        loop = asyncio.get_running_loop()

        def ask(code: int) -> None:
            # The main thread may wait for the terminal at this moment, or have ended the loop.
            be_quick = getattr(self._driver, "be_quick", None)
            if be_quick is not None:
                be_quick()
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self.exit, None, code)

        self.signals.ask_by(ask)
        if self.signals.code:
            self.exit(None, self.signals.code)

    def get_driver_class(self) -> type[Driver]:
        """What stands between the interface and the terminal."""
        usual = super().get_driver_class()
        # On Windows and in a browser it is another one.
        if usual.__module__ != "textual.drivers.linux_driver":
            return usual
        from shadowviz.tui.terminal_driver import TerminalDriver

        return TerminalDriver

    async def on_event(self, event: events.Event) -> None:
        """Whatever comes from the terminal goes first."""
        if isinstance(event, events.InputEvent):
            self._pace.key_came()
        await super().on_event(event)

    def _beat_in(self, wait_s: float) -> None:
        # A timer of textual's that is late by as much as it was set for never comes: on a busy machine the last beat.
        asyncio.get_running_loop().call_later(wait_s, self._beat_next)

    def _beat_next(self) -> None:
        if self.is_running:
            self.call_next(self._beat)

    def _beat(self) -> None:
        """Work where it is time to, draw where there is something to see, and say when to be called again."""
        wait_s = self._pace.hold_s()
        if not wait_s:
            before = self.frame
            frame = self._work()
            if self._pace.draws(before, frame):
                self.draw()
            is_screen_working = bool(self.screen_stack) and bool(getattr(self.screen, "is_working", False))
            is_indexed = self.session.follower.is_indexed
            wait_s = self._pace.rest_s(frame, is_indexed=is_indexed, is_screen_working=is_screen_working)
        self._beat_in(wait_s)

    def tick(self) -> None:
        """Work on the run for a moment, and show what there is."""
        self._work()
        self.draw()

    def _work(self) -> Frame:
        self._look_at_stress()
        return self._go_on()

    def _go_on(self) -> Frame:
        """Work on the run that is shown."""
        before, self.frame = self.frame, self.session.tick(self._pace.slice_s())
        self._pace.worked(before, self.frame)
        if self._words is None and self.frame.opened is not None:
            self.runs.shown.words = LateWords(self.frame.opened)
        self.words_version = int(self._words is not None and self._words.loaded)
        for answer in self.session.answers:
            words = answer_words(answer)
            if words:
                self.say(words)
        return self.frame

    def _look_at_stress(self) -> None:
        """See how the stress run does; its record is shown as soon as there is one."""
        if self.runs.poll() and self.current_mode != STRESS:
            assert self.runs.stress is not None, "one that has ended"
            self.say(f"{end_words(self.runs.stress)}: {self.key_of('screen.stress', '5')} shows it")
        if self.current_mode == STRESS and self.runs.lead_to(STRESS):
            self.session.selection.visit(STRESS)

    def on_key(self, event: events.Key) -> None:
        """Keys that were typed before the line to type into was there are for that line."""
        if isinstance(self.screen, TakesKeysAhead) and self.screen.typed_ahead(event):
            event.stop()
            event.prevent_default()

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Do what a key stands for; that the log cannot be read any more is told, and ends nothing."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except LogError as error:
            self.say(printable(str(error)))
            return True

    def draw(self) -> None:
        """The screen that is on, with the last frame."""
        # Between two modes there is no screen for a moment.
        self._draw_screens(self.screen_stack)

    def _draw_screens(self, stack: Sequence[Screen[Any]]) -> None:
        from shadowviz.tui.screens.base import PaneScreen

        # That which lies under a line to type into is seen as well.
        for screen in stack:
            if isinstance(screen, PaneScreen):
                screen.draw(self.frame)

    @property
    def words(self) -> Words:
        """Reads the ids of the run."""
        assert self._words is not None, "asked only once the log was opened"
        return self._words

    def say(self, words: str) -> None:
        """Tell the user something for a moment."""
        self.notify(words, markup=False, timeout=max(LEAST_SAY_S, len(words) / READ_PER_S))

    # Where the user is

    def has_screen(self, name: str) -> bool:
        """Whether there is a screen of that name."""
        return entry_of(name) is not None

    def action_visit(self, name: str) -> None:
        """Show a screen by its number, of the run that it is for."""
        if self.runs.lead_to(name):
            self._go_on()
        self.session.selection.visit(name)
        self.switch_mode(name)

    def action_begin_stress(self) -> None:
        """Ask what a stress run is to check, and begin it."""
        from shadowviz.tui.screens.stress_start import ask_and_begin

        ask_and_begin(self)

    def switch_mode(self, mode: str) -> AwaitMount:
        """Show another screen; one that was on before has the rows of that moment until it is drawn."""
        with contextlib.suppress(KeyError):
            self._draw_screens(self.get_screen_stack(mode))
        return super().switch_mode(mode)

    def drill(self, *names: str) -> None:
        """Go deeper, to the first of these screens that there is; `Backspace` leads back."""
        for name in names:
            if self.has_screen(name):
                self.session.selection.drill(name)
                self.switch_mode(name)
                return

    def action_return(self) -> None:
        """Return to where the user came from."""
        if self.session.selection.back():
            self.switch_mode(self.session.selection.current.screen)

    def action_pause(self) -> None:
        """Stay at this moment, or show the newest again."""
        if self.frame is not None and self.frame.mode is Mode.PAUSED:
            self.session.go_on()
        else:
            self.session.pause()
        self.tick()

    def action_zoom(self) -> None:
        """Let the part that has the keys fill the screen, or give it back its place."""
        if self.screen.maximized is not None:
            self.screen.minimize()
        elif self.focused is not None:
            self.screen.maximize(self.focused)

    def action_redraw(self) -> None:
        """Draw everything anew, after another program has written into the terminal."""
        self.refresh(layout=True)

    def action_restart(self) -> None:
        """Read a log that was cut or replaced from its beginning, or start an engine that has ended."""
        frame = self.frame
        if frame is None:
            return
        try:
            if self.session.child is not None and not frame.engine.alive:
                self.runs.shown.source = str(self.session.restart_engine())
            elif frame.log.restartable:
                self.session.restart_log()
            else:
                self.say(f"there is nothing to read anew: {frame.log_words or 'the log goes on'}")
                return
        except ShadowvizError as error:
            self.say(printable(str(error)))
            return
        self.runs.shown.words = None
        self.tick()

    def action_leave(self) -> None:
        """Quit; an engine of this session closes its record first."""
        self.exit()

    def action_help_quit(self) -> None:
        """Ctrl-C ends nothing, as it may be meant for a copy; say what does."""
        keys = [
            self.key_words(found.binding) for found in self.active_bindings.values() if found.binding.id == "app.quit"
        ]
        self.say(f"{keys[0]} quits" if keys else "esc closes this, then q quits")

    def close_runs(self) -> str:
        """End the stress run, if one goes on; what is worth saying of it once the terminal is free."""
        return self.runs.close()

    # Keys and commands

    def key_of(self, name: str, usual: str) -> str:
        """The key of a binding by its id, as texts write it, where the user's keymap may have another."""
        key = self.options.keymap.get(name, usual).partition(",")[0].strip()
        return KEY_WORDS.get(key, key)

    def key_words(self, binding: Binding) -> str:
        """A key as the foot and the help write it."""
        words = binding.key_display or KEY_WORDS.get(binding.key, self.get_key_display(binding))
        return words if words.isascii() or not self.options.ascii else binding.key

    def action_help(self) -> None:
        """Show every key that works here."""
        from shadowviz.tui.screens.help import HelpScreen

        self.push_screen(HelpScreen(list(self.screen.active_bindings.values()), self.screen))

    def action_command_palette(self) -> None:
        """Offer everything that can be done here, by its name."""
        from shadowviz.tui.screens.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    def search_themes(self) -> None:
        """Offer the themes by their names."""
        from textual.theme import ThemeProvider

        from shadowviz.tui.screens.palette import Palette

        self.push_screen(Palette([ThemeProvider], "a theme"))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Everything that a key does here, by its name; and the themes."""
        yield from app_commands(self, screen.active_bindings.values())
        yield SystemCommand("Theme", "choose the colours", self.action_change_theme)
