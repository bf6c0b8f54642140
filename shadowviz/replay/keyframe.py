"""A saved state of the replayer, small enough to keep several of a long run."""

import zlib
from array import array
from collections.abc import Iterator

from shadowviz_engine.core.columns import NamespaceTable, NodeColumns, RequestColumns
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.holdings import Runs
from shadowviz_engine.core.replay_state import ReplayState
from shadowviz_engine.core.replayer import Replayer

_LEVEL = 1
"""Of zlib: columns shrink to a quarter at once, and hardly further."""
_RUN_BYTES = 200
"""A run that a request holds, as the tuple that it is."""


class Stores:
    """Tokens, runs and names of the longest state seen: they only ever grow, and always in the same way.

    A keyframe says how much of them it needs. An earlier state cannot lend what a later one had, so they are kept
    when a state is left for an earlier one.
    """

    def __init__(self) -> None:
        self.tokens = array("i")
        self.flat = array("i")
        self.names: list[str] = []
        self.namespaces: list[str] = [""]

    def keep(self, state: ReplayState) -> None:
        """Take over what a state has that is left for another: it must not be changed afterwards."""
        if len(state.tokens) > len(self.tokens):
            self.tokens = state.tokens
        if len(state.runs.flat) > len(self.flat):
            self.flat = state.runs.flat
        if len(state.requests.names) > len(self.names):
            self.names = state.requests.names
        if len(state.namespaces.names) > len(self.namespaces):
            self.namespaces = state.namespaces.names


class Keyframe:
    """The state of a replayer after one event."""

    def __init__(self, state: ReplayState) -> None:
        self.seq = state.seq
        self._opened: LogOpened | None = state.opened
        self._lengths = (
            len(state.tokens),
            len(state.runs.flat),
            len(state.requests.names),
            len(state.namespaces.names),
        )
        self._held: dict[str, dict[int, Runs]] = {pool: dict(runs) for pool, runs in state.held.items()}
        held_runs = sum(len(runs) for pool in self._held.values() for runs in pool.values())
        self._columns = {place: (kind, bytes(memoryview(column)), False) for place, kind, column in _columns_of(state)}
        self.num_bytes = _RUN_BYTES * held_runs + sum(len(data) for _, data, _ in self._columns.values())

    def pack(self) -> None:
        """Make it small; another thread may do so while it is used: each column is replaced at once."""
        for place, (kind, data, is_packed) in list(self._columns.items()):
            if not is_packed:
                packed = zlib.compress(data, _LEVEL)
                self._columns[place] = (kind, packed, True)
                self.num_bytes += len(packed) - len(data)

    def is_within(self, stores: Stores) -> bool:
        """Whether the stores hold all that this state has of them."""
        lengths = (len(stores.tokens), len(stores.flat), len(stores.names), len(stores.namespaces))
        return all(mine <= theirs for mine, theirs in zip(self._lengths, lengths, strict=True))

    def restore(self, stores: Stores) -> Replayer:
        """The state, as a replayer of its own."""
        num_tokens, num_flat, num_names, num_namespaces = self._lengths
        state = Replayer()
        state.seq, state.opened = self.seq, self._opened
        state.tokens = stores.tokens[:num_tokens]
        state.runs.flat = stores.flat[:num_flat]
        state.namespaces = NamespaceTable()
        for name in stores.namespaces[1:num_namespaces]:
            state.namespaces.intern(name)
        state.requests.names = stores.names[:num_names]
        state.requests.index = {name: row for row, name in enumerate(state.requests.names)}
        state.held = {pool: dict(runs) for pool, runs in self._held.items()}
        for (owner, name), (kind, data, is_packed) in list(self._columns.items()):
            unpacked = zlib.decompress(data) if is_packed else data
            column = array(kind, unpacked) if kind else bytearray(unpacked)
            setattr(state.nodes if owner == "nodes" else state.requests, name, column)
        return state


def state_bytes(state: ReplayState) -> int:
    """Bytes of the columns that a keyframe of `state` would take before it is packed."""
    return sum(memoryview(column).nbytes for _, _, column in _columns_of(state))


def _columns_of(state: ReplayState) -> Iterator[tuple[tuple[str, str], str, "array[int] | bytearray"]]:
    """Owner and name, type code (empty = bytes) and value of every column that is a buffer."""
    for owner, columns, slots in (
        ("nodes", state.nodes, NodeColumns.__slots__),
        ("requests", state.requests, RequestColumns.__slots__),
    ):
        for name in slots:
            column = getattr(columns, name)
            if isinstance(column, (array, bytearray)):
                yield (owner, name), column.typecode if isinstance(column, array) else "", column
