"""The terminal view of a comparison: the verdict, both lines with the difference marked, the cost, what to change."""

import sys
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shadowviz.cli.show import PLAIN_WIDTH, beginning, columns_of, number, strong, table, width, wrapped
from shadowviz.replay.counts import counted
from shadowviz.tokens.inert import inert, printable

if TYPE_CHECKING:
    from shadowviz.tokens.report.report import Alignment, Cost, Excerpt, OpCount, Report, SideReport

CUT = "..."
WIDEST = 120
"""Columns that an excerpt fills at most."""
NARROWEST = 40
NUMBERS = 44
"""Columns of the figures of a side, for ten million tokens."""
SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
MAX_NAMED = 4
"""Characters of a differing stretch that are named."""
MAX_OTHERS = 6
"""Causes behind the leading one that are listed."""
SHORT_NAMES = {"\n": "LINE FEED", "\r": "CARRIAGE RETURN", "\t": "TAB", "\x00": "NULL", "\x1b": "ESCAPE"}
"""Characters that Unicode gives no name."""


def report_text(report: "Report") -> str:
    """The whole answer, as blocks with an empty line between."""
    blocks = [
        _verdict(report),
        _sides(report),
        *([_excerpts(report)] if report.excerpt_a and report.excerpt_b else []),
        *_causes(report),
        *_figures(report),
        *_notes(report),
    ]
    return "\n\n".join(blocks)


def _verdict(report: "Report") -> str:
    text = wrapped(report.verdict)
    label = next((cause.label for cause in report.causes if cause.breaks), "")
    return text.replace(f"{label}.", f"{strong(label)}.", 1) if label else strong(text)


def _sides(report: "Report") -> str:
    rows = [_side_row(side) for side in (report.a, report.b)]
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        blanks = [" " * (size - columns_of(cell)) for size, cell in zip(widths, row, strict=True)]
        cells = [blank + cell if cell[:1].isdigit() else cell + blank for blank, cell in zip(blanks, row, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _side_row(side: "SideReport") -> list[str]:
    room = max(8, (min(width(), WIDEST) - NUMBERS) // 2)
    source, tokenizer = (_end_of(printable(name), room) for name in (side.source, side.tokenizer))
    shown = [side.name, source, counted(side.num_tokens, "token")]
    if width() >= NUMBERS + 16:
        shown.append(counted(side.num_bytes, "byte") if side.readable else "")
    return [*shown, tokenizer]


def _end_of(text: str, columns: int) -> str:
    """A name of at most `columns` columns, its end kept, which tells paths apart."""
    return text if columns_of(text) <= columns else CUT + beginning(text[::-1], columns - len(CUT))[::-1]


def _excerpts(report: "Report") -> str:
    shown = [(report.a.name, report.excerpt_a), (report.b.name, report.excerpt_b)]
    labels = [f"{name} {number(cut.place.token)}" if cut else name for name, cut in shown]
    size = max(map(len, labels)) + 2
    lines: list[str] = []
    for label, (_, cut) in zip(labels, shown, strict=True):
        if cut is not None:
            lines += _excerpt(cut, label.ljust(size))
    return "\n".join(lines)


def _excerpt(cut: "Excerpt", label: str) -> Iterator[str]:
    columns = max(NARROWEST, min(width(), WIDEST)) - len(label)
    indent = " " * len(label)
    if cut.place.line:
        before = _last(cut.before, columns // 2)
        differing = _first(cut.differing, max(8, columns // 3), marks=True)
        after = _first(cut.after, columns - columns_of(before) - columns_of(differing))
        yield f"{label}{before}{strong(differing) if differing else ''}{after}"
        yield indent + " " * columns_of(before) + "^" * max(1, columns_of(differing))
        names = _names(cut)
        if names:
            yield wrapped(names, indent)
        yield wrapped(_tokens(cut), indent)
    else:
        yield wrapped(_tokens(cut), label)


def _last(text: str, columns: int) -> str:
    """As much of the end of a text as fits, safe to show."""
    return _first_of([_safe(character) for character in reversed(text)], columns, reverse=True)


def _first(text: str, columns: int, marks: bool = False) -> str:
    """As much of a text as fits, safe to show; with `marks` also those that join the character before."""
    return _first_of([_shown(character) if marks else _safe(character) for character in text], columns, reverse=False)


def _first_of(parts: Sequence[str], columns: int, *, reverse: bool) -> str:
    used, kept = 0, 0
    for part in parts:
        used += columns_of(part)
        if used > columns:
            break
        kept += 1
    cut = kept < len(parts)
    if cut:
        room = columns - len(CUT)
        while kept and sum(map(columns_of, parts[:kept])) > room:
            kept -= 1
    chosen = [*parts[:kept], *([CUT] if cut else [])]
    return "".join(reversed(chosen) if reverse else chosen)


def _shown(character: str) -> str:
    """A character; one that would join that before it as its number."""
    joins = unicodedata.category(character) in ("Mn", "Me") or character in SKIN_TONES
    return _escaped(character) if joins else _safe(character)


def _escaped(character: str) -> str:
    return character.encode("ascii", "backslashreplace").decode()


def _safe(character: str) -> str:
    """A character as this terminal may be given it."""
    encoding = sys.stdout.encoding or "utf-8"
    return inert(character).encode(encoding, "backslashreplace").decode(encoding)


def _marked(text: str) -> str:
    """Text that is safe to show, with its marks as their numbers."""
    return "".join(_shown(character) if ord(character) > 0x7F else character for character in text)


def _names(cut: "Excerpt") -> str:
    """The names of a few characters of which one does not tell what it is."""
    plain = all(" " < character <= "~" or character in "\n\r\t" for character in cut.differing)
    if plain or not 0 < cut.num_characters <= MAX_NAMED:
        return ""
    return ", ".join(f"U+{ord(character):04X} {_name(character)}".rstrip() for character in cut.differing)


def _name(character: str) -> str:
    return str(SHORT_NAMES.get(character) or unicodedata.name(character, ""))


def _tokens(cut: "Excerpt") -> str:
    if not cut.num_tokens:
        return "no token"
    parts = [
        f"{token.id}{' control' if token.control else ''} '{_marked(token.text)}'".removesuffix(" ''")
        for token in cut.tokens
    ]
    more = cut.num_tokens - len(cut.tokens)
    return f"{'token' if cut.num_tokens == 1 else 'tokens'} " + "  ".join(
        [*parts, *([f"and {number(more)} more"] if more > 0 else [])]
    )


def _causes(report: "Report") -> Iterator[str]:
    if not report.causes:
        return
    leading, others = report.causes[0], report.causes[1:]
    lines = [wrapped(f"{leading.label}: {leading.detail}")]
    if report.advice:
        lines.append(wrapped(f"what to change: {report.advice}"))
    for cause in others[:MAX_OTHERS]:
        where = f" in {cause.segment}" if cause.segment else ""
        lines.append(wrapped(f"also {cause.label} at token {number(cause.b.start)} of B{where}: {cause.detail}"))
    if len(others) > MAX_OTHERS:
        lines.append(f"and {counted(len(others) - MAX_OTHERS, 'more cause')}")
    yield "\n".join(lines)


def _figures(report: "Report") -> Iterator[str]:
    """Cost and alignment in one block, so that an answer fits a screen of 24 lines."""
    lines = [] if report.same else [_cost(report.cost)]
    if not report.equal:
        lines.append(_alignment(report.alignment))
    if lines:
        yield "\n".join(lines)


def _cost(cost: "Cost") -> str:
    rows = [
        ["now", number(cost.common), number(cost.reused), number(cost.num_prompt - cost.reused)],
        ["mended", number(cost.mended), number(cost.reused_if_mended), number(cost.num_prompt - cost.reused_if_mended)],
    ]
    if cost.moved is not None and cost.reused_if_moved is not None:
        rest = cost.num_prompt - cost.reused_if_moved
        rows.append(["moved to end", number(cost.moved), number(cost.reused_if_moved), number(rest)])
    if cost.reused_if_all_mended > cost.reused_if_mended:
        rest = cost.num_prompt - cost.reused_if_all_mended
        rows.append(["all mended", "", number(cost.reused_if_all_mended), number(rest)])
    label = f"{cost.geometry}, page {number(cost.page)}"
    lines = [table([label, "common", "reused", "computed"], rows)]
    if width() < PLAIN_WIDTH:
        lines = [wrapped(label), table(["", "common", "reused", "computed"], rows)]
    lines.append(wrapped(_origin(cost)))
    if cost.rows:
        kinds = ", ".join(f"{number(kind.rows)} {kind.kind}" for kind in cost.rows)
        lines.append(wrapped(f"rows computed anew in each layer: {kinds}"))
    return "\n".join(lines)


def _origin(cost: "Cost") -> str:
    """Whether the figures are measured or estimated."""
    if not cost.proven:
        return "mended: an estimate from the alignment, not measured"
    return f"mended, measured: {cost.proof}"


def _alignment(alignment: "Alignment") -> str:
    counts = sorted(alignment.counts, key=lambda count: -max(count.a, count.b))
    lines = [wrapped("alignment: " + "; ".join(map(_count, counts)))]
    room = max(NARROWEST, width()) - 2
    lines += [f"[{alignment.strip[start : start + room]}]" for start in range(0, len(alignment.strip), room)]
    return "\n".join(lines)


def _count(count: "OpCount") -> str:
    match str(count.op):
        case "equal":
            text = f"= {number(count.a)} equal"
        case "insert":
            text = f"+ {number(count.b)} inserted"
        case "delete":
            text = f"- {number(count.a)} deleted"
        case "replace":
            text = f"~ {number(count.a)} replaced by {number(count.b)}"
        case _:
            text = f"% {number(count.a)} as {number(count.b)} other ids"
    return f"{text} in {counted(count.runs, 'run')}"


def _notes(report: "Report") -> Iterator[str]:
    notes = [*report.notes, *(note for side in (report.a, report.b) for note in side.notes)]
    if notes:
        yield "\n".join(wrapped(note, "note: ") for note in dict.fromkeys(notes))
