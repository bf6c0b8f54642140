"""What became of the messages between two requests: moved, left out, put in, edited."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from shadowviz.tokens.finding import Cause
from shadowviz.tokens.inert import inert
from shadowviz.tokens.structure.change import Change, Mend, Told, names_of, place_of, with_messages
from shadowviz.tokens.structure.edits import edits
from shadowviz.tokens.structure.match import Block, Match, similar
from shadowviz.tokens.structure.view import Item

SUMMARY_SHARE: Final = 0.5
"""Share of a message's longer words from which on it is a summary of the messages they occur in."""
TOLD_SHARE: Final = 0.2
"""The same for a message that calls itself a summary."""
_WORD: Final = re.compile(r"[^\W\d_]{5,}|[\u2e80-\u9fff\uac00-\ud7af]{2}")
_TOLD: Final = re.compile(
    r"summar|condens|compact|recap|continued from|(earlier|previous|prior) (conversation|session|messages)"
    r"|zusammenfass|r[ée]sum|riassunt|сводк|摘要|总结|總結|概要|要約|まとめ|요약",
    re.IGNORECASE,
)

_KEEP = "send the earlier messages as they were; where they must go, drop many at once and seldom"
_APPEND = "put it behind the messages that were sent before, not between them"


def history_changes(a: Told, b: Told, match: Match) -> Iterator[Change]:
    """Changes of the messages behind the system message.

    REORDERED with subject `messages`; HISTORY_TRUNCATED; HISTORY_EDITED with the message's name as subject, for
    messages that are not the last on both sides; and what `edits` finds in two versions of one message.
    """
    yield from _moved(a, b, match)
    for i, j in match.edited:
        yield from edits(a, b, a.view.items[i], b.view.items[j])
    for block in match.blocks:
        yield from _block_changes(a, b, match, block)


def _moved(a: Told, b: Told, match: Match) -> list[Change]:
    if not match.moved:
        return []
    shared = [*match.kept, *match.moved, *match.edited]
    slots = sorted(j for _, j in shared)
    order = [j for _, j in sorted(shared)]
    messages = [item.raw for item in b.view.items]
    for slot, j in zip(slots, order, strict=True):
        messages[slot] = b.view.items[j].raw
    first, last = (
        next(pair for pair in zip(run, other, strict=True) if pair[0] != pair[1])[0]
        for run, other in ((slots, order), (slots[::-1], order[::-1]))
    )
    in_b = set(range(first, last + 1))
    in_a = {i for i, j in shared if j in in_b}
    items = [b.view.items[j] for _, j in sorted(match.moved, key=lambda pair: pair[1])]
    return [
        Change(
            Cause.REORDERED,
            "messages",
            place_of(a, b, in_a, in_b),
            f"{b.name} has {names_of(items)} in another place than {a.name}",
            "send the messages in one order",
            (Mend(with_messages(b.view, messages)),),
        )
    ]


def _block_changes(a: Told, b: Told, match: Match, block: Block) -> Iterator[Change]:
    old = [item for item in a.view.items[block.a_start : block.a_stop] if item.index not in match.moved_in_a]
    new = [item for item in b.view.items[block.b_start : block.b_stop] if item.index not in match.moved_in_b]
    if block.a_stop == len(a.view.items) and block.b_stop == len(b.view.items):
        yield from _tail_changes(a, b, block, old, new)
    elif new and not old:
        yield _put_in(a, b, block, new)
    elif len(old) != len(new):
        yield _left_out(a, b, block, old, new)
    else:
        for x, y in zip(old, new, strict=True):
            yield from edits(a, b, x, y)


def _tail_changes(a: Told, b: Told, block: Block, old: Sequence[Item], new: Sequence[Item]) -> Iterator[Change]:
    """Changes where nothing that both sides have follows, so that one may simply go on in another way."""
    for place, (x, y) in enumerate(zip(old, new, strict=False)):
        if x is a.view.items[-1] and y is b.view.items[-1]:
            return
        if x.role != y.role or (x.role == "user" and not similar(x.text, y.text)):
            rest_old, rest_new = old[place:], new[place:]
            if len(rest_new) < len(rest_old) and _summarises(y, rest_old):
                yield _left_out(a, b, block, rest_old, rest_new[:1])
            elif len(rest_old) < len(rest_new) and _summarises(x, rest_new):
                yield _left_out(a, b, block, rest_old[:1], rest_new)
            return
        yield from edits(a, b, x, y)


def _summarises(item: Item, others: Sequence[Item]) -> bool:
    words = {word.lower()[:5] for word in _WORD.findall(item.text)}
    known = {word.lower()[:5] for other in others for word in _WORD.findall(f"{other.text} {other.reasoning or ''}")}
    share = TOLD_SHARE if _TOLD.search(item.text) else SUMMARY_SHARE
    return len(words) >= 4 and len(words & known) >= share * len(words)


def _left_out(a: Told, b: Told, block: Block, old: Sequence[Item], new: Sequence[Item]) -> Change:
    """Messages of one side that the other lacks, or has fewer for."""
    longer, lost, shorter, instead = (a, old, b, new) if len(old) >= len(new) else (b, new, a, old)
    detail = f"{shorter.name} lacks {names_of(lost)} of {longer.name}"
    if instead:
        detail = f"{shorter.name} has {names_of(instead)} in the place of {names_of(lost)} of {longer.name}"
    return Change(
        Cause.HISTORY_TRUNCATED,
        "",
        place_of(a, b, _indices(old), _indices(new)),
        detail,
        _KEEP,
        (_restored(b, block, old, new),),
    )


def _put_in(a: Told, b: Told, block: Block, new: Sequence[Item]) -> Change:
    """Messages that B has between those of A: whole turns are missing in A, a single note was put into B."""
    if len(new) > 1 or new[0].role in {"assistant", "tool"}:
        return _left_out(a, b, block, [], new)
    return Change(
        Cause.HISTORY_EDITED,
        inert(new[0].name),
        place_of(a, b, (), _indices(new)),
        f"{b.name} has {names_of(new)} between messages that follow each other in {a.name}",
        _APPEND,
        (_restored(b, block, [], new),),
    )


def _restored(b: Told, block: Block, old: Sequence[Item], new: Sequence[Item]) -> Mend:
    """B with A's messages in the place of its own."""
    gone = _indices(new)
    at = new[0].index if new else block.b_start
    messages = [
        *(item.raw for item in b.view.items[:at] if item.index not in gone),
        *(item.raw for item in old),
        *(item.raw for item in b.view.items[at:] if item.index not in gone),
    ]
    return Mend(with_messages(b.view, messages))


def _indices(items: Sequence[Item]) -> set[int]:
    return {item.index for item in items}
