"""Which kinds of state, and in which layers, a check of a stress run compares, as far as its level and mode tell."""

from shadowviz.replay.stress import FAULTS, is_about_answers
from shadowviz_engine.core.events import BoundaryStressStarted
from shadowviz_engine.core.kinds import Shape

Part = tuple[str, int]
"""A kind and one of its layers; layer -1 = all of them, which are the same to a formula."""

NO_PARTS: frozenset[Part] = frozenset()
FORMULAS = ("derive", "resume")
"""Modes of the level `arithmetic` that compare every kind of the geometry."""
ROWS = ("numeric", "oracle", FAULTS)
"""Levels that compare all rows that a run finds and stores with those of a cold run."""
TO_THE_LENGTH = ("cold", "again")
"""Ways of theirs that end at the length: what no token up to there closes has no row in them."""
BLIND = "blind"


def compared_parts(started: BoundaryStressStarted, mode: str, length: int) -> frozenset[Part]:
    """What a check of a run compares at a length if it finds nothing that differs.

    Empty where the record does not tell: of claims, of slots, of answers of a model, and of faults that another process
    draws.
    """
    geometry = started.geometry
    if started.level == "arithmetic" and mode in FORMULAS:
        return frozenset((kind.label, -1) for kind in geometry.kinds)
    if started.level not in ROWS or is_about_answers(mode) or mode.partition("/")[0] == BLIND:
        return NO_PARTS
    is_short = any(way in TO_THE_LENGTH for way in mode.split("/")[:2])
    return frozenset(
        (kind.label, layer)
        for kind in geometry.kinds
        if kind.shape is not Shape.KEY and not (is_short and kind.shape is Shape.RANGE and kind.unit > length)
        for layer in kind.owners
    )
