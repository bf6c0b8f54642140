"""One event as a line of words: its kind, what it is about, and its figures."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from shadowviz.tokens.inert import printable, shorten
from shadowviz_engine.core import events as ev
from shadowviz_engine.core.events import Event
from shadowviz_engine.core.log_lines import UnknownEvent

ID_BYTES = 4
MAX_VALUE = 120
"""Characters of one value."""
_HEAD = ("seq", "t_ns", "rank")
_SEE = re.compile(r" See \w+\.")


class EventWords(msgspec.Struct, frozen=True):
    """An event as the list shows it; texts are inert."""

    seq: int
    t_ns: int
    kind: str
    request: str
    """Empty = it is about none."""
    node: int
    """0 = it is about none."""
    about: str
    """Its figures."""

    @property
    def searched(self) -> str:
        """What a filter looks in, in small letters."""
        node = f" n{self.node} " if self.node else " "
        return f"e{self.seq} {self.kind} {self.request}{node}{self.about}".lower()


def event_words(event: Event) -> EventWords:
    """The words of an event."""
    kind = event.kind if isinstance(event, UnknownEvent) else type(event).__name__
    says = _SAYS.get(type(event), _figures)
    return EventWords(
        seq=event.seq,
        t_ns=event.t_ns,
        kind=shorten(kind, 24),
        request=printable(str(getattr(event, "request", ""))),
        node=int(getattr(event, "node", 0) or 0),
        about=shorten(says(event), 400),
    )


def event_fields(event: Event) -> list[tuple[str, str]]:
    """Every field of an event with its value; texts are inert."""
    return [
        (name, shorten(_value(value), 2000))
        for name, value in msgspec.structs.asdict(event).items()
        if name not in _HEAD and value not in ("", (), None)
    ]


def meaning(event: Event) -> str:
    """What its kind means, in a sentence."""
    if isinstance(event, UnknownEvent):
        return "An event of a later version."
    words = " ".join((type(event).__doc__ or "").split()).replace("`", "")
    # Where the code explains more, which is not here.
    return _SEE.sub("", words)


def _value(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value) // ID_BYTES:,} tokens"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple | msgspec.Struct):
        return printable(msgspec.json.encode(value).decode(errors="replace"))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else printable(str(value))


def _figures(event: Event) -> str:
    shown = (item for item in event_fields(event) if item[0] not in ("request", "node"))
    return "  ".join(f"{name} {value[:MAX_VALUE]}" for name, value in shown)


def _slots(runs: Any) -> str:
    return f"{sum(stop - start for start, stop, _ in runs):,} slots"


def _pass(event: ev.StepDone) -> str:
    parts = [f"prefill {', '.join(f'{name} {start:,}..{stop:,}' for name, start, stop in event.prefill)}"]
    parts = parts if event.prefill else []
    return "; ".join([*parts, *([f"decode {', '.join(event.decode)}"] if event.decode else [])])


_SAYS: dict[type[Event], Callable[[Any], str]] = {
    ev.LogOpened: lambda e: f"{e.geometry.name}, page {e.geometry.page_size}, {e.resume} rule, {e.policy or '-'}",
    ev.LogClosed: lambda e: f"{e.count:,} events before it",
    ev.RequestSubmitted: lambda e: (
        f"{len(e.tokens) // ID_BYTES:,} tokens" + (f", namespace {e.namespace}" if e.namespace else "")
    ),
    ev.RequestWaited: lambda e: f"{e.pool}: {e.needed_pages:,} pages needed, {e.free_pages:,} free",
    ev.LookupDone: lambda e: (
        f"{e.num_prompt:,} tokens: common {e.common:,}, matched {e.matched:,}, usable {e.usable:,}, reused {e.reused:,}"
    ),
    ev.SpanSplit: lambda e: f"at {e.at:,}, its head is n{e.upper}",
    ev.SpanInserted: lambda e: f"[{e.start:,}..{e.stop:,}) below n{e.parent}",
    ev.PathEnded: lambda _: "a registered path ends here",
    ev.SwaFreed: lambda e: (
        f"window rows [{e.start:,}..{e.stop:,}) freed: {e.reason}" + (f" for {e.by}" if e.by else "")
    ),
    ev.SwaPublished: lambda e: f"window rows came back: {_slots(e.runs)}",
    ev.SpanEvicted: lambda e: f"{e.reason}" + (f" for {e.by}" if e.by else "") + f", path of {e.length:,} tokens",
    ev.SlotsTaken: lambda e: f"{_slots(e.runs)} of {e.pool}",
    ev.SlotsFreed: lambda e: f"{_slots(e.runs)} of {e.pool}",
    ev.StepDone: _pass,
    ev.RequestFinished: lambda e: f"{e.reason}, {len(e.tokens) // ID_BYTES:,} tokens, ttft {e.ttft_ns / 1e6:,.0f} ms",
    ev.RequestAborted: lambda e: f"{e.reason}, {e.computed:,} computed",
    ev.NotStored: lambda e: f"[{e.start:,}..{e.stop:,}): {e.reason}",
    ev.CacheFlushed: lambda e: f"{e.nodes:,} nodes, {e.tokens:,} tokens",
    ev.BoundaryChecked: lambda e: f"{e.level} {e.subject} {e.mode} L={e.length:,}: {e.outcome} {e.detail}",
}
