"""Writes what a screen shows to a file, in the format that its ending tells.

The log is read anew for it: the screens go on meanwhile, and a diagram is the same as that of `shadowviz export`.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePath

import msgspec

from shadowviz.tokens.inert import printable, shorten
from shadowviz_engine.core.errors import InputError

_UNFINISHED: set[Path] = set()
"""Files that are being written, under the names that they have until then."""


class Content(msgspec.Struct, frozen=True):
    """What goes into a file."""

    data: Iterable[bytes]
    """Read once, while the file is written."""
    words: str
    """How much of what it is."""
    notes: tuple[str, ...] = ()


Make = Callable[[Path], Content]
"""Makes the content from the log in a file."""


class Exportable(msgspec.Struct, frozen=True):
    """Something that can be written to a file."""

    what: str
    """Such as "the tree", for a question."""
    makers: Mapping[str, Make]
    """By ending of the file's name, with the dot."""
    name: str
    """Of a file that it may go to."""

    def maker(self, file: str) -> Make:
        """What makes the content of this file.

        Raises:
            InputError: its ending is none of those.
        """
        name = PurePath(file).name.lower()
        found = max((ending for ending in self.makers if name.endswith(ending)), key=len, default="")
        if not found or name == found:
            expected = " ".join(self.makers)
            raise InputError(f"{shorten(name, 60)} tells no format of {self.what}: expected one of {expected}")
        return self.makers[found]


def export_to(file: str, log: str | Path, shown: Exportable) -> str:
    """Write what is shown to a file; what was written, in words.

    Raises:
        InputError: the ending is none for it, the file is there already, or it cannot be written.
        LogError: the log cannot be read, or contradicts itself.
    """
    make = shown.maker(file)
    target = free_target(file)
    content = make(Path(log))
    write_new(target, content.data)
    words = f"{shorten(str(target), 100)}: {content.words}"
    return "; ".join([words, *map(printable, content.notes)])


def write_new(target: Path, content: Iterable[bytes]) -> None:
    """The bytes under a name that is free: whole or not at all, and never over what is there.

    Raises:
        InputError: the name is taken, or cannot be written.
    """
    beside = target.with_name(f".shadowviz-{secrets.token_hex(8)}.tmp")
    try:
        try:
            _UNFINISHED.add(beside)
            with beside.open("xb") as file:
                file.writelines(content)
                file.flush()
                os.fsync(file.fileno())
            # A link takes a name only where it is free, also when somebody takes it meanwhile.
            os.link(beside, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                beside.unlink()
            _UNFINISHED.discard(beside)
    except FileExistsError:
        raise taken(target) from None
    except OSError as error:
        raise InputError(f"{printable(str(target))} cannot be written: {error.strerror or error}") from None


def give_up() -> None:
    """Remove what is written at this moment and will never be whole, since the process ends."""
    for beside in tuple(_UNFINISHED):
        with contextlib.suppress(OSError):
            beside.unlink()


def free_target(file: str) -> Path:
    """The file of that name, which is not there yet, but its folder is.

    Raises:
        InputError: it is otherwise.
    """
    try:
        target = Path(file).expanduser()
        if os.path.lexists(target):
            raise taken(target)
        if not target.resolve().parent.is_dir():
            raise InputError(f"{printable(file)} cannot be written: expected a file in a folder that is there")
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{printable(file)} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return target


def taken(target: Path) -> InputError:
    """That the name is not free."""
    return InputError(f"{printable(str(target))} is there already and is not replaced: choose another file")
