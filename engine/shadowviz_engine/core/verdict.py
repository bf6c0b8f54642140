"""The verdict of a lookup: every rule that cost something, ranked by what lifting it alone would give."""

from enum import StrEnum

import msgspec

from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.reuse import KindLength


class Verdict(StrEnum):
    """Why a prompt was reused as far as it was, and not further."""

    COLD = "COLD"
    """Nothing like it was ever stored, or nothing that is worth naming."""
    FULL_HIT = "FULL_HIT"
    """All that is worth naming was reused."""
    TOKENS_DIFFER = "TOKENS_DIFFER"
    """The prompt parts from the nearest stored path and agrees with it again later."""
    TOO_SHORT = "TOO_SHORT"
    """Nothing was reused, because what could be is shorter than one unit of reuse."""
    CAPPED = "CAPPED"
    """The limit on what may be reused: last token, logprobs or pair."""
    PAGE_ALIGNED = "PAGE_ALIGNED"
    """The floor to a multiple of the unit of reuse."""
    CUT_BY_SWA = "CUT_BY_SWA"
    """Tokens match, but the window before them is gone."""
    NO_STATE = "NO_STATE"
    """Tokens match, but another kind of state is gone."""
    GROUP_MIN = "GROUP_MIN"
    """In an engine with KV groups: the group with the shortest hit."""
    OTHER_NAMESPACE = "OTHER_NAMESPACE"
    """Equal tokens under another key, salt or adapter."""
    WRONG_RANK = "WRONG_RANK"
    """Cached on another data-parallel rank."""
    EVICTED = "EVICTED"
    """It was there and left."""
    NOT_STORED = "NOT_STORED"
    """It was computed and never got there, or was flushed on request."""
    TIER_NOT_READ = "TIER_NOT_READ"
    """On a lower tier and not brought back."""
    IN_FLIGHT = "IN_FLIGHT"
    """Being computed by another request at that moment."""
    HASH_SEED = "HASH_SEED"
    """Block hashes differ between processes."""
    METRIC_WRONG = "METRIC_WRONG"
    """The counter is impossible."""
    UNKNOWN = "UNKNOWN"
    """The source does not say."""


NOT_STORED_REASONS = frozenset({"abort", "flush", "off", "retracted"})
"""Reasons of `LeftCache` that are no eviction."""


class TokensRule(msgspec.Struct, frozen=True):
    """What the first difference from the nearest stored path costs; see `shadowviz.replay.nearest`."""

    token: int
    """Position of the first differing token."""
    cause: str
    length: int
    """Tokens that would be reused if the differing stretch were as stored."""
    gain: int
    """Tokens that would be reused in addition."""


class Finding(msgspec.Struct, frozen=True):
    """One rule, what it alone allows, and what lifting it alone would add; lengths in tokens."""

    verdict: Verdict
    rule: str
    """cap, namespace, page, evicted, not stored, in flight, tokens, or the label of a state kind; "" = no rule."""
    detail: str = ""
    """What stands in parentheses behind the verdict."""
    length: int = 0
    """Tokens that would be reused without this rule."""
    gain: int = 0
    material: bool = False
    event: int = -1
    """Seq of the event that brought it about; -1 = none is known."""

    @property
    def label(self) -> str:
        """Verdict with its detail, as every view shows it."""
        return f"{self.verdict}({self.detail})" if self.detail else str(self.verdict)


def is_material(gain: int, unit: int, num_prompt: int) -> bool:
    """Whether tokens are worth naming: one unit of reuse, or a tenth of the prompt."""
    return gain > 0 and (gain >= unit or gain * 10 >= num_prompt)


def findings(lookup: LookupDone, geometry: Geometry, tokens: TokensRule | None = None) -> tuple[Finding, ...]:
    """The verdict of a lookup first, then every other rule that cost something, dearest first.

    The rule with the largest material gain leads, ties in the order in which a hit is cut down. Without one it is
    FULL_HIT when something was reused and COLD when nothing was; UNKNOWN in place of COLD once the cache has
    forgotten what left it. With the cache off that leads. Where any length can be reused, the page stands for the
    unit: a first token that all prompts share is no hit, and a loss of one token no reason. A state kind that cut
    the hit leads over the page rule from half of its gain on, since without the page only a length is chosen that the
    kind accepts.

    Args:
        tokens: what the first differing stretch costs; worked out by the caller, since it needs the stored tokens.

    Source: `docs/explanation/verdicts.md`.
    """
    unit = max(lookup.unit, geometry.page_size)
    rules = [rule for rule in _rules(lookup, geometry, tokens) if rule.gain > 0]
    ranked = [
        msgspec.structs.replace(rule, material=is_material(rule.gain, unit, lookup.num_prompt))
        for rule in sorted(rules, key=lambda rule: -rule.gain)
    ]
    if not lookup.cache_on:
        off = next((rule for rule in ranked if rule.verdict is Verdict.NOT_STORED), None)
        leader = off or Finding(Verdict.NOT_STORED, "not stored", "off", lookup.reused)
        return (leader, *(rule for rule in ranked if rule is not leader))
    if ranked and ranked[0].material:
        return tuple(_kind_before_page(lookup, ranked))
    return (_without_material_gain(lookup, unit), *ranked)


def verdict_of(lookup: LookupDone, geometry: Geometry, tokens: TokensRule | None = None) -> Finding:
    """The leading finding."""
    return findings(lookup, geometry, tokens)[0]


def _kind_before_page(lookup: LookupDone, ranked: list[Finding]) -> list[Finding]:
    if ranked[0].rule != "page" or lookup.usable == lookup.matched:
        return ranked
    kinds = (rule for rule in ranked if rule.verdict in (Verdict.CUT_BY_SWA, Verdict.NO_STATE))
    kind = next((rule for rule in kinds if rule.material and rule.gain * 2 >= ranked[0].gain), None)
    return ranked if kind is None else [kind, *(rule for rule in ranked if rule is not kind)]


def _without_material_gain(lookup: LookupDone, unit: int) -> Finding:
    if is_material(lookup.reused, unit, lookup.num_prompt):
        return Finding(Verdict.FULL_HIT, "", length=lookup.reused)
    if lookup.ghost_overflowed:
        return Finding(Verdict.UNKNOWN, "", "the memory of what left has overflowed")
    return Finding(Verdict.COLD, "")


def _rules(lookup: LookupDone, geometry: Geometry, tokens: TokensRule | None) -> list[Finding]:
    # In the order in which a hit is cut down. A path that was there, or soon will be, comes before a path that is
    # merely alike: of two equal gains, the one that leaves the prompt as it is names the cause.
    rules = [_finding(lookup, Verdict.CAPPED, "cap", lookup.cap_rule, lookup.cap_gain)]
    if lookup.namespace is not None:
        rules.append(
            _finding(lookup, Verdict.OTHER_NAMESPACE, "namespace", lookup.namespace.namespace, lookup.namespace.gain)
        )
    rules.append(_page_rule(lookup))
    if lookup.left is not None:
        rules.append(_left_rule(lookup))
    if lookup.in_flight is not None:
        rules.append(_finding(lookup, Verdict.IN_FLIGHT, "in flight", lookup.in_flight.request, lookup.in_flight.gain))
    if tokens is not None:
        rules.append(_finding(lookup, Verdict.TOKENS_DIFFER, "tokens", tokens.cause, tokens.gain))
    rules.extend(_kind_rule(lookup, geometry, kind) for kind in lookup.kinds)
    return rules


def _finding(lookup: LookupDone, verdict: Verdict, rule: str, detail: str, gain: int, event: int = -1) -> Finding:
    return Finding(verdict, rule, detail, lookup.reused + gain, gain, event=event)


def _page_rule(lookup: LookupDone) -> Finding:
    if lookup.reused:
        return _finding(lookup, Verdict.PAGE_ALIGNED, "page", str(lookup.page_gain), lookup.page_gain)
    return _finding(lookup, Verdict.TOO_SHORT, "page", str(lookup.unit), lookup.page_gain)


def _left_rule(lookup: LookupDone) -> Finding:
    assert lookup.left is not None
    reason = lookup.left.reason
    if reason in NOT_STORED_REASONS:
        verdict, rule, detail = Verdict.NOT_STORED, "not stored", reason.replace("_", " ")
    else:
        verdict, rule, detail = Verdict.EVICTED, "evicted", reason
    return _finding(lookup, verdict, rule, detail, lookup.left.gain, lookup.left.event)


def _kind_rule(lookup: LookupDone, geometry: Geometry, kind: KindLength) -> Finding:
    if geometry.kind(kind.kind).shape is Shape.WINDOW:
        return _finding(lookup, Verdict.CUT_BY_SWA, kind.kind, "", kind.gain, lookup.swa_lost)
    return _finding(lookup, Verdict.NO_STATE, kind.kind, kind.kind, kind.gain)
