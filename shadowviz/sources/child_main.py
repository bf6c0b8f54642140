"""What runs in the child process of the terminal interface: `python -m shadowviz.sources.child_main`.

It reads a `Setup` and then commands from its standard input. When that ends, for whatever reason, or its parent is no
more, it closes the record and ends.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import IO

import msgspec

from shadowviz.sources.child_wire import Answer, Command, Setup, from_line, to_line
from shadowviz.sources.states import EngineState
from shadowviz.tokens.inert import printable
from shadowviz_engine.core.errors import ShadowvizError
from shadowviz_engine.core.log import FileSink

WATCH_S = 0.5
"""Between two looks at the parent."""
GRACE_S = 20.0
"""For the pass at hand and the end of the record, once the child is to stop; then it ends as it is."""


LAST_S = 1.0
"""For the file of the record to be opened, and for the last answer to be taken, where there is nothing to close."""


def _nothing() -> None:
    """There is no file yet."""


class Line:
    """The way to the parent and back."""

    def __init__(self, commands: IO[bytes], answers: IO[bytes]) -> None:
        self._commands, self._answers = commands, answers
        self._queue: SimpleQueue[Command] = SimpleQueue()
        self._lock = Lock()
        self._parent = os.getppid()
        self._wakes, self._woken = os.pipe()
        self.stopped = Event()
        """Set when the child is to stop."""
        self.ready = Event()
        """Set when there is a record to close; before that nothing is lost by ending at once."""
        self._early = Lock()
        self._forget: Callable[[], None] = _nothing

    def watch(self) -> None:
        """End with the parent, or when `wake` was called, from now on."""
        Thread(target=self._watch, daemon=True).start()

    def wake(self, *_: object) -> None:
        """The child is to stop; as a signal's handler, which must wait for no lock that what it interrupts may hold."""
        os.write(self._woken, b".")

    def listen(self) -> None:
        """Take commands from now on."""
        Thread(target=self._listen, daemon=True).start()

    def open(self, setup: Setup) -> FileSink:
        """The file for the record; it goes if the child is to stop before there is anything to record."""
        with self._early:
            sink = FileSink(setup.log, overwrite=setup.overwrite)
            self._forget = sink.discard
        return sink

    def say(self, answer: Answer) -> None:
        """Send an answer; a parent that is gone hears nothing."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._answers.write(to_line(answer))
            self._answers.flush()

    def next(self, seconds: float) -> Command | None:
        """The next command within so many seconds; a stop once the child is to stop."""
        if self.stopped.is_set():
            return Command(id=-1, do="stop")
        try:
            return self._queue.get(timeout=seconds) if seconds else self._queue.get_nowait()
        except Empty:
            return Command(id=-1, do="stop") if self.stopped.is_set() else None

    def stop(self) -> None:
        """The child is to stop: at once where there is nothing to close."""
        self.stopped.set()
        if not self.ready.is_set():
            # A file that does not open, such as a pipe that nobody reads, may hold the child no longer than that.
            self._early.acquire(timeout=LAST_S)
            self._forget()
            last = Thread(target=self.say, args=(Answer(state=EngineState.STOPPED),), daemon=True)
            last.start()
            last.join(LAST_S)
            os._exit(0)
        self._queue.put(Command(id=-1, do="stop"))

    def _listen(self) -> None:
        for raw in self._commands:
            try:
                command = from_line(raw, Command)
            except (msgspec.MsgspecError, RecursionError) as error:
                self.say(Answer(taken=False, words=printable(f"no command: {error}")))
                continue
            if command.do == "stop":
                self.stop()
            else:
                self._queue.put(command)
        self.stop()

    def _watch(self) -> None:
        while not self.stopped.is_set():
            is_woken = select.select([self._wakes], [], [], WATCH_S)[0]
            if is_woken or os.getppid() != self._parent:
                self.stop()
        time.sleep(GRACE_S)
        os._exit(1)


def main() -> int:
    """Serve the parent; the exit code is 0 when the record was closed as it should be."""
    # Libraries that print must not garble the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    commands = sys.stdin.buffer
    line = Line(commands, answers)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, line.wake)
    line.watch()
    try:
        setup = from_line(commands.readline(), Setup)
        line.listen()
        _serve(setup, line)
    except ShadowvizError as error:
        line.say(Answer(taken=False, words=printable(str(error)), state=EngineState.FAILED))
        return error.exit_code
    except msgspec.MsgspecError as error:
        line.say(Answer(taken=False, words=printable(f"no setup: {error}"), state=EngineState.FAILED))
        return 2
    except Exception as error:
        # Whatever it is, the parent is told: on the standard error it would be taken for the words of a library.
        words = printable(f"{type(error).__name__}: {error}")
        line.say(Answer(taken=False, words=words, state=EngineState.FAILED))
        return 1
    line.say(Answer(state=EngineState.STOPPED))
    return 0


def _serve(setup: Setup, line: Line) -> None:
    # The file first: that it cannot be written is known long before torch has loaded.
    sink = line.open(setup)
    try:
        from shadowviz.sources.script import acts_of
        from shadowviz.tokens.encode.tokenizer import default_tokenizer

        tokenizer = default_tokenizer()
        acts = acts_of(setup.script, tokenizer)
        from shadowviz.sources.child_engine import ChildEngine
        from shadowviz.sources.embedded import EmbeddedRun, engine_options

        run = EmbeddedRun(engine_options(setup.options), [sink], tokenizer, setup.record_text)
    except BaseException:
        sink.discard()
        raise
    engine = ChildEngine(run, tokenizer, sink, acts, setup.pace_s)
    line.ready.set()
    try:
        sink.flush()
        engine.serve(line.next, line.say)
    finally:
        engine.close()


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    # Not by the interpreter's own end: that would abort, since a thread holds the lock of the standard input.
    os._exit(code)
