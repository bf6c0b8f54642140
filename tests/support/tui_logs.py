"""Logs of real caches for tests of the terminal interface."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
from cache_driver import Driver, options
from trees import opened_of

from shadowviz_engine.core.events import Event, LogClosed, LogOpened
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.replayer import Replayer


def chat_log(path: Path, *, closed: bool = True) -> Path:
    """A server's morning on `v4-flash` as a log: a system prompt, forks, another tenant, window rows freed."""
    geometry, chosen = preset("v4-flash"), options(num_swa_pages=14)
    driver = Driver(geometry, chosen)
    fields = msgspec.structs.asdict(opened_of(geometry, chosen))
    driver._emit(LogOpened, **{name: value for name, value in fields.items() if name not in ("seq", "t_ns", "rank")})
    system = list(range(1_000, 2_024))
    for turn in range(3):
        driver.run([*system, *range(5_000, 5_300 + 300 * turn)], output=range(9_000, 9_040))
    driver.run([*system, *range(6_000, 6_700)], output=range(9_100, 9_120))
    driver.run([*range(1_000, 1_512), *range(7_000, 7_300)], namespace="tenant-b", output=range(9_200, 9_210))
    running, _ = driver.start([*system, *range(5_000, 5_200), *range(8_000, 8_500)])
    driver.prefill(running, 1_024 + 200 + 500)
    return write_log(path, driver.events, closed=closed)


def write_log(path: Path, events: Iterable[Event], *, closed: bool) -> Path:
    """Events as the lines of a log."""
    state, lines = Replayer(), []
    for event in events:
        state.apply(event)
        lines.append(msgspec.json.encode(event))
    if closed:
        end = LogClosed(seq=state.seq + 1, t_ns=0, count=state.seq + 1, digest=state.digest())
        lines.append(msgspec.json.encode(end))
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path
