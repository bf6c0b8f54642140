"""`shadowviz tui` without a terminal: a screen printed as text."""

import shutil
import sys
from typing import NamedTuple

from shadowviz.cli.show import write_note, write_out
from shadowviz.cli.tui_begin import begin_at
from shadowviz.cli.tui_folder import fleeting_folder
from shadowviz.tui.session import Session

PLAIN_COLUMNS = 120
"""Width where it goes to no terminal."""


def print_tour(output: str, force: bool, screen: str, ascii_only: bool) -> int:
    """The same run that a terminal shows step by step, at its end; the exit code.

    Raises:
        InputError: its record cannot go where it is to.
    """
    from shadowviz.cli.show import write_progress
    from shadowviz.cli.tui_engine import setup_of
    from shadowviz.sources.scripted import record_script

    with fleeting_folder() as folder:
        setup = setup_of(output or str(folder / "run.jsonl"), force, pace_s=0.0)
        write_progress("the embedded engine runs its tour")
        try:
            record_script(setup, write_note)
        finally:
            write_progress("")
        return print_plain(setup.log, PlainAsk(screen, ascii_only))


class PlainAsk(NamedTuple):
    """What is to be printed of a record."""

    screen: str
    ascii_only: bool
    at: int | None = None
    """Event after which the state is shown; None = the last."""
    request: str = ""
    node: int = 0
    """What the screen is about; none of the two = as it chooses."""


def print_plain(source: str, ask: PlainAsk) -> int:
    """A screen of a record; the exit code.

    Raises:
        InputError: the record has no such event, request or node.
        LogError: it cannot be read.
    """
    from shadowviz.tui.plain import choose, plain_lines

    width = shutil.get_terminal_size((PLAIN_COLUMNS, 24)).columns if sys.stdout.isatty() else PLAIN_COLUMNS
    session = Session(source)
    try:
        begin_at(session, ask.at)
        choose(session, ask.screen, ask.request, ask.node)
        for line in plain_lines(session, ask.screen, width, ask.ascii_only):
            write_out(line)
    finally:
        session.close()
    return 0
