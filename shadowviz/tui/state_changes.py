"""Which parts of a state events of some kinds can change, so that what they leave alone need not be drawn anew."""

from collections.abc import Collection
from typing import Final

LEAVE_TREE: Final = frozenset(
    {
        "",
        "StepDone",
        "RequestWaited",
        "RequestAborted",
        "NotStored",
        "CacheFlushed",
        "GhostOverflowed",
        "NearTieSeen",
        "FaultInjected",
        "BoundaryStressStarted",
        "BoundaryChecked",
        "EventsLost",
        "LogClosed",
    }
)
"""Kinds that change no node, no token and no slot; one that this version does not know has the empty name."""


def tree_may_change(kinds: Collection[str] | None) -> bool:
    """Whether events of these kinds can change the tree; None = they are not known."""
    return kinds is None or not LEAVE_TREE.issuperset(kinds)
