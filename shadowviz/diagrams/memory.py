"""Who uses the memory of a cache: bytes by state kind, and within each by the nodes of the tree."""

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz_engine.core.derive import Origin


class KindBytes(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of one kind, over its owner layers. A figure that is None is not known."""

    kind: str
    layers: int
    row_bytes: int
    """Of one row in one layer."""
    rows: int | None
    """In each layer, of the tree and of running requests."""
    num_bytes: int | None
    allocated_bytes: int | None = None
    """Bytes of the pages that are taken; what is beyond `num_bytes` is padding, or rows of other tokens of a page."""
    capacity_bytes: int | None = None
    """Bytes of the whole pool."""


class Tile(msgspec.Struct, frozen=True, gc=False):
    """Bytes of one kind that one node holds itself, or that several hold together."""

    kind: str
    node: int
    """The node; where several are gathered, the one that they are below; 0 = the root, which holds nothing itself."""
    parent: int
    rows: int
    num_bytes: int
    nodes: int = 1
    """Nodes that the tile stands for."""
    gathered: bool = False
    """Stands for nodes below `node` that have no tile of their own."""
    request: bool = False
    """Stands for running requests, whose slots are not the tree's yet."""


class MemoryDiagram(msgspec.Struct, frozen=True, kw_only=True):
    """A treemap: kinds, in them the nodes of the tree, in each node its children."""

    caption: Caption
    row_format: str
    format_origin: Origin
    """assumed: the source does not say how its rows are stored."""
    kinds: tuple[KindBytes, ...]
    """In the order of the geometry, unknown ones included."""
    tiles: tuple[Tile, ...]
    """By kind, then in pre-order of the tree; a node without rows of a kind is there if a child has some."""
    labels: tuple[tuple[int, str], ...]
    """First tokens of each node that has a tile, inert."""
    total_bytes: int
