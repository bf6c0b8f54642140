"""A command that the terminal interface runs beside itself: `python -m shadowviz.cli.tui_leash COMMAND ...`.

Its standard input is a pipe that its parent holds. The first byte that comes there, or its end, interrupts the command
as by one Ctrl-C: a second one would insist.
"""

import os
import signal
import sys
import time
from threading import Thread
from typing import Final

PATIENCE_S: Final = 20.0
"""For the command to end after its parent has; then it ends as it is."""
NICENESS: Final = 5
"""Below the interface, which answers keys, and below its engine."""


def main() -> int:
    """Run the command of the process's arguments; its exit code."""
    # Whoever started the interface in the background may have it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    Thread(target=_watch, args=(os.dup(0),), daemon=True).start()
    # The pipe is for the watch alone: what the command reads or starts finds nothing there.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Only here: until the handler of its own is there, an interrupt must end the process.
    from shadowviz.cli.interrupts import interrupts_held

    # The parent asks once, and an import may swallow that.
    with interrupts_held():
        from shadowviz.cli.main import main as run
    return run()


def _watch(pipe: int) -> None:
    # By calls of the system: a lock of the interpreter's own stream would outlast the main thread.
    data = os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGINT)
    while data:
        data = os.read(pipe, 1)
    time.sleep(PATIENCE_S)
    os._exit(128 + signal.SIGINT)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        # Before the command has begun.
        sys.exit(128 + signal.SIGINT)
