"""Pictures as PNG and PDF: with text on every machine, bounded in size, the same each time."""

import re
import time
import zlib

import pytest
from hostile import hostile_tree
from picture_samples import tree
from png_pixels import read_png

from shadowviz.exporters import pdf, png
from shadowviz.exporters.formats import Drawing, Look
from shadowviz.exporters.typeset import MAX_POINTS, MAX_SIDE, Typesetter, size_of
from shadowviz_engine.core.errors import InputError

OWN = Look(renderer="own")


def svg(width: float, height: float, body: str = "") -> bytes:
    """A picture of a size."""
    root = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    return f'{root}<rect width="100%" height="100%" fill="#ffffff"/>{body}</svg>'.encode()


@pytest.mark.parametrize("family", ["'DejaVu Sans Mono',monospace", "monospace", "No Such Font"])
def test_text_shows_with_the_fonts_that_come_with_the_package(family: str) -> None:
    text = f'<text x="5" y="20" font-family="{family}" font-size="16">n42 tokens</text>'
    _, _, rows = read_png(Typesetter(system_fonts=False).png(svg(120, 30, text), 1.0)[0])
    assert sum(value < 100 for row in rows for value in row) > 100


def test_a_picture_has_the_size_that_was_asked_for() -> None:
    for unit, pixels in (("", 200), ("pt", 267)):
        source = svg(100, 50).replace(b'width="100"', f'width="100{unit}"'.encode(), 1)
        source = source.replace(b'height="50"', f'height="50{unit}"'.encode(), 1)
        data, scale = Typesetter().png(source, 2.0)
        assert (read_png(data)[0], scale) == (pixels, 2.0)


def test_a_large_picture_is_drawn_smaller_and_a_larger_one_refused() -> None:
    data, scale = Typesetter().png(svg(40_000, 20), 2.0)
    assert (read_png(data)[0], scale) == (MAX_SIDE, 0.8)
    with pytest.raises(InputError, match=r"a png of 90,000 x 20 pixels could not be read: choose svg"):
        Typesetter().png(svg(90_000, 20))


def test_a_page_is_never_larger_than_readers_open() -> None:
    made, scale = Typesetter().pdf(svg(90_000, 20))
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)\s*\]", _inflated(made))
    assert box is not None
    assert float(box[1]) <= MAX_POINTS + 1
    assert scale == pytest.approx(MAX_POINTS / 67_500)


@pytest.mark.parametrize("draw", [png.render_tree, pdf.render_tree])
def test_the_same_diagram_gives_the_same_bytes(draw: "object") -> None:
    first = draw(tree(5), OWN)  # type: ignore[operator]
    # Files that tell when they were made differ from second to second.
    time.sleep(1.1)
    second = draw(tree(5), OWN)  # type: ignore[operator]
    assert isinstance(first, Drawing)
    assert first.data == second.data
    assert first.drawn_by.startswith("built-in layout, typst ")
    assert draw(tree(5), Look(renderer="own", dark=True)).data != first.data  # type: ignore[operator]


def test_hostile_texts_give_a_picture_and_no_error() -> None:
    assert pdf.render_tree(hostile_tree(), OWN).data.startswith(b"%PDF-")
    assert b"/JavaScript" not in _inflated(pdf.render_tree(hostile_tree(), OWN).data)


def test_full_width_marks_of_models_are_never_boxes_and_never_markup() -> None:
    setter = Typesetter(system_fonts=False)
    marked, plain = (
        setter.png(svg(300, 30, f'<text x="5" y="20" font-family="monospace">{text}</text>'), 1.0)[0]
        for text in (
            "\uff1cg id=\uff02x\uff02\uff1e\uff06\uff5cUser\uff5c",
            " &lt;g id= &quot;x &quot; &gt; &amp; |User |",
        )
    )
    assert marked == plain


def test_a_picture_without_a_size_is_refused() -> None:
    with pytest.raises(InputError, match="tells no width"):
        size_of(b"<svg>")


def _inflated(data: bytes) -> bytes:
    """A PDF with its streams unpacked."""
    parts = [data]
    for found in re.finditer(rb"stream\r?\n(.*?)endstream", data, re.DOTALL):
        try:
            parts.append(zlib.decompress(found[1]))
        except zlib.error:
            continue
    return b"\n".join(parts)
