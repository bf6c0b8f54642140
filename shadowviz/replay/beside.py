"""Stored paths beside a prompt, those that share most with it first."""

from array import array
from collections.abc import Iterator

import msgspec

from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.replayer import Replayer

MAX_PATHS = 256
"""Stored paths that are looked through, the most recently used first."""

MAX_PATHS_A_NODE = 32
"""Of these, paths through one node beside the prompt: a busy node does not hide the others."""

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
    paths: list[StoredPath] = []
    num_tokens = 0
    for nodes in _leaf_paths(state, lookup):
        path = StoredPath(nodes, _tokens(state, nodes))
        paths.append(path)
        num_tokens += len(path.tokens)
        if num_tokens > MAX_TOKENS or len(paths) == MAX_PATHS:
            break
    samples = _samples(prompt, lookup.common)
    paths.sort(key=lambda path: -_num_shared(path, samples, lookup.common))
    return paths[:NUM_COMPARED]


def _samples(prompt: "array[int]", start: int) -> list[bytes]:
    last = len(prompt) - SAMPLE
    step = max(1, (last - start) // NUM_SAMPLES)
    return [prompt[place : place + SAMPLE].tobytes() for place in range(start + 1, last + 1, step)]


def _num_shared(path: StoredPath, samples: list[bytes], start: int) -> int:
    rest = path.tokens[start:].tobytes()
    return sum(sample in rest for sample in samples)


def _leaf_paths(state: Replayer, lookup: LookupDone) -> Iterator[tuple[int, ...]]:
    nodes, near = state.nodes, lookup.near
    beside = [near]
    # Inside a node only its own path goes on with the prompt; at its end every child parts at the same token.
    if near != lookup.node:
        row, above = nodes.namespace[near], nodes.parent[near]
        others = [node for node in nodes.children(above) if nodes.namespace[node] == row and node != near]
        beside += sorted(others, key=lambda node: -nodes.last_used[node])[:MAX_PATHS]
    for top in beside:
        stack, num_paths = [top], 0
        while stack and num_paths < MAX_PATHS_A_NODE:
            node = stack.pop()
            children = sorted(nodes.children(node), key=lambda child: nodes.last_used[child])
            stack.extend(children[-MAX_PATHS_A_NODE:])
            if not children:
                num_paths += 1
                yield tuple(nodes.path(node))[::-1]


def _tokens(state: Replayer, path: tuple[int, ...]) -> "array[int]":
    tokens = array("i")
    for node in path:
        tokens.extend(state.node_tokens(node))
    return tokens
