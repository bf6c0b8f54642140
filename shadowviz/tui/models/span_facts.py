"""What is known of single spans at one moment: residency by kind, reach, and recency."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shadowviz.diagrams.reachable import Reach, Reacher, look_back
from shadowviz.diagrams.residency import Pools, knows
from shadowviz.diagrams.tree import KindRows
from shadowviz.tui.models.eviction_order import EvictionOrder
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.holdings import Runs
from shadowviz_engine.core.kinds import Scope, Shape, owned_rows
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.spans import Extent, merge

CHUNK = 2**16
"""Nodes of a column that are looked at together."""


class SpanFacts:
    """Facts of the spans of a state; of one moment, so made anew after every event."""

    def __init__(self, state: Replayer, opened: LogOpened) -> None:
        self._state = state
        self._opened = opened
        self._reacher = Reacher(opened)
        self._back = look_back(opened.geometry)
        self._usable: dict[int, int] = {0: 0}
        self.order = EvictionOrder(state, opened)
        """What leaves when room is needed."""

    @cached_property
    def pools(self) -> Pools:
        """The pools that the run has pages of, or slots in."""
        nodes, held, opened = self._state.nodes, self._state.held, self._opened
        return Pools(
            full=bool(opened.num_full_pages or held["full"] or np.frombuffer(nodes.full_num, np.int32).any()),
            swa=bool(opened.num_swa_pages or held["swa"] or np.frombuffer(nodes.swa_num, np.int32).any()),
        )

    def rows(self, node: int) -> tuple[KindRows, ...]:
        """Rows of every kind that a span owns and holds."""
        nodes = self._state.nodes
        start, stop = nodes.start[node], nodes.stop[node]
        full, swa = self._state.full_runs(node), self._state.swa_runs(node)
        counts = []
        for kind in self._opened.geometry.kinds:
            owned = owned_rows(kind, start, stop).size
            there: int | None = None
            origin = Origin.ASSUMED
            if kind.scope is Scope.REQUEST or kind.shape is Shape.KEY:
                there, origin = 0, Origin.DERIVED
            elif knows(kind, self.pools):
                runs, unit = (full, kind.unit) if kind.shape is Shape.RANGE else (swa, 1)
                there, origin = sum(last // unit - first // unit for first, last, _ in runs), Origin.OBSERVED
            counts.append(KindRows(kind.label, owned, there, origin))
        return tuple(counts)

    @cached_property
    def knows_reach(self) -> bool:
        """Whether every kind that ends a hit is known."""
        return all(knows(kind, self.pools) for kind in self._opened.geometry.kinds if kind.gates)

    def reused(self, node: int) -> int | None:
        """What a longer request reuses that leaves the tree at the end of a node; None = a kind is unknown."""
        if not self.knows_reach:
            return None
        nodes = self._state.nodes
        if self._opened.match_mode == "classic":
            while node and not nodes.terminal[node]:
                node = nodes.parent[node]
        return self._usable_at(node)

    def _usable_at(self, node: int) -> int:
        parent, way = self._state.nodes.parent, list[int]()
        while node not in self._usable:
            own = self._own_usable(node)
            way.append(node)
            if own:
                self._usable[node] = own
                break
            node = parent[node]
        usable = self._usable[node]
        for passed in way:
            self._usable[passed] = usable
        return usable

    def _own_usable(self, node: int) -> int:
        """The longest length within a span that every kind accepts; 0 = none."""
        nodes, swa = self._state.nodes, self._state.swa_runs(node)
        span = Extent(nodes.start[node], nodes.stop[node])
        live, above = list[Extent](), nodes.parent[node]
        while above and nodes.stop[above] > span.start - self._back:
            live += [Extent(start, stop) for start, stop, _ in self._state.swa_runs(above)]
            above = nodes.parent[above]
        reach = self._reacher.below(Reach(0, 0, tuple(merge(live))), span, swa, terminal=False)
        return reach.usable

    @property
    def next_out(self) -> int:
        """The leaf that leaves first when room is needed; 0 where none can, or the order is not known here."""
        return self.order.first

    @cached_property
    def _moments(self) -> NDArray[np.bool_]:
        """By number of an event: whether it was the last to use a living node; marked, since sorting takes longer."""
        nodes = self._state.nodes
        alive = np.array(nodes.alive, dtype=bool)
        alive[0] = False
        events = np.frombuffer(nodes.last_used, np.int64)
        used = np.zeros(int(events.max(initial=0)) + 2, dtype=bool)
        # All at once they would take as much memory as the column.
        for begin in range(0, len(alive), CHUNK):
            used[events[begin : begin + CHUNK][alive[begin : begin + CHUNK]]] = True
        return used

    @cached_property
    def _num_moments(self) -> int:
        return int(np.count_nonzero(self._moments))

    def heat(self, node: int) -> float:
        """Rank of its last use among all living nodes, 0 the oldest, 1 the newest."""
        if self._num_moments < 2:
            return 1.0
        before = int(np.count_nonzero(self._moments[: self._state.nodes.last_used[node]]))
        return before / (self._num_moments - 1)

    def pages(self, runs: Runs) -> list[tuple[int, int]]:
        """Pages that runs of slots lie in, as runs of pages."""
        page = self._opened.geometry.page_size
        pages = merge(Extent(slot // page, (slot + stop - start - 1) // page + 1) for start, stop, slot in runs)
        return [(extent.start, extent.stop) for extent in pages]
