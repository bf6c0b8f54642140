"""State of tree, pools and requests at one event, as columns, and the digest that live and replayed state share."""

from array import array
from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from shadowviz_engine.core.events import SlotRun


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


def join_runs(runs: Iterable[SlotRun]) -> tuple[SlotRun, ...]:
    """The same slots in the fewest runs, by token position."""
    joined: list[SlotRun] = []
    for run in sorted(runs):
        if joined and joined[-1].stop == run.start and joined[-1].slot + joined[-1].stop - joined[-1].start == run.slot:
            joined[-1] = SlotRun(joined[-1].start, run.stop, joined[-1].slot)
        elif run.stop > run.start:
            joined.append(SlotRun(*run))
    return tuple(joined)


def state_digest(nodes: Iterable[NodeState], holders: Iterable[HolderState]) -> str:
    """Digest of a state: nodes by id, then the holdings of running requests by id; order of input is free.

    Runs are joined first and empty holdings left out, so that how a state was reached leaves no trace. Tokens
    enter by hash.
    """
    encoder = msgspec.msgpack.Encoder()
    digest = blake2b(digest_size=16)
    for node in sorted(nodes, key=lambda n: n.node):
        tokens = blake2b(node.tokens, digest_size=8).digest()
        row = (node.node, node.parent, node.start, node.stop, node.namespace, node.terminal, node.locks, tokens)
        digest.update(encoder.encode((row, join_runs(node.full), join_runs(node.swa))))
    for holder in sorted(holders, key=lambda h: h.request):
        full, swa = join_runs(holder.full), join_runs(holder.swa)
        if full or swa:
            digest.update(encoder.encode((holder.request, full, swa)))
    return digest.hexdigest()


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
