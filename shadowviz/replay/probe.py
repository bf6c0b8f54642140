"""What a prompt would reuse of a replayed state: a lookup that changes nothing."""

from array import array
from collections.abc import Iterable, Sequence

import msgspec

from shadowviz_engine.core.derive import retained_tokens
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import (
    Elsewhere,
    Event,
    LeftCache,
    LogOpened,
    LookupDone,
    NotStored,
    SpanEvicted,
    SwaFreed,
)
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.reuse import Lookup, Residency, ResumeRule, ReusePlan, ReuseRules, plan_reuse, reuse_rules
from shadowviz_engine.core.spans import Extent, merge


class Walk(msgspec.Struct, frozen=True):
    """Where a prompt leads in the tree."""

    common: int
    node: int
    """Deepest node that `common` reaches into; 0 is the root."""
    near: int
    """Node beside the prompt where it parts from what is stored; 0 = there is none."""


def probe(state: Replayer, prompt: "array[int]", namespace: str, departures: Iterable[Event] = ()) -> LookupDone:
    """The lookup that `prompt` would get in `state`; its seq is that of the last event.

    Args:
        departures: the `SpanEvicted`, `NotStored` and `SwaFreed` events so far, for what the prompt could have had.

    Raises:
        LogError: no log was opened.
    """
    opened = state.opened
    if opened is None:
        raise LogError("the events hold no LogOpened: expected the beginning of a log")
    found = _walk(state, prompt, namespace)
    num_prompt = len(prompt)
    cap = max(0, num_prompt - 1)
    rules = reuse_rules(opened.geometry, ResumeRule(opened.resume), opened.unit)
    plan = plan_reuse(Lookup(num_prompt, found.common, cap), rules, _residency(state, opened, found.node))
    return LookupDone(
        seq=state.seq,
        t_ns=0,
        request="",
        num_prompt=num_prompt,
        common=found.common,
        cap=cap,
        unit=plan.unit,
        matched=plan.matched,
        usable=plan.usable,
        reused=plan.reused,
        cap_gain=plan.cap_gain,
        page_gain=plan.page_gain,
        kinds=plan.kinds,
        node=found.node,
        near=found.near if found.common < num_prompt else 0,
        swa_lost=_swa_lost(state, opened, found.node, plan, departures),
        left=_left(state, prompt, namespace, plan, rules, departures),
        namespace=_other_namespace(state, opened, prompt, namespace, plan, rules),
        cache_on=opened.cache_on,
    )


def _walk(state: Replayer, prompt: "array[int]", namespace: str) -> Walk:
    nodes = state.nodes
    node, common, partly = 0, 0, False
    while not partly:
        children = _children(state, node, namespace)
        following = next((c for c in children if common < len(prompt) and _first(state, c) == prompt[common]), 0)
        if not following:
            return _settled(state, Walk(common, node, _used_last(state, children)), namespace)
        equal = equal_tokens(state.node_tokens(following), prompt[common:])
        common += equal
        node = following
        partly = nodes.start[node] + equal < nodes.stop[node]
    return _settled(state, Walk(common, node, node), namespace)


def _settled(state: Replayer, found: Walk, namespace: str) -> Walk:
    """The walk under the match mode of the cache: `classic` counts whole registered paths only."""
    assert state.opened is not None, "checked by the caller"
    if state.opened.match_mode != "classic":
        return found
    nodes = state.nodes
    whole = (n for n in nodes.path(found.node) if nodes.terminal[n] and nodes.stop[n] <= found.common)
    node = next(whole, 0)
    return Walk(nodes.stop[node], node, _used_last(state, _children(state, node, namespace)))


def _children(state: Replayer, node: int, namespace: str) -> list[int]:
    nodes, names = state.nodes, state.namespaces.names
    return [child for child in nodes.children(node) if names[nodes.namespace[child]] == namespace]


def _used_last(state: Replayer, children: list[int]) -> int:
    """The child used last, of equals the oldest; 0 if there is none."""
    return max(sorted(children), key=lambda child: state.nodes.last_used[child], default=0)


def _first(state: Replayer, node: int) -> int:
    return state.tokens[state.nodes.tokens_at[node] + state.nodes.start[node]]


def equal_tokens(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the common beginning."""
    end = min(len(left), len(right))
    if left[:end] == right[:end]:
        return end
    return next(place for place in range(end) if left[place] != right[place])


def _residency(state: Replayer, opened: LogOpened, node: int) -> Residency:
    live = merge(Extent(start, stop) for n in state.nodes.path(node) for start, stop, _ in state.swa_runs(n))
    return {kind.label: live for kind in opened.geometry.kinds if kind.shape is Shape.WINDOW}


def _swa_lost(state: Replayer, opened: LogOpened, node: int, plan: ReusePlan, departures: Iterable[Event]) -> int:
    """Seq of the event that took the window rows closest below the matched length; -1 = none were taken."""
    if not plan.kinds:
        return -1
    nodes = state.nodes
    needed = retained_tokens(opened.geometry, plan.matched, opened.resume == ResumeRule.PAGE)
    for above in nodes.path(node):
        own = needed.intersect(Extent(nodes.start[above], nodes.stop[above]))
        there = sum(own.intersect(Extent(start, stop)).size for start, stop, _ in state.swa_runs(above))
        if there < own.size:
            return _freed_at(state, above, own, departures)
    return -1


def _freed_at(state: Replayer, node: int, needed: Extent, departures: Iterable[Event]) -> int:
    """Seq of the last event that freed rows of `node` in `needed`, else of the one that stored it without them."""
    seq = state.nodes.created[node]
    for event in departures:
        if isinstance(event, SwaFreed) and needed.intersect(Extent(event.start, event.stop)):
            # A node was cut in two since then if the event names one below it.
            seq = event.seq if node in state.nodes.path(event.node) else seq
    return seq


def _other_namespace(
    state: Replayer, opened: LogOpened, prompt: "array[int]", namespace: str, plan: ReusePlan, rules: ReuseRules
) -> Elsewhere | None:
    best: Elsewhere | None = None
    for name in state.namespaces.names:
        if name == namespace:
            continue
        found = _walk(state, prompt, name)
        if found.common > (best.common if best else plan.common):
            residency = _residency(state, opened, found.node)
            there = plan_reuse(Lookup(plan.num_prompt, found.common, plan.cap), rules, residency)
            best = Elsewhere(common=found.common, gain=max(0, there.reused - plan.reused), namespace=name)
    return best


def _left(
    state: Replayer,
    prompt: "array[int]",
    namespace: str,
    plan: ReusePlan,
    rules: ReuseRules,
    departures: Iterable[Event],
) -> LeftCache | None:
    """The longest beginning of the prompt that was there once, or was computed and never stored."""
    best = plan.common
    found: SpanEvicted | NotStored | None = None
    for event in departures:
        if isinstance(event, SpanEvicted):
            length = _evicted_length(state, event.node, prompt, namespace)
        elif isinstance(event, NotStored):
            length = _unstored_length(state, event, prompt, namespace)
        else:
            continue
        # The later of two departures is the one that counts: what left before had come back.
        if length > plan.common and length >= best:
            best, found = length, event
    if found is None:
        return None
    there = plan_reuse(Lookup(plan.num_prompt, best, plan.cap), rules, {})
    by = found.by if isinstance(found, SpanEvicted) else ""
    return LeftCache(length=best, reason=found.reason, event=found.seq, by=by, gain=max(0, there.reused - plan.reused))


def _evicted_length(state: Replayer, node: int, prompt: "array[int]", namespace: str) -> int:
    nodes = state.nodes
    if state.namespaces.names[nodes.namespace[node]] != namespace:
        return 0
    path = list(nodes.path(node))[::-1]
    for above in path[:-1]:
        if prompt[nodes.start[above] : nodes.stop[above]] != state.node_tokens(above):
            return 0
    equal = equal_tokens(state.node_tokens(node), prompt[nodes.start[node] :])
    return nodes.start[node] + equal if equal else 0


def _unstored_length(state: Replayer, event: NotStored, prompt: "array[int]", namespace: str) -> int:
    row = state.requests.index.get(event.request, -1)
    if row < 0 or state.namespaces.names[state.requests.namespace[row]] != namespace:
        return 0
    return min(event.stop, equal_tokens(state.request_tokens(row), prompt))
