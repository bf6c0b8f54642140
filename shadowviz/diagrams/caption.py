"""What every picture says of itself, so that it can be read without us."""

import msgspec


class Caption(msgspec.Struct, frozen=True, kw_only=True):
    """Title, place in time and counts of a picture."""

    title: str
    source: str
    """The record or run it was made from, as the caller named it; inert."""
    seq: int
    """Event after which the state is shown; -1 = before the first."""
    last_seq: int
    """Newest event of the source."""
    geometry: str
    """Name and figures, one line."""
    shown: int
    total: int
    """Things of the sort that the picture shows: "412 of 1,000,000 nodes shown"."""
    unit: str = "nodes"
    counts: tuple[tuple[str, str], ...] = ()
    """Figures by name, such as ("pages used", "31 of 64")."""
    verdict: str = ""
    """Verdict of the request on the path, in the words of `why`; empty without one."""
    notes: tuple[str, ...] = ()
    """What was left out or is not known, one sentence each."""
