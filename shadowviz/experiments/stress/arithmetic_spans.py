"""What spans own and lengths need, by the formulas of the cache and by the definition, compared row by row."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from shadowviz.experiments.stress.definition import NOTHING, Account, Definition, Range
from shadowviz_engine.core.derive import (
    RowFigures,
    StateDescriptor,
    derive,
    resume_state,
    retained_tokens,
    row_figures,
)
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.spans import Extent


@dataclass(frozen=True)
class Formulas:
    """The arithmetic under test."""

    derive: Callable[[Geometry, int, int], Sequence[StateDescriptor]] = derive
    resume_state: Callable[[Geometry, int], Sequence[StateDescriptor]] = resume_state
    row_figures: Callable[[Geometry, int], Sequence[RowFigures]] = row_figures
    retained_tokens: Callable[[Geometry, int, bool], Extent] = retained_tokens


class Mismatch(msgspec.Struct, frozen=True):
    """The first thing that a formula says otherwise than the definition."""

    kind: str
    row: int
    """First row or token that only one of the two has; -1 where no single row is wrong."""
    detail: str
    layer: int = -1


def check_owned(
    formulas: Formulas, definition: Definition, geometry: Geometry, length: int, cuts: Iterable[int]
) -> Mismatch | None:
    """What `derive` says of every span that ends at `length` and begins at one of `cuts`."""
    # Kinds that keep the same rows are worked out once: this loop runs half a million times for 1,000 lengths.
    different, numbers = _different(definition)
    for cut in cuts:
        what = f"derive [{cut},{length})"
        found = formulas.derive(geometry, cut, length)
        if mismatch := _kinds_mismatch(definition, found, what):
            return mismatch
        expected = [definition.owned(account, cut, length) for account in different]
        for descriptor, number in zip(found, numbers, strict=True):
            rows, reads = expected[number]
            if descriptor.rows == rows and descriptor.reads == reads:
                continue
            if _of(descriptor.rows) != rows or (rows != NOTHING and _of(descriptor.reads) != reads):
                return _descriptor_mismatch(descriptor, rows, reads, what)
    return None


def check_needed(formulas: Formulas, definition: Definition, geometry: Geometry, length: int) -> Mismatch | None:
    """What `resume_state`, `row_figures` and `retained_tokens` say of `length`."""
    found = formulas.resume_state(geometry, length)
    if mismatch := _kinds_mismatch(definition, found, f"resume_state({length})"):
        return mismatch
    for descriptor, account in zip(found, definition.accounts, strict=True):
        rows, reads = definition.needed(account, length)
        if _of(descriptor.rows) != rows or (rows != NOTHING and _of(descriptor.reads) != reads):
            return _descriptor_mismatch(descriptor, rows, reads, f"resume_state({length})")
    return _figures_mismatch(formulas, definition, geometry, length) or _retained_mismatch(
        formulas, definition, geometry, length
    )


def first_difference(expected: Range, found: Range) -> int:
    """First position that only one of two ranges holds; -1 if they hold the same."""
    if expected == found:
        return -1
    if NOTHING in (expected, found):
        return max(expected, found)[0]
    return min(expected[0], found[0]) if expected[0] != found[0] else min(expected[1], found[1])


def shown(extent: Range) -> str:
    """A range as text."""
    return f"[{extent[0]},{extent[1]})" if extent != NOTHING else "none"


def _of(extent: Extent) -> Range:
    return (extent[0], extent[1]) if extent[0] < extent[1] else NOTHING


def _kinds_mismatch(definition: Definition, found: Sequence[StateDescriptor], what: str) -> Mismatch | None:
    """Kinds that are missing, doubled or in another order, and layers that are not those of the kind."""
    kinds = definition.kinds
    if [(descriptor.kind, descriptor.layers) for descriptor in found] == kinds:
        return None
    labels = [descriptor.kind for descriptor in found]
    if labels != [label for label, _ in kinds]:
        return Mismatch("", -1, f"{what}: found the kinds {', '.join(labels)}, expected {_labels(definition)}")
    for account, descriptor in zip(definition.accounts, found, strict=True):
        rule = account.rule
        if descriptor.layers != rule.layers:
            wrong = sorted(set(rule.layers).symmetric_difference(descriptor.layers))
            detail = f"{what}: found {rule.label} in {len(descriptor.layers)} layers, expected {len(rule.layers)}"
            return Mismatch(rule.label, -1, detail, wrong[0] if wrong else -1)
    return None


def _different(definition: Definition) -> tuple[list[Account], list[int]]:
    """One account of all that own the same rows, and for every kind the number of its account."""
    different: dict[tuple[str, int, int], Account] = {}
    numbers = []
    for account in definition.accounts:
        rule = account.rule
        # The rows of a window or tail are the tokens themselves, however far back they are read.
        key = ("token", 0, 0) if rule.shape in ("window", "open") else (rule.shape, rule.size, rule.back)
        different.setdefault(key, account)
        numbers.append(list(different).index(key))
    return list(different.values()), numbers


def _labels(definition: Definition) -> str:
    return ", ".join(account.rule.label for account in definition.accounts)


def _descriptor_mismatch(descriptor: StateDescriptor, rows: Range, reads: Range, what: str) -> Mismatch:
    layer = descriptor.layers[0] if descriptor.layers else -1
    found = _of(descriptor.rows)
    if found != rows:
        detail = f"{what}: found {descriptor.kind} rows {shown(found)}, expected {shown(rows)}"
        return Mismatch(descriptor.kind, first_difference(rows, found), detail, layer)
    found = _of(descriptor.reads)
    detail = f"{what}: found {descriptor.kind} made from tokens {shown(found)}, expected {shown(reads)}"
    return Mismatch(descriptor.kind, rows[0] if found[0] != reads[0] else rows[1] - 1, detail, layer)


def _figures_mismatch(formulas: Formulas, definition: Definition, geometry: Geometry, length: int) -> Mismatch | None:
    found = {item.kind: item for item in formulas.row_figures(geometry, length)}
    for account in definition.accounts:
        if account.rule.shape != "range":
            continue
        expected = definition.figures(account, length)
        item = found.pop(account.rule.label, None)
        figures = (item.complete, item.allocated, item.tail) if item else None
        if figures != expected:
            detail = f"row_figures({length}): found {figures} complete, allocated and tail rows, expected {expected}"
            return Mismatch(account.rule.label, expected[0], f"{detail} of {account.rule.label}")
    if found:
        return Mismatch("", -1, f"row_figures({length}): found {', '.join(found)}, which have no rows of windows")
    return None


def _retained_mismatch(formulas: Formulas, definition: Definition, geometry: Geometry, length: int) -> Mismatch | None:
    for page_rule in (False, True):
        found = _of(formulas.retained_tokens(geometry, length, page_rule))
        expected = definition.retained(length, page_rule)
        if found != expected:
            rule = "page" if page_rule else "any"
            detail = f"retained_tokens({length}, {rule}): found tokens {shown(found)}, expected {shown(expected)}"
            return Mismatch(_window_label(definition), first_difference(expected, found), detail)
    return None


def _window_label(definition: Definition) -> str:
    rules = (account.rule for account in definition.accounts)
    return next((rule.label for rule in rules if rule.shape == "window"), "")
