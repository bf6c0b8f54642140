"""Logs of real caches for tests of the terminal interface."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import numpy as np
from cache_driver import Driver, options
from trees import opened_of

from shadowviz_engine.core.events import (
    SCHEMA,
    Event,
    LogClosed,
    LogOpened,
    LookupDone,
    RequestSubmitted,
    SlotRun,
    SlotsTaken,
    StepDone,
)
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.replayer import Replayer


def chat_log(path: Path, *, closed: bool = True, **more: object) -> Path:
    """A server's morning on `v4-flash` as a log: a system prompt, forks, another tenant, window rows freed.

    `more` are fields of its first event.
    """
    geometry, chosen = preset("v4-flash"), options(num_swa_pages=14)
    driver = Driver(geometry, chosen)
    fields = msgspec.structs.asdict(opened_of(geometry, chosen)) | more
    driver._emit(LogOpened, **{name: value for name, value in fields.items() if name not in ("seq", "t_ns", "rank")})
    system = list(range(1_000, 2_024))
    for turn in range(3):
        driver.run([*system, *range(5_000, 5_300 + 300 * turn)], output=range(9_000, 9_040))
    driver.run([*system, *range(6_000, 6_700)], output=range(9_100, 9_120))
    driver.run([*range(1_000, 1_512), *range(7_000, 7_300)], namespace="tenant-b", output=range(9_200, 9_210))
    running, _ = driver.start([*system, *range(5_000, 5_200), *range(8_000, 8_500)])
    driver.prefill(running, 1_024 + 200 + 500)
    return write_log(path, driver.events, closed=closed)


def family_log(path: Path, name: str, **more: object) -> Path:
    """Three prompts on the geometry of any family: one stored, one that parts from it, and the first one again."""
    geometry, chosen = preset(name), options(num_full_pages=4_000, num_swa_pages=4_000)
    driver = Driver(geometry, chosen)
    fields = msgspec.structs.asdict(opened_of(geometry, chosen)) | more
    driver._emit(LogOpened, **{name: value for name, value in fields.items() if name not in ("seq", "t_ns", "rank")})
    for prompt in (range(700), [*range(500), *range(9, 200)], range(700)):
        driver.run(prompt, output=range(9_000, 9_005))
    return write_log(path, driver.events, closed=True)


def long_log(path: Path, num_tokens: int = 1_000_000) -> Path:
    """One request of so many tokens, as an engine records it while it is computed, and a short one behind it."""
    geometry, page = preset("v4-flash"), preset("v4-flash").page_size
    pages = -(-num_tokens // page)
    opened = LogOpened(
        seq=0, t_ns=0, schema=SCHEMA, geometry=geometry, resume="page", policy="lru", num_full_pages=2 * pages
    )
    ids = np.arange(num_tokens, dtype="<i4") % 50_000
    events = [
        opened,
        RequestSubmitted(seq=1, t_ns=0, request="long", tokens=ids.tobytes()),
        LookupDone(
            seq=2, t_ns=0, request="long", num_prompt=num_tokens, common=0, cap=num_tokens - 1, unit=page, matched=0,
            usable=0, reused=0,
        ),
        SlotsTaken(seq=3, t_ns=0, request="long", pool="full", runs=(SlotRun(0, num_tokens, page),)),
        StepDone(seq=4, t_ns=0, prefill=(("long", 0, num_tokens),)),
        RequestSubmitted(seq=5, t_ns=0, request="short", tokens=ids[:3].tobytes()),
    ]  # fmt: skip
    return write_log(path, events, closed=False)


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
