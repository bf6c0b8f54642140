"""How much of a prompt can be reused: every rule's length, and what each rule costs."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import lcm

import msgspec

from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape, StateKind
from shadowviz_engine.core.spans import Extent

Residency = Mapping[str, Sequence[Extent]]
"""Live tokens of a path by kind label, as `merge` gives them: sorted, and with a gap between any two extents.

A kind that is left out is resident throughout.

A RANGE row is live where its closing token is; a snapshot of a POINT kind at L is `[L, L + 1)`.
"""


class ResumeRule(StrEnum):
    """Which lengths a run may go on from."""

    PAGE = "page"
    """Page multiples, with the production counter for the window."""
    ANY = "any"
    """Every length whose `resume_state` is live."""


class ReuseRules(msgspec.Struct, frozen=True):
    """The rules of a lookup that depend on the geometry and the engine's switches alone."""

    resume: ResumeRule
    unit: int
    """Tokens that a reused length is a multiple of."""
    grid: int
    """What is left of the unit when the page rule is lifted."""
    gating: tuple[StateKind, ...]


def reuse_rules(geometry: Geometry, resume: ResumeRule, unit: int = 0) -> ReuseRules:
    """Rules of `geometry` under `resume`; `unit` (tokens) replaces the geometry's own where an engine uses another."""
    gating = tuple(kind for kind in geometry.kinds if kind.gates and kind.shape is not Shape.KEY)
    grid = lcm(*(kind.grid for kind in gating))
    if resume is ResumeRule.ANY:
        return ReuseRules(resume, lcm(grid, unit or 1), grid, gating)
    return ReuseRules(resume, lcm(geometry.reuse_unit, unit or 1), grid, gating)


def prompt_cap(geometry: Geometry, num_prompt: int) -> int:
    """Most tokens of a prompt that may be reused: the last one is always computed, some kinds ask for more."""
    return max(0, num_prompt - max([1, *(kind.recompute for kind in geometry.kinds)]))


def replayed_tokens(geometry: Geometry, reused: int) -> int:
    """Reused tokens that are run once more because a kind is replayed instead of kept."""
    return min(reused, max((kind.replay for kind in geometry.kinds), default=0))


class Lookup(msgspec.Struct, frozen=True, gc=False):
    """What the tree walk found for a prompt, in tokens."""

    num_prompt: int
    common: int
    """Equal tokens on the stored path, no rule applied."""
    cap: int
    """Most that may be reused: the prompt less the token that is always computed, or less (logprobs, pairs)."""


class KindLength(msgspec.Struct, frozen=True, gc=False):
    """What one state kind alone would allow, and what lifting it alone would add."""

    kind: str
    length: int
    gain: int


class ReusePlan(msgspec.Struct, frozen=True, gc=False):
    """What is reused of a prompt, and each rule's price; lengths and gains in tokens."""

    num_prompt: int
    common: int
    cap: int
    unit: int
    matched: int
    usable: int
    reused: int
    cap_gain: int
    page_gain: int
    kinds: tuple[KindLength, ...] = ()
    """Kinds that allow less than `matched`; the others allow all of it."""

    @property
    def computed(self) -> int:
        """Tokens that have to be run."""
        return self.num_prompt - self.reused


def plan_reuse(lookup: Lookup, rules: ReuseRules, resident: Residency) -> ReusePlan:
    """The deepest length that every rule and kind accepts, and the gain of each rule.

    `reused <= usable <= matched <= common`. A gain counts the tokens that would be reused in addition if that
    rule alone were lifted; the one token that is always computed is no gain.

    Source: `docs/explanation/verdicts.md`.
    """
    num_prompt, common, cap, unit = lookup.num_prompt, lookup.common, lookup.cap, rules.unit
    limit = min(common, cap)
    matched = limit - limit % unit
    if not resident:
        ceiling = _uncapped(lookup)
        uncapped = ceiling - ceiling % unit - matched
        return ReusePlan(
            num_prompt,
            common,
            cap,
            unit,
            matched,
            matched,
            matched,
            _without_last_token(lookup, uncapped),
            limit - limit % rules.grid - matched,
        )
    return _plan_with_gaps(lookup, rules, resident)


def _plan_with_gaps(lookup: Lookup, rules: ReuseRules, resident: Residency) -> ReusePlan:
    limit = min(lookup.common, lookup.cap)
    matched = limit - limit % rules.unit
    usable = usable_length(rules, rules.gating, resident, matched, rules.unit)
    uncapped = usable_length(rules, rules.gating, resident, _uncapped(lookup), rules.unit) - usable
    if usable == matched:
        # Without the page rule an engine would also keep state for that length, so only FULL bounds the gain.
        page_gain = limit - limit % rules.grid - matched
    else:
        page_gain = usable_length(rules, rules.gating, resident, limit, rules.grid) - usable
    kinds = []
    for kind in rules.gating:
        length = longest_length(kind, rules, resident, matched, rules.unit)
        if length < matched:
            others = tuple(k for k in rules.gating if kind.label not in (k.label, k.follows))
            gain = usable_length(rules, others, resident, matched, rules.unit) - usable
            kinds.append(KindLength(kind.label, length, max(0, gain)))
    return ReusePlan(
        lookup.num_prompt,
        lookup.common,
        lookup.cap,
        rules.unit,
        matched,
        usable,
        usable,
        _without_last_token(lookup, uncapped),
        max(0, page_gain),
        tuple(kinds),
    )


def _uncapped(lookup: Lookup) -> int:
    """Most tokens without the cap that binds: below the last token's, that one still holds when the other is lifted."""
    last = lookup.num_prompt - 1
    return min(lookup.common, last) if lookup.cap < last else lookup.common


def _without_last_token(lookup: Lookup, gain: int) -> int:
    """`gain` of the cap, or 0 where all it would win is the token that is always computed."""
    return 0 if gain == 1 and lookup.cap >= lookup.num_prompt - 1 else gain


def usable_length(rules: ReuseRules, kinds: Sequence[StateKind], resident: Residency, limit: int, unit: int) -> int:
    """The largest multiple of `unit` up to `limit` tokens that every one of `kinds` accepts; 0 always is."""
    length = limit - limit % unit
    settled = False
    while not settled and length:
        settled = True
        for kind in kinds:
            allowed = longest_length(kind, rules, resident, length, unit)
            if allowed < length:
                length, settled = allowed, False
    return length


def longest_length(kind: StateKind, rules: ReuseRules, resident: Residency, limit: int, unit: int) -> int:
    """The largest multiple of `unit` up to `limit` tokens at which `kind` alone can be resumed."""
    limit -= limit % unit
    live = resident.get(kind.label)
    if live is None and kind.follows:
        live = resident.get(kind.follows)
    if live is None:
        return limit
    match kind.shape:
        case Shape.RANGE:
            return _longest_range(kind, live, limit, unit)
        case Shape.WINDOW:
            need = max(kind.need, kind.page_need) if rules.resume is ResumeRule.PAGE else kind.need
            return _longest_window(kind, need, live, limit, unit)
        case Shape.OPEN:
            return _longest_open(kind, live, limit, unit)
        case Shape.POINT:
            step = lcm(unit, kind.grid)
            points = ((min(extent.stop - 1, limit) // step * step, extent.start) for extent in live)
            return max((point for point, start in points if point >= start), default=0)
        case Shape.KEY:
            return limit


def _longest_range(kind: StateKind, live: Sequence[Extent], limit: int, unit: int) -> int:
    first_missing = 0
    for extent in live:
        # Closing tokens lie at (i + 1) * unit - 1: what matters is whether one falls into the gap before the extent.
        if (first_missing + 1) * kind.unit - 1 < extent.start:
            break
        first_missing = max(first_missing, extent.stop // kind.unit)
    length = min(limit, (first_missing + 1) * kind.unit - 1)
    return length - length % unit


def _longest_window(kind: StateKind, need: int, live: Sequence[Extent], limit: int, unit: int) -> int:
    if need == 0 and not kind.chunk:
        return limit
    best = 0
    if kind.chunk:
        step = lcm(kind.chunk, unit)
        best = limit // step * step
    for extent in reversed(live):
        length = min(extent.stop, limit)
        length -= length % unit
        if length <= max(best, extent.start):
            continue
        if kind.window_start(length, need) >= extent.start:
            return length
    return best


def _longest_open(kind: StateKind, live: Sequence[Extent], limit: int, unit: int) -> int:
    best = 0
    if not kind.overlap:
        step = lcm(kind.ratio, unit)
        best = limit // step * step
    for extent in reversed(live):
        length = min(extent.stop, limit)
        length -= length % unit
        if length <= max(best, extent.start):
            continue
        if kind.open_start(length) >= extent.start:
            return length
    return best
