"""What recording costs: runs with and without a log, and the writer beside the encoder alone."""

from __future__ import annotations

import gc
import random
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from statistics import median

import msgspec

from shadowviz.experiments.bench_report import AtLeast, AtMost, Figure, Part, Ratio
from shadowviz.experiments.bench_runs import MODEL, Models, Say, load_models, new_engine, random_prompt
from shadowviz_engine.core.events import Event
from shadowviz_engine.core.log import FileSink
from shadowviz_engine.core.sinks import MemorySink, NullSink, Sink
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.runtime.request import Request

BATCH = 1024
"""Events a write."""


@dataclass(frozen=True)
class LogSizes:
    """A run's requests, tokens of their prompts (half of them shared) and outputs, rounds; events and how often."""

    requests: int
    prompt: int
    decoded: int
    rounds: int
    events: int
    writes: int


def log_part(sizes: LogSizes, say: Say) -> Part:
    """Cost of a log at level `lookups`, and the rate at which events are written."""
    models = load_models()
    memory = MemorySink()
    _Run(models, sizes, memory).finish()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        pairs = []
        for number in range(sizes.rounds):
            say(f"recording: round {number + 1} of {sizes.rounds}")
            pairs.append(side_by_side(models, sizes, path, number))
        say("recording: writing events alone")
        events = repeated(memory.events, sizes.events)
        writes = [
            (encoding_s(events), encoding_batches_s(events), plain_writing_s(events, path), writing_s(events, path))
            for _ in range(sizes.writes)
        ]
        num_bytes = path.stat().st_size
    recorded = quiet_s([with_log for with_log, _, _ in pairs])
    plain = quiet_s([without for _, without, _ in pairs])
    shares = [sum(times) / (sum(times) - inside) for times, _, inside in pairs]
    encoding, encoding_batches, plain_writing, writing = map(min, zip(*writes, strict=True))
    return Part(
        "recording",
        f"`{MODEL}`, fast, {sizes.requests} requests with prompts of {sizes.prompt:,} tokens and {sizes.decoded} more; "
        f"two engines in turn, pass for pass, each pass as fast as in the fastest of {sizes.rounds} runs; then "
        f"{sizes.events:,} events of that run in batches of {BATCH:,}, the fastest of {sizes.writes} times",
        (
            Ratio("time of a run with a log / its time outside the log", median(shares), AtMost(1.03)),
            Ratio("time of a run with a log / of one without", recorded / plain, None),
            Ratio("events/s, log / msgspec encoding each event", encoding / writing, AtLeast(0.8)),
            Ratio("events/s, log / msgspec encoding batches", encoding_batches / writing, None),
            Ratio("events/s, log / msgspec encoding batches into a plain file", plain_writing / writing, None),
        ),
        (
            Figure("run without a log", plain * 1e3, "ms"),
            Figure("log of that run", len(memory.events), "events"),
            Figure("events written to a log", sizes.events / writing / 1e3, "thousand/s"),
            Figure("bytes written to a log", num_bytes / writing / 1e6, "MB/s"),
        ),
    )


class _Run:
    """Requests on an engine of their own, taken pass by pass."""

    def __init__(self, models: Models, sizes: LogSizes, sink: Sink) -> None:
        self._engine = new_engine(models, Numerics.FAST, sink)
        self.seconds: list[float] = []
        """Of submitting, of each pass, and of closing, in turn."""
        chance, vocab_size = random.Random(0), self._engine.model.config.vocab_size
        shared = random_prompt(sizes.prompt // 2, vocab_size, chance)
        prompts = [
            shared + random_prompt(sizes.prompt - len(shared), vocab_size, chance) for _ in range(sizes.requests)
        ]
        begun = time.perf_counter()
        for number, prompt in enumerate(prompts):
            self._engine.submit(Request(id=f"request-{number}", token_ids=prompt, max_tokens=sizes.decoded))
        self.seconds.append(time.perf_counter() - begun)
        self._busy = True

    def step(self) -> bool:
        """One pass, or the close behind the last one; whether anything is left to do."""
        begun = time.perf_counter()
        going_on = self._busy
        if going_on:
            self._busy = self._engine.step()
        else:
            self._engine.close()
        self.seconds.append(time.perf_counter() - begun)
        return going_on

    def finish(self) -> None:
        """All passes and the close."""
        while self.step():
            pass


class _Timed:
    """A log that keeps the seconds spent in it."""

    def __init__(self, path: Path) -> None:
        self.seconds = 0.0
        self._log = FileSink(path, overwrite=True)

    def emit(self, event: Event, /) -> None:
        """As the log does."""
        begun = time.perf_counter()
        self._log.emit(event)
        self.seconds += time.perf_counter() - begun

    def flush(self) -> None:
        """As the log does."""
        begun = time.perf_counter()
        self._log.flush()
        self.seconds += time.perf_counter() - begun

    def close(self) -> None:
        """As the log does."""
        begun = time.perf_counter()
        self._log.close()
        self.seconds += time.perf_counter() - begun


def side_by_side(models: Models, sizes: LogSizes, path: Path, number: int) -> tuple[list[float], list[float], float]:
    """A run with a log in `path` and the same run without one, taken in turn.

    Returns:
        Seconds of every pass of the first and of the second, and those that the first spent in its log.
    """
    gc.collect()
    log = _Timed(path)
    recorded = _Run(models, sizes, log)
    plain = _Run(models, sizes, NullSink())
    both = (recorded, plain)
    going_on = True
    while going_on:
        # Whoever comes second finds the weights in the processor's caches.
        first = (number + len(plain.seconds)) % 2
        going_on = both[first].step()
        assert both[1 - first].step() == going_on, "the same requests took another number of passes"
    return recorded.seconds, plain.seconds, log.seconds


def quiet_s(runs: Sequence[Sequence[float]]) -> float:
    """Seconds of a run in which every pass is as fast as in the fastest of `runs`: the rest is what else ran."""
    passes: Iterable[tuple[float, ...]] = zip(*runs, strict=True)
    return sum(map(min, passes))


def repeated(events: Sequence[Event], count: int) -> list[Event]:
    """`count` events, those given over and over, numbered densely from 0."""
    return [msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(islice(cycle(events), count))]


def encoding_s(events: Sequence[Event]) -> float:
    """Seconds in which msgspec encodes `events` as they come, and nothing is written."""
    encode = msgspec.json.Encoder().encode
    gc.collect()
    begun = time.perf_counter()
    for event in events:
        encode(event)
    return time.perf_counter() - begun


def encoding_batches_s(events: Sequence[Event]) -> float:
    """Seconds in which msgspec encodes `events` in batches, and nothing is written."""
    encoder = msgspec.json.Encoder()
    gc.collect()
    begun = time.perf_counter()
    for first in range(0, len(events), BATCH):
        encoder.encode_lines(events[first : first + BATCH])
    return time.perf_counter() - begun


def plain_writing_s(events: Sequence[Event], path: Path) -> float:
    """Seconds in which msgspec encodes `events` in batches and each goes into a file as it is."""
    encoder = msgspec.json.Encoder()
    with path.open("wb", buffering=0) as file:
        gc.collect()
        begun = time.perf_counter()
        for first in range(0, len(events), BATCH):
            file.write(encoder.encode_lines(events[first : first + BATCH]))
        return time.perf_counter() - begun


def writing_s(events: Sequence[Event], path: Path) -> float:
    """Seconds in which a log takes `events` and is closed."""
    path.unlink(missing_ok=True)
    sink = FileSink(path)
    emit = sink.emit
    gc.collect()
    begun = time.perf_counter()
    for first in range(0, len(events), BATCH):
        for event in events[first : first + BATCH]:
            emit(event)
        sink.flush()
    sink.close()
    return time.perf_counter() - begun
