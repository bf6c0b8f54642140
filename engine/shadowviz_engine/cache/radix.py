"""Radix tree of logical spans: keys are bytes, eight a token, so that one memory compare checks an edge."""

from array import array
from collections.abc import Iterable, Iterator

import msgspec

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import SlotRun

TOKEN_BYTES = 8
ROOT = 0


class Node:
    """A span [start, stop) of one path, with the slots that its tokens own."""

    __slots__ = (
        "chain",
        "children",
        "created",
        "full",
        "hits",
        "id",
        "key",
        "locks",
        "namespace",
        "parent",
        "queued",
        "start",
        "stop",
        "swa",
        "swa_event",
        "swa_live",
        "swa_queued",
        "terminal",
        "used",
        "used_ns",
    )

    def __init__(self, node_id: int, parent: "Node | None", key: bytes, start: int, namespace: str) -> None:
        self.id = node_id
        self.parent = parent
        self.key = key
        self.start = start
        self.stop = start + len(key) // TOKEN_BYTES
        self.namespace = namespace
        self.children: dict[bytes, Node] = {}
        self.terminal = False
        self.locks = 0
        self.full: list[SlotRun] = []
        self.swa: list[SlotRun] = []
        self.swa_live = True
        """Whether every token of the span has its row in the window's table."""
        self.swa_event = -1
        """Seq of the event through which rows were lost; -1 = none were."""
        self.used = 0
        self.used_ns = 0
        self.hits = 0
        self.created = 0
        self.queued = False
        self.swa_queued = False
        self.chain: tuple[bytes, bytes] | None = None
        """Digest of the path's whole pages up to `stop`, and the bytes after them; None = not worked out."""


class Walk(msgspec.Struct, frozen=True, gc=False):
    """How far a prompt follows stored paths; lives no longer than the lookup."""

    node: Node
    """Deepest node that is entered, whole or in part."""
    common: int
    """Equal tokens."""
    whole: bool
    """Whether `node` is matched to its end."""
    swa_live: bool
    """Whether every node on the way has all its window rows."""


def pack_key(ids: Iterable[int]) -> bytes:
    """Key of a token sequence: int64 in native order.

    Raises:
        InputError: an id that is no integer, or does not fit 64 bits.
    """
    if isinstance(ids, array) and ids.typecode == "q":
        return ids.tobytes()
    try:
        return array("q", ids).tobytes()
    except (TypeError, OverflowError) as error:
        raise InputError(f"token ids must be integers of at most 64 bits: {error}") from None


def unpack_key(key: bytes) -> "array[int]":
    """Token ids of a key."""
    ids = array("q")
    ids.frombytes(key)
    return ids


def common_bytes(edge: bytes, key: bytes, offset: int) -> int:
    """Length of the longest common prefix of `edge` and `key[offset:]` in bytes, floored to whole tokens."""
    low, high = 0, min(len(edge), len(key) - offset)
    if key.startswith(edge[:high], offset):
        return high - high % TOKEN_BYTES
    while high - low > TOKEN_BYTES:
        middle = (low + high) // 2
        if edge[low:middle] == key[offset + low : offset + middle]:
            low = middle
        else:
            high = middle
    # The first difference lies in [low, high): at most one token wide, but it may straddle a token boundary.
    while low < high and edge[low] == key[offset + low]:
        low += 1
    return low - low % TOKEN_BYTES


class RadixTree:
    """Paths of one or more namespaces; node ids are dense and never used twice, 0 is every root."""

    def __init__(self) -> None:
        self.roots: dict[str, Node] = {}
        self.nodes: dict[int, Node] = {}
        self.next_id = 1

    def root(self, namespace: str) -> Node:
        """Root of `namespace`, made when it is asked for."""
        root = self.roots.get(namespace)
        if root is None:
            root = self.roots[namespace] = Node(ROOT, None, b"", 0, namespace)
        return root

    def walk(self, namespace: str, key: bytes) -> Walk:
        """Follow `key` from the root as far as stored paths go; changes nothing."""
        root = self.roots.get(namespace)
        if root is None:
            return Walk(Node(ROOT, None, b"", 0, namespace), 0, True, True)
        return self.walk_from(root, key)

    def walk_from(self, node: Node, key: bytes) -> Walk:
        """Follow `key` from the end of `node`, whose whole path it begins with; `swa_live` speaks of what follows."""
        offset, live = node.stop * TOKEN_BYTES, True
        while True:
            child = node.children.get(key[offset : offset + 8])
            if child is None:
                return Walk(node, offset >> 3, True, live)
            edge = child.key
            live = live and child.swa_live
            if not key.startswith(edge, offset):
                return Walk(child, (offset + common_bytes(edge, key, offset)) >> 3, False, live)
            offset += len(edge)
            node = child

    def walk_classic(self, namespace: str, key: bytes) -> Walk:
        """Follow `key` over whole edges only, up to the deepest node where a registered path ends."""
        node = self.roots.get(namespace) or Node(ROOT, None, b"", 0, namespace)
        best, offset, live, best_live = node, 0, True, True
        while child := node.children.get(key[offset : offset + 8]):
            if not key.startswith(child.key, offset):
                break
            live = live and child.swa_live
            offset += len(child.key)
            node = child
            if node.terminal:
                best, best_live = node, live
        return Walk(best, best.stop, True, best_live)

    def add_child(self, parent: Node, key: bytes) -> Node:
        """New leaf under `parent` that spells `key`."""
        assert key[:TOKEN_BYTES] not in parent.children, "two children would begin with the same token"
        node = Node(self.next_id, parent, key, parent.stop, parent.namespace)
        self.next_id += 1
        parent.children[key[:TOKEN_BYTES]] = node
        self.nodes[node.id] = node
        return node

    def split(self, node: Node, at: int) -> Node:
        """Cut the first `at` tokens of `node` off into a new node above it, and return that.

        The lower part keeps its id, children, terminal mark and slots; the upper part takes over as many locks.
        """
        parent = node.parent
        assert parent is not None, "a root has nothing to split"
        assert 0 < at < node.stop - node.start, "a split leaves two spans"
        cut = at * TOKEN_BYTES
        upper = Node(self.next_id, parent, node.key[:cut], node.start, node.namespace)
        self.next_id += 1
        self.nodes[upper.id] = upper
        parent.children[upper.key[:TOKEN_BYTES]] = upper
        node.key, node.start, node.parent = node.key[cut:], upper.stop, upper
        upper.children[node.key[:TOKEN_BYTES]] = node
        upper.full, node.full = cut_runs(node.full, upper.stop)
        upper.swa, node.swa = cut_runs(node.swa, upper.stop)
        if not node.swa_live:
            upper.swa_live = num_tokens(upper.swa) == upper.stop - upper.start
            node.swa_live = num_tokens(node.swa) == node.stop - node.start
            upper.swa_event = node.swa_event
        upper.locks, upper.used, upper.used_ns, upper.hits = node.locks, node.used, node.used_ns, node.hits
        upper.created = node.created
        return upper

    def remove_leaf(self, node: Node) -> None:
        """Take a leaf out of the tree."""
        assert not node.children, "only a leaf can leave"
        assert node.parent is not None, "a root cannot leave"
        del node.parent.children[node.key[:TOKEN_BYTES]]
        del self.nodes[node.id]


def path_of(node: Node) -> list[Node]:
    """Nodes from the first below the root to `node`."""
    path: list[Node] = []
    current: Node | None = node
    while current is not None and current.parent is not None:
        path.append(current)
        current = current.parent
    path.reverse()
    return path


def ancestors(node: Node) -> Iterator[Node]:
    """`node` and every node above it, the root left out."""
    current: Node | None = node
    while current is not None and current.parent is not None:
        yield current
        current = current.parent


def cut_runs(runs: list[SlotRun], position: int) -> tuple[list[SlotRun], list[SlotRun]]:
    """Runs before and after a token position."""
    before: list[SlotRun] = []
    after: list[SlotRun] = []
    for run in runs:
        if run.stop <= position:
            before.append(run)
        elif run.start >= position:
            after.append(run)
        else:
            before.append(SlotRun(run.start, position, run.slot))
            after.append(SlotRun(position, run.stop, run.slot + position - run.start))
    return before, after


def num_tokens(runs: Iterable[SlotRun]) -> int:
    """Tokens in disjoint runs."""
    return sum(run.stop - run.start for run in runs)
