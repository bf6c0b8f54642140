"""What the pools hold at one moment: rows by kind, and how many sessions there is room for."""

import msgspec
import numpy as np

from shadowviz.diagrams.columns import Ints, Mask, RunColumns
from shadowviz_engine.core.derive import retained_tokens
from shadowviz_engine.core.errors import GeometryError
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.kinds import Scope, Shape, StateKind
from shadowviz_engine.core.memory import memory_table
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.core.row_formats import formats_of

LENGTHS = (1_024, 4_096, 32_768, 131_072, 1_048_576)
"""Tokens of the sessions that are fitted."""


class KindFill(msgspec.Struct, frozen=True):
    """Rows of one kind, in each of its layers."""

    kind: str
    pool: str
    """full or swa."""
    tree: int
    locked: int
    """Of the tree's, those on a path that a running request has locked."""
    held: int
    """Beside the tree, of running requests."""


class Fit(msgspec.Struct, frozen=True):
    """Sessions of one length that the pools have room for."""

    length: int
    full: int
    """By pages of the full pool."""
    swa: int | None
    """By pages of the window's pool, for sessions that keep only what going on at their end reads; None = the log does
    not say how many pages there are, or going on reads none."""
    num_bytes: int
    """Of one session; 0 = no row format is known."""

    @property
    def sessions(self) -> int:
        """As many as the pools have room for."""
        return self.full if self.swa is None else min(self.full, self.swa)


def kind_fills(state: Replayer, opened: LogOpened) -> list[KindFill]:
    """Rows by kind; a kind that no pool holds is left out."""
    nodes = state.nodes
    living: Ints = np.flatnonzero(np.array(nodes.alive, dtype=bool))[1:]
    locked: Mask = np.array(nodes.locks, dtype=np.int64)[living] > 0
    columns = {
        "full": RunColumns(nodes.full_at, nodes.full_num, state.runs.flat).of(living),
        "swa": RunColumns(nodes.swa_at, nodes.swa_num, state.runs.flat).of(living),
    }
    fills = []
    for kind in opened.geometry.kinds:
        pool = _pool_of(kind)
        if not pool:
            continue
        owner, start, stop, _ = columns[pool]
        rows = stop // kind.unit - start // kind.unit if kind.shape is Shape.RANGE else stop - start
        runs = [run for held in state.held[pool].values() for run in held]
        unit = kind.unit if kind.shape is Shape.RANGE else 1
        held_rows = sum(stop // unit - start // unit for start, stop, _ in runs)
        fills.append(KindFill(kind.label, pool, int(rows.sum()), int(rows[locked[owner]].sum()), held_rows))
    return fills


def _pool_of(kind: StateKind) -> str:
    if kind.shape is Shape.RANGE:
        return "full"
    if kind.shape is Shape.WINDOW or (kind.shape is Shape.OPEN and kind.scope is Scope.FOLLOWS):
        return "swa"
    return ""


def fits(opened: LogOpened) -> list[Fit]:
    """Sessions of each length that fit; none where the log does not say how many pages there are."""
    geometry, page = opened.geometry, opened.geometry.page_size
    if not opened.num_full_pages:
        return []
    found = []
    for length in LENGTHS:
        kept = retained_tokens(geometry, length, opened.resume == ResumeRule.PAGE)
        window_pages = -(-kept.stop // page) - kept.start // page
        by_window = opened.num_swa_pages // window_pages if window_pages and opened.num_swa_pages else None
        by_full = opened.num_full_pages // -(-length // page)
        found.append(Fit(length, by_full, by_window, _bytes(opened, length)))
    return found


def _bytes(opened: LogOpened, length: int) -> int:
    try:
        return memory_table(opened.geometry, formats_of(opened.geometry)[0], length).total_bytes
    except GeometryError:
        return 0


def spark(values: list[float | None], ascii_only: bool) -> str:
    """Values from 0 to 1 as a line of bars, one a cell; a blank where nothing is known."""
    bars = ".:-=+*#%" if ascii_only else "▁▂▃▄▅▆▇█"
    return "".join(
        " " if value is None else bars[min(len(bars) - 1, int(max(0.0, value) * len(bars)))] for value in values
    )
