"""What a prompt finds in the cache: the walk, every rule's length, and the facts a verdict needs."""

from collections.abc import Iterator
from typing import Any

from shadowviz_engine.cache.pools import extents_of
from shadowviz_engine.cache.radix import TOKEN_BYTES, Node, Walk, common_bytes, path_of
from shadowviz_engine.cache.state import CacheState
from shadowviz_engine.core.derive import retained_tokens
from shadowviz_engine.core.events import Elsewhere, LeftCache, LookupDone
from shadowviz_engine.core.reuse import Lookup, Residency, ReusePlan, plan_reuse
from shadowviz_engine.core.spans import Extent

_ALL_LIVE: Residency = {}

MAX_NAMESPACES = 64
"""Other namespaces that a lookup compares with; beyond that a shared prefix there goes unnoticed."""


def lookup_done(
    state: CacheState, found: Walk, request: str, namespace: str, key: bytes, cap: int, stamp: tuple[int, int]
) -> LookupDone:
    """The event of one lookup; changes nothing.

    Args:
        found: what `walk` gave for `key`.
        cap: most tokens that may be reused.
        stamp: seq and t_ns of the event.
    """
    num_prompt = len(key) >> 3
    common = found.common
    resident: Residency = _ALL_LIVE if found.swa_live else residency(state, found)
    plan = plan_reuse(Lookup(num_prompt, common, cap), state.rules, resident)
    seq, t_ns = stamp
    return LookupDone(
        seq=seq,
        t_ns=t_ns,
        request=request,
        num_prompt=num_prompt,
        common=common,
        cap=cap,
        unit=plan.unit,
        matched=plan.matched,
        usable=plan.usable,
        reused=plan.reused,
        cap_gain=plan.cap_gain,
        page_gain=plan.page_gain,
        node=found.node.id,
        **_circumstances(state, found, request, namespace, key, plan),
    )


def _circumstances(
    state: CacheState, found: Walk, request: str, namespace: str, key: bytes, plan: ReusePlan
) -> dict[str, Any]:
    """Fields of a lookup that most have no use for."""
    fields: dict[str, Any] = {}
    if plan.common < plan.num_prompt:
        fields["near"] = _near(found)
        fields["left"] = _left(state, found, key, plan)
        if len(state.tree.roots) > (namespace in state.tree.roots):
            fields["namespace"] = _other_namespace(state, namespace, key, plan)
        if state.sequences:
            fields["in_flight"] = _in_flight(state, request, namespace, key, plan)
    if plan.kinds:
        fields["kinds"] = plan.kinds
        fields["swa_lost"] = _swa_lost(state, found, plan)
    if plan.cap < plan.num_prompt - 1:
        fields["cap_rule"] = "logprobs"
    if state.ghost.forgotten:
        fields["ghost_overflowed"] = True
    if not state.options.cache_on:
        fields["cache_on"] = False
    return fields


def residency(state: CacheState, found: Walk) -> Residency:
    """Live window tokens of the matched path; every other kind is there as long as the node is."""
    runs = [run for node in path_of(found.node) for run in node.swa]
    return {state.window_label: extents_of(runs)} if state.window_label else {}


def touch(found: Walk, seq: int, t_ns: int) -> None:
    """Note the use of every node on the matched path."""
    node = found.node
    while node.parent is not None:
        node.used = seq
        node.used_ns = t_ns
        node.hits += 1
        node = node.parent


def _near(found: Walk) -> int:
    """Node of the stored path beside the prompt: the edge it parts in, else the child used last."""
    if not found.whole:
        return found.node.id
    children = found.node.children.values()
    return max(children, key=lambda child: child.used).id if children else 0


def _swa_lost(state: CacheState, found: Walk, plan: ReusePlan) -> int:
    """Seq of the event that took the window rows closest below the matched length."""
    start = retained_tokens(state.geometry, plan.matched, state.page_rule).start
    for node in reversed(path_of(found.node)):
        if node.stop <= start:
            break
        needed = Extent(max(node.start, start), min(node.stop, plan.matched))
        there = sum(extent.intersect(needed).size for extent in extents_of(node.swa))
        if needed and there < needed.size:
            return node.swa_event
    return -1


def _left(state: CacheState, found: Walk, key: bytes, plan: ReusePlan) -> LeftCache | None:
    if not state.ghost.entries:
        return None
    whole = found.node if found.whole else found.node.parent
    assert whole is not None, "a node matched in part has a parent"
    remembered = state.ghost.find(whole, key)
    if remembered is None or remembered[0] <= plan.common:
        return None
    length, departure = remembered
    return LeftCache(length, departure.reason, departure.event, departure.by, _gain(state, plan, length))


def _other_namespace(state: CacheState, namespace: str, key: bytes, plan: ReusePlan) -> Elsewhere | None:
    best = plan.common
    where: Walk | None = None
    for other in _other_roots(state, namespace):
        found = state.walk(other, key)
        if found.common > best:
            best, where = found.common, found
    if where is None:
        return None
    resident: Residency = {} if where.swa_live else residency(state, where)
    there = plan_reuse(Lookup(plan.num_prompt, best, plan.cap), state.rules, resident)
    return Elsewhere(best, max(0, there.reused - plan.reused), namespace=where.node.namespace)


def _other_roots(state: CacheState, namespace: str) -> Iterator[str]:
    others = (name for name, root in state.tree.roots.items() if name != namespace and root.children)
    for _, name in zip(range(MAX_NAMESPACES), others, strict=False):
        yield name


def _in_flight(state: CacheState, request: str, namespace: str, key: bytes, plan: ReusePlan) -> Elsewhere | None:
    best, by = plan.common, ""
    for sequence in state.sequences.values():
        if sequence.request == request or sequence.namespace != namespace or sequence.stored >= sequence.num_prompt:
            continue
        equal = common_bytes(sequence.prompt_key, key, 0) // TOKEN_BYTES
        if state.options.match_mode == "classic" and equal < sequence.num_prompt:
            continue
        if equal > max(best, sequence.stored):
            best, by = equal, sequence.request
    return Elsewhere(best, _gain(state, plan, best), request=by) if by else None


def _gain(state: CacheState, plan: ReusePlan, common: int) -> int:
    """Tokens reused in addition if `common` tokens of the prompt were stored with all their kinds."""
    there = plan_reuse(Lookup(plan.num_prompt, common, plan.cap), state.rules, {})
    return max(0, there.reused - plan.reused)


def node_at(state: CacheState, found: Walk, length: int) -> Node:
    """Node of the matched path that ends exactly at `length` tokens; splits one when none does."""
    node = found.node
    while node.parent is not None and node.start >= length:
        node = node.parent
    if node.stop > length:
        return state.split(node, length - node.start)
    return node
