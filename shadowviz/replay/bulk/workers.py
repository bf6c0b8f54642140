"""Other processes that parse chunks of a log, and the way their columns come here."""

import json
import subprocess
import sys
from contextlib import suppress
from typing import IO

import msgspec

from shadowviz.replay.bulk.chunks import Chunks, parse
from shadowviz.replay.bulk.columns import Columns
from shadowviz.replay.bulk.unsound import Unsound

MOST_WORKERS = 3
"""More would wait for the one process that applies what they have parsed."""
PIPE_BYTES = 1 << 20
"""Of parsed chunks that may wait, if the system allows as much."""
LENGTH_BYTES = 8
_PROGRAM = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from shadowviz.replay.bulk.workers import work; work()"
)
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Columns).decode


class Task(msgspec.Struct, frozen=True):
    """What a worker does: it parses the chunks of some places in every round."""

    chunks: Chunks
    wanted: str
    """Request of which a lookup is looked for."""
    places: tuple[int, ...]
    round: int
    """Chunks in a round."""


class Workers:
    """Processes that parse the chunks of a log, each the same ones of every round, in order."""

    def __init__(self, chunks: Chunks, wanted: str, num: int) -> None:
        # One worker leaves a quarter of the chunks to this process, which applies all of them beside; more leave none.
        self._round = 4 if num == 1 else max(num, 1)
        shares = [(1, 2, 3)] if num == 1 else [(place,) for place in range(num)]
        self._workers = [_Worker(Task(chunks, wanted, share, self._round)) for share in shares]
        self._by_place = {place: worker for share, worker in zip(shares, self._workers, strict=True) for place in share}

    def have(self, chunk: int) -> bool:
        """Whether a chunk is parsed by a worker."""
        return chunk % self._round in self._by_place

    def next(self, chunk: int) -> Columns | None:
        """The events of a chunk, as `parse` gives them; those that workers `have` are asked for in order.

        Raises:
            Unsound: its worker has ended.
        """
        return self._by_place[chunk % self._round].next()

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.end()


class _Worker:
    def __init__(self, task: Task) -> None:
        command = [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, json.dumps(sys.path)]
        # In a session of its own, so that Ctrl-C reaches only this process, which then ends it.
        self._process = subprocess.Popen(  # noqa: S603 - the program is written out above
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.write(msgspec.json.encode(task))
            self._process.stdin.close()
        self._stream: IO[bytes] = self._process.stdout
        _widen(self._stream)

    def next(self) -> Columns | None:
        length = self._stream.read(LENGTH_BYTES)
        frame = self._stream.read(int.from_bytes(length, "little"))
        if len(length) < LENGTH_BYTES or len(frame) < int.from_bytes(length, "little"):
            raise Unsound("a worker has ended")
        return _decode(frame) if frame else None

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._stream.close()


def _widen(pipe: IO[bytes]) -> None:
    """Give a pipe more room, where that can be, so that a worker goes on while this process is busy."""
    # A thread that reads what has come would take turns with the main one, which costs more than it saves.
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def work() -> None:
    """Parse the chunks of the task on stdin, and write them to stdout, each behind its length; none is of length 0."""
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=Task)
    numbers = (number for number in range(task.chunks.num) if number % task.round in task.places)
    for lines in task.chunks.lines(numbers):
        columns = parse(lines, task.wanted)
        frame = b"" if columns is None else _encode(columns)
        sys.stdout.buffer.write(len(frame).to_bytes(LENGTH_BYTES, "little") + frame)
        sys.stdout.buffer.flush()
