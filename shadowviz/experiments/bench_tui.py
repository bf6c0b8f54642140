"""What the terminal interface costs, in a real terminal: first frames, keys at a million nodes, a log that grows."""

import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from shadowviz.experiments.bench_report import AtLeast, AtMost, Figure, Part, Ratio
from shadowviz.experiments.bench_runs import Say
from shadowviz.experiments.bench_terminal import COLUMNS, LINES, Key, Terminal
from shadowviz.experiments.bench_tui_log import more_lines, write_large_log

RATE = 5_000
"""Events a second while keys are measured."""
STARTS = 3
"""Starts of which the fastest counts; one before them compiles the modules."""

BUSY_S = 3.0
"""For what the arriving events take without keys to be measured."""

Keys = list[Key]


@dataclass(frozen=True)
class TuiSizes:
    """Nodes of the tree, and keys pressed on each occasion."""

    nodes: int
    keys: int


@dataclass(frozen=True)
class _Measured:
    first_s: float
    """From the command to the first frame."""
    events_per_s: float
    """From the first frame to the state of all events."""
    early: Keys
    """On the way there, from half a second after the first frame on."""
    still: Keys
    growing: Keys
    busy: float
    """CPU seconds a second that the arriving events take without keys."""
    peak_mb: float


def tui_part(sizes: TuiSizes, say: Say) -> Part:
    """Times, CPU and memory of the interface at a log of `sizes.nodes` nodes."""
    with tempfile.TemporaryDirectory() as folder:
        log, compiled = Path(folder, "large.jsonl"), Path(folder, "compiled")
        say(f"tui: a log of {sizes.nodes:,} nodes")
        count = write_large_log(log, sizes.nodes)
        say("tui: first frames")
        first_s = min([_first_frame_s(log, compiled) for _ in range(STARTS + 1)][1:])
        return _part(sizes, _measure(sizes, say, log, compiled, count, first_s))


def _first_frame_s(log: Path, compiled: Path) -> float:
    terminal = Terminal(log, "live", compiled)
    try:
        return terminal.first_frame_s()
    finally:
        terminal.close()


def _measure(sizes: TuiSizes, say: Say, log: Path, compiled: Path, count: int, first_s: float) -> _Measured:
    terminal = Terminal(log, "live", compiled)
    try:
        say("tui: the way to the state of all events")
        began = terminal.first_frame_s()
        whole = terminal.until(f"LIVE e{count - 1:,}".encode(), 300.0)
        terminal.send(b"2")
        terminal.settle(60.0)
        say("tui: keys in the tree")
        still = [terminal.key(b"j") for _ in range(sizes.keys)]
        say(f"tui: keys while {RATE:,} events a second arrive")
        busy, growing = _while_growing(terminal, log, count, sizes.keys)
        memory = terminal.peak_mb()
    finally:
        terminal.close()
    early = _early_keys(log, compiled, sizes.keys)
    return _Measured(first_s, count / (whole - began), early, still, growing, busy, memory)


def _early_keys(log: Path, compiled: Path, num_keys: int) -> Keys:
    """Keys pressed from the first frame on, while the log is read."""
    terminal = Terminal(log, "live", compiled)
    try:
        terminal.first_frame_s()
        threading.Event().wait(0.5)
        return [terminal.key(b"j") for _ in range(num_keys)]
    finally:
        terminal.close()


def _while_growing(terminal: Terminal, log: Path, seq: int, num_keys: int) -> tuple[float, Keys]:
    ended = threading.Event()

    def grow() -> None:
        at = seq
        with log.open("ab") as file:
            while not ended.wait(0.02):
                file.write(b"".join(more_lines(at, RATE // 50)))
                file.flush()
                at += RATE // 50

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        return terminal.busy(BUSY_S), [terminal.key(b"j") for _ in range(num_keys)]
    finally:
        ended.set()
        writer.join()


def _part(sizes: TuiSizes, measured: _Measured) -> Part:
    figures = [
        Figure("first frame after the command", measured.first_s, "s"),
        Figure("events a second until the end", measured.events_per_s, ""),
        Figure("most memory resident", measured.peak_mb, "MB"),
    ]
    occasions = (
        ("a key", measured.still),
        (f"a key, {RATE:,} events a second", measured.growing),
        ("a key while the log is read", measured.early),
    )
    own = median(key.cpu_s - measured.busy * key.span_s for key in measured.growing)
    ratios = [
        Ratio("first frame, by 1 s", measured.first_s, AtMost(1)),
        Ratio("events a second until the end, by 100,000", measured.events_per_s / 100_000, AtLeast(1)),
        Ratio("memory, by 250 MB", measured.peak_mb / 250, AtMost(1)),
        Ratio("CPU of a key, median by 15 ms", median(key.cpu_s for key in measured.still) / 0.015, AtMost(1)),
        Ratio(f"CPU of a key, {RATE:,} events a second, beyond that of the events, by 15 ms", own / 0.015, AtMost(1)),
    ]
    for name, keys in occasions:
        walls = [key.wall_s * 1e3 for key in keys]
        within = quantiles(walls, n=20)[-1]
        figures.append(Figure(f"{name}: median", median(walls), "ms"))
        figures.append(Figure(f"{name}: 95 of 100 within", within, "ms"))
        figures.append(Figure(f"{name}: median of CPU", median(key.cpu_s for key in keys) * 1e3, "ms"))
        ratios.append(Ratio(f"{name}, 95 of 100 by 50 ms", within / 50, AtMost(1)))
    figures.append(Figure(f"CPU of {RATE:,} events, drawn as they arrive", measured.busy * 1e3, "ms"))
    about = (
        f"a real terminal of {COLUMNS}x{LINES}, a log of {sizes.nodes:,} nodes and more events, {sizes.keys} keys on "
        f"each occasion; first frame: the fastest of {STARTS} starts with compiled modules"
    )
    return Part("tui", about, tuple(ratios), tuple(figures))
