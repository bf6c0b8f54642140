"""What differs between two trees: spans that appeared, went, or hold other rows."""

import msgspec

from shadowviz.diagrams.caption import Caption


class RowChange(msgspec.Struct, frozen=True, gc=False):
    """Rows of one kind that a span holds in both trees; None = the source does not say."""

    kind: str
    owned: int
    before: int | None
    after: int | None


class Change(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One span with what happened to it; of spans that appeared or went, all that is below them as well."""

    what: str
    """appeared, went or residency."""
    before: int
    """Node of the first tree that holds the span; 0 = none."""
    after: int
    """Node of the second tree that holds the span; 0 = none."""
    start: int
    stop: int
    """Tokens [start, stop) of the path."""
    namespace: str = ""
    label: str = ""
    """First tokens of the span, inert."""
    nodes: int = 1
    """Nodes that it stands for, in and below it."""
    tokens: int = 0
    """Tokens in those nodes."""
    rows: tuple[RowChange, ...] = ()
    """Kinds whose rows differ (residency), in the order of the geometry."""

    @property
    def num_tokens(self) -> int:
        """Length of the span."""
        return self.stop - self.start


class ChangeSum(msgspec.Struct, frozen=True):
    """All changes of one sort, those that are not shown included."""

    what: str
    changes: int
    nodes: int
    tokens: int


class ChangesDiagram(msgspec.Struct, frozen=True, kw_only=True):
    """Two trees compared by their tokens; changes by namespace and position, the largest where there are too many."""

    caption: Caption
    before: Caption
    """Of the first tree; the caption of the diagram is of the second."""
    kinds: tuple[str, ...]
    changes: tuple[Change, ...]
    sums: tuple[ChangeSum, ...]
    """Appeared, went, residency: always all three."""
    same_tokens: int
    """Tokens that both trees hold."""
    num_nodes: tuple[int, int]
    """Living nodes of both trees."""
