"""The process in which templates are rendered: it answers one line of JSON with another, under limits of its own.

It has little memory, writes no file and starts no process; how long it takes is for whoever asks to limit.
"""

import contextlib
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Final

import jinja2

from shadowviz.tokens.templates.marks import Alphabet
from shadowviz.tokens.templates.sandbox import Marks, Sandbox, TooLongError
from shadowviz.tokens.templates.wire import from_line, to_line

MEMORY: Final = 2**29
"""Address space in bytes, where the system can limit it: some hundred times what a long conversation needs."""


def serve() -> None:
    """Answer requests until the input ends."""
    _limit()
    sandbox = Sandbox()
    _say({"ready": True})
    for line in sys.stdin.buffer:
        answer = answer_to(sandbox, line)
        _say(answer)
        if answer.get("spent"):
            return


def answer_to(sandbox: Sandbox, line: bytes) -> dict[str, Any]:
    """The text that a request asks for, or what went wrong; `spent` where this process should not go on."""
    try:
        request = from_line(line)
        now = datetime.fromisoformat(request["now"])
        source, variables, marks = request["source"], request["variables"], request.get("marks")
        if marks is None:
            return {"text": sandbox.render(source, variables, now), "literals": sandbox.literals(source)}
        numbers = {id(_at(variables, path)): number for path, number in marks["objects"]}
        loops, dumps = (numbers if kind in marks["marked"] else {} for kind in ("loops", "json"))
        return {"text": sandbox.render_marked(source, variables, now, Marks(Alphabet(marks["letters"]), loops, dumps))}
    except MemoryError:
        return {"error": f"needs more than {MEMORY >> 20} MiB", "spent": True}
    except RecursionError:
        return {"error": "calls itself, or nests, too deep"}
    except TooLongError as error:
        return {"error": str(error)}
    except jinja2.TemplateSyntaxError as error:
        return {"error": f"line {error.lineno}: {error.message}"}
    except Exception as error:  # a template may bring about any
        return {"error": _place(error.__traceback__) + _reason(error)}


def _at(value: Any, path: Sequence[str | int]) -> Any:
    for key in path:
        value = value[key]
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, jinja2.TemplateError):
        return f"refuses: {error.message}" if type(error) is jinja2.TemplateError else str(error.message)
    return f"{type(error).__name__}: {error}"


def _place(trace: TracebackType | None) -> str:
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"line {line}: " if line else ""


def _say(answer: Mapping[str, Any]) -> None:
    sys.stdout.buffer.write(to_line(answer))
    sys.stdout.buffer.flush()


def _limit() -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    limits = {resource.RLIMIT_AS: MEMORY, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0, resource.RLIMIT_NPROC: 0}
    for kind, most in limits.items():
        # A system may refuse one of them, and the others still help.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))
