"""Which lengths and cuts the arithmetic level looks at: all of a short range, of a long one those near boundaries."""

from collections.abc import Iterable, Iterator
from math import lcm
from random import Random

from shadowviz.experiments.stress.definition import rules_of
from shadowviz.experiments.stress.work import Plan
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry

WHOLE_RANGE = 4096
"""Lengths of a range that is checked whole."""
WHOLE_SPLITS = 1024
"""Length up to which every cut is tried."""
FIRST_LENGTHS = 1024
"""Lengths at the beginning of a long range that are all checked."""
DRAWN_LENGTHS = 256
MULTIPLES = 512
"""Multiples of each size in a long range; of more, so many are drawn."""
DRAWN_CUTS = 8
NEAR = (-1, 0, 1)


def boundary_sizes(geometry: Geometry) -> tuple[int, ...]:
    """Sizes at whose multiples something begins or ends: rows, windows, grids, the page, and what all of them meet at.

    A window of 128 has two: the row that it loses first, and the length at which it is full.
    """
    sizes = {geometry.page_size, geometry.n_win, geometry.alignment, geometry.reuse_unit}
    for rule in rules_of(geometry):
        sizes |= {rule.size, rule.back, rule.page_back, rule.size + rule.back}
        if rule.size and geometry.index_topk:
            sizes.add(rule.size * geometry.index_topk)
    if geometry.n_win:
        sizes.add(lcm(geometry.page_size, geometry.n_win))
    return tuple(sorted(size for size in sizes if size > 0))


def lengths_of(plan: Plan, geometry: Geometry) -> list[int]:
    """Lengths that a plan asks for, ascending: a short range whole, a long one sampled with all of its boundaries.

    Of a range of more than `WHOLE_RANGE` lengths: its first `FIRST_LENGTHS`, its last, `DRAWN_LENGTHS` drawn ones with
    the nearest multiples of every size around them, and up to `MULTIPLES` multiples of every size in the range (all of
    them where there are no more, or `multiples=all`); each multiple with its neighbours.

    Raises:
        InputError: the plan's `multiples` is no number.
    """
    limit = multiples_of(plan)
    chosen: set[int] = set()
    for start, stop in plan.lengths:
        if stop - start <= WHOLE_RANGE:
            chosen.update(range(start, stop))
            continue
        chance = Random(f"lengths {plan.seed} {plan.subject} {start} {stop}")
        found = set(range(start, start + FIRST_LENGTHS)) | {stop - 1}
        drawn = chance.sample(range(start, stop), DRAWN_LENGTHS)
        for size in boundary_sizes(geometry):
            multiples = range(-(-start // size) * size, stop, size)
            some = multiples if len(multiples) <= limit else chance.sample(multiples, limit)
            around = [multiple for length in drawn for multiple in (length // size * size, -(-length // size) * size)]
            found.update(_near((*some, *multiples[:8], *multiples[-2:], *around)))
        chosen.update(length for length in found.union(drawn) if start <= length < stop)
    return sorted(chosen)


def multiples_of(plan: Plan) -> int:
    """How many multiples of a size a plan looks at in a long range.

    Raises:
        InputError: neither `all` nor a number.
    """
    text = plan.options.get("multiples", str(MULTIPLES))
    if text == "all":
        return 1 << 62
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise InputError(f"multiples {text[:40]!r} is no number of multiples: expected one such as 512, or all")
    return int(text)


def cuts_of(plan: Plan, geometry: Geometry, length: int) -> Iterable[int]:
    """Where a span that ends at `length` begins: everywhere, or for a long one near boundaries and at drawn places."""
    if length <= WHOLE_SPLITS:
        return range(length + 1)
    chance = Random(f"cuts {plan.seed} {plan.subject} {length}")
    cuts = {0, 1, length - 1, length, *chance.sample(range(length), DRAWN_CUTS)}
    for size in boundary_sizes(geometry):
        cuts.update(_near((length // size * size,)))
        cuts.add(length - size)
    return sorted(cut for cut in cuts if 0 <= cut <= length)


def _near(positions: Iterable[int]) -> Iterator[int]:
    return (position + step for position in positions for step in NEAR)
