"""Kinds of events at which the interface stays while it follows a run."""

from shadowviz.sources.follow import Follower
from shadowviz.sources.line_index import CODES


class Breakpoints:
    """Looks at what arrives, by the kinds that the index of the log knows: no event is decoded for it."""

    def __init__(self) -> None:
        self.kinds: frozenset[str] = frozenset()
        self.stopped = -1
        """Event at which the interface was stopped and still is; -1 = at none."""
        self._seen = -1
        """Event up to which nothing stops any more."""

    def toggle(self, kind: str) -> bool:
        """Stop at events of this kind from now on, or no more; whether there can be a breakpoint on it."""
        if kind not in CODES:
            return False
        self.kinds ^= {kind}
        return True

    def pass_over(self, seq: int) -> None:
        """Heed only what comes behind event `seq`."""
        self._seen, self.stopped = seq, -1

    def first_of(self, follower: Follower) -> int | None:
        """The first event to stop at of those that have arrived; None = there is none. All of them are seen then."""
        seen, head = self._seen, follower.head
        self._seen = max(seen, head)
        if head <= seen or not self.kinds:
            return None
        return follower.next_of(self.kinds, seen)
