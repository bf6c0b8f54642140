"""What stands at the head of every screen: the moment, hit rate and pools, and the way to what is shown."""

from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.segment import Segment

from shadowviz.tokens.inert import printable
from shadowviz.tui.frame import Arrival, Crumb, Frame, HitRate, PoolFill
from shadowviz.tui.models.cells import nested_bar, wrap
from shadowviz.tui.widgets.look import Look

MOST_NOTICE_LINES = 3
"""That a notice may take from what it is about."""
LEAST_BAR, PARTS = 10, 10_000
"""Cells of a bar that has words beside it, and steps that it counts the way in."""
NAME = "shadowviz"
LEAST_COLUMNS, LEAST_LINES = 60, 16
"""Smallest terminal that the screens are made for."""


def too_small_segments(width: int, height: int, look: Look) -> list[Segment]:
    """That the terminal is too small, where it is: what is drawn then is cut off, and misses things."""
    if width >= LEAST_COLUMNS and height >= LEAST_LINES:
        return []
    words = f" {look.pick('▲', '!')} too small: {width}x{height}, needs {LEAST_COLUMNS}x{LEAST_LINES}"
    return [Segment(words, look.warning)]


def status_segments(frame: Frame, source: str, look: Look, width: int) -> list[Segment]:
    """The moment at the left, hit rate and fill of the pools at the right; the source between them if it fits."""
    moment = Segment(frame.moment_words, look.warning if _is_held(frame) else look.title)
    figures = _figures(frame, width)
    used = len(f" {NAME}  ") + cell_len(moment.text) + cell_len(figures) + 2
    if used > width:
        name = [Segment(" ")]
        used -= len(f"{NAME}  ")
    else:
        name = [Segment(f" {NAME}  ", look.strong)]
    shown = look.shown(source)
    middle = f"  {shown}" if used + 2 + cell_len(shown) <= width else ""
    gap = max(1, width - used + 1 - cell_len(middle))
    return [*name, moment, Segment(middle, look.muted), Segment(" " * gap), Segment(figures, look.text), Segment(" ")]


def _is_held(frame: Frame) -> bool:
    return not frame.arrival.settled or frame.mode != "LIVE"


def _figures(frame: Frame, width: int) -> str:
    hit = _hit_words(frame.hit, width)
    # A stress run has no pools.
    pools = "  ".join(pool_words(pool) for pool in frame.pools if pool.num_pages or pool.used)
    return f"{hit}  {pools}" if pools else hit


def _hit_words(hit: HitRate, width: int) -> str:
    if not hit.prompt_tokens:
        return "hit -"
    tokens = f" ({hit.reused_tokens:,}/{hit.prompt_tokens:,} tok)" if width >= 72 else " of tok"
    return f"hit {hit.rate:.1%}{tokens}"


def pool_words(pool: PoolFill) -> str:
    """How full a pool is; its pages where the log does not say how many there are."""
    return f"{pool.pool} {pool.fill:.0%}" if pool.num_pages else f"{pool.pool} {pool.used:,} pages"


def tab_segments(
    tabs: Sequence[tuple[str, str, bool]], trail: str, look: Look, width: int, arrival: Arrival | None = None
) -> list[Segment]:
    """The screens with their keys, the one that is on in brackets, and the way to it at the right.

    Args:
        tabs: key, title, and whether it is on, of each screen.
        arrival: how far the state has come on its way; while it is not there, a bar of that stands at the right.
    """
    segments: list[Segment] = [Segment(" ")]
    # Where not all of them fit, the others are known by their keys alone.
    fitting = sum(len(key) + cell_len(title) + 3 for key, title, _ in tabs) < width
    for key, title, is_on in tabs:
        words = f"[{key} {title}]" if is_on else f" {key} {title} " if fitting else f" {key} "
        segments.append(Segment(words, look.title if is_on else look.muted))
    used = sum(cell_len(segment.text) for segment in segments)
    room = width - used - 2
    if arrival is not None and not arrival.settled:
        segments += [Segment(" "), Segment(progress_bar(arrival, room, look), look.title)]
    elif trail and room >= 12:
        # The end of the way says most.
        trail = look.shown(trail)
        shown = trail if cell_len(trail) <= room else look.pick("…", "~") + tail_of(trail, room - 1)
        segments += [Segment(" " * (width - used - cell_len(shown) - 1)), Segment(shown, look.muted), Segment(" ")]
    return segments


def progress_bar(arrival: Arrival, width: int, look: Look) -> str:
    """How far the state has come on its way, and how fast where there is room for both."""
    rate = f" {arrival.events_per_s:,.0f} events/s" if arrival.events_per_s else ""
    room = width - len(rate) if width - len(rate) >= LEAST_BAR else width
    bar = nested_bar([round(arrival.fraction * PARTS)], PARTS, max(0, room), look.ascii)
    return bar + rate if room < width else bar


def trail_words(trail: Sequence[Crumb], titles: dict[str, str]) -> str:
    """The breadcrumb: each step with what was selected there."""
    return " > ".join(crumb_words(crumb, titles) for crumb in trail)


def crumb_words(crumb: Crumb, titles: dict[str, str]) -> str:
    """One step of the breadcrumb."""
    chosen = crumb.selection
    what = chosen.request if crumb.screen == "live" else (f"n{chosen.node}" if chosen.node else chosen.request)
    return f"{titles.get(crumb.screen, crumb.screen)} {what}".rstrip()


def notice_lines(frame: Frame, log: Path, look: Look, width: int, restart_key: str = "R") -> list[list[Segment]]:
    """What has become of the log or the engine, and the key that helps; empty where there is nothing to say."""
    # Where the log lies is known, and would leave no room for what befell it.
    log_words = frame.log_words.replace(printable(str(log)), printable(log.name))
    words = [text for text in (frame.engine_words, log_words.removesuffix("; start again")) if text]
    if frame.stopped:
        words.insert(0, f"a breakpoint stopped here, at {frame.stopped}: p goes on")
    if not words:
        return []
    if frame.engine_words and not frame.engine.alive:
        words.append(f"{restart_key} starts an engine anew")
    elif frame.log.restartable:
        words.append(f"{restart_key} reads it anew")
    rows = wrap(look.shown("; ".join(words)), width - 4)
    if len(rows) > MOST_NOTICE_LINES:
        rows = [*rows[: MOST_NOTICE_LINES - 1], rows[MOST_NOTICE_LINES - 1] + look.pick("…", "~")]
    marks = [f" {look.pick('▲', '!')} ", *["   "] * (len(rows) - 1)]
    return [[Segment(mark, look.warning), Segment(row, look.warning)] for mark, row in zip(marks, rows, strict=True)]


def tail_of(text: str, width: int) -> str:
    """The end of a text, in at most `width` cells."""
    start = len(text)
    while start and (width := width - cell_len(text[start - 1])) >= 0:
        start -= 1
    return text[start:]
