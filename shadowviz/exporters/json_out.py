"""JSON: every figure of a diagram, in the order of the published schema.

`docs/reference/export-schema.json` is made from the types below and says what each field means.
"""

from typing import TypeAlias

import msgspec

from shadowviz.diagrams.cells import BoundaryDiagram
from shadowviz.diagrams.changes import ChangesDiagram
from shadowviz.diagrams.lanes import DerivationDiagram
from shadowviz.diagrams.lookups import LookupsDiagram
from shadowviz.diagrams.memory import MemoryDiagram
from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.exporters.formats import Diagram, Drawing, Look
from shadowviz_engine.core.errors import InputError

VERSION = 1
"""Of the schema; raised by one when a field is renamed or changes its meaning."""

INDENTED_BYTES = 2 * 1024 * 1024
"""Longer documents are written without line breaks and blanks, which would double them."""


class Document(msgspec.Struct, frozen=True, tag_field="diagram"):
    """A diagram with its name and the version of the schema."""

    version: int


class TreeDocument(Document, frozen=True, tag="tree"):
    """The radix tree."""

    content: TreeDiagram


class DerivationDocument(Document, frozen=True, tag="derivation"):
    """The ruler."""

    content: DerivationDiagram


class BoundaryDocument(Document, frozen=True, tag="boundary"):
    """Results of boundary stress."""

    content: BoundaryDiagram


class LookupsDocument(Document, frozen=True, tag="lookups"):
    """Lookups with their verdicts."""

    content: LookupsDiagram


class ChangesDocument(Document, frozen=True, tag="changes"):
    """What differs between two states."""

    content: ChangesDiagram


class MemoryDocument(Document, frozen=True, tag="memory"):
    """Bytes by kind and node."""

    content: MemoryDiagram


AnyDocument: TypeAlias = (
    TreeDocument | DerivationDocument | BoundaryDocument | LookupsDocument | ChangesDocument | MemoryDocument
)

_DOCUMENTS: dict[type, type[AnyDocument]] = {
    TreeDiagram: TreeDocument,
    DerivationDiagram: DerivationDocument,
    BoundaryDiagram: BoundaryDocument,
    LookupsDiagram: LookupsDocument,
    ChangesDiagram: ChangesDocument,
    MemoryDiagram: MemoryDocument,
}


def render(diagram: Diagram, look: Look) -> Drawing:  # noqa: ARG001 (every renderer has a look)
    """The diagram as one JSON object.

    Raises:
        InputError: there is no schema for it.
    """
    document = _DOCUMENTS.get(type(diagram))
    if document is None:
        raise InputError(f"{type(diagram).__name__} has no JSON: expected one of {', '.join(_names())}")
    data = msgspec.json.encode(document(VERSION, diagram))  # type: ignore[arg-type]
    return Drawing((msgspec.json.format(data, indent=2) if len(data) <= INDENTED_BYTES else data) + b"\n")


def read(data: bytes) -> AnyDocument:
    """The document in `data`, checked against the schema.

    Raises:
        InputError: it is none.
    """
    try:
        document: AnyDocument = msgspec.json.decode(data, type=AnyDocument)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(f"no exported diagram: {error}") from None
    if document.version != VERSION:
        raise InputError(f"an exported diagram of version {document.version}: this shadowviz reads {VERSION}")
    return document


def _names() -> list[str]:
    return [kind.__name__ for kind in _DOCUMENTS]
