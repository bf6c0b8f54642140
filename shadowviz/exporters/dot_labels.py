"""Labels of dot text: tables with colours for small trees, plain records for large ones; no text can become markup."""

from collections.abc import Iterable, Iterator

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import ABSENT, ELSEWHERE, ORIGINS, PARTIAL, UNKNOWN
from shadowviz.diagrams.theme import GROUNDS, Ground, Line, Style
from shadowviz.diagrams.tree import Box, KindRows, TreeDiagram
from shadowviz.exporters.box_words import cell, marks, presence, title
from shadowviz.exporters.svg_frame import caption_lines
from shadowviz.exporters.svg_legend import legend_lines
from shadowviz.exporters.svg_parts import fitted, text_of, wrapped
from shadowviz.tokens.inert import printable
from shadowviz_engine.core.derive import Origin

IN_A_ROW = 4
COLUMNS = 56
"""Of a line in a box."""
WIDE = 130
"""Columns of captions and legends."""
_SPECIAL = {ord(mark): f"&#{ord(mark)};" for mark in "\"'<>{}|&"}
# A backslash written by its number would still begin an escape: numbers are read before escapes are.
_IN_LABEL = {**_SPECIAL, ord("\\"): "\\\\"}
# Of a tooltip escapes are read twice: names of things first, line ends later.
_IN_TIP = {**_SPECIAL, ord("\\"): "\\\\" * 2}


def plain(text: str) -> str:
    """Text for a quoted label or a record: what dot, records or XML would read as theirs is written in their way."""
    return _shown(text).translate(_IN_LABEL)


def plain_tip(text: str) -> str:
    """Text for a quoted tooltip."""
    return _shown(text).translate(_IN_TIP)


def html_text(text: str) -> str:
    """Text for a label of markup, where backslashes begin names of things too."""
    return text_of(text).replace("\\", "\\\\")


def _shown(text: str) -> str:
    return text if text.isprintable() else printable(text)


class Labels:
    """Labels of the boxes of one diagram."""

    def __init__(self, diagram: TreeDiagram, ground: Ground, *, is_table: bool) -> None:
        self.styles = kind_styles(diagram.kinds)
        self.is_table = is_table
        self._diagram, self._ground = diagram, ground

    def label(self, box: Box) -> str:
        """The label of one box."""
        return f"<{''.join(self._table(box))}>" if self.is_table else self._record(box)

    def _record(self, box: Box) -> str:
        cells = [f"{self.styles[row.kind].word} {cell(row)}{_origin(row)}" for row in box.rows]
        rows = ["|".join(map(plain, cells[start : start + IN_A_ROW])) for start in range(0, len(cells), IN_A_ROW)]
        # In a graph from left to right the fields of a record stand below each other, and those in braces beside.
        lines = [plain(title(box)), plain(fitted(box.label, COLUMNS)), *(f"{{{row}}}" for row in rows)]
        return "|".join(filter(None, [*lines, plain(self._marks(box))]))

    def _marks(self, box: Box) -> str:
        return fitted("  ".join(f"{mark.style.glyph} {mark.text}" for mark in marks(box, self._diagram)), COLUMNS)

    def _table(self, box: Box) -> Iterator[str]:
        muted = GROUNDS[self._ground].muted
        yield '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="1" CELLPADDING="2">'
        yield _line(f"<B>{html_text(fitted(title(box), COLUMNS))}</B>")
        if box.label:
            yield _line(f'<FONT COLOR="{muted}">{html_text(fitted(box.label, COLUMNS))}</FONT>')
        for start in range(0, len(box.rows), IN_A_ROW):
            yield f"<TR>{''.join(map(self._cell, box.rows[start : start + IN_A_ROW]))}</TR>"
        found = self._marks(box)
        if found:
            yield _line(html_text(found))
        yield "</TABLE>"

    def _cell(self, row: KindRows) -> str:
        there, style = presence(row), self.styles[row.kind]
        words = f"{style.word} {cell(row)}"
        if there is None:
            return f'<TD ALIGN="LEFT"><FONT COLOR="{GROUNDS[self._ground].muted}">{html_text(words)}</FONT></TD>'
        line, looks = ORIGINS[row.origin].line, style
        if there is UNKNOWN:
            line, looks = UNKNOWN.line, UNKNOWN
        if there is ABSENT:
            line = ABSENT.line
        paint = looks.paint(self._ground)
        ground = GROUNDS[self._ground].background if there in (ABSENT, ELSEWHERE, UNKNOWN, PARTIAL) else paint.fill
        glyph = f"{PARTIAL.glyph} " if there is PARTIAL else ""
        text = html_text(f"{glyph}{words}{_origin(row)}")
        text = f"<I>{text}</I>" if row.origin is Origin.DERIVED else text
        outline = f' STYLE="{line}"' if line in (Line.DASHED, Line.DOTTED) else ""
        return f'<TD BORDER="1" ALIGN="LEFT" COLOR="{paint.stroke}" BGCOLOR="{ground}"{outline}>{text}</TD>'


def graph_label(diagram: TreeDiagram, ground: Ground) -> str:
    """Title, source, event, counts, verdict and notes, and below them what everything in the picture means."""
    caption, muted = diagram.caption, GROUNDS[ground].muted
    lines = [f'<FONT POINT-SIZE="15"><B>{html_text(fitted(caption.title, WIDE))}</B></FONT>']
    lines += [f'<FONT COLOR="{muted}">{html_text(part)}</FONT>' for part in _wrapped(caption_lines(caption))]
    if caption.verdict:
        verdict = f"{diagram.request}: {caption.verdict}" if diagram.request else caption.verdict
        lines += [f"<B>{html_text(part)}</B>" for part in wrapped(verdict, WIDE)]
    lines += [f'<FONT COLOR="{muted}"><I>{html_text(part)}</I></FONT>' for part in _wrapped(caption.notes[:12])]
    kinds = "".join(_swatch(style, ground) for style in kind_styles(diagram.kinds).values())
    lines += [f'<TABLE BORDER="0" CELLSPACING="4"><TR>{kinds}</TR></TABLE>'] if kinds else []
    lines += [
        f'<FONT POINT-SIZE="9" COLOR="{muted}">{html_text(part)}</FONT>'
        for part in legend_lines(diagram, WIDE + 14)
        if part
    ]
    rows = "".join(f'<TR><TD ALIGN="LEFT">{line}</TD></TR>' for line in lines)
    return f'<<TABLE BORDER="0" CELLPADDING="1" CELLSPACING="0">{rows}</TABLE>>'


def _swatch(style: Style, ground: Ground) -> str:
    paint = style.paint(ground)
    return f'<TD BORDER="1" COLOR="{paint.stroke}" BGCOLOR="{paint.fill}">{html_text(style.word)}</TD>'


def _wrapped(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from wrapped(line, WIDE)


def _line(text: str) -> str:
    return f'<TR><TD ALIGN="LEFT" COLSPAN="{IN_A_ROW}">{text}</TD></TR>'


def _origin(row: KindRows) -> str:
    return " assumed" if row.origin is Origin.ASSUMED and row.owned else ""
