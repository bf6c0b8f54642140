"""Events up to the one shown, as far as a filter lets them through: as lines of a log, JSON, or a table."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import takewhile
from pathlib import Path

import msgspec

from shadowviz.sources.logfile import LogFile
from shadowviz.tokens.inert import printable
from shadowviz.tui.exporting import Content, Exportable
from shadowviz.tui.exports.diagrams import trace_at
from shadowviz.tui.models.cells import fit, right
from shadowviz.tui.models.event_words import EventWords, event_words
from shadowviz_engine.core.events import Event
from shadowviz_engine.core.log_lines import UnknownEvent

NAME = "events.jsonl"
KIND, REQUEST = 20, 24
"""Columns of the table that these have at least."""

Found = Iterator[tuple[Event, EventWords]]
Write = Callable[[LogFile, Found, int, str], Iterable[bytes]]


def events_at(seq: int, pattern: str) -> Exportable:
    """Events up to event `seq` that have all words of `pattern`.

    Traces and lookup logs speak of a whole run: they are there where no filter is.
    """
    makers = {
        ending: partial(_content, write, seq, pattern)
        for ending, write in ((".jsonl", _lines), (".json", _json), (".txt", _table))
    }
    if pattern:
        return Exportable("the filtered events", makers, NAME)
    return Exportable("the events", {**makers, **trace_at(seq).makers}, NAME)


def _content(write: Write, seq: int, pattern: str, log: Path) -> Content:
    file = LogFile(log)
    num, words = 0, pattern.lower().split()
    for _ in _found(file, seq, words):
        num += 1
    filtered = f" that have {printable(pattern)!r}" if words else ""
    return Content(write(file, _found(file, seq, words), seq, pattern), f"{num:,} events up to e{seq:,}{filtered}")


def _found(log: LogFile, seq: int, words: list[str]) -> Found:
    for event in takewhile(lambda event: event.seq <= seq, log.events()):
        shown = event_words(event)
        text = shown.searched if words else ""
        if all(word in text for word in words):
            yield event, shown


def _line(event: Event) -> bytes:
    return event.raw.rstrip(b"\r\n") if isinstance(event, UnknownEvent) else msgspec.json.encode(event)


def _lines(_log: LogFile, found: Found, _seq: int, _pattern: str) -> Iterator[bytes]:
    """As a log has them; without a filter it is one that was not closed."""
    for event, _ in found:
        yield _line(event) + b"\n"


def _json(log: LogFile, found: Found, seq: int, pattern: str) -> Iterator[bytes]:
    head = {"source": printable(str(log.path)), "up_to": seq, "filter": pattern, "events": []}
    yield msgspec.json.encode(head).removesuffix(b"]}")
    for place, (event, _) in enumerate(found):
        yield (b",\n" if place else b"\n") + _line(event)
    yield b"\n]}\n"


def _table(log: LogFile, found: Found, seq: int, pattern: str) -> Iterator[bytes]:
    filtered = f", filter {printable(pattern)!r}" if pattern else ""
    yield f"{printable(str(log.path))}, events up to e{seq:,}{filtered}\n\n".encode()
    yield f"{_row('event', 'seconds', 'kind', 'request', 'what')}\n".encode()
    for _, words in found:
        about = f"n{words.node} {words.about}" if words.node else words.about
        row = _row(f"e{words.seq:,}", f"{words.t_ns / 1e9:,.3f}", words.kind, words.request, about)
        yield f"{row.rstrip()}\n".encode()


def _row(event: str, seconds: str, kind: str, request: str, what: str) -> str:
    # Names are whole here: a table in a file is searched.
    kind, request = fit(kind, max(KIND, len(kind))), fit(request, max(REQUEST, len(request)))
    return f"{right(event, 11)} {right(seconds, 11)}  {kind} {request} {what}"
