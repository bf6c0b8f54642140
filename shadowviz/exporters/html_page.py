"""The frame of every HTML page: what is shown, a policy that lets no other script run, and the data for ours."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.roles import PATH
from shadowviz.diagrams.theme import BLUE, GROUNDS, Ground, Style
from shadowviz.exporters.html_legend import Entry
from shadowviz.exporters.svg_frame import caption_lines
from shadowviz.exporters.svg_parts import patterns
from shadowviz.tokens.inert import shorten

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_VALUE: Final = 2_000
"""Characters of one value that is put in; what is left out is counted."""
MAX_NOTES: Final = 12
PLOTLY: Final = "plotly.js"


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What a page is made of."""

    template: str
    """Its file, without the ending."""
    caption: Caption
    request: str = ""
    values: Mapping[str, Any] = {}
    """For the template."""
    data: Mapping[str, Any] = {}
    """For the script; every text in it must be harmless, see `html_text.Pool`."""
    script: str
    """Its file, without the ending."""
    plot: bool = True
    """Whether Plotly draws in it."""
    styles: tuple[Style, ...] = ()
    """Whose patterns the legend uses."""


def rendered(page: Page) -> bytes:
    """The page as one file, the same bytes for the same page."""
    scripts = [_plotly()] if page.plot else []
    scripts.append(f'(function () {{\n"use strict";\n{_file("common.js")}{_file(page.script + ".js")}}})();\n')
    caption = page.caption
    verdict = caption.verdict and (f"{page.request}: {caption.verdict}" if page.request else caption.verdict)
    values = {
        **page.values,
        "caption": caption,
        "verdict": verdict,
        "lines": caption_lines(caption),
        "notes": caption.notes[:MAX_NOTES],
        "request": page.request,
        "plot": page.plot,
        "policy": _policy(scripts),
        "style": _markup(f"{_variables()}\n{_file('page.css')}"),
        "scripts": [_markup(script) for script in scripts],
        "data": _markup(as_data({**page.data, "grounds": _grounds()})),
        "patterns": _markup("\n".join(patterns(page.styles, ground) for ground in Ground)),
    }
    return _environment().get_template(page.template + ".html.jinja").render(values).encode()


def as_data(values: object) -> str:
    """JSON that ends no script element, whatever its texts say, and is ASCII."""
    text = json.dumps(values, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def swatches(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Entries of a legend for the template; the drawings are the program's own."""
    return [{"light": _markup(entry.light), "dark": _markup(entry.dark), "text": entry.text} for entry in entries]


def drawn_by() -> str:
    """Who draws."""
    found = _plotly().split("\n", 2)[1].strip(" *")
    return found if found.startswith(PLOTLY) else PLOTLY


def _policy(scripts: Iterable[str]) -> str:
    """Only these scripts, no network, no frame, no form. Plotly sets styles and puts pixels in data URLs."""
    hashes = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _grounds() -> dict[str, dict[str, str]]:
    return {
        ground.value: {**msgspec.structs.asdict(paint), "path": PATH.paint(ground).stroke}
        for ground, paint in GROUNDS.items()
    }


def _variables() -> str:
    """The colours of the theme for the style sheet, for both grounds."""

    def block(ground: Ground) -> str:
        paint, accent = GROUNDS[ground], BLUE.light if ground is Ground.LIGHT else BLUE.dark
        soft = "#f4f6f8" if ground is Ground.LIGHT else "#1b2027"
        return (
            f":root {{ --back: {paint.background}; --ink: {paint.text}; --dim: {paint.muted}; --line: {paint.line}; "
            f"--soft: {soft}; --accent: {accent.stroke}; }}"
        )

    return f"{block(Ground.LIGHT)}\n@media (prefers-color-scheme: dark) {{ {block(Ground.DARK)} }}"


@lru_cache(maxsize=1)
def _plotly() -> str:
    # Read as a file: the package itself takes a second to load and is not needed.
    return files("plotly").joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8")


@lru_cache(maxsize=32)
def _file(name: str) -> str:
    return files("shadowviz").joinpath("data", "html", name).read_text(encoding="utf-8")


def _markup(text: str) -> object:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 (files and drawings of the program itself, and JSON without <, > and &)


def _shown(value: object) -> object:
    """A value as the page may hold it: printable and of bounded length; markup of our own stays."""
    from markupsafe import Markup

    return value if isinstance(value, Markup) else shorten(str(value), MAX_VALUE)


@lru_cache(maxsize=1)
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_file),
    )
    environment.filters["number"] = lambda value: f"{value:,}"
    return environment
