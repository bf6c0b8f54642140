"""Two prompts line by line in the terminal: unified, or in two columns."""

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, zip_longest
from typing import TYPE_CHECKING, Final

from shadowviz.cli.show import A_ONLY, B_ONLY, BOLD, OTHER_IDS, PLAIN, columns_of, number, wants_colour, width, wrapped
from shadowviz.replay.counts import counted
from shadowviz.tokens.passages.passage import Fold, Line, Mark, Piece, Row

if TYPE_CHECKING:
    from shadowviz.tokens.report.report import Report, SideReport

NARROWEST: Final = 40
"""Columns below which two prompts do not fit beside each other."""
WIDEST: Final = 200
MAX_CHANGED: Final = 200
"""Changed rows that are shown unless all are asked for."""
MAX_IDS: Final = 12
LINE_END = re.compile(r"(?<!\\)((?:\\\\)*)(?:\\r\\n|\\n|\\r)$")
SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
LEGEND: Final = "[-only in A-] {+only in B+} {%same text, other ids%} [!control token!]"


@dataclass(frozen=True, slots=True)
class Styled:
    """A stretch of what is shown, in one style."""

    text: str
    style: str = ""


def unified_text(report: "Report", parts: Iterable[Row | Fold], *, limit: int | None = MAX_CHANGED) -> str:
    """The verdict, then the lines of A with `-`, those of B with `+`, those of both with neither."""
    return "\n".join(chain(_head(report), _until(parts, limit, _Unified(report))))


def side_text(report: "Report", parts: Iterable[Row | Fold], *, limit: int | None = MAX_CHANGED) -> str:
    """The verdict, then A to the left and B to the right; unified where the terminal is too narrow for that."""
    if width() < NARROWEST:
        return unified_text(report, parts, limit=limit)
    return "\n".join(chain(_head(report), _until(parts, limit, _Columns(report))))


class _Unified:
    """Rows below each other."""

    def __init__(self, report: "Report") -> None:
        self.margin = _digits(report)
        self.columns = max(20, min(width(), WIDEST)) if sys.stdout.isatty() else 0

    def row(self, row: Row) -> Iterator[str]:
        if row.same or _is_retokenized(row):
            yield from self._line(" " if row.same else "%", row.b or row.a, other=True)
        else:
            yield from self._line("-", row.a, other=False)
            yield from self._line("+", row.b, other=True)
        names = _ids(row)
        if names:
            yield from self._wrapped("%", "", [Styled(names, OTHER_IDS)])

    def _line(self, sign: str, line: Line | None, *, other: bool) -> Iterator[str]:
        if line is not None:
            yield from self._wrapped(sign, number(line.token), _styled(line, other=other))

    def _wrapped(self, sign: str, index: str, parts: list[Styled]) -> Iterator[str]:
        room = max(8, self.columns - self.margin - 4) if self.columns else sys.maxsize
        for place, (text, _) in enumerate(_folded(parts, room)):
            yield f"{sign} {(index if not place else '').rjust(self.margin)}  {text}".rstrip()


class _Columns:
    """Rows beside each other."""

    def __init__(self, report: "Report") -> None:
        self.columns = (min(width(), WIDEST) - 3) // 2
        self.margin = _digits(report) + 1
        if self.columns - self.margin < NARROWEST // 2:
            self.margin = 0

    def row(self, row: Row) -> Iterator[str]:
        room = self.columns - self.margin
        left = _folded(_styled(row.a, other=False), room) if row.a else []
        right = _folded(_styled(row.b, other=True), room) if row.b else []
        sign = _sign(row)
        for place, (one, other) in enumerate(zip_longest(left, right, fillvalue=("", 0))):
            text_a = self._index(row.a, place) + one[0] + " " * (room - one[1])
            yield f"{text_a} {sign} {self._index(row.b, place)}{other[0]}".rstrip()
        names = _ids(row)
        if names:
            yield from (f"{' ' * self.margin}{text}" for text, _ in _folded([Styled(names, OTHER_IDS)], 2 * room))

    def _index(self, line: Line | None, place: int) -> str:
        if not self.margin:
            return ""
        return (number(line.token) if line and not place else "").rjust(self.margin - 1) + " "


def _head(report: "Report") -> Iterator[str]:
    yield wrapped(report.verdict)
    yield ""
    yield from (_name(sign, side) for sign, side in (("---", report.a), ("+++", report.b)))
    if not report.equal:
        yield _one_line([Styled(LEGEND)]) if width() >= len(LEGEND) else wrapped(LEGEND)


def _name(sign: str, side: "SideReport") -> str:
    return wrapped(f"{sign} {side.name}  {_writable(side.source)}  {counted(side.num_tokens, 'token')}")


def _until(parts: Iterable[Row | Fold], limit: int | None, layout: _Unified | _Columns) -> Iterator[str]:
    """The rows with their headers, as long as they are wanted; the rest counted."""
    changed, label = 0, None
    for part in parts:
        if isinstance(part, Row) and not part.same:
            changed += 1
        if limit is not None and changed > limit:
            continue
        if isinstance(part, Fold):
            yield f"... {counted(part.lines, 'line')}, {counted(part.tokens, 'token')} equal ..."
            label = None
            continue
        found = _label(part)
        if found != label:
            yield _header(part, found)
            label = found
        yield from layout.row(part)
    if limit is not None and changed > limit:
        yield f"... {counted(changed - limit, 'more changed line')}: --all shows them ..."


def _label(row: Row) -> str:
    return (row.b.label if row.b else "") or (row.a.label if row.a else "")


def _header(row: Row, label: str) -> str:
    tokens = {name: number(line.token) for name, line in (("A", row.a), ("B", row.b)) if line}
    alike = len(set(tokens.values())) == 1 and len(tokens) == 2
    place = f"token {tokens['A']}" if alike else ", ".join(f"token {token} of {name}" for name, token in tokens.items())
    return _one_line([Styled(f"@@ {place}{f' | {_writable(label)}' if label else ''} @@", BOLD)])


def _sign(row: Row) -> str:
    if row.a is None or row.b is None:
        return ">" if row.a is None else "<"
    return " " if row.same else "%" if _is_retokenized(row) else "|"


def _is_retokenized(row: Row) -> bool:
    """Whether nothing differs but the ids."""
    pieces = [piece for line in (row.a, row.b) if line for piece in line.pieces]
    marks = {piece.mark for piece in pieces}
    return (
        row.a is not None
        and row.b is not None
        and marks <= {Mark.SAME, Mark.RETOKENIZED}
        and len(marks) > 0
        and not row.same
    )


def _ids(row: Row) -> str:
    """The ids of what is spelled otherwise."""
    named = []
    for name, line in (("A", row.a), ("B", row.b)):
        ids = [token_id for piece in (line.pieces if line else ()) for token_id in piece.ids]
        more = f" and {number(len(ids) - MAX_IDS)} more" if len(ids) > MAX_IDS else ""
        if ids:
            named.append(f"{name} {' '.join(map(str, ids[:MAX_IDS]))}{more}")
    return f"ids: {', '.join(named)}" if named else ""


def _styled(line: Line, *, other: bool) -> list[Styled]:
    """A line with its marks; a line end only where it differs."""
    parts: list[Styled] = []
    for place, piece in enumerate(line.pieces):
        is_last = place == len(line.pieces) - 1
        parts += _piece(piece, B_ONLY if other else A_ONLY, is_last=is_last, other=other)
    return parts


def _piece(piece: Piece, style: str, *, is_last: bool, other: bool) -> Iterator[Styled]:
    text = piece.text
    if piece.mark is Mark.SAME:
        text = LINE_END.sub(r"\1", text) if is_last else text
        framed = ("", "", "")
    else:
        text = "".join(map(_seen, text))
        framed = ("{+", "+}", style) if other else ("[-", "-]", style)
        if piece.mark is Mark.RETOKENIZED:
            framed = ("{%", "%}", OTHER_IDS)
    if piece.control:
        text = f"[!{text}!]"
    if text:
        yield Styled(_writable(f"{framed[0]}{text}{framed[1]}"), framed[2] or (BOLD if piece.control else ""))


def _seen(character: str) -> str:
    """A character that differs: a blank as a dot, one that would join that before it as its number."""
    if character == " ":
        return "·" if _writable("·") == "·" else "\\x20"
    if unicodedata.category(character) in ("Mn", "Me") or character in SKIN_TONES:
        return character.encode("ascii", "backslashreplace").decode()
    return character


def _writable(text: str) -> str:
    """Text as this terminal's encoding can write it."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _folded(parts: Sequence[Styled], room: int) -> list[tuple[str, int]]:
    """The parts in lines of at most `room` columns, each with the columns it takes; cut at blanks where there are."""
    columns = sum(columns_of(part.text) for part in parts)
    if columns <= room:
        return [(_one_line(parts), columns)]
    cells = [(character, part.style, columns_of(character)) for part in parts for character in part.text]
    lines, start = [], 0
    while start < len(cells):
        stop = _line_stop(cells, start, room)
        line = cells[start:stop]
        styled = [
            Styled("".join(character for character, _, _ in group), style)
            for style, group in groupby(line, key=lambda cell: cell[1])
        ]
        lines.append((_one_line(styled), sum(size for _, _, size in line)))
        start = stop
    return lines


def _line_stop(cells: Sequence[tuple[str, str, int]], start: int, room: int) -> int:
    """Where a line that begins at `start` ends."""
    used, stop, blank = 0, start, start
    while stop < len(cells) and used + cells[stop][2] <= room:
        used += cells[stop][2]
        stop += 1
        if cells[stop - 1][0] in " ·":
            blank = stop
    return max(blank if stop < len(cells) and blank - start > room // 2 else stop, start + 1)


def _one_line(parts: Iterable[Styled]) -> str:
    colour = wants_colour()
    return "".join(
        f"{part.style}{part.text}{PLAIN}" if colour and part.style and part.text else part.text for part in parts
    )


def _digits(report: "Report") -> int:
    return len(number(max(report.a.num_tokens, report.b.num_tokens)))
