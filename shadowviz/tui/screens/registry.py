"""The screens by number: to add one takes its file and a line here."""

from importlib import import_module
from typing import TYPE_CHECKING, cast

import msgspec

if TYPE_CHECKING:
    from shadowviz.tui.screens.base import PaneScreen


class ScreenEntry(msgspec.Struct, frozen=True):
    """One screen."""

    key: str
    name: str
    """As the command line and the breadcrumb have it."""
    title: str
    place: str
    """Module and class, loaded when the screen is shown first."""
    says: str
    """What it shows, in a phrase."""

    def make(self) -> "PaneScreen":
        """The screen, made anew."""
        module, _, name = self.place.partition(":")
        return cast("PaneScreen", getattr(import_module(module), name)())


SCREENS: tuple[ScreenEntry, ...] = (
    ScreenEntry("1", "live", "Live", "shadowviz.tui.screens.live:LiveScreen", "requests, and why each was not reused"),
    ScreenEntry("2", "tree", "Tree", "shadowviz.tui.screens.tree:TreeScreen", "the radix tree, and what each span has"),
    ScreenEntry("3", "ruler", "Ruler", "shadowviz.tui.screens.ruler:RulerScreen", "state of a prompt, token by token"),
    ScreenEntry("4", "diff", "Diff", "shadowviz.tui.screens.diff:DiffScreen", "two prompts, and where they part"),
    ScreenEntry("5", "stress", "Stress", "shadowviz.tui.screens.stress:StressScreen", "a stress run, length by length"),
    ScreenEntry(
        "6", "pools", "Pools", "shadowviz.tui.screens.pools:PoolsScreen", "how full the pools are, and of what"
    ),
    ScreenEntry("7", "events", "Events", "shadowviz.tui.screens.events:EventsScreen", "every event, and time travel"),
)


def entry_of(name: str) -> ScreenEntry | None:
    """The screen of that name; None = there is none."""
    return next((entry for entry in SCREENS if entry.name == name), None)
