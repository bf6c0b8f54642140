"""What keeps the process of the interface small and free of pauses: settings of memory that no other code changes."""

import contextlib
import ctypes
import gc
from typing import Final

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
"""Parameters of `mallopt`, as in malloc.h of the GNU library."""
LARGE_BYTES: Final = 2**18
"""From here on a block of memory is one of its own: it grows in place, and goes back when it is freed."""
OBJECTS: Final = 50_000
"""New objects after which rubbish is looked for; most that the interface makes lives as long as one event."""


def be_thrifty() -> None:
    """Keep what was imported out of the search for rubbish, and have large columns grow without a copy.

    An environment that suits tensors lets no large block go; this process has none.
    """
    gc.freeze()
    gc.set_threshold(OBJECTS, 20, 20)
    # Another library than GNU's has no such settings.
    with contextlib.suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(_TRIM_THRESHOLD, LARGE_BYTES)
        mallopt(_TOP_PAD, LARGE_BYTES)
