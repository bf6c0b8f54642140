"""The pools in lines: fill, rows by kind, history, sessions that fit, and what leaves next."""

from collections.abc import Iterator

from rich.segment import Segment

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import LOCKED, NEXT_OUT
from shadowviz.replay.chronicle import Chronicle
from shadowviz.replay.counts import tokens
from shadowviz.tui.frame import Frame, PoolFill
from shadowviz.tui.models.cells import fit, right
from shadowviz.tui.models.pool_history import PoolHistory, hit_rates
from shadowviz.tui.models.pools_model import Fit, KindFill, Leaving, fits, kind_fills, next_out, spark
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.ready_lines import ReadyLine
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.replayer import Replayer

MAX_LEAVING = 100
"""Leaves that are listed."""
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
        bar = max(8, min(40, self._width - 56))
        cells = max(1, round(pool.fill * bar)) if pool.used else 0
        cells = min(cells, bar - 1) if pool.used < pool.num_pages else bar
        words = f" {pool.used:,} of {pool.num_pages:,} pages"
        rest = f"  {look.glyph(LOCKED)} locked {pool.locked:,}  running {pool.held:,}"
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
        yield self._head("rows of a layer", ("pool", "in the tree", "locked", "running"))
        for fill in fills:
            style = styles[fill.kind]
            name = fit(f"{look.glyph(style)} {look.shown(style.word)}", 18)
            figures = f"{right(fill.pool, 12)}{_numbers(fill)}"
            yield ReadyLine((Segment(name, look.ink(style)), Segment(figures, look.text)))

    def _fits(self) -> Iterator[ReadyLine]:
        found = fits(self._opened)
        if not found:
            yield self._line("Sessions that fit: the log does not say how many pages there are.")
            return
        yield self._head("sessions that fit", ("sessions", "by full", "by swa", "bytes of one"))
        for one in found:
            yield self._line(f"{fit(tokens(one.length), 18)}{_fit_numbers(one)}")

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
        name = fit(f"{rank:,}. n{leaf.node}", 18)
        figures = f"{right(f'{leaf.num_tokens:,}', 12)}{right(f'e{leaf.last_used:,}', 12)}"
        return ReadyLine((Segment(name, self._look.strong), Segment(figures, self._look.text)), leaf.node)

    def _head(self, name: str, columns: tuple[str, ...]) -> ReadyLine:
        words = fit(name, 18) + "".join(right(column, 13 if column == "bytes of one" else 12) for column in columns)
        return ReadyLine((Segment(words, self._look.title),))

    def _line(self, words: str) -> ReadyLine:
        return ReadyLine((Segment(words, self._look.text),))


def _blank() -> ReadyLine:
    return ReadyLine((Segment(""),))


def _numbers(fill: KindFill) -> str:
    return "".join(right(f"{value:,}", 12) for value in (fill.tree, fill.locked, fill.held))


def _fit_numbers(one: Fit) -> str:
    numbers = "".join(right(f"{value:,}", 12) for value in (one.sessions, one.full, one.swa))
    return numbers + right(_size(one.num_bytes) if one.num_bytes else "-", 13)


def _size(num_bytes: int) -> str:
    value, unit = float(num_bytes), 0
    while value >= 1024 and unit < len(UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{num_bytes} B" if unit == 0 else f"{value:.1f} {UNITS[unit]}"
