"""Rows of the ruler: tokens in columns, a row for each kind of state, the cut, and what a row was made from."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as Ink

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import ABSENT, COMPUTED, CUT, OPEN, PARTIAL, PRESENT, REUSED, UNKNOWN
from shadowviz.diagrams.theme import Style
from shadowviz.replay.nearest import Words
from shadowviz.tui.models.cells import clip, fit
from shadowviz.tui.models.ruler_model import CellState, Counts, RulerLane, RulerModel
from shadowviz.tui.models.ruler_place import SPELLED, SPELLED_CELLS, RulerPlace
from shadowviz.tui.models.ruler_subject import Subject
from shadowviz.tui.widgets.lines import Line
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.strips import marked
from shadowviz_engine.core.kinds import Shape

LABEL = 11
MISSING_MARKS: Final = {CellState.MISSING: ("✗", "X"), CellState.PART: ("╳", "x")}
END_MARK: Final = ("▌", "]")
"""Closes a row of several tokens."""
CHOSEN_MARK: Final = ("◆", "*")
IMPOSSIBLE: Final = MISSING_MARKS[CellState.MISSING]
NOT_REUSED: Final = ("╱", "!")
"""A cut at which nothing could go on, and what lies left of it."""

Cells = list[tuple[str, Ink]]


class RulerShown(msgspec.Struct, frozen=True, kw_only=True):
    """What the rows are drawn from."""

    subject: Subject
    model: RulerModel
    """At the cut that is shown."""
    place: RulerPlace
    words: Words | None
    chosen: tuple[int, ...] | None
    """Entries that the query at the cursor selected; None = not known."""
    chosen_layer: int = -1
    chosen_lane: RulerLane | None = None

    @property
    def lanes(self) -> tuple[RulerLane, ...]:
        """Those of the layer."""
        return self.model.lanes_of(self.place.layer)

    @property
    def is_impossible(self) -> bool:
        """Whether the cut is the user's, and nothing could go on there."""
        return self.place.own_cut is not None and not self.model.is_possible


class RulerRows:
    """Draws the rows: positions, tokens, the cut, each lane, and where the row at the cursor comes from."""

    def __init__(self, shown: RulerShown, look: Look, lane_row: int) -> None:
        self.shown, self.look = shown, look
        self.lane_row = lane_row
        self._drawn: dict[str, Callable[[int], Cells]] = {
            "position": self._positions,
            "token": self._tokens,
            "cut": self._cut,
            "made from": self._source,
            "selected": self._chosen,
            "finding": self._finding,
        }
        self._styles = kind_styles(lane.kind.label for lane in shown.model.lanes)

    @cached_property
    def rows(self) -> list[str | RulerLane]:
        """Rows from the top: lanes, and others by their name."""
        shown = self.shown
        heads = ["position", *(["token"] if shown.subject.tokens is not None else []), "cut"]
        tails = ["made from", *(["selected"] if shown.chosen is not None else [])]
        finding = shown.subject.finding
        tails += ["finding"] if finding is not None and finding.tokens else []
        return [*heads, *shown.lanes, *tails]

    def lane_at(self, row: int) -> RulerLane | None:
        """The lane in a row."""
        found = self.rows[row] if 0 <= row < len(self.rows) else None
        return found if isinstance(found, RulerLane) else None

    @property
    def lane(self) -> RulerLane | None:
        """The lane at the cursor, or the first one that reads across its own tokens."""
        lanes = self.shown.lanes
        ranges = [lane for lane in lanes if lane.kind.shape is Shape.RANGE]
        across = [lane for lane in ranges if lane.kind.overlap]
        return self.lane_at(self.lane_row) or next(iter([*across, *ranges, *lanes]), None)

    def draw(self, row: int, width: int) -> Line:
        """One row in at most `width` cells."""
        found, look = self.rows[row], self.look
        num_cells = self.shown.place.num_cells(width - LABEL)
        if isinstance(found, RulerLane):
            style = self._styles[found.kind.label]
            label = fit(f"{look.glyph(style)} {look.shown(style.word)}", LABEL - 1, look.pick("…", "~")) + " "
            return [Segment(label, look.ink(style)), *self._marked(self._lane(found, style, num_cells))]
        return [Segment(fit(found, LABEL), look.muted), *self._marked(self._drawn[found](num_cells))]

    def _marked(self, cells: Cells) -> Line:
        """Cells as segments, the column of the cursor set off."""
        place = self.shown.place
        at = (place.token - place.first) // place.per_cell
        return marked(cells, at)

    def _edges(self, num_cells: int) -> Counts:
        place = self.shown.place
        return self.shown.model.edges(place.first, place.per_cell, num_cells)

    def _wide(self, text: str) -> str:
        return fit(text, SPELLED_CELLS) if self.shown.place.zoom == SPELLED else text

    def _positions(self, num_cells: int) -> Cells:
        place, length = self.shown.place, self.shown.model.length
        if place.zoom == SPELLED:
            firsts = range(place.first, place.first + num_cells)
            return [(fit(f"{token:,}" if token <= length else "", SPELLED_CELLS), self.look.muted) for token in firsts]
        line, every = "", 20
        for cell in range(0, num_cells, every):
            token = place.first + cell * place.per_cell
            line += fit(f"{self.look.pick('╷', '|')}{token:,}" if token <= length else "", every)
        at = (place.token - place.first) // place.per_cell
        cells = [(character, self.look.muted) for character in line[:num_cells].ljust(num_cells)]
        if 0 <= at < num_cells:
            cells[at] = (self.look.pick("▼", "v"), self.look.title)
        return cells

    def _tokens(self, num_cells: int) -> Cells:
        shown, place, look = self.shown, self.shown.place, self.look
        ids = shown.subject.tokens or ()
        if place.per_cell > 1 or shown.words is None:
            return [(" ", look.muted)] * num_cells
        cells = []
        for token_id in ids[place.first : place.first + num_cells]:
            text = look.shown(shown.words.text([token_id]))
            if place.zoom == SPELLED:
                cells.append((fit(clip(text, SPELLED_CELLS - 1), SPELLED_CELLS), look.text))
            else:
                first = (text.lstrip(" ") or "_")[0]
                cells.append((first if cell_len(first) == 1 else look.pick("□", "#"), look.text))
        return cells

    def _cut(self, num_cells: int) -> Cells:
        """Reused to the left of the cut if anything can go on there, computed to the right; marks of other lengths."""
        shown, place, look = self.shown, self.shown.place, self.look
        cut, length, cells = shown.model.cut, shown.model.length, Cells()
        marks = {mark // place.per_cell: name[0].upper() for mark, name in shown.subject.marks}
        reused, computed = ((look.glyph(style), look.ink(style)) for style in (REUSED, COMPUTED))
        at_cut = (look.glyph(CUT), look.title)
        if shown.is_impossible:
            at_cut, reused = ((look.pick(*mark), look.warning) for mark in (IMPOSSIBLE, NOT_REUSED))
        for cell in range(num_cells):
            first = place.first + cell * place.per_cell
            at, fill = first // place.per_cell, reused if first < cut else computed
            if first >= length:
                fill = (" ", look.muted)
            text, ink = at_cut if at == cut // place.per_cell else (marks[at], look.strong) if at in marks else fill
            cells.append((text + fill[0] * (SPELLED_CELLS - 1) if place.zoom == SPELLED else text, ink))
        return cells

    def _lane(self, lane: RulerLane, style: Style, num_cells: int) -> Cells:
        place, edges = self.shown.place, self._edges(num_cells)
        states = lane.cells(edges)
        cells = Cells()
        for state, first in zip(states, edges.tolist(), strict=False):
            mark, ink = self._mark(state, style)
            last = first + place.per_cell
            closes = lane.unit > 1 and last % lane.unit == 0 and last <= self.shown.model.length
            ended = closes and place.per_cell < lane.unit and state in (CellState.HELD, CellState.SPARE)
            end = self.look.pick(*END_MARK) if ended else mark
            cells.append((mark * (SPELLED_CELLS - 1) + end if place.zoom == SPELLED else end, ink))
        return cells

    def _mark(self, state: CellState, style: Style) -> tuple[str, Ink]:
        look = self.look
        if state is CellState.HELD:
            return look.glyph(style), look.ink(style)
        if state in MISSING_MARKS:
            return look.pick(*MISSING_MARKS[state]), look.warning
        role = _ROLES.get(state)
        return (look.glyph(role), look.muted) if role is not None else (" ", look.muted)

    def _source(self, num_cells: int) -> Cells:
        """The tokens of the row at the cursor, and apart from them those before that went into it."""
        shown, lane, look = self.shown, self.lane, self.look
        if lane is None or lane.kind.shape is not Shape.RANGE:
            return [(" ", look.muted)] * num_cells
        row = lane.row_at(min(shown.place.token, max(0, shown.model.length - 1)))
        own, reads = lane.own(row), lane.reads(row)
        cells = Cells()
        for first, last in pairwise(self._edges(num_cells).tolist()):
            if max(first, own.start) < min(last, own.stop):
                cells.append((self._fill(look.pick("═", "=")), look.title))
            elif max(first, reads.start) < min(last, own.start):
                cells.append((self._fill(look.pick("╌", "-")), look.strong))
            else:
                cells.append((self._fill(" "), look.muted))
        return cells

    def _chosen(self, num_cells: int) -> Cells:
        shown, look = self.shown, self.look
        unit = shown.chosen_lane.unit if shown.chosen_lane is not None else 1
        chosen = shown.chosen or ()
        cells = Cells()
        for first, last in pairwise(self._edges(num_cells).tolist()):
            hit = bisect_left(chosen, first // unit) < bisect_left(chosen, -(-last // unit)) and last > first
            cells.append((self._fill(look.pick(*CHOSEN_MARK) if hit else " "), look.title))
        return cells

    def _finding(self, num_cells: int) -> Cells:
        """The row in which a check has found something."""
        finding, look = self.shown.subject.finding, self.look
        assert finding is not None, "the row is there only with one"
        cells = Cells()
        for first, last in pairwise(self._edges(num_cells).tolist()):
            hit = max(first, finding.tokens.start) < min(last, finding.tokens.stop)
            cells.append((self._fill(look.pick(*CHOSEN_MARK) if hit else " "), look.warning))
        return cells

    def _fill(self, mark: str) -> str:
        return mark * SPELLED_CELLS if self.shown.place.zoom == SPELLED else mark


_ROLES: dict[CellState, Style] = {
    CellState.OPEN: OPEN,
    CellState.ABSENT: ABSENT,
    CellState.SPARE: PRESENT,
    CellState.SOME: PARTIAL,
    CellState.UNKNOWN: UNKNOWN,
}


def legend(look: Look) -> Sequence[tuple[str, str]]:
    """What the marks mean: each with its words."""
    missing, part = (look.pick(*MISSING_MARKS[state]) for state in (CellState.MISSING, CellState.PART))
    return (
        ("shading", "there, and read when going on at the cut"),
        (look.glyph(PRESENT), "there, not read"),
        (f"{missing} {part}", "read, but not there; in part not there"),
        (look.glyph(ABSENT), "not there, and not read"),
        (look.glyph(OPEN), "window still open: no entry yet"),
        (look.pick(*END_MARK), "the token that closes an entry"),
        (look.pick(*NOT_REUSED), "left of a cut that could not be gone on from"),
        ("known", "what is not marked (derived) an event tells"),
    )
