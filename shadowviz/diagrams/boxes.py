"""Boxes of selected nodes: what each holds, how recently it was used, what can be reached, what leaves next."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shadowviz.diagrams.collapse import Selection
from shadowviz.diagrams.columns import Ints, Mask, TreeColumns
from shadowviz.diagrams.labels import MAX_NAMESPACE, span_label
from shadowviz.diagrams.reachable import NOTHING, Reach, Reacher
from shadowviz.diagrams.residency import as_rows, knows, pools_of, row_counts
from shadowviz.diagrams.tree import Box, KindRows
from shadowviz.replay.nearest import Words
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.kinds import Scope, Shape
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.spans import Extent


class BoxMaker:
    """Makes boxes of nodes of one state."""

    def __init__(self, state: Replayer, opened: LogOpened, columns: TreeColumns, words: Words) -> None:
        self._state = state
        self._opened = opened
        self._columns = columns
        self._words = words
        self._pools = pools_of(state, columns)
        self._names = [shorten(name, MAX_NAMESPACE) for name in state.namespaces.names]

    def make(self, selection: Selection, on_path: Mask) -> tuple[Box, ...]:
        """The boxes of a selection, in its order."""
        columns, nodes = self._columns, selection.nodes
        fields: dict[str, Sequence[Any]] = {
            "node": nodes.tolist(),
            "parent": columns.parent[nodes].tolist(),
            "depth": selection.depths.tolist(),
            "start": columns.start[nodes].tolist(),
            "stop": columns.stop[nodes].tolist(),
            "namespace": [self._names[row] for row in columns.namespace[nodes].tolist()],
            "label": [self._label(node) for node in nodes.tolist()],
            "rows": self._rows(nodes),
            "locks": columns.locks[nodes].tolist(),
            "heat": self._heats(nodes),
            "tombstone": self._tombstones(nodes).tolist(),
            "terminal": columns.terminal[nodes].tolist(),
            "reachable": self._reaches(nodes),
            "on_path": on_path[nodes].tolist(),
            "next_out": ((nodes == self._next_out()) & (nodes > 0)).tolist(),
        }
        by_box = zip(*fields.values(), strict=True)
        return tuple(Box(**dict(zip(fields, values, strict=True))) for values in by_box)

    def _rows(self, nodes: Ints) -> list[tuple[KindRows, ...]]:
        kinds = self._opened.geometry.kinds
        rows = as_rows([row_counts(self._columns, kind, nodes, self._pools) for kind in kinds], len(nodes))
        return rows if nodes[0] else [(), *rows[1:]]

    def _label(self, node: int) -> str:
        return span_label(self._state, self._words, node, self._state.nodes.start[node]) if node else "root"

    def _reaches(self, nodes: Ints) -> list[int | None]:
        """What a request reuses that leaves at each of `nodes`; None where a kind that gates is unknown."""
        gating = [kind for kind in self._opened.geometry.kinds if kind.gates]
        if not all(knows(kind, self._pools) for kind in gating):
            return [None] * len(nodes)
        columns, reacher = self._columns, Reacher(self._opened)
        path = columns.path(int(nodes[0]))
        order = np.concatenate((np.array(path, dtype=np.int64), nodes[1:]))
        known: dict[int, Reach] = {0: NOTHING}
        spans = zip(columns.start[order].tolist(), columns.stop[order].tolist(), strict=True)
        parents, ends = columns.parent[order].tolist(), columns.terminal[order].tolist()
        for node, parent, (start, stop), terminal in zip(order.tolist(), parents, spans, ends, strict=True):
            swa = self._state.swa_runs(node)
            known[node] = reacher.below(known[parent], Extent(start, stop), swa, terminal=terminal)
        return [reacher.reused(known[node]) for node in nodes.tolist()]

    def _heats(self, nodes: Ints) -> list[float | None]:
        """Rank of the last use of each of `nodes` among all living ones; None for the root of the tree."""
        columns = self._columns
        moments = np.sort(columns.last_used[columns.living])
        moments = moments[np.diff(moments, prepend=-2) > 0]
        ranks = np.searchsorted(moments, columns.last_used[nodes]) / max(1, len(moments) - 1)
        heats: list[float | None] = ranks.tolist() if len(moments) > 1 else [1.0] * len(nodes)
        return heats if nodes[0] else [None, *heats[1:]]

    def _tombstones(self, nodes: Ints) -> Mask:
        """Which of `nodes` hold entries, but no window rows of a kind that keeps them in the tree."""
        kinds = self._opened.geometry.kinds
        windows = [kind for kind in kinds if kind.shape is Shape.WINDOW and kind.scope is not Scope.REQUEST]
        if not windows or not self._pools.swa:
            return np.zeros(len(nodes), dtype=bool)
        empty: Mask = (self._columns.swa.num[nodes] == 0) & (nodes > 0)
        return empty

    def _next_out(self) -> int:
        """The leaf that the policy takes first; 0 where none can leave, or the policy is not known here."""
        columns = self._columns
        leaves = columns.living[(columns.locks[columns.living] == 0) & ~columns.has_children[columns.living]]
        if self._opened.policy != "lru" or not len(leaves):
            return 0
        used = columns.last_used[leaves]
        return int(leaves[used == used.min()].min())
