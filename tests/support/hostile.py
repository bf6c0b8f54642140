"""Texts that try to become markup or code in a picture, and how a picture is read back."""

import re
from xml.etree import ElementTree

from msgspec.structs import replace
from picture_samples import tree

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.tree import TreeDiagram

TEXTS = (
    "<script>alert(1)</script>",
    "</text></svg><script>alert(1)</script>",
    "<b>bold</b><br/><TD><IMG SRC='/etc/passwd'/>",
    'a" b\' c` \\ d\\n \\" \\G \\N \\E \\l',
    "{left|<port> right} | {x}",
    "]]> <![CDATA[ x ]]> <!-- y --> <?pi?> &amp; &#60; &lt; &bogus;",
    '"]; evil [label="x"]; } digraph g {',
    "\\\\\\",
    "\x00\x01\x1b[31m\x7f\x85\u2028\ud800\uffff\ufffe",
    "\u202egnp.exe\u202c\u2066\u200b\ufeff",
    "日本語 \uff1cscript\uff1e \uff06amp\uff1b \uff02",
    "e" + "\u0301" * 300,
    "x" * 1_000_000,
    "'/><use href='http://example.com/x.svg#y'/>",
    "javascript:alert(1)",
)
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "style", "defs", "pattern", "g", "rect", "path", "text", "tspan", "use"}
DRAWN_BY_DOT = {"svg", "title", "g", "polygon", "polyline", "path", "text", "a", "ellipse", "tspan"}


def hostile_tree(num: int = 0) -> TreeDiagram:
    """A tree in which every text is hostile, each text somewhere."""
    diagram = tree(max(num, 2 * len(TEXTS)))
    boxes = tuple(
        replace(
            box,
            label=TEXTS[place % len(TEXTS)],
            namespace=TEXTS[(place + 1) % len(TEXTS)],
            tier=TEXTS[(place + 2) % len(TEXTS)] if place % 3 == 0 else box.tier,
        )
        for place, box in enumerate(diagram.boxes)
    )
    kinds = {kind: f"{TEXTS[place]}{place}" for place, kind in enumerate(diagram.kinds)}
    boxes = tuple(replace(box, rows=tuple(replace(row, kind=kinds[row.kind]) for row in box.rows)) for box in boxes)
    return replace(
        diagram,
        boxes=boxes,
        kinds=tuple(kinds.values()),
        request=TEXTS[6],
        caption=hostile_caption(diagram.caption),
    )


def hostile_caption(caption: Caption) -> Caption:
    """A caption of which every text is hostile."""
    return replace(
        caption,
        title=TEXTS[0],
        source=TEXTS[12],
        geometry=TEXTS[4],
        verdict=TEXTS[5],
        counts=tuple((text, text) for text in TEXTS),
        notes=TEXTS,
    )


def read_svg(data: bytes, elements: set[str]) -> ElementTree.Element:
    """The picture, once it is sure that it is XML, holds nothing but drawing, and loads nothing."""
    root = ElementTree.fromstring(data)
    assert root.tag == f"{SVG}svg"
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in elements, element.tag
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on"), name
            if name.endswith("href"):
                assert value.startswith("#"), value
            assert "javascript" not in value or name.endswith("title")
            assert re.search(r"url\((?!#)", value) is None, value
    style = "".join(element.text or "" for element in root.iter(f"{SVG}style"))
    assert "@" not in style
    assert "alert" not in style
    return root


def texts_of(root: ElementTree.Element) -> list[str]:
    """All texts of a picture, titles included."""
    return ["".join(element.itertext()) for tag in ("text", "title") for element in root.iter(f"{SVG}{tag}")]
