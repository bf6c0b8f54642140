"""Two replayed states compared: what appeared, what went, and what holds other rows than before."""

from collections.abc import Iterator

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.changes import Change, ChangesDiagram, ChangeSum, RowChange
from shadowviz.diagrams.columns import TreeColumns
from shadowviz.diagrams.labels import span_label
from shadowviz.diagrams.overlay import Stretch, overlay
from shadowviz.diagrams.residency import knows, pools_of
from shadowviz.replay.nearest import Words
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.holdings import Runs
from shadowviz_engine.core.kinds import Scope, Shape, StateKind, owned_rows
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
    """Walks two trees at once."""

    def __init__(self, before: Side, after: Side) -> None:
        self.kinds = _kinds(before, after)
        self._sides = (before, after)
        columns = [TreeColumns(side.state) for side in self._sides]
        self._beneath = [tree.subtree for tree in columns]
        self.num_nodes = (len(columns[0].living), len(columns[1].living))
        pools = [pools_of(side.state, tree) for side, tree in zip(self._sides, columns, strict=True)]
        self._known = {kind.label: [knows(kind, both) for both in pools] for kind in self.kinds}
        self._alike = all(first == second for first, second in self._known.values())
        """Whether both sources tell of the same kinds."""
        self.same_tokens = 0

    def changes(self) -> Iterator[Change]:
        """Every change, each path before what is below it."""
        for stretch in overlay(self._sides[0].state, self._sides[1].state):
            if stretch.before and stretch.after:
                self.same_tokens += stretch.stop - stretch.start
                rows = self._row_changes(stretch)
                if rows:
                    yield self._change(RESIDENCY, stretch, 1, stretch.stop - stretch.start, rows)
            else:
                yield self._alone(stretch)

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
            namespace=shorten(names[side.state.nodes.namespace[node]], 40),
            label=span_label(side.state, side.words, node, stretch.start),
            nodes=nodes,
            tokens=tokens,
            rows=rows,
        )

    def _row_changes(self, stretch: Stretch) -> tuple[RowChange, ...]:
        first, second = self._sides[0].state, self._sides[1].state
        full = (first.full_runs(stretch.before), second.full_runs(stretch.after))
        swa = (first.swa_runs(stretch.before), second.swa_runs(stretch.after))
        if self._alike and _same(full, stretch) and _same(swa, stretch):
            return ()
        changed = []
        for kind in self.kinds:
            if kind.scope is Scope.REQUEST or kind.shape is Shape.KEY:
                continue
            runs = full if kind.shape is Shape.RANGE else swa
            known = self._known[kind.label]
            before, after = (
                closed_rows(kind, one, stretch.start, stretch.stop) if there else None
                for one, there in zip(runs, known, strict=True)
            )
            if before != after:
                owned = owned_rows(kind, stretch.start, stretch.stop).size
                changed.append(RowChange(kind.label, owned, before, after))
        return tuple(changed)


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


def _same(runs: tuple[Runs, Runs], stretch: Stretch) -> bool:
    """Whether both have slots for the same tokens of a stretch, in runs that were cut in the same places."""
    one, other = (
        [(max(start, stretch.start), min(stop, stretch.stop)) for start, stop, _ in side if stop > stretch.start]
        for side in runs
    )
    return one == other


def closed_rows(kind: StateKind, runs: Runs, start: int, stop: int) -> int:
    """Rows of a kind in `runs` whose closing tokens are among [start, stop)."""
    unit = kind.unit if kind.shape is Shape.RANGE else 1
    return sum(min(b, stop) // unit - max(a, start) // unit for a, b, _ in runs if a < stop and b > start)
