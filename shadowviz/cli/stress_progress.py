"""How far a stress run is: a bar with an estimate on stderr, where that is a terminal."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar(Protocol):
    """What a run tells as it goes on."""

    def show(self, done: int, total: int, findings: int) -> None:
        """Checks done, checks in all, and findings so far."""


class _NoBar:
    def show(self, done: int, total: int, findings: int) -> None:
        """Say nothing: nobody looks."""


@contextmanager
def progress_bar() -> Iterator[Bar]:
    """A bar that goes away at the end."""
    if not sys.stderr.isatty() or os.environ.get("TERM", "") in ("", "dumb"):
        yield _NoBar()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[found]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4) as progress:
        yield _RichBar(progress)


class _RichBar:
    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._task = progress.add_task("preparing", total=None, found="")

    def show(self, done: int, total: int, findings: int) -> None:
        found = f"{findings:,} found" if findings else ""
        self._progress.update(self._task, description="checks", completed=done, total=total, found=found)
