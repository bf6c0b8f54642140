"""What an event may refer to; every contradiction is one line that names the event."""

from shadowviz_engine.core.columns import DONE
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import Event
from shadowviz_engine.core.holdings import Runs, flaw_of, take_run, take_runs
from shadowviz_engine.core.replay_state import ReplayState


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
    requests = state.requests
    row = requests.index.get(name, -1)
    if row < 0:
        return request_row(state, event, name)
    if requests.state[row] >= DONE:
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


def check_runs(event: Event, runs: Runs) -> None:
    """`runs` are by position, disjoint and in range.

    Raises:
        LogError: they are not.
    """
    flaw = flaw_of(runs)
    if flaw is not None:
        raise contradiction(event, flaw)


def check_inside(event: Event, runs: Runs, start: int, stop: int) -> None:
    """`runs`, which are sound, lie in tokens [start, stop).

    Raises:
        LogError: they do not.
    """
    if runs and (runs[0][0] < start or runs[-1][1] > stop):
        raise contradiction(event, f"runs [{runs[0][0]},{runs[-1][1]}) reach outside [{start},{stop})")


def left_after_taking(event: Event, pool: str, held: Runs, runs: Runs) -> Runs:
    """What is left of `held` when `runs` are taken.

    Raises:
        LogError: `runs` are not sound, or not all of them are held.
    """
    if held == runs:
        return ()
    if not runs:
        return held
    # Mostly one run of one is taken, and what is held is sound.
    left = take_run(held[0], runs[0]) if len(held) == len(runs) == 1 else None
    if left is None:
        check_runs(event, runs)
        left = take_runs(held, runs)
    if left is None:
        raise not_held(event, pool)
    return left


def not_held(event: Event, pool: str) -> LogError:
    """The error for slots of a request that it does not have."""
    return contradiction(event, f"its request does not hold all of the {pool} slots in it")


def num_ids(event: Event, data: bytes) -> int:
    """Number of token ids packed in `data`.

    Raises:
        LogError: `data` is no whole number of them.
    """
    if len(data) % 4:
        raise contradiction(event, f"{len(data)} bytes of tokens: expected 4 a token")
    return len(data) // 4
