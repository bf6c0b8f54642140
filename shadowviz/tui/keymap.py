"""A user's own keys: which ids there are, and which names keys have."""

import unicodedata
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final

from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, Keys

from shadowviz.tokens.inert import shorten
from shadowviz.tui.screens.registry import SCREENS
from shadowviz_engine.core.errors import InputError

_MODIFIERS: Final = ("ctrl", "shift", "alt", "meta", "super", "hyper")
_BESIDE_SCREENS: Final = (
    "shadowviz.tui.app:ShadowvizApp",
    "shadowviz.tui.screens.ask:AskScreen",
    "shadowviz.tui.screens.help:HelpScreen",
    "shadowviz.tui.screens.stress_ask:StressAskScreen",
    "shadowviz.tui.screens.stress_ask:PartChoice",
    "shadowviz.tui.widgets.ruler_view:RulerView",
    "shadowviz.tui.widgets.stress_view:StressView",
    "shadowviz.tui.widgets.text_pane:TextPane",
)
"""What has keys and is no screen of its own."""


def check_keymap(keys: Mapping[str, str]) -> None:
    """Say what of a keymap would have no effect, or leave nothing to press.

    Raises:
        InputError: an id that no key has, or a key that there is not.
    """
    known = sorted(set(known_ids()))
    for name, wanted in keys.items():
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"perhaps {close[0]}" if close else "? in the interface shows the ids of a screen"
            raise InputError(f"{shorten(name, 40)!r} is the id of no key: {hint}")
        for key in wanted.split(","):
            if not _is_key(key.strip()):
                raise InputError(
                    f"{name}: {shorten(key.strip(), 40)!r} is no key: expected such as x, X, f5, ctrl+x or "
                    "question_mark, or several with commas between"
                )


def known_ids() -> Iterator[str]:
    """Ids of all keys that a keymap may change."""
    for place in (*_BESIDE_SCREENS, *(entry.place for entry in SCREENS)):
        module, _, name = place.partition(":")
        yield from _ids_of(getattr(import_module(module), name))


def _ids_of(widget: type[Any]) -> Iterator[str]:
    for base in widget.__mro__:
        for binding in vars(base).get("BINDINGS", ()):
            if base.__module__.startswith("shadowviz.") and isinstance(binding, Binding) and binding.id:
                yield binding.id


def _is_key(name: str) -> bool:
    *modifiers, key = name.split("+") if name != "+" else [name]
    if not key or not set(modifiers) <= set(_MODIFIERS):
        return False
    if len(key) == 1:
        return key.isprintable() and not key.isspace()
    return key in _named_keys() or _is_character(key)


def _named_keys() -> frozenset[str]:
    # Some of them have a modifier in their name already.
    return frozenset({str(key.value) for key in Keys} | set(KEY_NAME_REPLACEMENTS.values()))


def _is_character(name: str) -> bool:
    """Whether it is a character's own name, as keys of punctuation have it."""
    try:
        unicodedata.lookup(name.replace("_", " ").upper())
    except KeyError:
        return False
    return name.islower()
