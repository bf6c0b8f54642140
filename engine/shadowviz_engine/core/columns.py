"""State of the replayer as columns of `array`: nodes, requests, namespaces and runs; no object a node."""

from array import array
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from shadowviz_engine.core.holdings import Run, Runs

Span: TypeAlias = tuple[int, int, int, int]
"""Start, stop, row of the namespace, and `tokens_at` of a new node; plain, as it is made for every one."""
Links: TypeAlias = tuple[int, int, int, int]
"""Parent, first child, and next and previous sibling."""
PlacedRuns: TypeAlias = tuple[int, int, int, int]
"""Where the runs of a node begin in the store and how many they are, in the full pool, then in the window pool."""

QUEUED, WAITING, PREFILL, DECODE, DONE, ABORTED = range(6)
REQUEST_STATES = ("queued", "waiting", "prefill", "decode", "done", "aborted")
"""Names of the values in `RequestColumns.state`."""


class NodeColumns:
    """One row a node id; row 0 is the root. Ids are dense and never used twice, so rows of evicted nodes stay.

    A node that was evicted keeps its tokens and runs as they were when it left. Children are a doubly linked
    list; 0 ends it.
    """

    __slots__ = (
        "alive",
        "created",
        "evicted",
        "first_child",
        "full_at",
        "full_num",
        "last_used",
        "locks",
        "namespace",
        "next_sibling",
        "parent",
        "previous_sibling",
        "start",
        "stop",
        "swa_at",
        "swa_num",
        "terminal",
        "tokens_at",
    )

    def __init__(self) -> None:
        self.parent = array("i", (0,))
        self.first_child = array("i", (0,))
        self.next_sibling = array("i", (0,))
        self.previous_sibling = array("i", (0,))
        self.start = array("i", (0,))
        self.stop = array("i", (0,))
        self.namespace = array("i", (0,))
        """Row of the namespace table."""
        self.tokens_at = array("q", (0,))
        """Where position 0 of the path would be in the token store: the span is at [at + start, at + stop)."""
        self.locks = array("i", (0,))
        self.terminal = bytearray((0,))
        self.alive = bytearray((1,))
        self.last_used = array("q", (-1,))
        """Seq of the lookup or insert that used it last."""
        self.created = array("q", (-1,))
        self.evicted = array("q", (-1,))
        """Seq of the event; -1 = never."""
        self.full_at = array("q", (0,))
        self.full_num = array("i", (0,))
        self.swa_at = array("q", (0,))
        self.swa_num = array("i", (0,))

    def __len__(self) -> int:
        return len(self.parent)

    def append_leaf(self, parent: int, span: Span, runs: PlacedRuns, terminal: bool, seq: int) -> None:
        """A new living node without locks, as the first child of `parent`."""
        first, node = self.first_child[parent], len(self.parent)
        self._append((parent, 0, first, 0), span, runs, (0, terminal, seq, seq))
        self.first_child[parent] = node
        if first:
            self.previous_sibling[first] = node

    def append_above(self, node: int, span: Span, runs: PlacedRuns, seq: int) -> None:
        """A new living node with the place, the locks and the last use of `node`, which becomes its only child."""
        upper, parent = len(self.parent), self.parent[node]
        before, after = self.previous_sibling[node], self.next_sibling[node]
        self._append((parent, node, after, before), span, runs, (self.locks[node], False, self.last_used[node], seq))
        self._point_at(upper, before, after, parent)
        self.parent[node] = upper
        self.previous_sibling[node] = self.next_sibling[node] = 0

    def _append(self, links: Links, span: Span, runs: PlacedRuns, rest: tuple[int, bool, int, int]) -> None:
        parent, first_child, next_sibling, previous_sibling = links
        start, stop, namespace, tokens_at = span
        full_at, full_num, swa_at, swa_num = runs
        locks, terminal, used, seq = rest
        self.parent.append(parent)
        self.first_child.append(first_child)
        self.next_sibling.append(next_sibling)
        self.previous_sibling.append(previous_sibling)
        self.start.append(start)
        self.stop.append(stop)
        self.namespace.append(namespace)
        self.tokens_at.append(tokens_at)
        self.locks.append(locks)
        self.terminal.append(terminal)
        self.alive.append(1)
        self.last_used.append(used)
        self.created.append(seq)
        self.evicted.append(-1)
        self.full_at.append(full_at)
        self.full_num.append(full_num)
        self.swa_at.append(swa_at)
        self.swa_num.append(swa_num)

    def pop(self) -> None:
        """Forget the newest node."""
        for name in self.__slots__:
            getattr(self, name).pop()

    def unlink(self, node: int) -> None:
        """Take `node` out of its parent's children; it remembers its place for `relink`."""
        before, after = self.previous_sibling[node], self.next_sibling[node]
        if before:
            self.next_sibling[before] = after
        else:
            self.first_child[self.parent[node]] = after
        if after:
            self.previous_sibling[after] = before

    def relink(self, node: int) -> None:
        """Put `node` back where `unlink` took it out; later changes must have been undone."""
        self._point_at(node, self.previous_sibling[node], self.next_sibling[node], self.parent[node])

    def take_out_between(self, upper: int, node: int) -> None:
        """Give the place of `upper` back to `node`."""
        before, after, parent = self.previous_sibling[upper], self.next_sibling[upper], self.parent[upper]
        self.previous_sibling[node], self.next_sibling[node], self.parent[node] = before, after, parent
        self._point_at(node, before, after, parent)

    def _point_at(self, node: int, before: int, after: int, parent: int) -> None:
        if before:
            self.next_sibling[before] = node
        else:
            self.first_child[parent] = node
        if after:
            self.previous_sibling[after] = node

    def children(self, node: int) -> Iterator[int]:
        """Living children, newest first."""
        child = self.first_child[node]
        while child:
            yield child
            child = self.next_sibling[child]

    def path(self, node: int) -> Iterator[int]:
        """`node` and its ancestors, the root left out."""
        while node:
            yield node
            node = self.parent[node]


class RequestColumns:
    """One row a request, in order of submission."""

    __slots__ = (
        "computed",
        "index",
        "lock_node",
        "lookup",
        "names",
        "namespace",
        "num_output",
        "num_prompt",
        "output_at",
        "prompt_at",
        "state",
    )

    def __init__(self) -> None:
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self.state = bytearray()
        self.namespace = array("i")
        self.num_prompt = array("i")
        self.num_output = array("i")
        """Generated tokens; known when the request has finished."""
        self.computed = array("i")
        """Tokens whose state exists: reused ones, then those of prefill and decode."""
        self.lookup = array("q")
        """Seq of its last lookup; -1 = none."""
        self.lock_node = array("i")
        """Deepest node of the path that it locked last; 0 = none."""
        self.prompt_at = array("q")
        self.output_at = array("q")

    def __len__(self) -> int:
        return len(self.names)

    def append(self, name: str, namespace: int, num_prompt: int, prompt_at: int) -> None:
        """A queued request."""
        self.index[name] = len(self.names)
        self.names.append(name)
        self.state.append(QUEUED)
        self.namespace.append(namespace)
        self.num_prompt.append(num_prompt)
        self.num_output.append(0)
        self.computed.append(0)
        self.lookup.append(-1)
        self.lock_node.append(0)
        self.prompt_at.append(prompt_at)
        self.output_at.append(0)

    def pop(self) -> None:
        """Forget the newest request."""
        for name in self.__slots__:
            if name != "index":
                getattr(self, name).pop()
        self.index.popitem()


class NamespaceTable:
    """Names by row; row 0 is the empty namespace."""

    def __init__(self) -> None:
        self.names: list[str] = [""]
        self._index = {"": 0}

    def intern(self, name: str) -> int:
        """Row of `name`, new if it has none."""
        row = self._index.get(name)
        if row is None:
            row = self._index[name] = len(self.names)
            self.names.append(name)
        return row

    def truncate(self, num_names: int) -> None:
        """Forget the rows from `num_names` on."""
        while len(self.names) > num_names:
            del self._index[self.names.pop()]


class RunStore:
    """Append-only runs as flat (start, stop, slot) triples; a holder points at its first triple and says how many."""

    def __init__(self) -> None:
        self.flat = array("i")

    def append(self, runs: Iterable[Run]) -> int:
        """Store `runs`; where they begin."""
        flat = self.flat
        at = len(flat)
        for start, stop, slot in runs:
            flat.fromlist([start, stop, slot])
        return at

    def cut(self, at: int, num_runs: int, position: int) -> PlacedRuns:
        """The runs stored from `at` on that lie before `position`, then those from it on; one across it is cut.

        Where none lies across, both are parts of what is stored.
        """
        flat, stop, place = self.flat, at + 3 * num_runs, at
        while place < stop and flat[place + 1] <= position:
            place += 3
        num_before = (place - at) // 3
        if place == stop or flat[place] >= position:
            return at, num_before, place, num_runs - num_before
        start, end, slot = flat[place], flat[place + 1], flat[place + 2]
        cut_at = len(flat)
        if num_before:
            flat.extend(flat[at:place])
        flat.fromlist([start, position, slot, position, end, slot + position - start])
        if place + 3 < stop:
            flat.extend(flat[place + 3 : stop])
        return cut_at, num_before + 1, cut_at + 3 * num_before + 3, num_runs - num_before

    def read(self, at: int, num_runs: int) -> Runs:
        """The runs stored from `at` on."""
        numbers = iter(self.flat[at : at + 3 * num_runs])
        return tuple(zip(numbers, numbers, numbers, strict=True))

    def truncate(self, length: int) -> None:
        """Forget everything stored from `length` on."""
        del self.flat[length:]
