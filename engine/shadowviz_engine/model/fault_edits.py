"""What is wrong with reused rows, and with the index arrays of a step that goes on from them."""

from enum import StrEnum


class Place(StrEnum):
    """Which of the reused rows of a kind are wrong."""

    WINDOW = "window"
    OLDEST = "oldest"
    NEWEST = "newest"
    OPEN = "open"
    """The rows of the compression window that is open."""
    OPEN_FIRST = "open first"
    OVERLAP = "overlap"
    """The rows of the last full window, of which only the half that the next entry reads is wrong."""
    LAST = "last"
    """The last entry."""


class Edit(StrEnum):
    """What is wrong with the rows."""

    ZEROED = "zeroed"
    LOST = "lost"
    """kv 0, gate minus infinity: as if there were no such token."""
    ROLLED = "rolled"
    """Every row stands where the next one belongs."""
    OTHER = "other"
    """Rows of another request at the same positions."""
    TURNED = "turned"
    """Rotated to the last token of the entry's window instead of its first."""


class PlanEdit(StrEnum):
    """What is wrong with the index arrays of a step."""

    OVERLAP_DROPPED = "overlap dropped"
    NEXT_ROPE = "next rope"
    END_ROPE = "end rope"
    PARTIAL = "partial"
    UNCLOSED = "unclosed"
    NARROW = "narrow"
    WIDE = "wide"
    UNRANKED = "unranked"
