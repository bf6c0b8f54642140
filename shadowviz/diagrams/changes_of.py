"""Two replayed states compared: what appeared, what went, and what holds other rows than before."""

from collections.abc import Iterator
from itertools import chain

import msgspec
import numpy as np

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.changes import Change, ChangesDiagram, ChangeSum, RowChange
from shadowviz.diagrams.columns import Ints, TreeColumns
from shadowviz.diagrams.labels import MAX_NAMESPACE, span_label
from shadowviz.diagrams.overlay import Stretch, overlay
from shadowviz.diagrams.residency import pools_of, rows_within
from shadowviz.replay.nearest import Words
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.kinds import StateKind, owned_rows
from shadowviz_engine.core.replayer import Replayer

MAX_CHANGES = 500
"""Changes that are listed; the sums count all."""

APPEARED, WENT, RESIDENCY = "appeared", "went", "residency"


class Side(msgspec.Struct, frozen=True):
    """One of two states, as its caller describes it."""

    caption: Caption
    state: Replayer
    words: Words


def changes_diagram(before: Side, after: Side, most: int = MAX_CHANGES) -> ChangesDiagram:
    """What differs between two moments of a run, or between two runs; `most` keeps the changes of most tokens.

    Raises:
        InputError: the two have not the same state kinds, or no log was opened.
    """
    comparison = _Comparison(before, after)
    found = list(comparison.changes())
    sums = tuple(_sum(what, found) for what in (APPEARED, WENT, RESIDENCY))
    shown = found
    if len(found) > most:
        largest = sorted(range(len(found)), key=lambda place: (-found[place].tokens, place))[:most]
        shown = [found[place] for place in sorted(largest)]
    counts = tuple((line.what, f"{line.changes:,} ({line.tokens:,} tokens)") for line in sums)
    notes = [f"The {len(shown):,} changes of most tokens are listed; the sums count all."] if shown != found else []
    return ChangesDiagram(
        caption=msgspec.structs.replace(
            after.caption,
            shown=len(shown),
            total=len(found),
            unit="changes",
            counts=(*after.caption.counts, *counts, ("in both", f"{comparison.same_tokens:,} tokens")),
            notes=(*after.caption.notes, *notes),
        ),
        before=before.caption,
        kinds=tuple(kind.label for kind in comparison.kinds),
        changes=tuple(shown),
        sums=sums,
        same_tokens=comparison.same_tokens,
        num_nodes=comparison.num_nodes,
    )


def _sum(what: str, changes: list[Change]) -> ChangeSum:
    of_sort = [change for change in changes if change.what == what]
    return ChangeSum(
        what, len(of_sort), sum(change.nodes for change in of_sort), sum(change.tokens for change in of_sort)
    )


class _Comparison:
    """Both trees laid over each other, and the rows of what both hold counted on each side."""

    def __init__(self, before: Side, after: Side) -> None:
        self.kinds = _kinds(before, after)
        self._sides = (before, after)
        columns = [TreeColumns(side.state) for side in self._sides]
        self._beneath = [tree.subtree for tree in columns]
        self.num_nodes = (len(columns[0].living), len(columns[1].living))
        flat = np.fromiter(chain.from_iterable(overlay(before.state, after.state)), dtype=np.int64)
        self._stretches: Ints = flat.reshape(-1, 4)
        both = self._stretches[self._stretches[:, :2].all(axis=1)]
        self.same_tokens = int((both[:, 3] - both[:, 2]).sum())
        self._rows = self._row_changes(both, columns)

    def changes(self) -> Iterator[Change]:
        """Every change, each path before what is below it."""
        for numbers in self._stretches.tolist():
            stretch = Stretch(*numbers)
            if not (stretch.before and stretch.after):
                yield self._alone(stretch)
            elif rows := self._rows.get((stretch.before, stretch.after)):
                yield self._change(RESIDENCY, stretch, 1, stretch.stop - stretch.start, rows)

    def _alone(self, stretch: Stretch) -> Change:
        """A stretch of one tree, with all that is below it."""
        place, node = (0, stretch.before) if stretch.before else (1, stretch.after)
        nodes, tokens = self._beneath[place]
        behind = stretch.start - self._sides[place].state.nodes.start[node]
        return self._change((WENT, APPEARED)[place], stretch, int(nodes[node]), int(tokens[node]) - behind, ())

    def _change(self, what: str, stretch: Stretch, nodes: int, tokens: int, rows: tuple[RowChange, ...]) -> Change:
        side, node = (self._sides[1], stretch.after) if stretch.after else (self._sides[0], stretch.before)
        names = side.state.namespaces.names
        return Change(
            what=what,
            before=stretch.before,
            after=stretch.after,
            start=stretch.start,
            stop=stretch.stop,
            namespace=shorten(names[side.state.nodes.namespace[node]], MAX_NAMESPACE),
            label=span_label(side.state, side.words, node, stretch.start),
            nodes=nodes,
            tokens=tokens,
            rows=rows,
        )

    def _row_changes(self, both: Ints, columns: list[TreeColumns]) -> dict[tuple[int, int], tuple[RowChange, ...]]:
        """Kinds whose rows differ, by the two nodes of a stretch."""
        start, stop = both[:, 2], both[:, 3]
        pools = [pools_of(side.state, tree) for side, tree in zip(self._sides, columns, strict=True)]
        changed: dict[tuple[int, int], tuple[RowChange, ...]] = {}
        for kind in self.kinds:
            counts = [
                rows_within(tree, kind, both[:, place], (start, stop), pool).resident
                for place, (tree, pool) in enumerate(zip(columns, pools, strict=True))
            ]
            sides = [np.full(len(both), -1) if count is None else count for count in counts]
            for place in np.flatnonzero(sides[0] != sides[1]).tolist():
                before, after = (int(side[place]) if side[place] >= 0 else None for side in sides)
                owned = owned_rows(kind, int(start[place]), int(stop[place])).size
                key = (int(both[place, 0]), int(both[place, 1]))
                changed[key] = (*changed.get(key, ()), RowChange(kind.label, owned, before, after))
        return changed


def _kinds(before: Side, after: Side) -> tuple[StateKind, ...]:
    opened = before.state.opened, after.state.opened
    if opened[0] is None or opened[1] is None:
        raise InputError("one of the two moments is before its log was opened: expected an event of each run")
    first, second = opened[0].geometry, opened[1].geometry
    if first.kinds != second.kinds:
        raise InputError(
            f"geometry {shorten(first.name)!r} and geometry {shorten(second.name)!r} have different state kinds: "
            "expected two runs of one model"
        )
    return first.kinds
