"""What a request reuses that leaves the tree at the end of a node: the reach of every node on a path."""

import msgspec

from shadowviz_engine.core.derive import retained_tokens
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.holdings import Runs
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.reuse import ResumeRule, reuse_rules, usable_length
from shadowviz_engine.core.spans import Extent, merge


class Reach(msgspec.Struct, frozen=True, gc=False):
    """What is known at the end of a node, enough to go on to its children."""

    usable: int
    """The longest length up to the end that every kind accepts."""
    registered: int
    """The same for the last registered path that ends on the way."""
    live: tuple[Extent, ...]
    """Tokens with window rows at the end of the path, as far back as a resume behind it may look."""


NOTHING = Reach(0, 0, ())


class Reacher:
    """Works out reaches from the root down, with the rules of a run.

    A length within the path of the parent is usable for the child exactly if it is for the parent. So each node asks
    about its own tokens only, with the window rows of the end of its path.
    """

    def __init__(self, opened: LogOpened) -> None:
        self._geometry = opened.geometry
        self._rules = reuse_rules(opened.geometry, ResumeRule(opened.resume), opened.unit)
        self._page_rule = self._rules.resume is ResumeRule.PAGE
        self._whole_paths = opened.match_mode == "classic"
        self._windows = [kind.label for kind in opened.geometry.kinds if kind.shape is Shape.WINDOW]
        self._back = look_back(opened.geometry)
        self._needs_last = any(
            kind.shape is Shape.WINDOW and kind.need and not kind.chunk for kind in self._rules.gating
        )
        """Whether every length needs the window row of its last token."""

    def below(self, above: Reach, span: Extent, swa: Runs, *, terminal: bool) -> Reach:
        """Reach at the end of a node whose parent has `above`, given its window slots."""
        live = merge((*above.live, *(Extent(start, stop) for start, stop, _ in swa)))
        usable = self._usable(span, live) if swa or not self._needs_last else 0
        if usable <= span.start:
            usable = above.usable
        first = span.stop - self._back
        kept = tuple(Extent(max(extent.start, first), extent.stop) for extent in live if extent.stop > first)
        return Reach(usable, usable if terminal else above.registered, kept)

    def reused(self, reach: Reach) -> int:
        """What a longer request reuses that parts from the tree there."""
        return reach.registered if self._whole_paths else reach.usable

    def _usable(self, span: Extent, live: list[Extent]) -> int:
        matched = span.stop - span.stop % self._rules.unit
        if matched <= span.start:
            return 0
        if self._windows and live:
            last = live[-1]
            needed = retained_tokens(self._geometry, matched, self._page_rule)
            if last.start <= needed.start and needed.stop <= last.stop:
                return matched
        resident = dict.fromkeys(self._windows, live)
        return usable_length(self._rules, self._rules.gating, resident, matched, self._rules.unit)


def look_back(geometry: Geometry) -> int:
    """Tokens before the end of a path that decide which lengths behind it can be resumed."""
    furthest = 0
    for kind in geometry.kinds:
        match kind.shape:
            case Shape.WINDOW:
                furthest = max(furthest, kind.need, kind.page_need, kind.chunk)
            case Shape.OPEN:
                furthest = max(furthest, kind.ratio + kind.overlap)
            case _:
                pass
    return furthest
