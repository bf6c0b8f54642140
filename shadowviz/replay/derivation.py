"""Everything that follows from a span of tokens: what it owns, what going on behind it needs, what is reusable."""

from collections.abc import Callable, Sequence
from math import prod

import msgspec

from shadowviz_engine.core.derive import RowFigures, StateDescriptor, derive, resume_state, row_figures
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import SWA_ONLY, Compressor, Geometry, LayerSchedule, hybrid_geometry
from shadowviz_engine.core.reuse import Lookup, ResumeRule, plan_reuse, reuse_rules
from shadowviz_engine.core.spans import Extent

MAX_TOKENS = 2**40
"""Longest length that is worked out; longer ones are taken for a slip of the key."""

MAX_DIGITS = 18


class Derivation(msgspec.Struct, frozen=True):
    """What follows from the span [start, stop); lengths in tokens."""

    geometry: str
    page_size: int
    span: Extent
    owned: tuple[StateDescriptor, ...]
    figures: tuple[RowFigures, ...]
    """Complete, allocated and tail at `stop`."""
    needed: tuple[StateDescriptor, ...]
    """What must be resident to go on at `stop`."""
    reusable_page: int
    """Most that a longer prompt could reuse of `stop` tokens under the `page` rule, with everything resident."""
    reusable_any: int
    notes: tuple[str, ...] = ()


Place = Callable[[StateDescriptor], StateDescriptor]
"""Adds pages and slots to a descriptor."""


def derivation(geometry: Geometry, span: Extent, place: Place = lambda descriptor: descriptor) -> Derivation:
    """Everything that follows from `span` under `geometry`; `place` says where rows lie, when a run is at hand.

    Raises:
        InputError: the span is no range of positions.
    """
    owned = derive(geometry, span.start, span.stop)
    return Derivation(
        geometry.name,
        geometry.page_size,
        span,
        tuple(place(descriptor) for descriptor in owned),
        row_figures(geometry, span.stop),
        tuple(place(descriptor) for descriptor in resume_state(geometry, span.stop)),
        _reusable(geometry, ResumeRule.PAGE, span.stop),
        _reusable(geometry, ResumeRule.ANY, span.stop),
        tuple(note for note in (geometry.note, *geometry.warnings()) if note),
    )


def parse_span(text: str) -> Extent:
    """The span that `LENGTH`, `START:STOP` or `[START,STOP)` names.

    Raises:
        InputError: the text names none.
    """
    bare = text.strip()
    if bare.startswith("[") and bare.endswith(")"):
        bare = bare[1:-1].replace(",", ":")
    parts = bare.split(":")
    if len(parts) > 2 or not all(is_count(part.strip()) for part in parts):
        raise InputError(f"{text[:40]!r} is no span: expected a length such as 1000, or a range such as 256:1000")
    values = [int(part) for part in parts]
    start, stop = (0, *values) if len(values) == 1 else values
    if not start <= stop <= MAX_TOKENS:
        raise InputError(f"span [{start},{stop}) is no range of positions: expected start <= stop <= {MAX_TOKENS}")
    return Extent(start, stop)


def is_count(text: str) -> bool:
    """Whether text is a plain number, of no more digits than any length has."""
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS


def own_geometry(page_size: int, n_win: int, ratios: Sequence[int], overlapping: Sequence[int]) -> Geometry:
    """A hybrid geometry of the caller's figures, with one layer of each sort; page_size 0 = the smallest that fits.

    Raises:
        GeometryError: the figures do not fit together.
        InputError: an overlap of a ratio that is not there, or a ratio twice.
    """
    if len(set(ratios)) != len(ratios):
        raise InputError(f"ratios {_list(ratios)} name one twice: expected each once")
    if strange := [ratio for ratio in overlapping if ratio not in ratios]:
        raise InputError(f"overlap {_list(strange)} is no ratio of {_list(ratios)}: expected ratios that were given")
    names = _names(ratios)
    compressors = tuple(Compressor(names[ratio], ratio, ratio in overlapping) for ratio in ratios)
    schedule = LayerSchedule((SWA_ONLY, *names.values()))
    if not page_size:
        page_size = hybrid_geometry("own", max(1, prod(ratios)), n_win, compressors, schedule, 0).alignment
    return hybrid_geometry("own", page_size, n_win, compressors, schedule, 0)


def _names(ratios: Sequence[int]) -> dict[int, str]:
    if len(ratios) == 2:
        return {min(ratios): "csa", max(ratios): "hca"}
    return {ratio: f"ratio{ratio}" for ratio in ratios}


def _reusable(geometry: Geometry, resume: ResumeRule, length: int) -> int:
    return plan_reuse(Lookup(length + 1, length, length), reuse_rules(geometry, resume), {}).reused


def _list(values: Sequence[int]) -> str:
    return ",".join(map(str, values))
