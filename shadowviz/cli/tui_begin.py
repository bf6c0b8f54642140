"""What `shadowviz tui` looks at before it draws anything: what it was asked for, and the terminal that it is in."""

import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shadowviz_engine.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shadowviz.tui.session import Session


_TOGETHER: Final = (
    ("--at", "SOURCE", "--at names an event of a record: expected a source with it"),
    ("--request", "SOURCE", "--request names one of a record: expected a source with it"),
    ("--node", "SOURCE", "--node names one of a record's tree: expected a source with it"),
    ("--address", "--web", "--address says where --web listens: expected --web beside it"),
    ("--force", "-o", "--force replaces what -o names: expected -o FILE with it"),
)
"""An option, what it is nothing without, and how that is said."""
_APART: Final = (
    (("SOURCE", "-o"), "-o keeps the record of the embedded engine: expected no other source beside it"),
    (("SOURCE", "--pool-bytes"), "--pool-bytes is for the embedded engine: expected no source beside it"),
    (("--web", "--plain"), "--web gives each tab a session of its own: expected neither --plain nor -o beside it"),
    (("--web", "-o"), "--web gives each tab a session of its own: expected neither --plain nor -o beside it"),
    (("--web", "--pool-bytes"), "--web shows the tour or a record: expected no --pool-bytes beside it"),
    (("--request", "--node"), "--request and --node name two things to show: expected one of them"),
    (("--web", "--request"), "--request chooses what --plain prints: expected no --web beside it"),
    (("--web", "--node"), "--node chooses what --plain prints: expected no --web beside it"),
    (("--plain", "--theme"), "--plain is text without colours: expected no --theme beside it"),
    (("--plain", "--keys"), "--plain waits for no key: expected no --keys beside it"),
)
"""What is not given together, and how that is said."""


def check_together(given: Collection[str]) -> None:
    """See that what was given goes together.

    Raises:
        InputError: it does not.
    """
    for name, needed, words in _TOGETHER:
        if name in given and needed not in given:
            raise InputError(words)
    for names, words in _APART:
        if all(name in given for name in names):
            raise InputError(words)


def check_theme(name: str) -> None:
    """See that there is a theme of that name, if one is named.

    Raises:
        InputError: there is none.
    """
    if not name:
        return
    from textual.theme import BUILTIN_THEMES

    from shadowviz.tui.widgets.look import CONTRAST_THEME

    names = sorted({*BUILTIN_THEMES, CONTRAST_THEME.name})
    if name not in names:
        raise InputError(f"--theme {name[:40]!r} is no theme: expected one of {', '.join(names)}")


def check_source(source: str) -> None:
    """See that a record is there, if one is named.

    Raises:
        InputError: it is not.
    """
    if source and not Path(source).exists():
        raise InputError(f"{source} is not there: expected a record")


def check_size() -> None:
    """See that the terminal has room for the screens.

    Raises:
        InputError: it has not.
    """
    from shadowviz.tui.widgets.head import LEAST_COLUMNS, LEAST_LINES

    size = os.get_terminal_size()
    if size.columns < LEAST_COLUMNS or size.lines < LEAST_LINES:
        raise InputError(
            f"the terminal has {size.columns} columns and {size.lines} lines: expected at least "
            f"{LEAST_COLUMNS} and {LEAST_LINES}, or --plain"
        )


def check_screen(name: str) -> None:
    """See that there is a screen of that name.

    Raises:
        InputError: there is none.
    """
    from shadowviz.tui.screens.registry import SCREENS

    names = [entry.name for entry in SCREENS]
    if name not in names:
        raise InputError(f"--screen {name[:40]!r} is no screen: expected one of {', '.join(names)}")


def keymap_of(path: str) -> "Mapping[str, str]":
    """Keys by id of a binding.

    Raises:
        InputError: the file holds something else, or names what there is not.
        OSError: it cannot be read.
    """
    import msgspec

    if not path:
        return {}
    try:
        keys = msgspec.json.decode(Path(path).read_bytes(), type=dict[str, str])
        if keys:
            # Loads every screen.
            from shadowviz.tui.keymap import check_keymap

            check_keymap(keys)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InputError(f"{path}: {error}: expected one JSON object of keys by id") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return keys


def is_ascii_terminal() -> bool:
    """Whether more than ASCII would come out as rubbish, as far as the environment tells."""
    if not (sys.stdout.encoding or "").lower().startswith("utf"):
        return True
    # Python writes UTF-8 where the locale is C; a terminal of somebody who asked for that locale may not know it.
    is_by_itself = bool(sys.flags.utf8_mode) and "utf8" not in sys._xoptions and not os.environ.get("PYTHONUTF8")
    return is_by_itself and any(os.environ.get(name) in ("C", "POSIX") for name in ("LC_ALL", "LC_CTYPE", "LANG"))


def begin_at(session: "Session", at: int | None) -> None:
    """Show the state after event `at`, if one is named.

    Raises:
        InputError: the record has no such event.
    """
    if at is not None:
        session.go_to(at)
        session.selection.select(seq=at)
