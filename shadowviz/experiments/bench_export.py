"""What pictures of a long log cost: `shadowviz export` as a command, and its reading beside a whole replay."""

import contextlib
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from shadowviz.experiments.bench_export_log import write_log
from shadowviz.experiments.bench_report import AtMost, Figure, Part, Ratio
from shadowviz.experiments.bench_runs import Say
from shadowviz.replay.bulk.way import LogWay
from shadowviz_engine.core.log_reader import read_log
from shadowviz_engine.core.replayer import Replayer

WALL_S, MEMORY_MB = 15.0, 1024.0
"""What a picture of a million nodes may take."""
POLL_S = 0.02
"""Between two looks at a command's memory."""


@dataclass(frozen=True)
class ExportSizes:
    """Requests on one cache and copies of them in the log; events of the trace; rounds of the reading alone."""

    requests: int
    copies: int
    traced: int
    rounds: int


@dataclass(frozen=True)
class Cost:
    """What a command took; processor time is that of all its processes."""

    wall_s: float
    cpu_s: float
    memory_mb: float


def export_part(sizes: ExportSizes, say: Say) -> Part:
    """Costs of pictures, of a comparison and of a trace, and how the two ways to replay compare."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log, short, trace = folder / "log.jsonl", folder / "short.jsonl", folder / "trace.jsonl"
        say(f"export: a log of {sizes.copies:,} times {sizes.requests:,} requests")
        num_nodes = write_log(log, sizes.requests, sizes.copies)
        write_log(short, sizes.requests, 1)
        num_events = _cut(log, trace, sizes.traced)
        bulk_s, whole_s = _replays_s(short, sizes.rounds)
        costs: dict[str, Cost] = {}
        for what, arguments in (
            ("SVG", [str(log), "-f", "svg"]),
            ("HTML", [str(log), "-f", "html"]),
            ("comparison", ["--compare", f"{log}@{num_events // 2}", str(log), "-f", "json"]),
            (f"trace of {sizes.traced:,} events", [str(trace), "-f", "perfetto"]),
        ):
            say(f"export: {what}")
            costs[what] = _cost([*arguments, "-o", str(folder / f"{len(costs)}.out")])
    ratios = [Ratio("processor time, tree alone / whole replay", bulk_s / whole_s, None)]
    for what in ("SVG", "HTML"):
        ratios.append(Ratio(f"time to {what}, by {WALL_S:g} s", costs[what].wall_s / WALL_S, AtMost(1)))
        ratios.append(Ratio(f"memory to {what}, by 1 GB", costs[what].memory_mb / MEMORY_MB, AtMost(1)))
    figures = [Figure("nodes", num_nodes, ""), Figure("events", num_events, "")]
    for what, cost in costs.items():
        figures.append(Figure(f"{what}: time", cost.wall_s, "s"))
        figures.append(Figure(f"{what}: processor time", cost.cpu_s, "s"))
        figures.append(Figure(f"{what}: most memory resident", cost.memory_mb, "MB"))
    figures.append(Figure("load of the machine, one minute", max(os.getloadavg()[0], 0.01), ""))
    about = (
        f"a log of {num_nodes:,} nodes and {num_events:,} events, collapsed pictures by `shadowviz export`; "
        f"the two ways to replay in one process on a log of {sizes.requests:,} requests, the fastest of {sizes.rounds}"
    )
    return Part("export", about, tuple(ratios), tuple(figures))


def _cut(log: Path, trace: Path, num_events: int) -> int:
    """The first events of a log as one of its own; the number of all of them."""
    num_lines = 0
    with log.open("rb") as whole, trace.open("wb") as first:
        for line in whole:
            if num_lines < num_events:
                first.write(line)
            num_lines += 1
    return num_lines


def _replays_s(log: Path, rounds: int) -> tuple[float, float]:
    """Processor seconds from the file to the state, for the tree alone and for everything; the fastest, in turn."""

    def bulk() -> None:
        with LogWay(read_log(log), most_workers=0) as way:
            way.until(None)

    def whole() -> None:
        Replayer().advance(read_log(log))

    times = [(_cpu_s(bulk), _cpu_s(whole)) for _ in range(rounds)]
    return min(first for first, _ in times), min(second for _, second in times)


def _cpu_s(work: Callable[[], None]) -> float:
    gc.collect()
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _cost(arguments: list[str]) -> Cost:
    """What `shadowviz export` takes with these arguments.

    Raises:
        RuntimeError: the command failed.
    """
    begun, memory_mb, ended = time.perf_counter(), 0.0, 0
    command = [sys.executable, "-m", "shadowviz.cli.main", "export", *arguments]
    with Path(os.devnull).open("wb") as nothing:
        outputs = [(os.POSIX_SPAWN_DUP2, nothing.fileno(), place) for place in (1, 2)]
        child = os.posix_spawn(sys.executable, command, os.environ, file_actions=outputs)
    while not ended:
        memory_mb = max(memory_mb, _peak_mb(child) + sum(map(_peak_mb, _children(child))))
        time.sleep(POLL_S)
        ended, status, used = os.wait4(child, os.WNOHANG)
    if status:
        raise RuntimeError(f"shadowviz export ended with {os.waitstatus_to_exitcode(status)}: {' '.join(arguments)}")
    return Cost(time.perf_counter() - begun, used.ru_utime + used.ru_stime, memory_mb)


def _children(process: int) -> list[int]:
    with contextlib.suppress(OSError):
        return list(map(int, Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8").split()))
    return []


def _peak_mb(process: int) -> float:
    """Most memory that a process has had resident so far; what the system says after its end counts ours in."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) / 1024
    return 0.0
