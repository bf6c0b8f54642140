"""The radix tree as boxes: spans, what is resident of each kind, and the path of a request."""

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz_engine.core.derive import Origin


class KindRows(msgspec.Struct, frozen=True, gc=False):
    """Rows of one kind that a span owns, and how many of them are there."""

    kind: str
    owned: int
    resident: int | None
    """None = the source does not say; never drawn as absent."""
    origin: Origin = Origin.OBSERVED


class Box(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One node of the tree."""

    node: int
    parent: int
    """Node of the box above; 0 is the root."""
    depth: int
    """Edges from the root of the picture."""
    start: int
    stop: int
    """Tokens [start, stop) of the path."""
    namespace: str = ""
    label: str = ""
    """First tokens of the span, inert: text where the source has it, else ids."""
    rows: tuple[KindRows, ...] = ()
    """In the order of the geometry's kinds."""
    tier: str = "device"
    locks: int = 0
    heat: float | None = None
    """Recency of use among the living nodes, 1 the newest; None = not known."""
    tombstone: bool = False
    """Window rows of the span were freed, its compressed rows stay."""
    terminal: bool = False
    """A registered path ends here."""
    reachable: int | None = None
    """Tokens that a request which leaves the tree at `stop` reuses; None = not known."""
    on_path: bool = False
    next_out: bool = False
    """First to be evicted when room is needed."""

    @property
    def num_tokens(self) -> int:
        """Length of the span."""
        return self.stop - self.start


class Stub(msgspec.Struct, frozen=True, gc=False):
    """Children of a box that are not shown: "+1,204 more (88k tokens)"."""

    parent: int
    nodes: int
    tokens: int


class TreeDiagram(msgspec.Struct, frozen=True, kw_only=True):
    """A tree, or the part of it that is shown; boxes in pre-order, every parent before its children."""

    caption: Caption
    kinds: tuple[str, ...]
    boxes: tuple[Box, ...]
    stubs: tuple[Stub, ...] = ()
    request: str = ""
    """Whose path is marked; empty = nobody's."""
    common: int = 0
    matched: int = 0
    usable: int = 0
    reused: int = 0
    """Of that request's lookup, in tokens."""
    num_prompt: int = 0
