"""Looks of everything that is no state kind: tiers, marks of a node, origins, verdicts, heat, results of checks."""

from shadowviz.diagrams.theme import BLUE, GREY, INK, ORANGE, PURPLE, ROSE, TEAL, YELLOW, Hue, Line, Pattern, Style
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.verdict import Verdict


def _mark(
    word: str,
    marks: str,
    hue: Hue,
    meaning: str = "",
    *,
    line: Line = Line.SOLID,
    pattern: Pattern = Pattern.SOLID,
) -> Style:
    return Style(word=word, glyph=marks[0], ascii=marks[1], hue=hue, line=line, pattern=pattern, meaning=meaning)


PATH = _mark("on the path", "▶>", BLUE, "path of the request", line=Line.BOLD)
LOCKED = _mark("locked", "◉L", ORANGE, "in use by running requests", line=Line.DOUBLE)
TOMBSTONE = _mark("tombstone", "†x", ROSE, "window rows freed, entries kept", pattern=Pattern.CROSS)
UNKNOWN = _mark("unknown", "??", YELLOW, "the source does not say", line=Line.DOTTED, pattern=Pattern.EMPTY)
ABSENT = _mark("gone", "--", GREY, "was there once, and is no more", line=Line.DASHED, pattern=Pattern.EMPTY)
NEVER = _mark("never there", "∅0", GREY, "neither stored nor computed, as far as is remembered", pattern=Pattern.EMPTY)
ELSEWHERE = _mark("elsewhere", "∉0", GREY, "with its request, never in the tree", pattern=Pattern.EMPTY)
PARTIAL = _mark("in part", "◐/", GREY, "some rows are there", pattern=Pattern.DIAGONAL)
PRESENT = _mark("resident", "●o", INK, "every row is there")
TERMINAL = _mark("end", "■E", INK, "a registered path ends here")
REACHABLE = _mark("reuses", "↩<", TEAL, "what a request that leaves the tree here reuses")
NAMESPACE = _mark("namespace", "§%", PURPLE, "its tokens are apart from equal ones of others")
NEXT_OUT = _mark("next out", "▽v", ROSE, "first to be evicted when room is needed", line=Line.DASHED)
STUB = _mark("more", "…+", GREY, "nodes that are not shown", line=Line.DASHED, pattern=Pattern.EMPTY)
CUT = _mark("cut", "▲^", INK, "reused to the left, computed to the right", line=Line.BOLD)
REUSED = _mark("reused", "━=", BLUE, "taken from the cache")
COMPUTED = _mark("computed", "╌.", ORANGE, "has to be run", line=Line.DASHED, pattern=Pattern.EMPTY)
NEEDED = _mark("needed", "▁_", INK, "going on at the cut reads it", line=Line.BOLD)
OPEN = _mark(
    "open", "┊:", GREY, "window of compression without its last token", line=Line.DOTTED, pattern=Pattern.EMPTY
)

TIERS: dict[str, Style] = {
    "device": _mark("device", "▣D", BLUE, "memory of the accelerator", line=Line.SOLID),
    "host": _mark("host", "▤H", PURPLE, "memory of the host", line=Line.DASHED),
    "storage": _mark("storage", "▥S", GREY, "disk or remote store", line=Line.DOTTED),
}

ORIGINS: dict[Origin, Style] = {
    Origin.OBSERVED: _mark("observed", "●o", INK, "an event says so", line=Line.SOLID),
    Origin.DERIVED: _mark("derived", "◌~", GREY, "follows from the geometry", line=Line.DASHED),
    Origin.ASSUMED: _mark("assumed", "◍?", YELLOW, "supposed, no event shows it", line=Line.DOTTED),
}

HIT = _mark("hit", "HH", BLUE, "all that is worth naming was reused")
CLIPPED = _mark("clipped", "CC", ORANGE, "reused in part", pattern=Pattern.DIAGONAL)
MISS = _mark("miss", "MM", GREY, "nothing was reused", pattern=Pattern.EMPTY)
NOT_KNOWN = _mark("unknown", "??", YELLOW, "the source does not say", line=Line.DOTTED)

CHANGES: dict[str, Style] = {
    "appeared": _mark("appeared", "++", BLUE, "in the later tree alone"),
    "went": _mark("went", "−-", ROSE, "in the earlier tree alone", line=Line.DASHED, pattern=Pattern.EMPTY),
    "residency": _mark("residency", "≠!", ORANGE, "in both, with other rows", pattern=Pattern.DIAGONAL),
}
"""What may have happened to a span between two trees."""

HEAT: tuple[Style, ...] = (
    _mark("coldest fifth", "▁0", GREY, pattern=Pattern.EMPTY),
    _mark("colder", "▂1", GREY, pattern=Pattern.DOTS),
    _mark("middle", "▄2", YELLOW, pattern=Pattern.DIAGONAL),
    _mark("warmer", "▆3", ORANGE, pattern=Pattern.CROSS),
    _mark("hottest fifth", "█4", ORANGE, pattern=Pattern.SOLID),
)
"""From the nodes used longest ago to those used last."""

OUTCOMES: dict[str, Style] = {
    "same": _mark("same", "·.", BLUE, "equal bit for bit"),
    "near_tie": _mark("near tie", "≈~", TEAL, "differs by no more than the indexer's noise", pattern=Pattern.DOTS),
    "found": _mark("found", "◆+", PURPLE, "a fault that was put in, and seen", pattern=Pattern.BACK_DIAGONAL),
    "refused": _mark("refused", "▱/", GREY, "the engine would not run it", pattern=Pattern.EMPTY, line=Line.DASHED),
    "missed": _mark("missed", "○m", YELLOW, "a fault that nobody saw", pattern=Pattern.DIAGONAL),
    "differs": _mark("differs", "✗X", ORANGE, "not equal to the independent definition", pattern=Pattern.CROSS),
}
"""Results of boundary stress, from good to bad."""
SILENT = _mark("not told", "??", YELLOW, "another row differs first, and the check says nothing of this one")


def tier_style(tier: str) -> Style:
    """How a tier looks; one of another name is drawn as storage, with its own word."""
    known = TIERS.get(tier)
    if known is not None:
        return known
    lowest = TIERS["storage"]
    return _mark(shorten(tier, 24) or "unnamed tier", "▥S", lowest.hue, lowest.meaning, line=lowest.line)


def heat_style(heat: float) -> Style:
    """How recency of use looks, 0 the oldest, 1 the newest."""
    return HEAT[min(len(HEAT) - 1, int(max(0.0, heat) * len(HEAT)))]


def verdict_style(verdict: str, reused: int) -> Style:
    """Whether a lookup was a hit, clipped, a miss, or is not known; the verdict's own words stand beside it."""
    if verdict == Verdict.FULL_HIT:
        return HIT
    if verdict in (Verdict.UNKNOWN, Verdict.METRIC_WRONG):
        return NOT_KNOWN
    return CLIPPED if reused else MISS
