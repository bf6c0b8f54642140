"""State of tree, pools and requests at one event, and the digest that live and replayed state share."""

from array import array
from collections.abc import Iterable
from hashlib import blake2b
from itertools import islice
from typing import TypeAlias

import msgspec

from shadowviz_engine.core.events import SlotRun
from shadowviz_engine.core.holdings import Run, Runs

DigestRow: TypeAlias = tuple[tuple[int, int, int, int, str, bool, int, bytes], Runs, Runs]
"""A node in the digest: id, parent, start, stop, namespace, terminal mark, locks and `tokens_hash`, then its runs in
the full and in the window pool, joined; plain, because of a large tree there are many."""

_BATCH = 1024
"""Rows encoded at once."""


class NodeState(msgspec.Struct, frozen=True):
    """One node as the digest sees it."""

    node: int
    parent: int
    start: int
    stop: int
    namespace: str
    terminal: bool
    locks: int
    tokens: bytes
    """Ids of the span, int32 little-endian."""
    full: tuple[SlotRun, ...]
    swa: tuple[SlotRun, ...]


class HolderState(msgspec.Struct, frozen=True):
    """Slots that a running request holds beside the tree's."""

    request: str
    full: tuple[SlotRun, ...]
    swa: tuple[SlotRun, ...]


def join_runs(runs: Iterable[Run]) -> Runs:
    """The same slots in the fewest runs, by token position."""
    joined: list[Run] = []
    for start, stop, slot in sorted(runs):
        before = joined[-1] if joined else (0, 0, 0)
        if joined and before[1] == start and before[2] + before[1] - before[0] == slot:
            joined[-1] = (before[0], stop, before[2])
        elif stop > start:
            joined.append((start, stop, slot))
    return tuple(joined)


def state_digest(nodes: Iterable[NodeState], holders: Iterable[HolderState]) -> str:
    """Digest of a state: nodes by id, then the holdings of running requests by id; order of input is free.

    Runs are joined first and empty holdings left out, so that how a state was reached leaves no trace. Tokens
    enter by hash.
    """
    return rows_digest(map(_row, sorted(nodes, key=lambda n: n.node)), holders)


def rows_digest(rows: Iterable[DigestRow], holders: Iterable[HolderState]) -> str:
    """`state_digest` of nodes that are rows already, by id."""
    encoder = msgspec.msgpack.Encoder()
    digest = blake2b(digest_size=16)
    left = iter(rows)
    while batch := list(islice(left, _BATCH)):
        # The digest is of row after row, so that the head of their array is left out: one byte up to 15, else three.
        digest.update(memoryview(encoder.encode(batch))[1 if len(batch) < 16 else 3 :])
    for holder in sorted(holders, key=lambda h: h.request):
        full, swa = join_runs(holder.full), join_runs(holder.swa)
        if full or swa:
            digest.update(encoder.encode((holder.request, full, swa)))
    return digest.hexdigest()


def _row(node: NodeState) -> DigestRow:
    tokens = tokens_hash(node.tokens)
    row = (node.node, node.parent, node.start, node.stop, node.namespace, node.terminal, node.locks, tokens)
    return row, join_runs(node.full), join_runs(node.swa)


def tokens_hash(tokens: bytes | memoryview) -> bytes:
    """What stands for the ids of a span in the digest."""
    return blake2b(tokens, digest_size=8).digest()


def pack_ids(ids: Iterable[int]) -> bytes:
    """Token ids as int32, little-endian."""
    packed = array("i", ids)
    if packed.itemsize != 4 or array("H", [1]).tobytes() != b"\x01\x00":
        return b"".join(int(i).to_bytes(4, "little", signed=True) for i in packed)
    return packed.tobytes()


def unpack_ids(data: bytes) -> "array[int]":
    """Token ids from int32, little-endian."""
    ids = array("i")
    if ids.itemsize != 4 or array("H", [1]).tobytes() != b"\x01\x00":
        return array("i", (int.from_bytes(data[i : i + 4], "little", signed=True) for i in range(0, len(data), 4)))
    ids.frombytes(data)
    return ids
