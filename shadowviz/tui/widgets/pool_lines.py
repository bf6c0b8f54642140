"""The pools in lines: fill, rows by kind, history, sessions that fit, and what leaves next."""

from collections.abc import Iterator
from functools import cached_property

from rich.segment import Segment

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import LOCKED, NEXT_OUT
from shadowviz.replay.chronicle import Chronicle
from shadowviz.replay.counts import tokens
from shadowviz.tui.frame import Frame, PoolFill
from shadowviz.tui.models.cells import figures, fit, right
from shadowviz.tui.models.pool_history import PoolHistory, hit_rates
from shadowviz.tui.models.pools_model import Leaving, fits, kind_fills, next_out, spark
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.ready_lines import ReadyLine
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.replayer import Replayer

MAX_LEAVING = 100
"""Leaves that are listed."""
NAME = 17
"""Columns of what a row is about."""
COLUMN, NARROW_COLUMN = 12, 10
"""Of one figure, where there is room, and where there is not."""
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class PoolLines:
    """Draws everything about the pools at one moment."""

    def __init__(self, state: Replayer, frame: Frame, look: Look, width: int) -> None:
        opened = state.opened
        assert opened is not None, "pools are known once the log was opened"
        self._state, self._frame, self._look, self._width = state, frame, look, width
        self._opened: LogOpened = opened

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

    def _pool(self, pool: PoolFill) -> ReadyLine:
        look = self._look
        if not pool.num_pages:
            return self._line(f"{fit(pool.pool, 6)}{pool.used:,} pages used; the log does not say how many there are")
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
            )
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
            yield ReadyLine(
                (Segment(fit(name, 6), look.muted), Segment(marks, look.title), Segment(f" {words}", look.text))
            )

    def _kinds(self) -> Iterator[ReadyLine]:
        look = self._look
        fills = kind_fills(self._state, self._opened)
        styles = kind_styles(kind.label for kind in self._opened.geometry.kinds)
        yield self._head("rows of a layer", ("pool", "tree", "locked", "running"))
        for fill in fills:
            style = styles[fill.kind]
            name = fit(f"{look.glyph(style)} {look.shown(style.word)}", NAME)
            words = right(fill.pool, self._column) + self._numbers(fill.tree, fill.locked, fill.held)
            yield ReadyLine((Segment(name, look.ink(style)), Segment(words, look.text)))

    def _fits(self) -> Iterator[ReadyLine]:
        found = fits(self._opened)
        if not found:
            yield self._line("Sessions that fit: the log does not say how many pages there are.")
            return
        yield self._head("sessions that fit", ("sessions", "by full", "by swa", "one takes"))
        for one in found:
            size = right(_size(one.num_bytes) if one.num_bytes else "-", self._column)
            numbers = self._numbers(one.sessions, one.full, one.swa)
            yield self._line(f"{fit(tokens(one.length), NAME)}{numbers}{size}")

    def _leaving(self) -> Iterator[ReadyLine]:
        look, policy = self._look, self._opened.policy
        if policy != "lru":
            yield self._line(f"Next to be evicted: the order of policy {look.shown(policy) or '-'} is not known here.")
            return
        leaving = next_out(self._state, self._opened, MAX_LEAVING)
        yield self._head(f"{look.glyph(NEXT_OUT)} next to leave", ("tokens", "last used"))
        if not leaving:
            yield self._line("no leaf is free: nothing can be evicted")
        for rank, leaf in enumerate(leaving, 1):
            yield self._leaf(rank, leaf)

    def _leaf(self, rank: int, leaf: Leaving) -> ReadyLine:
        name = fit(f"{rank:,}. n{leaf.node}", NAME)
        words = self._numbers(leaf.num_tokens) + right(f"e{leaf.last_used:,}", self._column)
        return ReadyLine((Segment(name, self._look.strong), Segment(words, self._look.text)), leaf.node)

    def _head(self, name: str, columns: tuple[str, ...]) -> ReadyLine:
        words = fit(name, NAME) + "".join(right(column, self._column) for column in columns)
        return ReadyLine((Segment(words, self._look.title),))

    def _numbers(self, *numbers: int) -> str:
        return "".join(figures([number], self._column) for number in numbers)

    def _line(self, words: str) -> ReadyLine:
        return ReadyLine((Segment(words, self._look.text),))


def _blank() -> ReadyLine:
    return ReadyLine((Segment(""),))


def _size(num_bytes: int) -> str:
    value, unit = float(num_bytes), 0
    while value >= 1024 and unit < len(UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{num_bytes} B" if unit == 0 else f"{value:.1f} {UNITS[unit]}"
