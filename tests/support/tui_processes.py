"""Watches the processes that the terminal interface starts."""

import os
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 300.0
"""Until something that says nothing counts as stuck, on a machine however busy."""


def wait_for(found: Callable[[], bool], what: str) -> None:
    """Wait until it is so."""
    stop = time.monotonic() + PATIENCE_S
    while not found():
        assert time.monotonic() < stop, f"waited in vain for {what}"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be noticed does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return not Path("/proc/self").exists()
