"""Two compared prompts: the report as JSON or as a page, and both line by line as text."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from shadowviz.tokens.inputs.prompt import Prompt
from shadowviz.tui.exporting import Content, Exportable, Make
from shadowviz.tui.models.comparison import Laid, laid_out
from shadowviz.tui.widgets.diff_lines import diff_lines, report_paragraphs
from shadowviz.tui.widgets.look import Look
from shadowviz_engine.core.geometry import Geometry

Write = Callable[[Laid], Iterable[bytes]]


def comparison_of(a: Prompt, b: Prompt, geometry: Geometry, look: Look) -> Exportable:
    """What differs between two prompts, and why."""

    def maker(write: Write) -> Make:
        def make(_log: Path) -> Content:
            laid = laid_out(a, b, geometry)
            return Content(write(laid), laid.report.verdict)

        return make

    def text(laid: Laid) -> Iterable[bytes]:
        return _text(laid, look)

    makers = {".html": maker(_page), ".htm": maker(_page), ".json": maker(_json), ".txt": maker(text)}
    return Exportable("the comparison", makers, "comparison.html")


def _page(laid: Laid) -> Iterable[bytes]:
    from shadowviz.tokens.report.page import pair_page

    return (pair_page(laid.report, laid.a, laid.b, laid.diff).encode(),)


def _json(laid: Laid) -> Iterable[bytes]:
    return (msgspec.json.format(msgspec.json.encode(laid.report), indent=2), b"\n")


def _text(laid: Laid, look: Look) -> Iterator[bytes]:
    for part in report_paragraphs(laid.report, look):
        yield f"{look.shown(part.lead + part.text)}\n".encode()
    yield b"\n"
    for line in diff_lines(laid.compared(), look):
        yield f"{line.text.rstrip()}\n".encode()
