"""Forms of faults of going on from reused state: where each exists, which row is wrong first, when it shows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from shadowviz_engine.core.geometry import Compressor, Geometry
from shadowviz_engine.core.kinds import Shape, StateKind, needed_rows
from shadowviz_engine.core.spans import EMPTY, Extent
from shadowviz_engine.model.fault_edits import Edit, Place, PlanEdit
from shadowviz_engine.model.numerics import BLOCK, padded

SWA = "swa_kv"
INDEX = "index_k"


@dataclass(frozen=True)
class Fault(ABC):
    """A fault that acts on every request that goes on from a reused length; L below."""

    name: str
    text: str
    kind: str
    """Label of the kind whose rows are wrong, or wrongly read, first."""

    @abstractmethod
    def reason_absent(self, geometry: Geometry, length: int) -> str:
        """Why there is no such fault at L; empty where there is."""

    @abstractmethod
    def first_row(self, geometry: Geometry, length: int) -> int:
        """The first row of the kind that is wrong, or wrongly read, where the fault exists."""

    def first_kind(self, geometry: Geometry, stop: int) -> str:
        """The kind whose rows are wrong, or wrongly read, first when the tokens up to `stop` are computed in one pass.

        An entry that is seen too early is ranked before it is read, in a pass where a query must choose.
        """
        compressor = compressor_of(geometry, self.kind)
        if not self.extra_entries or compressor is None or not compressor.indexed:
            return self.kind
        return INDEX if stop // compressor.ratio > geometry.index_topk else self.kind

    @abstractmethod
    def first_offset(self, geometry: Geometry, length: int) -> int:
        """Tokens behind L of the first logits that can differ, 0 for the next token, where the fault exists."""

    def must_show(self, geometry: Geometry, length: int) -> bool:
        """Whether those logits do differ; an indexer may leave a wrong entry out, or choose rightly by wrong keys."""
        compressor = compressor_of(geometry, self.kind)
        if compressor is None or not compressor.indexed:
            return True
        seen = (length + self.first_offset(geometry, length) + 1) // compressor.ratio + self.extra_entries
        return self.kind not in (INDEX, "index_tail") and seen <= geometry.index_topk

    @property
    def needs_other(self) -> bool:
        """Whether it takes rows of another request."""
        return False

    @property
    def in_state(self) -> bool:
        """Whether reused rows are wrong, so that it is there before anything is read."""
        return False

    @property
    def extra_entries(self) -> int:
        """Entries that a query sees too many."""
        return 0


@dataclass(frozen=True)
class RowFault(Fault):
    """Wrong contents of reused rows."""

    place: Place
    edit: Edit

    @property
    def needs_other(self) -> bool:
        """Whether it takes rows of another request."""
        return self.edit is Edit.OTHER

    @property
    def in_state(self) -> bool:
        """Whether reused rows are wrong, so that it is there before anything is read."""
        return True

    def rows(self, geometry: Geometry, length: int) -> Extent:
        """The wrong rows; empty where the fault does not exist."""
        rows = _rows_at(geometry.kind(self.kind), self.place, length)
        if self.edit is Edit.ROLLED and rows.size < 2:
            return EMPTY
        if self.edit is Edit.TURNED and geometry.kind(self.kind).unit < 2:
            return EMPTY
        return rows

    def wrong_entries(self, geometry: Geometry, length: int) -> Extent:
        """Entries that the wrong rows are, or go into; only for kinds of a compressor."""
        kind = geometry.kind(self.kind)
        if kind.shape is Shape.RANGE:
            return self.rows(geometry, length)
        first = length // kind.ratio
        # The open window is read once more, as the overlap of the entry after its own.
        return Extent(first, first + 1 + (kind.overlap > 0 and self.place is not Place.OVERLAP))

    def reason_absent(self, geometry: Geometry, length: int) -> str:
        """Why there is no such fault at L; empty where there is."""
        if self.rows(geometry, length):
            return ""
        if self.edit is Edit.ROLLED and _rows_at(geometry.kind(self.kind), self.place, length):
            return f"{self.kind} has a single row there"
        if self.edit is Edit.TURNED and geometry.kind(self.kind).unit < 2:
            return "the first token of a window of one token is its last"
        return f"{self.kind} has no such row there"

    def first_row(self, geometry: Geometry, length: int) -> int:
        """The first wrong row."""
        return self.rows(geometry, length).start

    def first_offset(self, geometry: Geometry, length: int) -> int:
        """Rows of a tail show when their entry closes, the others at once; index keys when a query must choose."""
        kind = geometry.kind(self.kind)
        offset = closing_offset(kind.ratio, length) if kind.shape is Shape.OPEN else 0
        return max(offset, choice_offset(geometry, length)) if self.kind.startswith("index") else offset


@dataclass(frozen=True)
class PlanFault(Fault):
    """Wrong index arrays of the steps that go on."""

    edit: PlanEdit

    @property
    def extra_entries(self) -> int:
        """Entries that a query sees too many."""
        return int(self.edit is PlanEdit.UNCLOSED)

    def reason_absent(self, geometry: Geometry, length: int) -> str:
        """Why there is no such fault at L; empty where there is."""
        compressor = compressor_of(geometry, self.kind)
        ratio = 1 if compressor is None else compressor.ratio
        overlap = compressor is not None and compressor.overlap
        reasons = {
            PlanEdit.OVERLAP_DROPPED: (not overlap or length < ratio, f"{self.kind} has no overlap there"),
            PlanEdit.END_ROPE: (ratio < 2, "the first token of a window of one token is its last"),
            PlanEdit.UNCLOSED: (ratio < 2, "a window of one token is never open"),
            PlanEdit.NARROW: (geometry.n_win < 2, "a window of one token has no oldest token to lose"),
            PlanEdit.PARTIAL: (length % ratio == 0, "no window is open there"),
        }
        absent, reason = reasons.get(self.edit, (False, ""))
        return reason if absent else ""

    def first_row(self, geometry: Geometry, length: int) -> int:
        """The first row that is wrong, or wrongly read."""
        first = length + self._unchosen_offset(geometry, length)
        compressor = compressor_of(geometry, self.kind)
        match self.edit:
            case PlanEdit.NARROW:
                return first - geometry.n_win + 1
            case PlanEdit.WIDE:
                return first - geometry.n_win
            case PlanEdit.UNRANKED:
                return geometry.index_topk
            case PlanEdit.PARTIAL:
                return length
        assert compressor is not None
        if self.edit is PlanEdit.OVERLAP_DROPPED:
            return (length // compressor.ratio - 1) * compressor.ratio
        return (first + 1) // compressor.ratio - (self.edit is not PlanEdit.UNCLOSED)

    def first_offset(self, geometry: Geometry, length: int) -> int:
        """Wrong entries show when they close, wrong reads at once; a choice where a query must choose."""
        return self._unchosen_offset(geometry, length)

    def _unchosen_offset(self, geometry: Geometry, length: int) -> int:
        compressor = compressor_of(geometry, self.kind)
        match self.edit:
            case PlanEdit.NARROW:
                return max(0, geometry.n_win - 1 - length)
            case PlanEdit.WIDE:
                first = max(length, geometry.n_win)
                # The keys of a block go back from its first query by a multiple of BLOCK, which may just not reach.
                short = padded(geometry.n_win - 1, BLOCK) < geometry.n_win and first % BLOCK == 0
                return first + short - length
            case PlanEdit.UNRANKED:
                return choice_offset(geometry, length)
        assert compressor is not None
        if self.edit is PlanEdit.UNCLOSED:
            return int((length + 1) % compressor.ratio == 0)
        return closing_offset(compressor.ratio, length)


def compressor_of(geometry: Geometry, label: str) -> Compressor | None:
    """The compressor that makes the rows of kind `label`; None for the window's."""
    for compressor in geometry.compressors:
        own = (f"{compressor.name}_kv", f"{compressor.name}_tail")
        if label in own or (compressor.indexed and label in (INDEX, "index_tail")):
            return compressor
    return None


def closing_offset(ratio: int, length: int) -> int:
    """Tokens behind L of the one that closes the window which is open at L."""
    return ratio - 1 - length % ratio


def choice_offset(geometry: Geometry, length: int) -> int:
    """Tokens behind L of the first query that sees more entries than it may choose."""
    indexed = next(item for item in geometry.compressors if item.indexed)
    return max(0, (geometry.index_topk + 1) * indexed.ratio - 1 - length)


def _rows_at(kind: StateKind, place: Place, length: int) -> Extent:
    needed = needed_rows(kind, length)
    match place:
        case Place.OLDEST:
            return Extent(needed.start, min(needed.stop, needed.start + 1))
        case Place.NEWEST | Place.LAST:
            return Extent(max(needed.start, needed.stop - 1), needed.stop)
        case Place.OPEN:
            return Extent(length // kind.ratio * kind.ratio, length)
        case Place.OPEN_FIRST:
            first = length // kind.ratio * kind.ratio
            return Extent(first, min(length, first + 1))
        case Place.OVERLAP:
            stop = length // kind.ratio * kind.ratio
            return Extent(stop - kind.ratio, stop) if kind.overlap and stop else EMPTY
    return needed
