"""Modes of the numeric level: the way a length is reached, the resume rule, the retention and the numerics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from shadowviz_engine.cache.retention import parse_retention
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.model.numerics import BLOCK, Numerics

WAYS: dict[str, str] = {
    "batch": "many lengths go on at once, beside a prompt that begins and a request that decodes",
    "resumed": "one request alone goes on",
    "twice": "a run that went on is stored, and the next one goes on from what it stored",
    "forked": "the stored path leaves the prompt here, inside a window or an entry, and stays as it was",
    "healed": "the window's rows were freed and computed again before the run goes on",
    "evicted": "all was evicted and stored again in slots that hold another request's rows",
    "chunked": "the run goes on in chunks of a size that the length chooses, 1 to 40 tokens and more",
    "tokens": "the run goes on by generating, one token a pass",
    "cold": "nothing is reused, the engine's own cold run in a batch",
}
"""Way by name, with what it does."""

CHUNKS = (*range(1, 41), 48, 63, 64, 65, 100, 128, 130)
"""Chunk sizes in tokens; the length modulo their number chooses one."""


@dataclass(frozen=True)
class Mode:
    """One mode, written `way/resume/retention`, with `/fast` behind it where the numerics are not exact."""

    way: str
    resume: ResumeRule
    retention: str
    numerics: Numerics = Numerics.EXACT

    def __str__(self) -> str:
        """The mode as results name it."""
        name = f"{self.way}/{self.resume}/{self.retention}"
        return name if self.numerics is Numerics.EXACT else f"{name}/{self.numerics}"


def parse_mode(text: str) -> Mode:
    """The mode that `str` wrote as `text`.

    Raises:
        InputError: it names none.
    """
    parts = text.split("/")
    if len(parts) not in (3, 4) or parts[0] not in WAYS:
        raise InputError(
            f"numeric mode {text!r} is unknown: expected WAY/RESUME/RETENTION such as resumed/any/window, "
            f"or a way alone: {', '.join(WAYS)}"
        )
    for value, names in ((parts[1], list(ResumeRule)), ("".join(parts[3:]) or Numerics.EXACT, list(Numerics))):
        if value not in names:
            raise InputError(f"numeric mode {text!r} names {value!r}: expected {' or '.join(names)}")
    parse_retention(parts[2])
    return Mode(parts[0], ResumeRule(parts[1]), parts[2], Numerics("".join(parts[3:]) or Numerics.EXACT))


def anchors(geometry: Geometry) -> str:
    """The retention with anchors that stress uses: apart by a little more than half a window."""
    return f"every:{max(2, geometry.n_win // 2 + 3)}"


def all_modes(geometry: Geometry) -> tuple[Mode, ...]:
    """Every way under both resume rules and every retention, in exact numerics, then the ways in fast ones."""
    retentions = ("all", "window", anchors(geometry), "forks")
    exact = tuple(Mode(*parts) for parts in product(WAYS, (ResumeRule.ANY, ResumeRule.PAGE), retentions))
    fast = tuple(Mode(way, ResumeRule.ANY, "all", Numerics.FAST) for way in WAYS if way != "cold")
    return exact + fast


def chosen_modes(geometry: Geometry) -> dict[Mode, int]:
    """The well-chosen part: modes, and how many lengths of each; 0 = all of them.

    Every way, both rules and every retention occur, a pair of each way with what can hurt it most.
    """
    both, page, every = ResumeRule.ANY, ResumeRule.PAGE, anchors(geometry)
    return {
        Mode("batch", both, "all"): 0,
        Mode("batch", both, "window"): 48,
        Mode("batch", page, every): 24,
        Mode("resumed", both, every): 24,
        Mode("resumed", page, "window"): 12,
        Mode("twice", both, "window"): 24,
        Mode("forked", both, "all"): 24,
        Mode("forked", both, "forks"): 16,
        Mode("forked", page, "window"): 8,
        Mode("healed", both, "window"): 24,
        Mode("healed", both, "all"): 8,
        Mode("healed", page, "all"): 8,
        Mode("evicted", both, "forks"): 24,
        Mode("chunked", both, "all"): 12,
        Mode("chunked", page, every): 6,
        Mode("tokens", both, "window"): 12,
        Mode("cold", both, "all"): 6,
        Mode("batch", both, "all", Numerics.FAST): 32,
        Mode("tokens", both, "all", Numerics.FAST): 8,
    }


def boundaries(geometry: Geometry, lengths: Sequence[int]) -> Iterator[int]:
    """Those of `lengths` at which most can go wrong, the most telling first: beside multiples of every unit."""
    units = sorted({geometry.page_size, geometry.n_win, BLOCK, *(item.ratio for item in geometry.compressors)})
    there, told = set(lengths), set()
    for multiple, unit, step in product((1, 2, 3), reversed(units), (0, -1, 1)):
        length = unit * multiple + step
        if length in there and length not in told:
            told.add(length)
            yield length


def choose_lengths(geometry: Geometry, lengths: Sequence[int], count: int) -> tuple[int, ...]:
    """At most `count` of `lengths`, ascending: half beside boundaries, the first, the last, the rest spread evenly."""
    if not count or len(lengths) <= count:
        return tuple(lengths)
    chosen = {lengths[0], lengths[-1]}
    for length in boundaries(geometry, lengths):
        if len(chosen) >= count // 2 + 1:
            break
        chosen.add(length)
    step = 0
    # Multiples of the golden section spread evenly however many there are.
    while len(chosen) < count:
        step += 1
        chosen.add(lengths[int(step * 0.6180339887498949 % 1 * len(lengths))])
    return tuple(sorted(chosen))


def chunk_of(length: int) -> int:
    """Tokens of a chunk in the way `chunked` at `length`."""
    size: int = CHUNKS[length % len(CHUNKS)]
    return size
