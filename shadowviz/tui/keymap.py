"""A user's own keys: which ids there are, and which names keys have."""

import unicodedata
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Final

from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, _character_to_key

from shadowviz.tokens.inert import shorten
from shadowviz.tui.screens.registry import SCREENS, ScreenEntry
from shadowviz_engine.core.errors import InputError

_MODIFIERS: Final = ("ctrl", "shift", "alt", "meta", "super", "hyper")
_APP: Final = "shadowviz.tui.app:ShadowvizApp"
_PANE: Final = "shadowviz.tui.widgets.text_pane:TextPane"
_BESIDE_SCREENS: Final = (
    _APP,
    "shadowviz.tui.screens.ask:AskScreen",
    "shadowviz.tui.screens.help:HelpScreen",
    "shadowviz.tui.screens.stress_ask:StressAskScreen",
    "shadowviz.tui.screens.stress_ask:PartChoice",
    "shadowviz.tui.widgets.ruler_view:RulerView",
    "shadowviz.tui.widgets.stress_view:StressView",
    _PANE,
)
"""What has keys and is no screen of its own."""
_LISTS: Final = {
    "ruler": "shadowviz.tui.widgets.ruler_view:RulerView",
    "stress": "shadowviz.tui.widgets.stress_view:StressView",
}
"""What has the keys on a screen before the screen itself, where that is no plain list."""
_LIST: Final = "shadowviz.tui.widgets.lines:LineView"


def check_keymap(keys: Mapping[str, str]) -> None:
    """Say what of a keymap would have no effect, or leave nothing to press.

    Raises:
        InputError: an id that no key has, a key that there is not, or one that does something else on the same screen.
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
    for entry in SCREENS:
        for part in (_LISTS.get(entry.name, _LIST), _PANE):
            _check_clashes(keys, entry, part)


def _check_clashes(keys: Mapping[str, str], entry: ScreenEntry, part: str) -> None:
    """Of two things with one key only one is ever done: that of a part before the screen's, the screen's before others.

    Raises:
        InputError: a key of the user's is one of those.
    """
    users = dict[str, str]()
    for binding in (found for place in (part, entry.place, _APP) for found in _bindings(place)):
        name = binding.id or ""
        for key in _keys_of(keys.get(name, binding.key)):
            other = users.setdefault(key, name)
            if other != name and (name in keys or other in keys):
                mine, taken = (name, other) if name in keys else (other, name)
                raise InputError(
                    f"{mine}: on the screen {entry.name} the key {key} is that of {taken}: choose another, or give "
                    f"{taken} another one as well"
                )


def _keys_of(wanted: str) -> Iterator[str]:
    """Keys as textual names them."""
    for key in wanted.split(","):
        *modifiers, last = key.strip().split("+") if key.strip() != "+" else ["+"]
        yield "+".join([*modifiers, _character_to_key(last) if len(last) == 1 else last])


def known_ids() -> Iterator[str]:
    """Ids of all keys that a keymap may change."""
    for place in (*_BESIDE_SCREENS, *(entry.place for entry in SCREENS)):
        yield from (binding.id or "" for binding in _bindings(place))


def _bindings(place: str) -> Iterator[Binding]:
    """Those of a class, by module and name, that have an id of ours."""
    module, _, name = place.partition(":")
    for base in getattr(import_module(module), name).__mro__:
        for binding in vars(base).get("BINDINGS", ()):
            if base.__module__.startswith("shadowviz.") and isinstance(binding, Binding) and binding.id:
                yield binding


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
