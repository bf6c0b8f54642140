"""The registry of formats: what each is called, which diagrams it takes, and the function that renders it.

A renderer is a function `(diagram, look) -> Drawing`. It decides nothing that the diagram has not decided, reads no
file and no clock, and gives the same bytes for the same diagram and look. Its module loads when it is first asked for.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from importlib import import_module
from pathlib import PurePath
from typing import Any, Literal, Protocol, TypeAlias, cast

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz_engine.core.errors import InputError


class Diagram(Protocol):
    """Anything that can be exported: it says of itself what it shows."""

    @property
    def caption(self) -> Caption:
        """Title, source, event and counts."""
        ...


class DiagramName(StrEnum):
    """Sorts of diagrams, as a user names them."""

    TREE = "tree"
    """`TreeDiagram`: spans, and what is resident of each kind."""
    DERIVATION = "derivation"
    """`DerivationDiagram`: the ruler."""
    BOUNDARY = "boundary"
    """`BoundaryDiagram`: results of boundary stress."""
    LOOKUPS = "lookups"
    """`LookupsDiagram`: lookups with their verdicts."""
    MEMORY = "memory"
    """`MemoryDiagram`: bytes by kind and node."""
    CHANGES = "changes"
    """`ChangesDiagram`: what differs between two states."""
    EVENTS = "events"
    """`EventsDiagram`: the events themselves, for formats that are logs or traces."""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """How a picture is drawn, where that is the reader's choice and not the diagram's."""

    dark: bool = False
    """For a dark ground."""
    renderer: Literal["auto", "dot", "own"] = "auto"
    """Who lays out a tree: the best there is, Graphviz, or the layout that is built in."""
    timeout_s: float = 20.0
    """Longest that a program of others may take."""


LIGHT = Look()


class Drawing(msgspec.Struct, frozen=True):
    """A file's content, and who made it."""

    data: bytes
    """Text is UTF-8 and ends with a line end."""
    drawn_by: str = ""
    """Such as "dot 2.43" or "built-in layout"; empty where nobody but this program could."""
    notes: tuple[str, ...] = ()
    """What the reader of stderr should know: a renderer that failed and was replaced."""
    parts: Iterable[bytes] = ()
    """More of the content, behind `data`, made as it is read, once: for what may be too long to hold."""


Renderer: TypeAlias = Callable[[Any, Look], Drawing]


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One format and its renderers."""

    name: str
    title: str
    """A few words for lists."""
    media_type: str
    endings: tuple[str, ...]
    """Of file names, with the dot, in lower case; the first is the usual one."""
    text: bool
    """May go to a terminal or a pipe as text."""
    renderers: tuple[tuple[DiagramName, str], ...]
    """A "module:function" for each diagram that it takes; the first diagram is the one it is made for."""

    most_boxes: int = 0
    """Nodes beyond which a tree is collapsed to so many, unless all are asked for; 0 = as the diagram decides."""
    heeds: tuple[str, ...] = ()
    """Fields of `Look` that change what it gives; a user who asks for another is told."""

    @property
    def diagrams(self) -> tuple[DiagramName, ...]:
        """Diagrams that it takes."""
        return tuple(name for name, _ in self.renderers)

    def renderer(self, diagram: DiagramName) -> Renderer:
        """The function that draws `diagram`; loads its module.

        Raises:
            InputError: the format has no such diagram.
        """
        place = dict(self.renderers).get(diagram)
        if place is None:
            expected = ", ".join(self.diagrams)
            others = ", ".join(form.name for form in formats_of(diagram))
            raise InputError(f"format {self.name} shows no {diagram}: expected one of {expected}, or format {others}")
        module, _, function = place.partition(":")
        return cast("Renderer", getattr(import_module(f"shadowviz.exporters.{module}"), function))


_DRAWN = ("dark", "renderer", "timeout_s")
"""What pictures heed of `Look`."""


def _typeset(module: str) -> tuple[tuple[DiagramName, str], ...]:
    """The renderers of a format that is the svg, typeset: one for each diagram that svg takes."""
    words = {DiagramName.DERIVATION: "ruler", DiagramName.BOUNDARY: "cells"}
    shown = (name for name in DiagramName if name is not DiagramName.EVENTS)
    return tuple((name, f"{module}:render_{words.get(name, name)}") for name in shown)


FORMATS: tuple[Format, ...] = (
    Format(
        name="dot",
        title="text for Graphviz, to lay out elsewhere",
        media_type="text/vnd.graphviz",
        endings=(".dot", ".gv"),
        text=True,
        renderers=((DiagramName.TREE, "dot:render"),),
        heeds=("dark",),
    ),
    Format(
        name="svg",
        title="picture of lines and text, for pages and documents",
        media_type="image/svg+xml",
        endings=(".svg",),
        text=True,
        renderers=(
            (DiagramName.TREE, "svg_tree:render"),
            (DiagramName.DERIVATION, "svg_ruler:render"),
            (DiagramName.BOUNDARY, "svg_cells:render"),
            (DiagramName.LOOKUPS, "svg_table:render_lookups"),
            (DiagramName.MEMORY, "svg_table:render_memory"),
            (DiagramName.CHANGES, "svg_table:render_changes"),
        ),
        heeds=_DRAWN,
    ),
    Format(
        name="png",
        title="picture of pixels, for chats and slides",
        media_type="image/png",
        endings=(".png",),
        text=False,
        renderers=_typeset("png"),
        heeds=_DRAWN,
    ),
    Format(
        name="pdf",
        title="one page of lines and text, fonts inside",
        media_type="application/pdf",
        endings=(".pdf",),
        text=False,
        renderers=_typeset("pdf"),
        heeds=_DRAWN,
    ),
    Format(
        name="html",
        title="page that zooms, searches and tells details, one file without network",
        media_type="text/html",
        endings=(".html", ".htm"),
        text=True,
        renderers=(
            (DiagramName.TREE, "html_tree:render"),
            (DiagramName.DERIVATION, "html_ruler:render"),
            (DiagramName.BOUNDARY, "html_cells:render"),
            (DiagramName.LOOKUPS, "html_lookups:render"),
            (DiagramName.MEMORY, "html_memory:render"),
            (DiagramName.CHANGES, "html_changes:render"),
        ),
    ),
    Format(
        name="json",
        title="every figure of the diagram, with a published schema",
        media_type="application/json",
        endings=(".json",),
        text=True,
        renderers=tuple((name, "json_out:render") for name in DiagramName if name is not DiagramName.EVENTS),
    ),
    Format(
        name="text",
        title="table of characters, for terminals and mails",
        media_type="text/plain",
        endings=(".txt",),
        text=True,
        renderers=(
            (DiagramName.LOOKUPS, "text_table:render_lookups"),
            (DiagramName.MEMORY, "text_table:render_memory"),
            (DiagramName.CHANGES, "text_table:render_changes"),
        ),
    ),
    Format(
        name="mermaid",
        title="text that issues, wikis and READMEs draw",
        media_type="text/vnd.mermaid",
        endings=(".mmd", ".mermaid"),
        text=True,
        renderers=((DiagramName.TREE, "mermaid:render"),),
        heeds=("dark",),
        most_boxes=120,
    ),
    Format(
        name="perfetto",
        title="trace on a time axis, for ui.perfetto.dev",
        media_type="application/x-protobuf",
        endings=(".pftrace", ".perfetto-trace"),
        text=False,
        renderers=((DiagramName.EVENTS, "perfetto:render"),),
    ),
    Format(
        name="text-log",
        title="seven lines a lookup, for lint-log",
        media_type="text/plain",
        endings=(".log",),
        text=True,
        renderers=((DiagramName.EVENTS, "text_log:render"),),
    ),
)
"""All formats, in the order in which they are listed."""


def format_named(name: str) -> Format:
    """The format that a user names.

    Raises:
        InputError: there is none.
    """
    found = next((form for form in FORMATS if form.name == name.strip().lower()), None)
    if found is None:
        raise InputError(f"format {name[:40]!r} is not known: expected one of {_names()}")
    return found


def format_of_file(path: str) -> Format:
    """The format that the ending of a file's name tells.

    Raises:
        InputError: it tells none.
    """
    name = PurePath(path).name.lower()
    fitting = [(len(ending), form) for form in FORMATS for ending in form.endings if name.endswith(ending)]
    if not fitting:
        raise InputError(f"{path[-60:]!r} tells no format: expected -f with one of {_names()}")
    return max(fitting, key=lambda pair: pair[0])[1]


def formats_of(diagram: DiagramName) -> tuple[Format, ...]:
    """Formats that show `diagram`."""
    return tuple(form for form in FORMATS if diagram in form.diagrams)


def _names() -> str:
    return ", ".join(form.name for form in FORMATS)
