"""A comparison as one HTML page that needs no network and no script."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from shadowviz.replay.counts import counted
from shadowviz.tokens.align.token_diff import TokenDiff
from shadowviz.tokens.inert import inert, shorten
from shadowviz.tokens.inputs.side import is_readable
from shadowviz.tokens.passages.lay_out import passages
from shadowviz.tokens.passages.passage import Fold, Line, Row
from shadowviz.tokens.report.report import Cost, Report
from shadowviz.tokens.side import Side

if TYPE_CHECKING:
    from jinja2 import Template

    from shadowviz.tokens.report.many import ManyReport
    from shadowviz.tokens.report.turns import TurnsReport

MAX_VALUE: Final = 2000
"""Characters of one value that is put in; what is left out is counted."""
MAX_SIZE: Final = 2_000_000
"""Bytes of the two prompts in a page."""
MARKUP: Final = 60
"""Bytes of markup around a piece or a line, about."""
CONTEXT: Final = 40
"""Equal lines around a difference that are in the page."""
NEAR: Final = 3
"""Of these, the lines that are open."""
LONG: Final = 100_000
"""Tokens of a prompt from which on only near lines are in the page: they are many, and others fill it."""
MAX_ROWS: Final = 500
"""Rows of a table of pairs, turns or causes."""
MAX_NOTES: Final = 100


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that follow each other, open or folded; or lines that are not in the page."""

    rows: tuple[Row, ...] = ()
    folded: bool = False
    hidden: Fold | None = None


@dataclass(frozen=True, slots=True)
class View:
    """The two prompts side by side, as much of them as the page holds."""

    blocks: tuple[Block, ...]
    left_out: int
    """Lines behind the end of what is shown."""
    left_out_differing: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table, its numbers as text; `numbers` are the columns that hold them."""

    title: str
    headers: tuple[str, ...]
    numbers: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int


def pair_page(report: Report, a: Side, b: Side, diff: TokenDiff) -> str:
    """The page of two prompts; the same bytes for the same input."""
    context = NEAR if max(len(a.ids), len(b.ids)) >= LONG else CONTEXT
    view = view_of(passages(a, b, diff, context)) if is_readable(a) and is_readable(b) else None
    return _page(
        report.verdict,
        [*report.notes, *(f"{side.name}: {note}" for side in (report.a, report.b) for note in side.notes)],
        pair=True,
        report=report,
        costs=list(_costs(report.cost)),
        view=view,
        max_causes=MAX_ROWS,
    )


def _costs(cost: Cost) -> Iterator[tuple[str, int | None, int]]:
    """What is common and reused: now, and after each of the changes."""
    yield "now", cost.common, cost.reused
    yield "mended", cost.mended, cost.reused_if_mended
    if cost.reused_if_moved is not None:
        yield "moved to end", cost.moved, cost.reused_if_moved
    if cost.reused_if_all_mended > cost.reused_if_mended:
        yield "all mended", None, cost.reused_if_all_mended


def turns_page(report: "TurnsReport") -> str:
    """The page of the turns of one conversation."""
    breaks = [turn for turn in report.turns if turn.breaks]
    if breaks:
        verdict = (
            f"{report.source}: the prefix breaks between turn {breaks[0].turn:,} and turn {breaks[0].turn + 1:,}, at "
            f"token {breaks[0].common:,} of {breaks[0].stored:,} stored: {breaks[0].cause}. "
            f"{counted(report.lost, 'token')} lost in {len(breaks):,} of {counted(len(report.turns), 'turn')}."
        )
    else:
        verdict = f"{report.source}: every next request begins with everything that was stored: nothing is lost."
    rows = [
        (
            f"{turn.turn:,} to {turn.turn + 1:,}",
            *_figures(turn.stored, turn.next_prompt, turn.common, turn.lost, turn.reused, turn.reused_if_kept),
            *(turn.cause, turn.stored_segment, turn.next_segment),
        )
        for turn in report.turns
    ]
    headers = ("turn", "stored", "next", "common", "lost", "reused", "if kept", "cause", "stored is", "sent is")
    told = dict.fromkeys((turn.cause, turn.detail, turn.advice) for turn in breaks)
    tables = [
        *([_table("What to change", ("cause", "what", "change"), (), list(told))] if told else []),
        _table(f"Turns ({report.geometry}, page {report.page:,})", headers, tuple(range(7)), rows),
    ]
    return _page(verdict, report.notes, tables)


def many_page(report: "ManyReport") -> str:
    """The page of many prompts, those that lost most first."""
    verdict = (
        f"{counted(report.requests, 'prompt')}, {counted(report.prompt_tokens, 'token')}, each after those before it: "
        f"{report.reused:,} reused, {report.lost:,} lost to differences."
    )
    causes = [
        (cause.cause, *_figures(cause.requests, cause.lost), cause.example, cause.example_earlier, cause.advice)
        for cause in report.causes
    ]
    pairs = [
        (
            *(pair.request, pair.earlier),
            *_figures(pair.num_prompt, pair.common, pair.reused, pair.lost),
            *(pair.cause, pair.segment, pair.detail),
        )
        for pair in sorted(report.pairs, key=lambda pair: -pair.lost)
    ]
    headers = ("prompt", "after", "tokens", "common", "reused", "lost", "cause", "in", "what")
    tables = [
        _table("Causes", ("cause", "prompts", "lost", "worst example", "after", "what to change"), (1, 2), causes),
        _table(f"Prompts ({report.geometry}, page {report.page:,})", headers, (2, 3, 4, 5), pairs),
    ]
    return _page(verdict, report.notes, tables)


def view_of(parts: Iterable[Row | Fold]) -> View:
    """As much of two prompts as a page holds, from their beginning on; what is left out is counted."""
    kept: list[Row | Fold] = []
    room = MAX_SIZE
    left_out = differing = 0
    for part in parts:
        if room > 0:
            room -= _size(part)
        if room > 0:
            kept.append(part)
        elif isinstance(part, Fold):
            left_out += part.lines
        else:
            left_out += 1
            differing += not part.same
    return View(tuple(_blocks(kept)), left_out, differing)


def _size(part: Row | Fold) -> int:
    if isinstance(part, Fold):
        return MARKUP
    texts = [text for line in (part.a, part.b) if line for text in (line.label, *(piece.text for piece in line.pieces))]
    return sum(MARKUP + len(escape(text[:MAX_VALUE]).encode(errors="replace")) for text in texts)


def _blocks(parts: Sequence[Row | Fold]) -> Iterator[Block]:
    """Rows near a difference open, other equal ones folded."""
    changed = [place for place, part in enumerate(parts) if isinstance(part, Row) and not part.same]
    near = {place for at in changed for place in range(at - NEAR, at + NEAR + 1)}
    rows: list[Row] = []
    folded = False
    labels = _Labels()
    for place, part in enumerate(parts):
        if rows and (isinstance(part, Fold) or folded != (place not in near)):
            yield Block(tuple(rows), folded)
            rows = []
        if isinstance(part, Fold):
            yield Block(hidden=part)
        else:
            folded = place not in near
            rows.append(labels.once(part))
    if rows:
        yield Block(tuple(rows), folded)


class _Labels:
    """Leaves a label only on the first of the lines in a row that have it."""

    def __init__(self) -> None:
        self._last = ["", ""]

    def once(self, row: Row) -> Row:
        """The row, with the labels that differ from those above."""
        return Row(self._line(row.a, 0), self._line(row.b, 1))

    def _line(self, line: Line | None, column: int) -> Line | None:
        if line is None:
            return None
        label = "" if line.label == self._last[column] else line.label
        self._last[column] = line.label
        return Line(line.token, label, line.pieces)


def _figures(*values: int) -> tuple[str, ...]:
    return tuple(map(number, values))


def _table(title: str, headers: tuple[str, ...], numbers: tuple[int, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    return Table(title, headers, numbers, tuple(rows[:MAX_ROWS]), max(0, len(rows) - MAX_ROWS))


def _page(verdict: str, notes: Sequence[str], tables: Sequence[Table] = (), **values: Any) -> str:
    values = {"pair": False, **values, "verdict": verdict, "tables": tables, "max_notes": MAX_NOTES}
    return _template().render(values, notes=list(dict.fromkeys(notes)))


@lru_cache(maxsize=1)
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=shown, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(number=number, counted=counted, percent=percent, inert=inert)
    source = files("shadowviz").joinpath("data", "diff.html.jinja").read_text(encoding="utf-8")
    return environment.from_string(source)


def shown(value: object) -> object:
    """A value as the page may hold it: printable and of bounded length; markup of the template itself stays."""
    from markupsafe import Markup

    return value if isinstance(value, Markup) else shorten(str(value), MAX_VALUE)


def number(value: int) -> str:
    """A count with thousands marked."""
    return f"{value:,}"


def percent(part: int, whole: int) -> str:
    """A share."""
    return f"{part / whole:.1%}" if whole else ""
