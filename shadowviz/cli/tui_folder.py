"""A folder for the record of an interface that was given no file: it goes at the end, or at the next start.

Whoever holds the lock of its owner file is alive: the system lets go of it however a process ends, and a process number
that is given away again cannot be mistaken for it.
"""

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Final

try:
    import fcntl
except ImportError:  # Not a system with locks: what was left behind stays.
    fcntl = None  # type: ignore[assignment]

PREFIX: Final = "shadowviz-tui-"
OWNER: Final = "owner"
_NAME: Final = re.compile(rf"{PREFIX}[a-z0-9_]{{8}}")


@contextlib.contextmanager
def fleeting_folder() -> Iterator[Path]:
    """A folder of one's own until the end; those of interfaces that were killed go meanwhile."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        lock = _owned(folder)
        # The first frame waits for nothing that is not for it.
        Thread(target=remove_abandoned, args=(folder.parent,), daemon=True).start()
        try:
            yield folder
        finally:
            if lock >= 0:
                os.close(lock)


def remove_abandoned(parent: Path) -> None:
    """Remove folders of this user in `parent` whose owner is no more; whatever else is there stays."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    _remove_if_abandoned(entry.path)


def _owned(folder: Path) -> int:
    """A lock that says for as long as this process lives that the folder is used; -1 where there are no locks."""
    if fcntl is None:
        return -1
    # Under its name only once it is locked: before that it would look abandoned.
    beside = folder / f".{OWNER}"
    lock = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        beside.rename(folder / OWNER)
    return lock


def _remove_if_abandoned(path: str) -> None:
    """Remove a folder, by what it is and never by what its name leads to later.

    Raises:
        OSError: it is no folder, is another's, has no owner file, or is used.
    """
    # A link under that name does not open.
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(folder).st_uid != os.getuid():
            return
        lock = os.open(OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            if not stat.S_ISREG(os.fstat(lock).st_mode):
                return
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The owner file last: without it nobody would know that the rest is to go.
            for name in sorted(os.listdir(folder), key=OWNER.__eq__):  # noqa: PTH208 - of this very folder
                _remove(name, folder)
        finally:
            os.close(lock)
    finally:
        os.close(folder)
    Path(path).rmdir()


def _remove(name: str, folder: int) -> None:
    """Remove a file, a link as such, or a folder with all that is in it."""
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        shutil.rmtree(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)
