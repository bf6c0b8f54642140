"""What `shadowviz export` reads: a record, or prompts that run here on the embedded engine."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from shadowviz.cli.show import write_note, write_progress
from shadowviz.replay.counts import counted
from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.events import Event, LogOpened, RequestFinished
from shadowviz_engine.core.log_reader import LogReader

DEMO = "the demo workload"
AT = re.compile(r"(?P<name>.+)@(?P<seq>-?\d{1,18})")
_RECORD = re.compile(rb'\s*\{\s*"type"\s*:')
MAX_HEAD = 1 << 20
"""Bytes of a record's first event."""
BATCH = 65536
"""Events between two lines of progress."""
ALIASES = {"cache": "cache_on", "idle_ttl": "idle_ttl_s"}
"""Options of `shadowviz run` that the engine calls otherwise."""
OWN_OPTIONS = ("record", "sidecar")
"""Options of the engine that only a recording has a use for."""


class Recording(msgspec.Struct, frozen=True):
    """A run that can be read from its first event, as often as is needed."""

    name: str
    """As the caller named it."""
    opened: LogOpened
    _events: Callable[[], Iterable[Event]]
    log: LogReader | None = None
    """The record, unless prompts were run."""
    at: int | None = None
    """Event that the name asked for, behind an @."""
    interrupted: bool = False
    """The run was ended by Ctrl-C; what was done until then is there."""
    tell: Callable[[], str] = lambda: ""
    """Says on stderr what the run lacks, once it was read, and gives the same for the picture."""

    def events(self) -> Iterator[Event]:
        """Every event, from the first, with progress on a terminal.

        Raises:
            LogError: the record contradicts itself.
        """
        events = iter(self._events())
        if not sys.stderr.isatty():
            return events
        return _with_progress(events)

    def tell_progress(self, num_events: int) -> None:
        """Say on a terminal that so many events of the record were read."""
        write_progress(f"{counted(num_events, 'event')} read")


def is_record(path: str) -> bool:
    """Whether the file begins as a record does; one that cannot be read does not, and a pipe is not looked into."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return _RECORD.match(file.read(256)) is not None
    except (OSError, ValueError):
        return False


def is_stress_record(path: str) -> bool:
    """Whether the file is a record of `shadowviz stress`: that is what its second event says."""
    if not is_record(path):
        return False
    with Path(path).open("rb") as file:
        file.readline(MAX_HEAD)
        return file.readline(256).startswith(b'{"type":"BoundaryStressStarted"')


def open_source(source: str, demo: bool, engine: Sequence[str]) -> Recording:
    """The run that the arguments name; prompts run now, to their end.

    Raises:
        InputError: no source or two, engine options beside a record, or prompts that cannot run.
        LogError: the record cannot be read.
    """
    if demo == bool(source):
        raise InputError("expected one source: a record, a file of prompts, - for prompts from stdin, or --demo")
    name, at = name_and_event(source)
    if source and Path(name).is_fifo():
        raise InputError(f"{name} is a pipe, which gives its bytes once: expected a file, or - for prompts from stdin")
    if source and is_record(name):
        if engine:
            raise InputError(f"{name} is a record and has had its engine: expected --engine beside prompts alone")
        return _record(name, at)
    return _live(name, at, demo, _engine_values(engine))


def name_and_event(source: str) -> tuple[str, int | None]:
    """Name and event of `RUN@SEQ`; a file whose name looks like that is meant before anything else."""
    found = AT.fullmatch(source)
    if found is None or Path(source).exists():
        return source, None
    seq = int(found["seq"])
    if seq < 0:
        raise InputError(f"{source[-60:]!r}: no event is before the first: expected {found['name'][-40:]}@0 or later")
    return found["name"], seq


def _record(path: str, at: int | None) -> Recording:
    from shadowviz.cli.recorded import tell_missing
    from shadowviz.sources.logfile import LogFile

    log = LogFile(path)

    def tell() -> str:
        tell_missing(log)
        return f"The record is not whole: {log.summary.lost}." if log.summary.lost else ""

    return Recording(path, log.opened, log.events, log.log, at, tell=tell)


def _with_progress(events: Iterator[Event]) -> Iterator[Event]:
    done = 0
    while batch := list(islice(events, BATCH)):
        yield from batch
        done += len(batch)
        write_progress(f"{counted(done, 'event')} read")
    write_progress("")


def _engine_values(options: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for option in options:
        name, equals, value = option.partition("=")
        name = name.strip().removeprefix("--").replace("-", "_")
        if not equals or not name or name in OWN_OPTIONS:
            raise InputError(
                f"--engine {option[:40]!r}: expected an option of run with its value, such as page-size=64"
            )
        values[ALIASES.get(name, name)] = value.strip()
    return values


def _live(source: str, at: int | None, demo: bool, values: dict[str, Any]) -> Recording:
    from shadowviz.cli.interrupts import interrupts_held, on_interrupt
    from shadowviz.cli.prompts import run_prompts
    from shadowviz.tokens.encode.tokenizer import default_tokenizer

    tokenizer = default_tokenizer()
    requests = run_prompts(source, None, demo, tokenizer)
    with interrupts_held():
        from shadowviz.sources import embedded
    run = embedded.EmbeddedRun(embedded.engine_options({"numerics": "fast", **values}), (), tokenizer)
    stop_ids = (tokenizer.eos_id,) if tokenizer.eos_id < run.vocab_size else ()
    events: list[Event] = []
    done = 0
    try:
        with on_interrupt(run.stop):
            for event in run.events(requests, stop_ids):
                events.append(event)
                if isinstance(event, RequestFinished):
                    done += 1
                    write_progress(f"{done} of {counted(len(requests), 'request')} done")
    finally:
        run.engine.close()
        write_progress("")
    opened = events[0]
    assert isinstance(opened, LogOpened), "an engine opens its record first"
    name = DEMO if demo else ("stdin" if source == "-" else source)

    def tell() -> str:
        if not run.stopped:
            return ""
        text = f"The run was interrupted: {done} of {counted(len(requests), 'request')} had finished."
        write_note(f"shadowviz: {text}")
        return text

    return Recording(name, opened, lambda: events, None, at, run.stopped, tell=tell)


def named(error: LogError, name: str) -> LogError:
    """The error with the name of the record in front, if it lacks it."""
    text = str(error)
    return error if text.startswith(name) else LogError(f"{name}: {text}")
