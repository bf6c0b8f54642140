"""What a replayer keeps: columns of nodes and requests, tokens, runs, and how they are read."""

import sys
from array import array
from collections.abc import Iterator
from itertools import chain, compress

from shadowviz_engine.core.columns import NamespaceTable, NodeColumns, RequestColumns, RunStore
from shadowviz_engine.core.events import LogOpened, SlotRun
from shadowviz_engine.core.holdings import Run, Runs
from shadowviz_engine.core.snapshot import (
    DigestRow,
    HolderState,
    NodeState,
    join_runs,
    pack_ids,
    rows_digest,
    tokens_hash,
    unpack_ids,
)

_NATIVE = array("i").itemsize == 4 and sys.byteorder == "little"


class ReplayState:
    """State of tree, requests and slots after an event."""

    def __init__(self) -> None:
        self.seq = -1
        """Seq of the event applied last; -1 = none."""
        self.opened: LogOpened | None = None
        self.nodes = NodeColumns()
        self.requests = RequestColumns()
        self.namespaces = NamespaceTable()
        self.tokens = array("i")
        """Append-only: prompts, outputs, and copies of spans that cross from one to the other."""
        self.runs = RunStore()
        """Runs of nodes."""
        self.held: dict[str, dict[int, Runs]] = {"full": {}, "swa": {}}
        """By pool, runs that a request (row) holds beside the tree's; requests without any are left out."""

    def node_tokens(self, node: int) -> "array[int]":
        """Token ids of the span."""
        at = self.nodes.tokens_at[node]
        return self.tokens[at + self.nodes.start[node] : at + self.nodes.stop[node]]

    def request_tokens(self, row: int) -> "array[int]":
        """Prompt of the request in `row`, followed by its output once it has finished."""
        requests = self.requests
        prompt_at, output_at = requests.prompt_at[row], requests.output_at[row]
        prompt = self.tokens[prompt_at : prompt_at + requests.num_prompt[row]]
        return prompt + self.tokens[output_at : output_at + requests.num_output[row]]

    def full_runs(self, node: int) -> Runs:
        """Slots of the node's tokens in the full pool."""
        return self.runs.read(self.nodes.full_at[node], self.nodes.full_num[node])

    def swa_runs(self, node: int) -> Runs:
        """Slots of the node's tokens in the window pool, where they were not freed."""
        return self.runs.read(self.nodes.swa_at[node], self.nodes.swa_num[node])

    def node_states(self) -> Iterator[NodeState]:
        """Living nodes without the root, by id."""
        nodes = self.nodes
        for node in range(1, len(nodes)):
            if nodes.alive[node]:
                yield NodeState(
                    node=node,
                    parent=nodes.parent[node],
                    start=nodes.start[node],
                    stop=nodes.stop[node],
                    namespace=self.namespaces.names[nodes.namespace[node]],
                    terminal=bool(nodes.terminal[node]),
                    locks=nodes.locks[node],
                    tokens=pack_ids(self.node_tokens(node)),
                    full=slot_runs(self.full_runs(node)),
                    swa=slot_runs(self.swa_runs(node)),
                )

    def holder_states(self) -> Iterator[HolderState]:
        """Requests that hold slots beside the tree's, in order of submission."""
        full, swa = self.held["full"], self.held["swa"]
        for row in sorted(full.keys() | swa.keys()):
            yield HolderState(self.requests.names[row], slot_runs(full.get(row, ())), slot_runs(swa.get(row, ())))

    def digest(self) -> str:
        """Digest of the state, as in `LogClosed`."""
        return rows_digest(self._digest_rows(), self.holder_states())

    def _digest_rows(self) -> Iterator[DigestRow]:
        """Living nodes without the root, by id; their tokens are not copied."""
        nodes, names = self.nodes, self.namespaces.names
        columns = zip(
            range(len(nodes)), nodes.parent, nodes.start, nodes.stop, nodes.namespace, nodes.terminal, nodes.locks,
            nodes.tokens_at, nodes.full_at, nodes.full_num, nodes.swa_at, nodes.swa_num, strict=True,
        )  # fmt: skip
        with memoryview(self.tokens if _NATIVE else pack_ids(self.tokens)).cast("B") as tokens:
            living = compress(columns, nodes.alive)
            next(living)
            for node, parent, start, stop, namespace, ends, locks, at, full_at, full_num, swa_at, swa_num in living:
                ids = tokens_hash(tokens[4 * (at + start) : 4 * (at + stop)])
                full = self._joined_runs(full_at, full_num)
                swa = full if swa_at == full_at and swa_num == full_num else self._joined_runs(swa_at, swa_num)
                yield (node, parent, start, stop, names[namespace], bool(ends), locks, ids), full, swa

    def _joined_runs(self, at: int, num_runs: int) -> Runs:
        """Runs as the digest takes them."""
        if num_runs == 1:
            flat = self.runs.flat
            return ((flat[at], flat[at + 1], flat[at + 2]),)
        return join_runs(self.runs.read(at, num_runs)) if num_runs else ()

    def add_tokens(self, packed: bytes) -> None:
        """Append ids (int32, little-endian) to the token store."""
        if _NATIVE:
            self.tokens.frombytes(packed)
        else:
            self.tokens.extend(unpack_ids(packed))

    def held_runs(self, pool: str) -> Iterator[Run]:
        """Runs of slots that requests hold beside the tree's, whosever they are."""
        return chain.from_iterable(self.held[pool].values())

    def set_held(self, pool: str, row: int, runs: Runs) -> None:
        """Make `runs` all that the request in `row` holds in `pool`."""
        holders = self.held[pool]
        if runs:
            holders[row] = runs
        elif row in holders:
            del holders[row]


def slot_runs(runs: Runs) -> tuple[SlotRun, ...]:
    """The same runs with names for their parts."""
    return tuple(SlotRun(*run) for run in runs)
