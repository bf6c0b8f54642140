"""The way to the process that renders templates: started when needed, given a time, and started anew if it failed."""

import atexit
import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any, Final

from shadowviz.tokens.inert import shorten
from shadowviz.tokens.templates.wire import from_line, to_line
from shadowviz_engine.core.errors import InputError

START_S: Final = 60.0
"""How long the process may take to start, on a busy machine."""
_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from shadowviz.tokens.templates.worker import serve; serve()"
)


class TemplateProcess:
    """One process, used by one caller at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._is_ready = False

    def start(self) -> None:
        """Start the process unless it runs, without waiting for it."""
        with self._lock:
            self._start()

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a request.

        Raises:
            InputError: the template fails, takes longer than `seconds` or too much memory, or nothing can render it.
        """
        try:
            line = to_line(request)
        except RecursionError:
            raise InputError("the messages, tools or options nest too deep, expected plain JSON values") from None
        except (TypeError, ValueError) as error:
            raise InputError(f"the messages, tools or options are no JSON: {shorten(str(error))}") from None
        with self._lock:
            try:
                answer = self._exchange(line, seconds)
            except BaseException:
                self._stop()
                raise
        if "error" in answer:
            raise InputError(f"the chat template {shorten(str(answer['error']), 400)}")
        return answer

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()

    def _exchange(self, line: bytes, seconds: float) -> dict[str, Any]:
        process = self._start()
        if not self._is_ready:
            if not self._next_line(START_S):
                raise InputError("found no renderer of templates, expected jinja2: pip install 'jinja2>=3.1.6'")
            self._is_ready = True
        assert process.stdin is not None
        # Where it has ended, what it last said tells why.
        with contextlib.suppress(OSError):
            process.stdin.write(line)
            process.stdin.flush()
        reply = self._next_line(seconds)
        if reply is None:
            raise InputError(f"the chat template takes longer than {seconds:.1f} s, expected one that ends")
        if not reply:
            raise InputError("the chat template made the process that renders it fail, expected plain text")
        answer = from_line(reply)
        if answer.get("spent"):
            self._stop()
        return answer

    def _next_line(self, seconds: float) -> bytes | None:
        """What the process says next, empty where it has ended, None where it says nothing in time."""
        stop = monotonic() + seconds
        while (left := stop - monotonic()) > 0:
            try:
                # In short steps: a wait that the system cannot interrupt would keep Ctrl-C.
                return self._lines.get(timeout=min(left, 0.1))
            except Empty:
                continue
        return None

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        command = [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, json.dumps(sys.path)]
        # In a session of its own, so that Ctrl-C reaches only this process, which then ends the other.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._process, self._lines, self._is_ready = process, SimpleQueue(), False
        Thread(target=_read_lines, args=(process, self._lines), daemon=True).start()
        return process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        assert process.stdin is not None
        # What is left there it will never read.
        with contextlib.suppress(OSError):
            process.stdin.close()


def _read_lines(process: subprocess.Popen[bytes], lines: SimpleQueue[bytes]) -> None:
    assert process.stdout is not None
    with process.stdout as stream:
        for line in stream:
            lines.put(line)
    lines.put(b"")


@cache
def template_process() -> TemplateProcess:
    """The process of this program; it ends with it."""
    process = TemplateProcess()
    atexit.register(process.close)
    return process
