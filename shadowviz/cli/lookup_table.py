"""The table of lookups that `run` prints, and the lines under it."""

import sys
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from shadowviz.cli.show import beginning, columns_of, number, shortened, strong, table, width, wrapped
from shadowviz.replay.counts import counted
from shadowviz.replay.explain import Explanation
from shadowviz.replay.summary import Summary
from shadowviz.tokens.inert import printable
from shadowviz_engine.core.events import Event, RequestAborted, RequestFinished
from shadowviz_engine.core.verdict import Finding, Verdict

HEADERS = ("request", "common", "matched", "usable", "reused", "computed", "ttft ms", "tok/s", "verdict")
LEAST_NAME = 8
"""Columns that a request's name always has."""
LEAST_DETAIL = 3
"""Characters of a detail that are worth showing."""
OFF = Finding(Verdict.NOT_STORED, "", "off").label
CACHE_IS_OFF = "the cache is off (--no-cache): nothing can be reused"
NUM_TIMES = 2
"""Columns before the verdict that give way on a narrow terminal."""


class LookupRow(msgspec.Struct, frozen=True):
    """One lookup and what became of its request; lengths in tokens."""

    request: str
    seq: int
    num_prompt: int
    common: int
    matched: int
    usable: int
    reused: int
    computed: int
    verdict: str
    detail: str
    gain: int
    """Tokens that lifting the leading rule alone would have saved."""
    state: str
    """length, stop, or why the request was aborted; empty = the record ends before that."""
    ttft_ms: float | None
    decode_tokens_per_s: float | None
    num_output: int

    @property
    def label(self) -> str:
        """Verdict with its detail."""
        return f"{self.verdict}({self.detail})" if self.detail else self.verdict


def lookup_rows(events: Iterable[Event], explanations: Iterable[Explanation]) -> list[LookupRow]:
    """One row a lookup, in order; times stand with the last lookup of a request."""
    explained = list(explanations)
    last = {explanation.request: explanation.lookup.seq for explanation in explained}
    ends = {event.request: event for event in events if isinstance(event, (RequestFinished, RequestAborted))}
    return [
        _row(
            explanation, ends.get(explanation.request) if last[explanation.request] == explanation.lookup.seq else None
        )
        for explanation in explained
    ]


def _row(explanation: Explanation, end: RequestFinished | RequestAborted | None) -> LookupRow:
    lookup, verdict = explanation.lookup, explanation.verdict
    ttft: float | None = None
    rate: float | None = None
    num_output = 0
    if isinstance(end, RequestFinished):
        ttft, num_output = end.ttft_ns / 1e6, len(end.tokens) // 4
        rate = (num_output - 1) / (end.decode_ns / 1e9) if num_output > 1 and end.decode_ns else None
    return LookupRow(
        explanation.request,
        lookup.seq,
        lookup.num_prompt,
        lookup.common,
        lookup.matched,
        lookup.usable,
        lookup.reused,
        lookup.num_prompt - lookup.reused,
        str(verdict.verdict),
        verdict.detail,
        verdict.gain,
        end.reason if end else "",
        ttft,
        rate,
        num_output,
    )


def report(rows: Sequence[LookupRow], summary: Summary) -> str:
    """The table with the lines under it, or that there is nothing to show."""
    return f"{lookup_table(rows)}\n\n{summary_lines(summary)}" if rows else "no lookups"


def lookup_table(rows: Sequence[LookupRow]) -> str:
    """The rows as text; on a narrow terminal times give way first, then names and details of verdicts are cut."""
    columns = width() if sys.stdout.isatty() else sys.maxsize
    cells = [_cells(row) for row in rows]
    names = [printable(row.request) for row in rows]
    headers, cells = next(
        (shown for shown in _ways(cells) if _used(*shown, names) <= columns),
        list(_ways(cells))[-1],
    )
    numbers = [line[:-1] for line in cells]
    widths = [max(map(len, column)) for column in zip(headers[1:-1], *numbers, strict=True)]
    verdict = max([len("verdict"), *(len(row.verdict) for row in rows)])
    gaps = len(widths) + 1
    names = shortened(names, max(LEAST_NAME, columns - sum(widths) - verdict - gaps))
    room = columns - max(map(columns_of, ["request", *names])) - sum(widths) - gaps
    lines = [[name, *line, _label(row, room)] for name, line, row in zip(names, numbers, rows, strict=True)]
    return table(headers, lines, left=(0, len(headers) - 1), gap=1)


def _ways(cells: list[list[str]]) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Headers and cells behind the name: all of them, without rates, and without times."""
    for dropped in range(NUM_TIMES + 1):
        headers = [*HEADERS[: len(HEADERS) - 1 - dropped], HEADERS[-1]]
        yield headers, [[*line[: len(line) - 1 - dropped], line[-1]] for line in cells]


def _used(headers: list[str], cells: list[list[str]], names: list[str]) -> int:
    """Columns that a table needs where nothing is cut."""
    lines = [headers, *([name, *line] for name, line in zip(names, cells, strict=True))]
    return sum(max(map(columns_of, column)) for column in zip(*lines, strict=True)) + len(headers) - 1


def _label(row: LookupRow, room: int) -> str:
    """The verdict with as much of its detail as there is room for; an ellipsis marks the cut."""
    if columns_of(row.label) <= room:
        return row.label
    left = room - len(row.verdict) - len("(…)")
    return f"{row.verdict}({beginning(row.detail, left)}…)" if left >= LEAST_DETAIL else row.verdict


def _cells(row: LookupRow) -> list[str]:
    ttft = "-" if row.ttft_ms is None else f"{row.ttft_ms:,.0f}"
    rate = "-" if row.decode_tokens_per_s is None else f"{row.decode_tokens_per_s:,.1f}"
    counts = (row.common, row.matched, row.usable, row.reused, row.computed)
    return [*map(number, counts), ttft, rate, row.label]


def is_off(summary: Summary) -> bool:
    """Whether the run had no cache."""
    return any(loss.verdict == OFF for loss in summary.losses)


def change_line(summary: Summary) -> str:
    """The one change that would win most."""
    return wrapped(f"would win most ({counted(summary.best_change_wins, 'token')}): {summary.best_change}")


def summary_lines(summary: Summary) -> str:
    """The hit rate, the worst loss, and what would win most."""
    rate = f"hit rate {summary.hit_rate:.1%}"
    lines = [
        wrapped(
            f"{rate}: {number(summary.reused_tokens)} of {counted(summary.prompt_tokens, 'prompt token')} reused, "
            f"{number(summary.computed_tokens)} computed"
        ).replace(rate, strong(rate), 1)
    ]
    hint = [wrapped(summary.hint)] if summary.hint else []
    worst = summary.losses[0] if summary.losses else None
    if worst is None or not worst.lost:
        return "\n".join([*lines, CACHE_IS_OFF if is_off(summary) else "nothing worth naming was lost", *hint])
    lines.append(
        wrapped(
            f"worst loss: {worst.verdict}, {counted(worst.lost, 'token')} in {counted(worst.requests, 'lookup')}; "
            f"{worst.example} lost {number(worst.example_lost)}"
        )
    )
    if summary.best_change:
        lines.append(change_line(summary))
    return "\n".join([*lines, *hint])
