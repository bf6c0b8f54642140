"""How the interface looks: its options, its themes, and the inks and glyphs that go with them."""

from collections.abc import Mapping
from os import environ

import msgspec
from textual.app import App
from textual.screen import Screen

from shadowviz.tui.widgets.look import CONTRAST_THEME, Look, look_of

DEFAULT_THEME = "textual-dark"


class AppOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How the interface looks and starts."""

    screen: str = "live"
    theme: str = DEFAULT_THEME
    ascii: bool = False
    fleeting: bool = False
    """The log goes when the interface ends, unless the user keeps it."""
    keymap: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Keys by id of a binding, as `?` names them."""


class ThemedApp(App[None]):
    """An interface that knows its looks; what it draws with them is for its subclass."""

    def __init__(self, options: AppOptions | None = None) -> None:
        self.options = options or AppOptions()
        super().__init__()
        self._look: Look | None = None
        self.register_theme(CONTRAST_THEME)
        self.theme = self._usable_theme(self.options.theme)
        self.set_keymap(dict(self.options.keymap))

    def _usable_theme(self, name: str) -> str:
        # Without colour, themes of the terminal's own colours come out black on black.
        known = self.available_themes
        if name not in known or (environ.get("NO_COLOR") and known[name].ansi):
            return DEFAULT_THEME
        return name

    @property
    def look(self) -> Look:
        """Inks and glyphs of the theme that is on."""
        if self._look is None:
            self._look = look_of(self.current_theme, self.options.ascii)
        return self._look

    def _watch_theme(self, theme_name: str) -> None:
        self._look = None
        super()._watch_theme(theme_name)
        usable = self._usable_theme(theme_name)
        if usable != theme_name:
            self.theme = usable
            return
        self.call_later(self._draw_anew)

    def _draw_anew(self) -> None:
        if isinstance(self.screen, Screen):
            for view in self.screen.query("LineView"):
                view.notify_style_update()
        self.draw()

    def draw(self) -> None:
        """The screen that is on, with the last frame."""
        raise NotImplementedError
