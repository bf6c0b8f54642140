"""The embedded engine in a child process of its own: it records to a log, takes commands, and ends with its parent."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any, Final

import msgspec

from shadowviz.sources.child_wire import Answer, Command, Deed, Setup, from_line, to_line
from shadowviz.sources.last_words import last_words
from shadowviz.sources.names import name_beside
from shadowviz.sources.states import EngineState
from shadowviz.tokens.inert import shorten

STOP_S: Final = 10.0
"""For the child to close its record once it was told to stop; after that it is ended."""
KILL_S: Final = 2.0
MOST_WORDS: Final = 200
"""Characters told of why it failed."""
_COMMAND: Final = ("-P", "-X", "utf8", "-m", "shadowviz.sources.child_main")
"""Without the current directory among the places that modules come from: a file there may have any name."""


class EngineChild:
    """An engine that runs in a child process.

    What it does shows in its log alone; `poll` says which commands it took, and what has become of it. It keeps a pipe
    to its parent, and ends when that closes: also when the parent is killed.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.state = EngineState.STARTING
        """As polled last."""
        self.words = ""
        """What is worth saying of the state, in a sentence."""
        self.has_recorded = False
        """As polled last: its record is under its name, where something older may have been before."""
        self._answers: deque[Answer] = deque()
        self._num_commands = 0
        self._told_to_stop = False
        # Its last words are read when it has failed; a pipe that nobody reads would stop it.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        # In a session of its own: Ctrl-C in the terminal is the parent's.
        self._process = subprocess.Popen(  # noqa: S603 - this Python, with a module of this package; no shell
            [sys.executable, *_COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
            env=_environment(),
            cwd=_folder(self.log),
        )
        self._reader = Thread(target=self._listen, daemon=True)
        self._reader.start()
        self._send(to_line(setup))

    @property
    def log(self) -> Path:
        """The file that takes its record."""
        return Path(self.setup.log)

    @property
    def pid(self) -> int:
        """Of the child process."""
        return self._process.pid

    def submit(self, line: Mapping[str, Any]) -> int:
        """Submit a request, given as a line of a request file has it; the command's number."""
        return self._command("submit", line=dict(line))

    def submit_text(self, text: str) -> int:
        """Submit a prompt of plain text."""
        return self.submit({"prompt": text})

    def submit_chat(self, text: str, system: str = "") -> int:
        """Submit a message of a user, behind one of the system if there is one."""
        system_message = [{"role": "system", "content": system}] if system else []
        return self.submit({"messages": [*system_message, {"role": "user", "content": text}]})

    def submit_file(self, path: str) -> int:
        """Submit the requests of a file, or its text as one prompt."""
        return self._command("submit_file", path=str(Path(path).absolute()))

    def pause(self) -> int:
        """Run no pass until `resume`; commands are still taken."""
        return self._command("pause")

    def resume(self) -> int:
        """Go on."""
        return self._command("resume")

    def step(self) -> int:
        """Run a single pass of a paused engine."""
        return self._command("step")

    def abort(self, request: str) -> int:
        """End a request, wherever it is."""
        return self._command("abort", request=request)

    def flush(self) -> int:
        """Let everything that no request uses leave the cache."""
        return self._command("flush")

    def poll(self) -> tuple[Answer, ...]:
        """Answers since the last call; `state` and `words` are up to date then."""
        code = self._process.poll()
        if code is not None:
            self._reader.join(KILL_S)
        answers = []
        while self._answers:
            answer = self._answers.popleft()
            answers.append(answer)
            # It runs once its first event is written.
            self.has_recorded = self.has_recorded or answer.state is EngineState.RUNNING
            if answer.state is not None and self.state.alive:
                self.state = answer.state
                self.words = answer.words
        if code is not None and self.state.alive:
            self._note_end(code)
        return tuple(answers)

    def request_stop(self) -> None:
        """Tell it to abort what runs, close its record and end, without waiting for it."""
        if not self._told_to_stop:
            self._told_to_stop = True
            self._command("stop")
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def close(self, wait_s: float = STOP_S) -> None:
        """Have it close its record and end; whatever it does, it has ended afterwards."""
        self.request_stop()
        try:
            self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(KILL_S)
        self.poll()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()

    def _command(self, do: Deed, **values: Any) -> int:
        self._num_commands += 1
        self._send(to_line(Command(id=self._num_commands, do=do, **values)))
        return self._num_commands

    def _send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        # To a child that has ended nothing can be said; `poll` tells that it has.
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError, OSError):
            for raw in self._process.stdout:
                with contextlib.suppress(msgspec.MsgspecError):
                    self._answers.append(from_line(raw, Answer))

    def _note_end(self, code: int) -> None:
        if code < 0:
            self.state = EngineState.KILLED
            self.words = f"the engine was ended from outside ({_signal_name(-code)}): its record ends where it was"
            return
        self.state = EngineState.FAILED
        last = shorten(last_words(self._errors), MOST_WORDS)
        self.words = f"the engine ended with code {code}{': ' if last else ''}{last}: its record ends where it was"


def successor(child: EngineChild, log: Path | None = None) -> EngineChild:
    """A new engine with the same setup, which records to `log`, or beside the log of the one before it."""
    path = log or name_beside(child.log)
    options = child.setup.options
    if options.get("sidecar"):
        options = options | {"sidecar": sidecar_of(path)}
    return EngineChild(msgspec.structs.replace(child.setup, log=str(path), overwrite=False, options=options))


def sidecar_of(log: Path) -> str:
    """The file beside a log that takes the entries which the indexer selected."""
    return f"{log}.topk"


def _signal_name(number: int) -> str:
    try:
        return f"signal {number}, {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"


def _folder(log: Path) -> Path | None:
    """Where it works: where its parent does, or, if that folder is no more, where its record goes."""
    try:
        Path.cwd()
    except OSError:
        return log.parent if log.is_absolute() else None
    return None


def _environment() -> dict[str, str]:
    """The parent's, with what keeps a child quiet and small."""
    return {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"), "PYTHONUNBUFFERED": "1"}
