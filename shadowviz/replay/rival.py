"""Which request a lookup is to be seen beside: the one whose tokens its explanation speaks of."""

from array import array
from collections.abc import Mapping
from itertools import islice
from typing import Final

import msgspec

from shadowviz.replay.beside import MAX_SIBLINGS
from shadowviz.replay.meanings import Past
from shadowviz.replay.nearest import Parting
from shadowviz_engine.core.events import LookupDone, NotStored, SpanEvicted
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.verdict import Verdict


class Holders(msgspec.Struct, frozen=True):
    """Requests that had tokens of a prompt when it was looked up; empty = nobody, or nobody knows."""

    beside: str
    """Stored the first token that differs."""
    stored: str
    """Stored the path that equals the beginning."""
    gone: str
    """Stored what has left the cache, or computed what never got there."""
    coming: str
    """Computed them at that moment."""
    elsewhere: str
    """Stored them under another namespace."""

    def rival(self, verdict: Verdict, request: str) -> str:
        """Whom `request` is compared with: whoever the verdict is about, else whoever is nearest; empty = nobody.

        Whoever has another namespace comes last, unless the verdict is about that.
        """
        about = _ABOUT.get(verdict, "beside")
        names = (getattr(self, name) for name in (about, *self.__struct_fields__))
        return next((name for name in names if name and name != request), "")


_ABOUT: Final[Mapping[Verdict, str]] = {
    Verdict.EVICTED: "gone",
    Verdict.NOT_STORED: "gone",
    Verdict.IN_FLIGHT: "coming",
    Verdict.OTHER_NAMESPACE: "elsewhere",
}


def holders(state: Replayer, lookup: LookupDone, prompt: "array[int]", past: Past, parting: Parting | None) -> Holders:
    """Who had tokens of `prompt` in `state`, the one just before its lookup."""
    return Holders(
        beside=past.storers.get(parting.node, "") if parting is not None else "",
        stored=past.storers.get(lookup.node, ""),
        gone=_gone(lookup, past),
        coming=lookup.in_flight.request if lookup.in_flight is not None else "",
        elsewhere=_elsewhere(state, lookup, prompt, past),
    )


def _gone(lookup: LookupDone, past: Past) -> str:
    match past.causes.get(lookup.left.event) if lookup.left is not None else None:
        case SpanEvicted() as event:
            return past.storers.get(event.node, "")
        case NotStored() as event:
            return event.request
    return ""


def _elsewhere(state: Replayer, lookup: LookupDone, prompt: "array[int]", past: Past) -> str:
    """Who stored the last of the equal tokens under another namespace."""
    if lookup.namespace is None or lookup.namespace.namespace not in state.namespaces.names:
        return ""
    row = state.namespaces.names.index(lookup.namespace.namespace)
    nodes, node, end = state.nodes, 0, min(lookup.namespace.common, len(prompt))
    while nodes.stop[node] < end:
        node = next((child for child in _first_children(state, node) if _goes_on(state, child, row, prompt)), 0)
        if not node:
            return ""
    return past.storers.get(node, "")


def _first_children(state: Replayer, node: int) -> "islice[int]":
    return islice(state.nodes.children(node), MAX_SIBLINGS)


def _goes_on(state: Replayer, node: int, namespace: int, prompt: "array[int]") -> bool:
    nodes = state.nodes
    at = nodes.start[node]
    return nodes.namespace[node] == namespace and state.tokens[nodes.tokens_at[node] + at] == prompt[at]
