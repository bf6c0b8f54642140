"""Stored paths beside a prompt, those that share most with it first."""

from array import array
from collections.abc import Iterator
from itertools import islice

import msgspec

from shadowviz.replay.resident import path_tokens
from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.replayer import Replayer

MAX_PATHS = 256
"""Stored paths that are looked through, the most recently used first."""

MAX_PATHS_A_NODE = 32
"""Of these, paths through one node beside the prompt: a busy node does not hide the others."""

MAX_SIBLINGS = 4_096
"""Nodes beside each other that are ranked by their last use, the newest ones: a root may have a million."""

MAX_TOKENS = 4_000_000
"""Tokens of the paths together."""

NUM_COMPARED = 4
"""Paths that are compared with the prompt token by token."""

NUM_SAMPLES, SAMPLE = 32, 4
"""Runs of prompt tokens that are looked for in every path, and their length."""


class StoredPath(msgspec.Struct, frozen=True):
    """A path from the root to a leaf, as node ids and as tokens."""

    nodes: tuple[int, ...]
    tokens: "array[int]"


def likest_paths(state: Replayer, lookup: LookupDone, prompt: "array[int]") -> list[StoredPath]:
    """At most `NUM_COMPARED` stored paths that part from the prompt where it left the tree; a near one is among them.

    Ranked by how many runs of tokens, taken evenly from the rest of the prompt, occur in them; of equals the one used
    last comes first.
    """
    samples = _samples(prompt, lookup.common)
    leaves: list[int] = []
    num_tokens = 0
    for leaf in _leaves(state, lookup):
        leaves.append(leaf)
        num_tokens += state.nodes.stop[leaf]
        if num_tokens > MAX_TOKENS or len(leaves) == MAX_PATHS:
            break
    if len(leaves) > 1:
        leaves.sort(key=lambda leaf: -_num_shared(_behind(state, leaf, lookup.common), samples))
    return [_stored_path(state, leaf) for leaf in leaves[:NUM_COMPARED]]


def _samples(prompt: "array[int]", start: int) -> list[bytes]:
    last = len(prompt) - SAMPLE
    step = max(1, (last - start) // NUM_SAMPLES)
    return [prompt[place : place + SAMPLE].tobytes() for place in range(start + 1, last + 1, step)]


def _num_shared(rest: bytes, samples: list[bytes]) -> int:
    return sum(map(rest.__contains__, samples))


def _behind(state: Replayer, leaf: int, start: int) -> bytes:
    """Tokens of the path of `leaf` from position `start` on."""
    nodes, tokens = state.nodes, state.tokens
    parts, node = [], leaf
    while node and nodes.stop[node] > start:
        at = nodes.tokens_at[node]
        parts.append(tokens[at + max(start, nodes.start[node]) : at + nodes.stop[node]].tobytes())
        node = nodes.parent[node]
    return parts[0] if len(parts) == 1 else b"".join(reversed(parts))


def _stored_path(state: Replayer, leaf: int) -> StoredPath:
    return StoredPath(tuple(state.nodes.path(leaf))[::-1], path_tokens(state, leaf))


def _leaves(state: Replayer, lookup: LookupDone) -> Iterator[int]:
    nodes, near = state.nodes, lookup.near
    beside = [near]
    # Inside a node only its own path goes on with the prompt; at its end every child parts at the same token.
    if near != lookup.node:
        row, above = nodes.namespace[near], nodes.parent[near]
        newest = islice(nodes.children(above), MAX_SIBLINGS)
        others = [node for node in newest if nodes.namespace[node] == row and node != near]
        beside += sorted(others, key=lambda node: -nodes.last_used[node])[:MAX_PATHS]
    for top in beside:
        stack, num_paths = [top], 0
        while stack and num_paths < MAX_PATHS_A_NODE:
            node = stack.pop()
            if not nodes.first_child[node]:
                num_paths += 1
                yield node
                continue
            children = sorted(nodes.children(node), key=nodes.last_used.__getitem__)
            stack.extend(children[-MAX_PATHS_A_NODE:])
