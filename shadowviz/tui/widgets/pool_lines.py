"""The pools in lines, each with what is to be said of it: fill, history, rows by kind, what fits, what leaves."""

from collections.abc import Iterator
from functools import cached_property

from rich.segment import Segment

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import LOCKED, NEXT_OUT
from shadowviz.replay.chronicle import Chronicle
from shadowviz.replay.counts import tokens
from shadowviz.tui.frame import Frame, PoolFill
from shadowviz.tui.models.cells import figures, fit, right
from shadowviz.tui.models.eviction_order import EvictionOrder, FreedRows
from shadowviz.tui.models.pool_history import PoolHistory, hit_rates
from shadowviz.tui.models.pools_model import Fit, KindFill, fits, kind_fills, spark
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.ready_lines import ReadyLine
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.replayer import Replayer

MAX_LEAVING = 100
"""Nodes that are listed for each pool."""
NAME = 17
"""Columns of what a row is about."""
COLUMN, NARROW_COLUMN = 12, 10
"""Of one figure, where there is room, and where there is not."""
HOLDS = {"full": "compressed entries", "swa": "rows of the window, and raw rows of open windows"}
PAGES = "A page counts once, whoever shares it"
NOT_SHARED = "as if nothing were shared, each keeping only what going on at its end reads of the window"
DERIVED = "  derived"
"""Behind the names of columns that no event tells."""
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class PoolLines:
    """Draws everything about the pools at one moment."""

    def __init__(self, state: Replayer, frame: Frame, look: Look, width: int) -> None:
        opened = state.opened
        assert opened is not None, "pools are known once the log was opened"
        self._state, self._frame, self._look, self._width = state, frame, look, width
        self._opened: LogOpened = opened
        self._order = EvictionOrder(state, opened)

    @cached_property
    def fits(self) -> list[Fit]:
        """Sessions of each length that fit; none where the log does not say how many pages there are."""
        return fits(self._opened)

    @cached_property
    def leaving(self) -> list[int]:
        """Nodes in the order in which they would be evicted."""
        return self._order.leaving(MAX_LEAVING)

    @cached_property
    def freed(self) -> list[FreedRows]:
        """Window rows in the order in which they would be freed."""
        return self._order.freed(MAX_LEAVING)

    @property
    def order_words(self) -> str:
        """Why no order is told; empty = one is."""
        if self._order.is_known:
            return ""
        return f"the order of policy {self._look.shown(self._opened.policy) or '-'} is not known here"

    def lines(self, chronicle: Chronicle, history: PoolHistory) -> Iterator[ReadyLine]:
        """All lines, from the top."""
        yield from (self._pool(pool) for pool in self._frame.pools)
        yield from self._history(chronicle, history)
        yield _blank()
        yield from self._kinds()
        yield _blank()
        yield from self._fits()
        yield _blank()
        yield from self._leaving()
        if self._order.is_known:
            yield _blank()
            yield from self._freed()

    def _pool(self, pool: PoolFill) -> ReadyLine:
        look, about = self._look, _pool_about(pool)
        if not pool.num_pages:
            words = f"{fit(pool.pool, 6)}{pool.used:,} pages used; the log does not say how many there are"
            return self._line(words, about)
        words, rest = self._pool_words(pool)
        bar = self._bar
        cells = max(1, round(pool.fill * bar)) if pool.used else 0
        cells = min(cells, bar - 1) if pool.used < pool.num_pages else bar
        full, empty = look.pick("█", "#") * cells, look.pick("·", ".") * (bar - cells)
        return ReadyLine(
            (
                Segment(fit(pool.pool, 6), look.strong),
                Segment(full, look.title),
                Segment(empty, look.muted),
                Segment(f" {pool.fill:>4.0%}", look.strong),
                Segment(words, look.text),
                Segment(rest, look.muted),
            ),
            about=about,
        )

    def _pool_words(self, pool: PoolFill) -> tuple[str, str]:
        """How much of it is used, and for what, as long as there is room for."""
        glyph = self._look.glyph(LOCKED)
        if self._is_narrow:
            return f" {pool.used:,}/{pool.num_pages:,}", f" {glyph} locked {pool.locked:,} running {pool.held:,}"
        used = f" {pool.used:,} of {pool.num_pages:,} pages"
        return used, f"  {glyph} locked {pool.locked:,}  running {pool.held:,}"

    @cached_property
    def _bar(self) -> int:
        """Columns of the bars, which all are of one length."""
        longest = max(len("".join(self._pool_words(pool))) for pool in self._frame.pools)
        return max(8, min(40, self._width - longest - 11))

    @property
    def _is_narrow(self) -> bool:
        return self._width < NAME + 4 * COLUMN + 1

    @property
    def _column(self) -> int:
        """Columns of one figure."""
        return NARROW_COLUMN if self._is_narrow else COLUMN

    def _history(self, chronicle: Chronicle, history: PoolHistory) -> Iterator[ReadyLine]:
        look, at = self._look, self._frame.at
        cells = max(10, min(60, self._width - 30))
        hit = self._frame.hit
        lines = [("hit", hit_rates(chronicle, at, cells), f"{hit.rate:.1%} of tokens so far")]
        for place, pool in enumerate(self._frame.pools):
            if pool.num_pages:
                lines.append((pool.pool, history.fills(place, at, cells), f"{pool.fill:.0%} full"))
        for name, values, words in lines:
            marks = spark(values, look.ascii)
            what = "share of the prompt tokens that were reused" if name == "hit" else f"how full the {name} pool was"
            about = f"{what}, from the first event at the left to e{at:,} at the right; blank: not known"
            parts = (Segment(fit(name, 6), look.muted), Segment(marks, look.title), Segment(f" {words}", look.text))
            yield ReadyLine(parts, about=about)

    def _kinds(self) -> Iterator[ReadyLine]:
        look = self._look
        fills = kind_fills(self._state, self._opened)
        styles = kind_styles(kind.label for kind in self._opened.geometry.kinds)
        yield self._head("rows of a layer", ("pool", "tree", "locked", "running"), _KINDS_ABOUT)
        for fill in fills:
            style = styles[fill.kind]
            word = look.shown(style.word)
            name = fit(f"{look.glyph(style)} {word}", NAME)
            words = right(fill.pool, self._column) + self._numbers(fill.tree, fill.locked, fill.held)
            parts = (Segment(name, look.ink(style)), Segment(words, look.text))
            yield ReadyLine(parts, about=_kind_about(word, fill))

    def _fits(self) -> Iterator[ReadyLine]:
        if not self.fits:
            yield self._line("Sessions that fit: the log does not say how many pages there are.")
            return
        about = f"Sessions that fit (derived): {NOT_SHARED}. Bytes are of the first row format that fits the kinds."
        is_tight = self._width < NAME + 4 * self._column + len(DERIVED)
        name, more = ("fit (derived)", "") if is_tight else ("sessions that fit", DERIVED)
        yield self._head(name, ("sessions", "by full", "by swa", "one takes"), about, more)
        for one in self.fits:
            size = right(_size(one.num_bytes) if one.num_bytes else "-", self._column)
            by_window = right("-", self._column) if one.swa is None else self._numbers(one.swa)
            numbers = self._numbers(one.sessions, one.full) + by_window
            yield self._line(f"{fit(tokens(one.length), NAME)}{numbers}{size}", _fit_about(one))

    @property
    def _since(self) -> str:
        return "stored" if self._opened.policy == "fifo" else "last used"

    def _leaving(self) -> Iterator[ReadyLine]:
        if self.order_words:
            yield self._line(f"Next to be evicted: {self.order_words}.")
            return
        about = (
            "The order in which nodes would be evicted for want of full pages if nothing else happened (derived): a "
            "node follows once nothing is below it. What running requests have locked stays."
        )
        yield self._head(f"{self._look.glyph(NEXT_OUT)} next to leave", ("tokens", self._since), about, DERIVED)
        if not self.leaving:
            yield self._line("no leaf is free: nothing can be evicted")
        nodes = self._state.nodes
        for rank, node in enumerate(self.leaving, 1):
            num = nodes.stop[node] - nodes.start[node]
            said = f"n{node}: Enter shows it in the tree; it leaves as number {rank:,} when full pages are needed"
            yield self._node(rank, node, num, f"{said} (derived)")

    def _freed(self) -> Iterator[ReadyLine]:
        about = (
            "The order in which window rows would be freed for want of swa pages (derived): the node stays. What a "
            "running request still reads of the window stays too."
        )
        yield self._head(f"{self._look.glyph(NEXT_OUT)} window rows", ("rows", self._since), about, DERIVED)
        if not self.freed:
            yield self._line("no window rows can be freed")
        for rank, rows in enumerate(self.freed, 1):
            said = f"n{rows.node}: Enter shows it in the tree; its window rows are freed as number {rank:,}"
            yield self._node(rank, rows.node, rows.num_tokens, f"{said} when swa pages are needed (derived)")

    def _node(self, rank: int, node: int, num_tokens: int, about: str) -> ReadyLine:
        name = fit(f"{rank:,}. n{node}", NAME)
        words = self._numbers(num_tokens) + right(f"e{self._order.since(node):,}", self._column)
        return ReadyLine((Segment(name, self._look.strong), Segment(words, self._look.text)), node, about)

    def _head(self, name: str, columns: tuple[str, ...], about: str, more: str = "") -> ReadyLine:
        words = fit(name, NAME) + "".join(right(column, self._column) for column in columns)
        return ReadyLine((Segment(words, self._look.title), Segment(more, self._look.muted)), about=about)

    def _numbers(self, *numbers: int) -> str:
        return "".join(figures([number], self._column) for number in numbers)

    def _line(self, words: str, about: str = "") -> ReadyLine:
        return ReadyLine((Segment(words, self._look.text),), about=about)


_KINDS_ABOUT = (
    "Rows that each layer of a kind has: in the tree, of these on paths that running requests have locked, and beside "
    "the tree in running requests."
)


def _pool_about(pool: PoolFill) -> str:
    holds = f"{pool.pool} pool, for {HOLDS[pool.pool]}" if pool.pool in HOLDS else f"{pool.pool} pool"
    return f"{holds}: {pool.used:,} pages used, {pool.locked:,} of them locked, {pool.held:,} by running requests alone"


def _kind_about(word: str, fill: KindFill) -> str:
    return (
        f"{word}: each of its layers has {fill.tree:,} rows in the tree, {fill.locked:,} of them locked, and "
        f"{fill.held:,} beside it in running requests"
    )


def _fit_about(one: Fit) -> str:
    """Which pool decides how many there are."""
    pool = "full" if one.swa is None or one.full <= one.swa else "swa"
    return f"{one.sessions:,} sessions of {tokens(one.length)} fit, as the {pool} pool has room for no more (derived)"


def _blank() -> ReadyLine:
    return ReadyLine((Segment(""),))


def _size(num_bytes: int) -> str:
    value, unit = float(num_bytes), 0
    while value >= 1024 and unit < len(UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{num_bytes} B" if unit == 0 else f"{value:.1f} {UNITS[unit]}"
