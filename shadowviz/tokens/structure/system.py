"""What became of the instructions at the head: more of them, or fewer messages."""

from collections.abc import Sequence

from shadowviz.tokens.finding import Cause
from shadowviz.tokens.structure.change import Change, Mend, Told, names_of, place_of, quoted, with_messages
from shadowviz.tokens.structure.view import Item

_BEHIND = "keep the system message as it was, and put the addition into a later message"


def system_changes(a: Told, b: Told) -> list[Change]:
    """SYSTEM_GREW where one side's instructions are the other's and more; HISTORY_TRUNCATED where B lacks a message.

    Instructions that were edited in another way have no change here: the text says more about it.
    """
    old, new = a.view.items[: a.view.leading], b.view.items[: b.view.leading]
    if [item.key for item in old] == [item.key for item in new]:
        return []
    if len(old) == len(new):
        return [change for x, y in zip(old, new, strict=True) for change in _grown(a, b, [x], [y])]
    extra_old, extra_new = _without(old, new), _without(new, old)
    if extra_old and not extra_new:
        return [_lacking(a, b, old, new, extra_old)]
    if extra_new and not extra_old:
        return [_added(a, b, old, new, extra_new)]
    return _grown(a, b, old, new)


def grown_by(old: str, new: str) -> str | None:
    """What a text has more than another that it holds whole: at its end, at its head, or as lines between its lines."""
    if len(new) <= len(old):
        return None
    if new.startswith(old):
        added, joints = new[len(old) :], [(old[-1:], new[len(old)])]
    elif new.endswith(old):
        added, joints = new[: -len(old)], [(new[-len(old) - 1], old[:1])]
    else:
        added, joints = _added_lines(old, new), []
    cut_word = any(left.isalnum() and right.isalnum() for left, right in joints)
    return None if cut_word or not any(letter.isalpha() for letter in added) else added


def _added_lines(old: str, new: str) -> str:
    wanted = iter([*old.split("\n"), None])
    line, added = next(wanted), []
    for found in new.split("\n"):
        if found == line:
            line = next(wanted)
        else:
            added.append(found)
    return "\n".join(added) if line is None else ""


def _grown(a: Told, b: Told, old: Sequence[Item], new: Sequence[Item]) -> list[Change]:
    before, after = ("\n\n".join(item.text for item in items) for items in (old, new))
    if (added := grown_by(before, after)) is not None:
        longer, shorter, item = b, a, new[0]
    elif (added := grown_by(after, before)) is not None:
        longer, shorter, item = a, b, old[0]
    else:
        return []
    detail = f"{names_of([item])} of {longer.name} is that of {shorter.name} and {len(added)} characters more: "
    return [_change(Cause.SYSTEM_GREW, a, b, old, new, detail + quoted(added))]


def _added(a: Told, b: Told, old: Sequence[Item], new: Sequence[Item], extra: Sequence[Item]) -> Change:
    return _change(Cause.SYSTEM_GREW, a, b, old, new, f"{b.name} has {names_of(extra)}, which {a.name} lacks")


def _lacking(a: Told, b: Told, old: Sequence[Item], new: Sequence[Item], extra: Sequence[Item]) -> Change:
    return _change(Cause.HISTORY_TRUNCATED, a, b, old, new, f"{b.name} lacks {names_of(extra)} of {a.name}")


def _change(cause: Cause, a: Told, b: Told, old: Sequence[Item], new: Sequence[Item], detail: str) -> Change:
    messages = [item.raw for item in (*old, *b.view.items[len(new) :])]
    place = place_of(a, b, {item.index for item in old}, {item.index for item in new})
    advice = _BEHIND if cause is Cause.SYSTEM_GREW else "send the same instructions with every request"
    subject = "" if cause is Cause.HISTORY_TRUNCATED else "system"
    return Change(cause, subject, place, detail, advice, (Mend(with_messages(b.view, messages)),))


def _without(items: Sequence[Item], others: Sequence[Item]) -> list[Item]:
    known = {item.key for item in others}
    return [item for item in items if item.key not in known]
