"""Other processes that parse chunks of a log, and the way their columns come here."""

import json
import os
import select
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

import msgspec

from shadowviz.replay.bulk.chunks import Chunks, parse
from shadowviz.replay.bulk.columns import Columns
from shadowviz.replay.bulk.unsound import Unsound

MOST_WORKERS = 3
"""More would wait for the one process that applies what they have parsed."""
MOST_GIVEN = 3
"""Chunks that a worker has at once, so that it need not wait for the next one."""
MOST_AHEAD = 32
"""Chunks that are parsed before the one that comes next is."""
PIPE_BYTES = 1 << 20
"""Of parsed chunks that may wait, if the system allows as much."""
NUMBER_BYTES = 8
HAS_BEGUN = b"!"
_PROGRAM = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from shadowviz.replay.bulk.workers import work; work()"
)
# Blocks of a chunk's size are used again rather than given back and fetched anew.
_ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": str(1 << 26), "MALLOC_TRIM_THRESHOLD_": str(1 << 26)}
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Columns).decode


class Task(msgspec.Struct, frozen=True):
    """What a worker is told at first; then it is told numbers of chunks."""

    chunks: Chunks
    wanted: str
    """Request of which a lookup is looked for."""


class Parsers:
    """Parse the chunks of a log, here and in other processes: whoever has nothing to do takes the next one."""

    def __init__(self, task: Task, num_workers: int) -> None:
        self._task = task
        self._workers: list[_Worker] = []
        if os.name == "posix" and sys.executable:
            # Where no process can be had, those that there are do its part.
            with suppress(OSError):
                while len(self._workers) < num_workers:
                    self._workers.append(_Worker(task))
        self._parsed: dict[int, Columns | None] = {}
        self._next = 0
        """First chunk that nobody has."""

    def columns(self) -> Iterator[Columns | None]:
        """The events of every chunk, in order, as `parse` gives them.

        Raises:
            LogError: the file cannot be read.
            Unsound: a worker has ended.
        """
        num = self._task.chunks.num
        for number in range(num):
            last = min(num, number + MOST_AHEAD)
            if self._next == number:
                self._parse()
            self._give(last)
            while number not in self._parsed:
                # Rather than to wait for a chunk, another is parsed here.
                is_idle = self._next == last
                if not self._receive(is_waiting=is_idle) and not is_idle:
                    self._parse()
                self._give(last)
            yield self._parsed.pop(number)

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.end()

    def _parse(self) -> None:
        number, self._next = self._next, self._next + 1
        self._parsed[number] = parse(self._task.chunks.lines(number), self._task.wanted)

    def _give(self, last: int) -> None:
        """Give workers chunks before `last`, those that have come to an end with theirs."""
        self._receive(is_waiting=False)
        for worker in self._workers:
            while worker.may_have_more and self._next < last:
                worker.give(self._next)
                self._next += 1

    def _receive(self, *, is_waiting: bool) -> bool:
        """Take what workers have sent; whether that was anything."""
        streams = [worker.stream for worker in self._workers]
        if not streams:
            return False
        ready, _, _ = select.select(streams, [], [], None if is_waiting else 0)
        for worker in self._workers:
            if worker.stream in ready:
                self._parsed.update(worker.receive())
        return bool(ready)


class _Worker:
    def __init__(self, task: Task) -> None:
        command = [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, json.dumps(sys.path)]
        # In a session of its own, so that Ctrl-C reaches only this process, which then ends it. Not buffered, so that
        # what has come can be seen.
        self._process = subprocess.Popen(  # noqa: S603 - the program is written out above
            command,
            bufsize=0,
            env=_ENVIRONMENT | os.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._tasks, self.stream = self._process.stdin, self._process.stdout
        self._given: deque[int] = deque()
        self._has_begun = False
        _widen(self.stream)
        self._tell(msgspec.json.encode(task) + b"\n")

    @property
    def may_have_more(self) -> bool:
        """Whether another chunk would be of use; one that is still starting gets none that others wait for."""
        return self._has_begun and len(self._given) < MOST_GIVEN

    def give(self, chunk: int) -> None:
        """Have it parse a chunk, behind those that it was given."""
        self._given.append(chunk)
        self._tell(chunk.to_bytes(NUMBER_BYTES, "little"))

    def receive(self) -> dict[int, Columns | None]:
        """What it sends next: a chunk, or nothing but that it has begun.

        Raises:
            Unsound: it has ended.
        """
        if not self._has_begun:
            self._has_begun = self._read(len(HAS_BEGUN)) == HAS_BEGUN
            return {}
        frame = self._read(int.from_bytes(self._read(NUMBER_BYTES), "little"))
        return {self._given.popleft(): _decode(frame) if frame else None}

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._tasks.close()
        self.stream.close()

    def _tell(self, data: bytes) -> None:
        # That it has ended is seen where its answer is read.
        with suppress(OSError):
            self._tasks.write(data)

    def _read(self, num_bytes: int) -> bytes:
        parts = bytearray()
        while len(parts) < num_bytes:
            part = self.stream.read(num_bytes - len(parts))
            if not part:
                raise Unsound("a worker has ended")
            parts += part
        return bytes(parts)


def _widen(pipe: IO[bytes]) -> None:
    """Give a pipe more room, where that can be, so that a worker goes on while this process is busy."""
    # A thread that reads what has come would take turns with the main one, which costs more than it saves.
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def work() -> None:
    """Parse chunks of the task on stdin, whose numbers follow it there; columns go to stdout behind their lengths.

    None at all is of length 0.
    """
    tasks, results = sys.stdin.buffer, sys.stdout.buffer
    task = msgspec.json.decode(tasks.readline(), type=Task)
    results.write(HAS_BEGUN)
    results.flush()
    while number := tasks.read(NUMBER_BYTES):
        columns = parse(task.chunks.lines(int.from_bytes(number, "little")), task.wanted)
        frame = b"" if columns is None else _encode(columns)
        results.write(len(frame).to_bytes(NUMBER_BYTES, "little") + frame)
        results.flush()
