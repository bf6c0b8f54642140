"""What differs between two tokenizers, in lines to print."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from shadowviz.tokens.encode.encoder import ADDED_SETTINGS, Encoder
from shadowviz.tokens.encode.token_spelling import types_in
from shadowviz.tokens.inert import inert, shorten

NAMES_SHOWN: Final = 4
MOVES_SHOWN: Final = 6


def what_moved(a: Encoder, b: Encoder) -> tuple[str, ...]:
    """Printable lines, `first -> second`; none where both give every text the same ids."""
    if a is b or a.fingerprint == b.fingerprint:
        return ()
    first, second = a.content, b.content
    if first.kind != second.kind:
        # Their steps have other names and forms, so only what all kinds have can be compared.
        first, second = (replace(content, merges=(), steps={}) for content in (first, second))
    lines = (
        *_change("kind", first.kind, second.kind),
        *_change("ids", f"{a.vocab_size:,}", f"{b.vocab_size:,}"),
        *_vocabulary(first.vocabulary, second.vocabulary),
        *_merges(first.merges, second.merges),
        *_added(first.added, second.added),
        *_steps(first.steps, second.steps),
    )
    return lines or ("a setting of the model differs",)


def _change(what: str, before: str, behind: str) -> Iterator[str]:
    if before != behind:
        yield f"{what}: {before} -> {behind}"


def _vocabulary(first: Mapping[str, int], second: Mapping[str, int]) -> Iterator[str]:
    if first == second:
        return
    shared = first.keys() & second.keys()
    moved = sum(first[token] != second[token] for token in shared)
    counts = (
        (len(second) - len(shared), "new"),
        (len(first) - len(shared), "gone"),
        (moved, "with another id"),
    )
    told = ", ".join(f"{count:,} {what}" for count, what in counts if count)
    yield f"vocabulary: {len(first):,} -> {len(second):,} tokens: {told}"


def _merges(first: Sequence[str], second: Sequence[str]) -> Iterator[str]:
    if first == second:
        return
    place = next(
        (place for place, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
    yield f"merges: {len(first):,} -> {len(second):,}, the same up to number {place:,}"


def _added(first: Mapping[str, int], second: Mapping[str, int]) -> Iterator[str]:
    moved = sorted((first[name], name) for name in first.keys() & second.keys() if first[name] != second[name])
    for token_id, name in moved[:MOVES_SHOWN]:
        yield f"added token {_shown(name)} {token_id} -> {second[name]}"
    if len(moved) > MOVES_SHOWN:
        yield f"added tokens that moved too: {len(moved) - MOVES_SHOWN:,}"
    yield from _listed("new added tokens", second, first)
    yield from _listed("added tokens gone", first, second)


def _listed(what: str, among: Mapping[str, int], but: Mapping[str, int]) -> Iterator[str]:
    names = sorted(among.keys() - but.keys(), key=lambda name: (among[name], name))
    if names:
        yield f"{what}: {len(names):,} ({_some(names)})"


def _steps(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(first.keys() | second.keys()):
        before, behind = first.get(name), second.get(name)
        if name == ADDED_SETTINGS:
            before, behind = _of_both(before or {}, behind or {}), _of_both(behind or {}, before or {})
        if before != behind:
            yield f"{inert(name)}: {_difference(before, behind)}"


def _of_both(settings: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Of the tokens that both have: the new and the gone ones are listed already."""
    return {name: setting for name, setting in settings.items() if name in others}


def _difference(before: Any, behind: Any) -> str:
    """A step that changed, as short as still tells: in full, by the names of its parts, or by what is in one alone."""
    full = _written(before), _written(behind)
    if max(map(len, full)) <= 60:
        return " -> ".join(full)
    kinds = [", ".join(types_in(state)) or "none" for state in (before, behind)]
    if kinds[0] != kinds[1]:
        return " -> ".join(shorten(kind) for kind in kinds)
    if isinstance(before, dict) and isinstance(behind, dict):
        keys = [key for key in {**before, **behind} if before.get(key) != behind.get(key)]
        return f"{len(keys):,} differ ({_some(keys)})"
    return "differs"


def _written(state: Any) -> str:
    return "none" if state is None else inert(msgspec.json.encode(state).decode(errors="replace"))


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(_shown, names[:NAMES_SHOWN])) + (", ..." if len(names) > NAMES_SHOWN else "")


def _shown(name: str) -> str:
    return inert(name) if len(name) <= 60 else f"{inert(name[:60])}..."
