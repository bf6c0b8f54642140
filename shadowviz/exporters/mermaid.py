"""A tree as Mermaid text, for pages that draw it themselves: issues, wikis, READMEs.

Mermaid refuses text of more than 50,000 characters, and its reader cannot be asked for more from within the text; so
boxes say less where there are many, and a tree that is still too large is told.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import LOCKED, NEXT_OUT, PATH, STUB, TOMBSTONE, UNKNOWN
from shadowviz.diagrams.theme import GROUNDS, Style
from shadowviz.diagrams.tree import Box, TreeDiagram
from shadowviz.exporters.box_words import (
    cell,
    marks,
    name,
    outcome_lines,
    outcome_place,
    presence,
    short,
    stub_words,
    title,
)
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.svg_frame import caption_lines
from shadowviz.exporters.svg_legend import legend_lines
from shadowviz.exporters.svg_parts import fitted, ground_of, wrapped
from shadowviz.tokens.inert import printable
from shadowviz_engine.core.derive import Origin

MOST_CHARACTERS: Final = 50_000
"""`maxTextSize` of Mermaid as it is delivered."""
MOST_EDGES: Final = 500
"""Its `maxEdges`."""
COLUMNS: Final = 44
"""Of a line in a box."""
WIDE: Final = 120
"""Of a line of caption and legend."""
MOST_LINES: Final = 24
"""Of the caption."""
_SAFE: Final = frozenset(" ,()[]/+=?-·†▶◉▽↩■…")
"""Characters beside letters and digits that mean nothing to Mermaid, Markdown or HTML within a quoted label."""
_CODES: Final = {"\\": "#92;#8288;"}
"""Mermaid reads a backslash and an n as a line end even where they are numbers: a joiner without width parts them."""
_CLASSES: Final[tuple[tuple[str, Style], ...]] = (
    ("path", PATH),
    ("locked", LOCKED),
    ("tombstone", TOMBSTONE),
    ("nextout", NEXT_OUT),
    ("unknown", UNKNOWN),
    ("more", STUB),
)
Words = Callable[[Box, TreeDiagram], list[str]]


def render(diagram: TreeDiagram, look: Look = LIGHT) -> Drawing:
    """The Mermaid text of a tree, with as much in each box as fits what Mermaid reads."""
    text, edges = "", len(diagram.boxes) + len(diagram.stubs)
    for words in (_full, _brief, _bare):
        text = mermaid_text(diagram, look, words)
        if len(text) <= MOST_CHARACTERS:
            break
    notes = []
    if len(text) > MOST_CHARACTERS or edges > MOST_EDGES:
        notes.append(
            f"Mermaid draws {MOST_CHARACTERS:,} characters and {MOST_EDGES} edges unless a page allows more, and this "
            f"has {len(text):,} and {edges:,}: choose less with --root, --depth, --min-tokens or --collapse"
        )
    return Drawing(text.encode(), notes=tuple(notes))


def mermaid_text(diagram: TreeDiagram, look: Look, words: Words) -> str:
    """The text; the same for the same diagram and look."""
    return "".join(f"{line}\n" for line in _lines(diagram, look, words))


def escaped(text: str) -> str:
    """Text for a quoted label: what could be syntax of Mermaid, Markdown or HTML is written by its number."""
    return "".join(
        mark if mark in _SAFE or mark.isalnum() else _CODES.get(mark) or f"#{ord(mark)};"
        for mark in (text if text.isprintable() else printable(text))
    )


def _lines(diagram: TreeDiagram, look: Look, words: Words) -> Iterator[str]:
    yield '%%{init: {"flowchart": {"wrappingWidth": 900, "nodeSpacing": 16, "rankSpacing": 36}}}%%'
    yield "flowchart TB"
    yield f"  accTitle: {escaped(fitted(diagram.caption.title, WIDE))}"
    yield _caption(diagram)
    # In one column with them, the root would send its edges through caption and legend.
    yield '  subgraph tree[" "]'
    yield "  direction LR"
    shown = {box.node for box in diagram.boxes}
    for box in diagram.boxes:
        yield _box(box, words(box, diagram))
    for box in diagram.boxes:
        if box.node and box.parent in shown and box.parent != box.node:
            yield f"  {name(box.parent)} {'==>' if box.on_path else '---'} {name(box.node)}"
    for index, stub in enumerate(diagram.stubs):
        yield f"  more{index}([{_label([stub_words(stub)])}]):::more"
        yield f"  {name(stub.parent)} -.- more{index}"
    if diagram.request and diagram.boxes:
        yield f"  lookup>{_label(outcome_lines(diagram))}]:::path"
        yield f"  {name(diagram.boxes[outcome_place(diagram)].node)} -.- lookup"
    yield "  end"
    yield _legend(diagram)
    yield "  caption ~~~ tree ~~~ legend"
    yield "  style tree fill:none,stroke:none"
    yield from _looks(look)


def _caption(diagram: TreeDiagram) -> str:
    """What the picture shows, in a box without lines."""
    caption = diagram.caption
    lines = [caption.title, *caption_lines(caption)]
    lines += (
        [f"{diagram.request}: {caption.verdict}" if diagram.request else caption.verdict] if caption.verdict else []
    )
    parts = [part for line in (*lines, *caption.notes[:6]) for part in wrapped(line, WIDE)]
    return f"  caption[{_label(parts[:MOST_LINES])}]:::frame"


def _legend(diagram: TreeDiagram) -> str:
    """What the words in the tree mean."""
    numbers = "rows of each kind: 5 all of them, 3/5 some, 0/5 none, ?/5 not known, - none owned"
    return f"  legend[{_label([numbers, *legend_lines(diagram, WIDE)])}]:::frame"


def _box(box: Box, words: Sequence[str]) -> str:
    if not box.node:
        return f"  {name(0)}(({_label([name(0)])}))"
    classes = [
        ("path", box.on_path),
        ("locked", box.locks > 0),
        ("tombstone", box.tombstone),
        ("nextout", box.next_out),
        ("unknown", any(presence(row) is UNKNOWN for row in box.rows)),
    ]
    # Of two looks the first is drawn; the words say all.
    look = next((f":::{style}" for style, holds in classes if holds), "")
    return f"  {name(box.node)}[{_label(words)}]{look}"


def _label(lines: Sequence[str]) -> str:
    return f'"{"<br>".join(map(escaped, filter(None, lines)))}"'


def _full(box: Box, diagram: TreeDiagram) -> list[str]:
    """Title, first tokens, rows of each kind, and everything that is marked."""
    styles = kind_styles(diagram.kinds)
    rows = [f"{styles[row.kind].word} {cell(row)}{_origin(row.origin, row.owned)}" for row in box.rows]
    halves = [", ".join(rows[at : at + 4]) for at in range(0, len(rows), 4)]
    found = "  ".join(f"{mark.style.glyph} {mark.text}" for mark in marks(box, diagram))
    return [title(box), fitted(f"“{box.label}”", COLUMNS) if box.label else "", *halves, fitted(found, COLUMNS * 2)]


def _brief(box: Box, diagram: TreeDiagram) -> list[str]:
    """Title, first tokens, and what is marked."""
    found = ", ".join(mark.text for mark in marks(box, diagram))
    return [title(box), fitted(f"“{box.label}”", COLUMNS // 2) if box.label else "", fitted(found, COLUMNS)]


def _bare(box: Box, _diagram: TreeDiagram) -> list[str]:
    return [f"{name(box.node)} {short(box.num_tokens)} tok"]


def _origin(origin: Origin, owned: int) -> str:
    return f" {origin}" if origin is not Origin.OBSERVED and owned else ""


def _looks(look: Look) -> Iterator[str]:
    """Colours and outlines of the classes."""
    ground = ground_of(look)
    paint = GROUNDS[ground]
    yield f"  classDef default fill:{paint.background},stroke:{paint.muted},color:{paint.text},text-align:left"
    yield f"  classDef frame fill:none,stroke:none,color:{paint.muted},text-align:left"
    for label, style in _CLASSES:
        colours = style.paint(ground)
        dashes = {"dashed": ",stroke-dasharray:6 3", "dotted": ",stroke-dasharray:2 3"}.get(str(style.line), "")
        width = ",stroke-width:3px" if label in ("path", "locked") else ""
        yield f"  classDef {label} fill:{colours.fill},stroke:{colours.stroke},color:{colours.text}{width}{dashes}"
