"""SVG to PNG and PDF by the typesetter of the package `typst`, which brings its own fonts and needs no browser."""

import re
from html import escape
from typing import Final, Literal

from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InputError

MAX_PIXELS: Final = 64_000_000
"""Of a PNG; four bytes each while it is made."""
MAX_SIDE: Final = 32_000
"""Pixels of a PNG's side."""
MAX_POINTS: Final = 14_400.0
"""Side of a page that every PDF reader opens."""
LEGIBLE: Final = 0.5
"""Scale below which a PNG's text cannot be read."""
POINTS_A_PIXEL: Final = 0.75
_PAGE: Final = (
    b"#set page(width: auto, height: auto, margin: 0pt)\n"
    b'#image(bytes(sys.inputs.svg), format: "svg", width: float(sys.inputs.width) * 1pt)\n'
)


_WIDE_FAMILIES: Final = (
    *(
        "cjk",
        "source han",
        "wenquanyi",
        "droid sans fallback",
        "unifont",
        "noto sans jp",
        "noto sans sc",
        "noto sans kr",
    ),
    *(
        "hiragino",
        "pingfang",
        "yu gothic",
        "ms gothic",
        "simsun",
        "microsoft yahei",
        "malgun gothic",
        "takao",
        "ipagothic",
    ),
)
_FULL_WIDTH: Final = {code: f" {escape(chr(code - 0xFEE0))}" for code in range(0xFF01, 0xFF5F)}
"""Full-width forms as the plain ones in the middle of as much room: models mark turns with them."""


class Typesetter:
    """The installed typesetter.

    Args:
        system_fonts: whether characters that its own fonts lack are looked for in those of this machine.
    """

    def __init__(self, *, system_fonts: bool = True) -> None:
        try:
            import typst
        except ImportError:
            raise InputError(
                "png and pdf need the package typst, which is not installed: pip install typst, or choose svg"
            ) from None
        from importlib.metadata import version

        self._typst = typst
        self._fonts = typst.Fonts(include_system_fonts=system_fonts)
        self.version = f"typst {version('typst')}"

    @property
    def has_wide_fonts(self) -> bool:
        """Whether a font of this machine has East Asian characters; those that come with the package have none."""
        families = " ".join(self._fonts.families()).lower()
        return any(name in families for name in _WIDE_FAMILIES)

    def png(self, svg: bytes, scale: float = 2.0) -> tuple[bytes, float]:
        """The picture as PNG, and the scale it was made at: smaller than asked for where it would grow too large.

        Raises:
            InputError: at the largest size that a PNG may have, its text could not be read.
        """
        width, height = size_of(svg)
        fits = min(scale, MAX_SIDE / max(width, height), (MAX_PIXELS / (width * height)) ** 0.5)
        if fits < LEGIBLE:
            raise InputError(
                f"a png of {width:,.0f} x {height:,.0f} pixels could not be read: choose svg or html, "
                f"or show less with --root, --depth, --min-tokens or --collapse"
            )
        return self._compile(svg, width * POINTS_A_PIXEL, "png", 72 * fits / POINTS_A_PIXEL), fits

    def pdf(self, svg: bytes) -> tuple[bytes, float]:
        """The picture as a PDF of one page, and the scale it was made at: a page has a largest size."""
        width, height = size_of(svg)
        fits = min(1.0, MAX_POINTS / (max(width, height) * POINTS_A_PIXEL))
        return self._compile(svg, width * POINTS_A_PIXEL * fits, "pdf", None), fits

    def _compile(self, svg: bytes, width: float, form: Literal["png", "pdf"], ppi: float | None) -> bytes:
        text = svg.decode()
        if not text.isascii() and not self.has_wide_fonts:
            text = text.translate(_FULL_WIDTH)
        inputs = {"svg": text, "width": f"{width:.4f}"}
        try:
            # A fixed time, so that the same picture gives the same file.
            made = self._typst.Compiler(_PAGE, font_paths=self._fonts, sys_inputs=inputs).compile(
                format=form, ppi=ppi, timestamp=0
            )
        except self._typst.TypstError as error:
            raise InputError(
                f"{form} cannot be made: {self.version} says {shorten(str(error))}; choose svg or html, "
                f"or show less with --root, --depth, --min-tokens or --collapse"
            ) from None
        assert isinstance(made, bytes)
        return made


def size_of(svg: bytes) -> tuple[float, float]:
    """Width and height of a picture, in pixels.

    Raises:
        InputError: it tells none.
    """
    root = svg[: svg.find(b">", svg.find(b"<svg")) + 1]
    sides = []
    for side in (b"width", b"height"):
        found = re.search(rb"\b" + side + rb'="([\d.]+)(pt|px)?"', root)
        if found is None:
            raise InputError(f'the svg tells no {side.decode()}: expected such as width="800"')
        sides.append(float(found[1]) / (POINTS_A_PIXEL if found[2] == b"pt" else 1.0))
    return sides[0], sides[1]
