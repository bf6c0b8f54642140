"""What an event says, in sentences: before its fields as they are recorded."""

from collections.abc import Iterator, Sequence

from shadowviz.replay.counts import counted
from shadowviz.replay.nearest import Words
from shadowviz.tokens.inert import printable, shorten
from shadowviz.tui.models.event_words import ID_BYTES, event_words
from shadowviz_engine.core import events as ev
from shadowviz_engine.core.events import Event, SlotRun
from shadowviz_engine.core.snapshot import unpack_ids

Said = tuple[str, str]
"""A word for what it is about, and the sentence; inert."""
MOST_RUNS = 6
"""Stretches of slots that are told one by one."""
MOST_TOKENS = 200
"""Of a text that is spelled out."""
MOST_CHARACTERS = 600


def event_says(event: Event, words: Words | None) -> Iterator[Said]:
    """The sentences; `words` reads token ids, None = they cannot be read."""
    if isinstance(event, ev.LookupDone):
        yield from _lookup(event)
    elif about := event_words(event).about:
        yield "what", about
    runs = [(pool, getattr(event, pool, ())) for pool in ("full", "swa", "runs")]
    for pool, stretches in runs:
        if stretches:
            yield (pool if pool != "runs" else "slots"), printable(_slots(stretches))
    tokens = getattr(event, "tokens", None)
    if isinstance(tokens, bytes) and tokens and words is not None:
        yield "text", _text(tokens, words)


def _lookup(lookup: ev.LookupDone) -> Iterator[Said]:
    computed = lookup.num_prompt - lookup.reused
    yield (
        "tokens",
        (
            f"of {lookup.num_prompt:,} asked {lookup.common:,} are common, {lookup.matched:,} matched, "
            f"{lookup.usable:,} usable, {lookup.reused:,} reused; {computed:,} computed"
        ),
    )
    yield "rules", f"at most {lookup.cap:,} ({printable(lookup.cap_rule)}), a multiple of {lookup.unit:,}"
    for kind in lookup.kinds:
        yield "kind", f"{printable(kind.kind)} is there for {kind.length:,} tokens, not for {lookup.matched:,}"
    if lookup.near:
        yield "parts", f"from the nearest stored path in node n{lookup.near}"
    if lookup.left is not None:
        by = f" for {printable(lookup.left.by)}" if lookup.left.by else ""
        reason = printable(lookup.left.reason)
        until = f"were there until e{lookup.left.event:,}: {reason}{by}"
        yield "left", f"{counted(lookup.left.length, 'token')} of it {until}"
    if lookup.namespace is not None:
        name = printable(lookup.namespace.namespace) or "without a name"
        yield "apart", f"{lookup.namespace.common:,} equal tokens are stored in the namespace {name}"
    if lookup.in_flight is not None:
        by = printable(lookup.in_flight.request)
        yield "running", f"{lookup.in_flight.common:,} equal tokens are being computed by {by}"
    if not lookup.cache_on:
        yield "cache", "it is off"


def _slots(runs: Sequence[SlotRun]) -> str:
    told = [
        f"{_span('token', start, stop)} in {_span('slot', slot, slot + stop - start)}"
        for start, stop, slot in runs[:MOST_RUNS]
    ]
    more = len(runs) - len(told)
    return "; ".join([*told, *([f"{more:,} stretches more"] if more > 0 else [])])


def _span(what: str, start: int, stop: int) -> str:
    return f"{what} {start:,}" if stop == start + 1 else f"{what}s {start:,} to {stop - 1:,}"


def _text(tokens: bytes, words: Words) -> str:
    ids = unpack_ids(tokens[: ID_BYTES * MOST_TOKENS])
    more = len(tokens) // ID_BYTES - len(ids)
    text = shorten(words.text(ids.tolist()), MOST_CHARACTERS)
    return f"{text} (and {counted(more, 'token')} more)" if more > 0 else text
