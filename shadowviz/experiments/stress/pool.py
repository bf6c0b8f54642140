"""The processes that check cells: started when needed, fed one request at a time, and ended together."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final, NamedTuple

from shadowviz.experiments.stress.wire import Checked, Failed, Ready, Reply, Request, reply_of, to_line

_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from shadowviz.experiments.stress.worker import serve; serve()"
)
_ENVIRONMENT: Final = {
    # One thread a process: they share the cores, and results must not depend on how many cores there are.
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # glibc hands large tensors back to the kernel on every free; without these a third of a run is page faults.
    "MALLOC_MMAP_THRESHOLD_": "4000000000",
    "MALLOC_TRIM_THRESHOLD_": "4000000000",
    "MALLOC_TOP_PAD_": "268435456",
}
WAIT_S: Final = 0.1
"""Longest wait for a reply before Ctrl-C is looked for."""
LAST_S: Final = 5.0
"""How long a process that has closed its stream may take to end by itself."""


class Answer(NamedTuple):
    """A reply to a request; None where the process ended instead."""

    request: Request
    reply: Reply | None
    ended: str = ""
    """How the process ended."""

    @property
    def is_last(self) -> bool:
        """Whether the request is done with."""
        return self.reply is None or isinstance(self.reply, (Ready, Checked, Failed))


class Pool:
    """Up to `jobs` processes that answer requests, each one at a time."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._workers: list[_Worker] = []
        self._replies: SimpleQueue[tuple[_Worker, Reply | None]] = SimpleQueue()

    def take(self, request: Request) -> bool:
        """Give a request to a process that is free, or to one started for it; whether there was one."""
        worker = next((worker for worker in self._workers if worker.request is None), None)
        if worker is None:
            if len(self._workers) >= self._jobs:
                return False
            worker = _Worker(self._replies)
            self._workers.append(worker)
        worker.ask(request)
        return True

    @property
    def busy(self) -> bool:
        """Whether a reply is still to come."""
        return any(worker.request is not None for worker in self._workers)

    def answers(self) -> Iterator[Answer]:
        """What came since the last call; waits a moment where nothing did."""
        timeout = WAIT_S
        while True:
            try:
                worker, reply = self._replies.get(timeout=timeout)
            except Empty:
                return
            timeout = 0.0
            request = worker.request
            ended = ""
            if reply is None:
                ended = worker.ended()
                self._workers.remove(worker)
            if request is None:
                continue
            answer = Answer(request, reply, ended)
            if answer.is_last:
                worker.request = None
            yield answer

    def close(self) -> None:
        """End all processes at once."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()


class _Worker:
    """One process."""

    def __init__(self, replies: "SimpleQueue[tuple[_Worker, Reply | None]]") -> None:
        command = [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, json.dumps(sys.path)]
        # In a session of its own, so that Ctrl-C reaches only this process, which then ends the others.
        self._process = subprocess.Popen(  # noqa: S603 - the program is written out above
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_ENVIRONMENT | os.environ,
            start_new_session=True,
        )
        self.request: Request | None = None
        """What it works on; None = it is free."""
        Thread(target=self._read, args=(replies,), daemon=True).start()

    def ask(self, request: Request) -> None:
        """Send a request."""
        self.request = request
        assert self._process.stdin is not None
        # Where the process has ended, the thread that reads from it tells.
        with contextlib.suppress(OSError):
            self._process.stdin.write(to_line(request))
            self._process.stdin.flush()

    def ended(self) -> str:
        """How it ended, after it has said its last."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LAST_S)
        self.end()
        code = self._process.returncode
        return f"ended with signal {-code}" if code < 0 else f"ended with exit code {code}"

    def end(self) -> None:
        """End it with all that it started."""
        if self._process.poll() is None:
            with contextlib.suppress(OSError, AttributeError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.wait()
        assert self._process.stdin is not None
        # What is left there it will never read.
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def _read(self, replies: "SimpleQueue[tuple[_Worker, Reply | None]]") -> None:
        assert self._process.stdout is not None
        with self._process.stdout as stream:
            for line in stream:
                replies.put((self, reply_of(line)))
        replies.put((self, None))
