"""Many prompts in the order they were sent: each against the earlier one that it shares most with."""

from array import array
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from shadowviz.tokens.align.align import align
from shadowviz.tokens.common import common_beginning
from shadowviz.tokens.inputs.many import Named
from shadowviz.tokens.inputs.prompt import Prompt
from shadowviz.tokens.inputs.side import Reading, check_comparable, make_side
from shadowviz.tokens.report.compare import findings_of, loses_nothing, segment_of_first
from shadowviz.tokens.report.cost import cost_of
from shadowviz.tokens.side import Side
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry

FIRST: Final = "FIRST"
"""No earlier prompt begins like it."""
SAME: Final = "SAME"
EXTENDS: Final = "EXTENDS"
NO_LOSS: Final = "NO_LOSS"
"""It parts from the nearest one, and what agrees later is not worth naming: less than a page, and than a tenth."""
NUM_CANDIDATES: Final = 32
"""Earlier prompts of one common length of which the likest is taken, the most recent first."""
NUM_KEPT: Final = 4
"""Sides that are kept encoded."""
TOKEN_BYTES: Final = 4


class Pair(msgspec.Struct, frozen=True):
    """One prompt and the earlier one that it shares most with; in tokens."""

    request: str
    earlier: str
    """Empty for a prompt that no earlier one begins like."""
    num_prompt: int
    common: int
    reused: int
    lost: int
    """What would be reused in addition if the leading cause alone were mended."""
    gain: int
    """What would be in common in addition."""
    cause: str
    """With its subject; or SAME, EXTENDS, FIRST, NO_LOSS."""
    segment: str
    """What stands where the two part."""
    detail: str
    advice: str


class CauseSum(msgspec.Struct, frozen=True):
    """All pairs of one cause."""

    cause: str
    requests: int
    lost: int
    example: str
    """The request that lost most."""
    example_earlier: str
    example_lost: int
    advice: str


class ManyReport(msgspec.Struct, frozen=True):
    """Which prompts break where, and what each cause costs."""

    version: int
    same: bool
    """Whether no prompt lost anything to a difference."""
    geometry: str
    page: int
    requests: int
    prompt_tokens: int
    reused: int
    lost: int
    causes: tuple[CauseSum, ...]
    """The dearest first."""
    pairs: tuple[Pair, ...]
    """In the order of the prompts."""
    notes: tuple[str, ...] = ()


def compare_many(requests: Iterable[Named], reading: Reading, geometry: Geometry) -> ManyReport:
    """Each prompt against the earlier one of its namespace with the longest common prefix, which is stored whole.

    Raises:
        InputError: there are fewer than two, or one that cannot be read.
    """
    earlier: defaultdict[str, _Earlier] = defaultdict(lambda: _Earlier(reading))
    pairs: list[Pair] = []
    notes: dict[str, None] = {}
    for name, prompt in requests:
        side = make_side(name, prompt, reading)
        notes.update(dict.fromkeys(side.notes))
        nearest = earlier[prompt.namespace].nearest(side)
        pairs.append(_first(side) if nearest is None else pair_of(nearest, side, geometry))
        earlier[prompt.namespace].add(prompt, side)
    if len(pairs) < 2:
        raise InputError(f"found {len(pairs)} prompt, expected two or more to compare")
    return summed(pairs, geometry, tuple(notes))


def pair_of(earlier: Side, side: Side, geometry: Geometry) -> Pair:
    """What one prompt loses to its differences from an earlier one.

    Raises:
        InputError: the ids of the two cannot be compared.
    """
    check_comparable(earlier, side)
    diff = align(earlier, side)
    num_prompt = len(side.ids)
    if loses_nothing(earlier, side, diff):
        cost = cost_of(geometry, num_prompt, diff.common, 0, 0)
        return _pair(earlier.name, side, cost.common, cost.reused, cause=SAME if diff.equal else EXTENDS)
    leading = next((finding for finding in findings_of(earlier, side, diff) if finding.breaks), None)
    cost = cost_of(geometry, num_prompt, diff.common, leading.gain if leading else 0, diff.realigned)
    gain = cost.mended - cost.common
    if leading is None or (gain < cost.page and gain * 10 < num_prompt):
        return _pair(earlier.name, side, cost.common, cost.reused, cause=NO_LOSS)
    return Pair(
        request=side.name,
        earlier=earlier.name,
        num_prompt=num_prompt,
        common=cost.common,
        reused=cost.reused,
        lost=cost.lost,
        gain=gain,
        cause=f"{leading.cause}({leading.subject})" if leading.subject else str(leading.cause),
        segment=segment_of_first(earlier, side, diff),
        detail=leading.detail,
        advice=leading.advice,
    )


def _first(side: Side) -> Pair:
    return _pair("", side, 0, 0, cause=FIRST)


def _pair(earlier: str, side: Side, common: int, reused: int, *, cause: str) -> Pair:
    return Pair(side.name, earlier, len(side.ids), common, reused, 0, 0, cause, "", "", "")


def summed(pairs: Sequence[Pair], geometry: Geometry, notes: tuple[str, ...] = ()) -> ManyReport:
    """The pairs with their sums, the dearest cause first; of those that cost the same, the one that came up first."""
    by_cause: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_cause[pair.cause].append(pair)
    causes = sorted(map(_sum, by_cause.values()), key=lambda found: (-found.lost, -found.requests))
    return ManyReport(
        version=1,
        same=all(pair.cause in (FIRST, SAME, EXTENDS, NO_LOSS) for pair in pairs),
        geometry=geometry.name,
        page=cost_of(geometry, 0, 0, 0, 0).page,
        requests=len(pairs),
        prompt_tokens=sum(pair.num_prompt for pair in pairs),
        reused=sum(pair.reused for pair in pairs),
        lost=sum(pair.lost for pair in pairs),
        causes=tuple(causes),
        pairs=tuple(pairs),
        notes=notes,
    )


def dearest(pairs: Sequence[Pair], most: int) -> list[Pair]:
    """The pairs that lost most, of equal losses those that would gain most.

    Those of equal losses are in the order they came, because no table shows their gain.
    """
    chosen = sorted(range(len(pairs)), key=lambda place: (-pairs[place].lost, -pairs[place].gain))[:most]
    return [pairs[place] for place in sorted(chosen, key=lambda place: (-pairs[place].lost, place))]


def _sum(pairs: Sequence[Pair]) -> CauseSum:
    worst = max(pairs, key=lambda pair: (pair.lost, pair.gain))
    return CauseSum(
        worst.cause,
        len(pairs),
        sum(pair.lost for pair in pairs),
        worst.request,
        worst.earlier,
        worst.lost,
        worst.advice,
    )


class _Earlier:
    """The prompts so far, sorted by their ids, so that the nearest one is a neighbour."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._prompts: list[tuple[str, Prompt]] = []
        self._kept: dict[int, Side] = {}
        self._sorted: list[tuple[bytes, int]] = []
        """Ids as bytes that sort like them, and the prompt's place in the order they were sent."""

    def add(self, prompt: Prompt, side: Side) -> None:
        """Take one more."""
        place = len(self._prompts)
        self._prompts.append((side.name, prompt))
        self._kept[place] = side
        if len(self._kept) > NUM_KEPT:
            del self._kept[min(self._kept)]
        insort(self._sorted, (_sortable(side.ids), place))

    def nearest(self, side: Side) -> Side | None:
        """The earlier prompt with the longest common prefix, of several the likest; None where none begins alike."""
        key = _sortable(side.ids)
        place = bisect_left(self._sorted, (key, 0))
        beside = self._sorted[max(0, place - 1) : place + 1]
        common = max((common_beginning(key, other) // TOKEN_BYTES for other, _ in beside), default=0)
        if not common:
            return None
        start = bisect_left(self._sorted, (key[: common * TOKEN_BYTES], 0))
        stop = bisect_left(self._sorted, (key[: common * TOKEN_BYTES] + b"\xff" * TOKEN_BYTES, 0))
        candidates = sorted(self._sorted[start:stop], key=lambda found: -found[1])[:NUM_CANDIDATES]
        if len(candidates) == 1:
            return self._side(candidates[0][1])
        counts = Counter(side.ids)
        likest = max(candidates, key=lambda found: (counts & Counter(array("I", found[0]))).total())
        return self._side(likest[1])

    def _side(self, place: int) -> Side:
        kept = self._kept.get(place)
        return kept if kept is not None else make_side(*self._prompts[place], self._reading)


def _sortable(ids: "array[int]") -> bytes:
    """Ids as bytes of one length each: any order in which equal beginnings lie together will do."""
    packed = array("I", ids)
    assert packed.itemsize == TOKEN_BYTES, "an unsigned int has four bytes wherever this runs"
    return packed.tobytes()
