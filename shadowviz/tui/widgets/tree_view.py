"""The tree as rows: guides, spans, what each holds by kind, and what a request reuses that leaves there."""

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as Ink

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.labels import span_label
from shadowviz.diagrams.roles import ABSENT, LOCKED, NEXT_OUT, PARTIAL, PATH, REACHABLE, TERMINAL, UNKNOWN
from shadowviz.diagrams.theme import Style
from shadowviz.diagrams.tree import KindRows
from shadowviz.replay.nearest import Words
from shadowviz.tui.models.cells import clip, figures, fit, right
from shadowviz.tui.models.span_facts import SpanFacts
from shadowviz.tui.models.tree_index import TreeIndex
from shadowviz.tui.widgets.lines import Line, LineView
from shadowviz.tui.widgets.look import Look
from shadowviz_engine.core.replayer import Replayer

MAX_GUIDES = 12
"""Levels of guides; deeper rows say their depth instead."""
LABEL = 10
"""Cells that the text of a span has at least; where there are fewer it is left out."""


class TreeShown:
    """What the rows are drawn from, at one moment."""

    def __init__(self, state: Replayer, index: TreeIndex, facts: SpanFacts, words: Words, path: frozenset[int]) -> None:
        self.state, self.index, self.facts, self.words, self.path = state, index, facts, words, path
        opened = state.opened
        assert opened is not None, "a tree is shown once its log was opened"
        self.kinds = kind_styles(kind.label for kind in opened.geometry.kinds)


class TreeRows:
    """Draws rows of a tree."""

    def __init__(self, shown: TreeShown, look: Look) -> None:
        self.shown, self.look = shown, look

    def draw(self, row: int, width: int) -> Line:
        """One row in `width` cells."""
        shown, look = self.shown, self.look
        node = shown.index.node_at(row)
        columns = TreeWidths(width, len(shown.kinds))
        tail = self._tail(node, columns)
        room = max(0, width - sum(cell_len(segment.text) for segment in tail))
        head = self._head(row, node, columns.guides)
        used = sum(cell_len(segment.text) for segment in head)
        more = look.pick("…", "~")
        if used > room:
            head = [Segment(clip("".join(segment.text for segment in head), room, more), look.text)]
            used = room
        label = clip(f"  {self._text(node)}", room - used, more) if node and room - used >= LABEL else ""
        gap = Segment(" " * (room - used - cell_len(label)))
        return [*head, Segment(label, look.muted), gap, *tail]

    def _head(self, row: int, node: int, guides: int) -> Line:
        shown, look, index = self.shown, self.look, self.shown.index
        depth = index.depth_at(row)
        fold = _fold_mark(index, node, look)
        ink = look.ink(PATH, bold=True) if node in shown.path else look.strong
        name = f"n{node}" if node else "root"
        if index.is_folded(node):
            name += f" +{index.below(node):,}"
        return [
            Segment(self._guides(node, depth, guides), look.muted),
            Segment(fold, look.title),
            Segment(name, ink),
            *self._marks(node),
        ]

    def _guides(self, node: int, depth: int, most: int) -> str:
        """Lines from the nodes above; of the nearest ones alone, behind the depth, where the row is deep."""
        nodes, look = self.shown.state.nodes, self.look
        bar, blank, fork, last = ("│ ", "  ", "├─", "└─") if not look.ascii else ("| ", "  ", "|-", "`-")
        parts, at = list[str](), node
        for step in range(min(depth, most)):
            follows = bool(nodes.next_sibling[at])
            parts.append((fork if follows else last) if step == 0 else (bar if follows else blank))
            at = nodes.parent[at]
        left_out = depth - most
        lead = f"{look.pick('…', '+')}{left_out:,} " if left_out > 0 else ""
        return lead + "".join(reversed(parts))

    def _marks(self, node: int) -> Line:
        shown, nodes, look = self.shown, self.shown.state.nodes, self.look
        marks: list[tuple[Style, str]] = []
        if nodes.locks[node] > 0 and node:
            marks.append((LOCKED, f"{nodes.locks[node]}"))
        if nodes.terminal[node]:
            marks.append((TERMINAL, ""))
        if node and node == shown.facts.next_out:
            marks.append((NEXT_OUT, ""))
        return [Segment(f" {look.glyph(style)}{text}", look.ink(style)) for style, text in marks]

    def _text(self, node: int) -> str:
        shown = self.shown
        return self.look.shown(span_label(shown.state, shown.words, node, shown.state.nodes.start[node]))

    def _tail(self, node: int, columns: "TreeWidths") -> Line:
        """The columns at the right: span, tokens, what is there by kind, what is reused."""
        nodes, look = self.shown.state.nodes, self.look
        if not node:
            return [Segment(" " * (columns.span + columns.tokens + 1 + len(self.shown.kinds) + columns.reuses))]
        start, stop = nodes.start[node], nodes.stop[node]
        span = " " + figures([start, stop], columns.span - 1, "..") if columns.span else ""
        return [
            Segment(span, look.muted),
            Segment(" " + figures([stop - start], columns.tokens - 1) + " ", look.text),
            *self._kind_cells(node),
            Segment(self._reach_cell(node, columns.reuses), look.ink(REACHABLE)),
        ]

    def _kind_cells(self, node: int) -> Line:
        shown, look = self.shown, self.look
        return [Segment(*kind_cell(rows, shown.kinds[rows.kind], look)) for rows in shown.facts.rows(node)]

    def _reach_cell(self, node: int, width: int) -> str:
        reused = self.shown.facts.reused(node)
        glyph = self.look.glyph(REACHABLE)
        words = "?" if reused is None else figures([reused], width - 1).lstrip()
        return right(f"{glyph}{words}", width)


class TreeView(LineView):
    """Rows of a tree."""

    shown: TreeShown | None = None

    def num_rows(self) -> int:
        return len(self.shown.index) if self.shown is not None else 0

    def draw_row(self, row: int, width: int) -> Line:
        assert self.shown is not None, "there are rows only of a tree"
        return TreeRows(self.shown, self.look).draw(row, width)


class TreeWidths:
    """Widths of the columns at the right on a list this wide."""

    def __init__(self, width: int, num_kinds: int) -> None:
        self.span = 0 if width < 56 else 14 if width < 100 else 18
        self.tokens = 7 if width < 100 else 9
        self.reuses = 9 if width < 100 else 11
        room = width - self.span - self.tokens - num_kinds - self.reuses - 1
        self.guides = max(2, min(MAX_GUIDES, (room - LABEL - 12) // 2))


def _fold_mark(index: TreeIndex, node: int, look: Look) -> str:
    if not index.has_children(node):
        return look.pick("· ", "  ")
    if index.is_folded(node):
        return look.pick("▸ ", "+ ")
    return look.pick("▾ ", "- ")


def kind_cell(rows: KindRows, style: Style, look: Look) -> tuple[str, Ink]:
    """One cell for one kind: its own glyph where all rows are there, and a mark for part, none and unknown."""
    if rows.resident is None:
        return look.glyph(UNKNOWN), look.ink(UNKNOWN)
    if not rows.owned:
        return " ", look.muted
    if rows.resident >= rows.owned:
        return look.glyph(style), look.ink(style)
    if rows.resident:
        return look.glyph(PARTIAL), look.ink(style)
    return look.glyph(ABSENT), look.muted


def header(width: int, num_kinds: int, name: str = "node") -> str:
    """Names of the columns, over a list this wide."""
    columns = TreeWidths(width - 2, num_kinds)
    tail = right("span [..)", columns.span) if columns.span else ""
    tail += right("tokens", columns.tokens) + " " + fit("there", num_kinds, "") + right("reuses", columns.reuses)
    return fit(f"  {name}", max(0, width - cell_len(tail) - 1)) + tail
