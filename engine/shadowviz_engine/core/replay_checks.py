"""What an event may refer to; every contradiction is one line that names the event."""

from array import array

from shadowviz_engine.core.columns import DONE
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import Event
from shadowviz_engine.core.holdings import Runs, flaw_of, take_runs
from shadowviz_engine.core.replay_state import ReplayState
from shadowviz_engine.core.snapshot import unpack_ids


def contradiction(event: Event, found: str) -> LogError:
    """The error for an event that cannot apply."""
    return LogError(f"{type(event).__name__} at seq {event.seq} cannot apply: {found}")


def request_row(state: ReplayState, event: Event, name: str) -> int:
    """Row of the request called `name`.

    Raises:
        LogError: it was never submitted.
    """
    row = state.requests.index.get(name)
    if row is None:
        raise contradiction(event, f"request {name!r} was never submitted")
    return row


def running_row(state: ReplayState, event: Event, name: str) -> int:
    """Row of the request called `name`, which has not ended.

    Raises:
        LogError: it was never submitted, or has ended.
    """
    row = request_row(state, event, name)
    if state.requests.state[row] >= DONE:
        raise contradiction(event, f"request {name!r} has already ended")
    return row


def check_living(state: ReplayState, event: Event, node: int) -> None:
    """`node` is in the tree and not the root.

    Raises:
        LogError: it is not.
    """
    nodes = state.nodes
    if not 0 < node < len(nodes):
        raise contradiction(event, f"node {node} was never made")
    if not nodes.alive[node]:
        raise contradiction(event, f"node {node} was evicted at seq {nodes.evicted[node]}")


def check_new(state: ReplayState, event: Event, node: int) -> None:
    """`node` is the id that comes next.

    Raises:
        LogError: it is not.
    """
    if node != len(state.nodes):
        raise contradiction(event, f"node {node} is not the next new id: expected {len(state.nodes)}")


def check_runs(event: Event, runs: Runs, start: int, stop: int) -> None:
    """`runs` are sound, and lie inside tokens [start, stop).

    Raises:
        LogError: they are not.
    """
    flaw = flaw_of(runs)
    if flaw is None and runs and (runs[0].start < start or runs[-1].stop > stop):
        flaw = f"runs [{runs[0].start},{runs[-1].stop}) reach outside [{start},{stop})"
    if flaw is not None:
        raise contradiction(event, flaw)


def left_after_taking(state: ReplayState, event: Event, pool: str, row: int, runs: Runs) -> Runs:
    """What the request in `row` still holds in `pool` when `runs` are taken from it.

    Raises:
        LogError: it does not hold them.
    """
    left = take_runs(state.held[pool].get(row, ()), runs)
    if left is None:
        name = state.requests.names[row]
        raise contradiction(event, f"request {name!r} does not hold all of {len(runs)} {pool} runs named")
    return left


def token_ids(event: Event, data: bytes) -> "array[int]":
    """Ids packed in `data`.

    Raises:
        LogError: `data` is no whole number of ids.
    """
    if len(data) % 4:
        raise contradiction(event, f"{len(data)} bytes of tokens: expected 4 a token")
    return unpack_ids(data)
