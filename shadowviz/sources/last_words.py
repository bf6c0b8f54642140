"""Why a child process ended, from what it wrote to its standard error."""

import contextlib
import os
from typing import IO, Final

from shadowviz.tokens.inert import printable

LAST_BYTES: Final = 4096
"""Read of what it wrote."""


def last_words(errors: IO[bytes], says: str = "") -> str:
    """The last line, safe to show; rather the last that begins with `says`, without that. Empty = there is none."""
    with contextlib.suppress(OSError, ValueError):
        size = errors.seek(0, os.SEEK_END)
        errors.seek(max(0, size - LAST_BYTES))
        lines = errors.read().decode("utf-8", "replace").strip().splitlines()
        told = [line for line in lines if says and line.startswith(says)] or lines
        return printable(told[-1].removeprefix(says)) if told else ""
    return ""
