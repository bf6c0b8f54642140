"""Entry of the command line: the commands, and how each ends."""

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

import typer

from shadowviz.cli import derive, diff_tokens, doctor, export, lint_log, memory, probe, run, stress, tui, version, why
from shadowviz.cli.plain_arguments import plain_arguments
from shadowviz.cli.show import OutputClosedError, write_note
from shadowviz.tokens.inert import shorten

INTERRUPTED = 130
MAX_LINE = 600
"""Longest error line, in characters: it may quote what the input holds."""

app = typer.Typer(
    name="shadowviz",
    help="Why a prompt was not reused from the prefix cache of a hybrid-attention model, and what stands behind it.",
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.run)
app.command("why")(why.why)
app.command("derive")(derive.derive)
app.command("probe")(probe.probe)
app.command("diff-tokens")(diff_tokens.diff_tokens)
app.command("stress")(stress.stress)
app.command("memory")(memory.memory)
app.command("export")(export.export)
app.command("lint-log")(lint_log.lint_log)
app.command("doctor")(doctor.doctor)
app.command("tui")(tui.tui)
app.command("version")(version.version)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code; `arguments` are those of the process when left out."""
    _prepare_streams()
    try:
        return _run(arguments)
    finally:
        _let_go_of_streams()


def _run(arguments: Sequence[str] | None) -> int:
    # Typer's own base of usage errors; it brings its own copy of click.
    usage_error = typer.BadParameter.__mro__[2]
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        plain = plain_arguments(tui.tui, words[1:]) if words[:1] == ["tui"] else None
        if plain is not None:
            return tui.tui(**plain)
        code = typer.main.get_command(app).main(words, prog_name="shadowviz", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except OutputClosedError:
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, usage_error):
            return _usage(error)
        return _expected(error)


def _prepare_streams() -> None:
    """Stand in for streams that were closed before the start, and let stdout escape what its encoding lacks."""
    # A closed one would give its number to the next file opened, and the output of others with it. What stands in for
    # stdout takes nothing: data that nobody gets must not look as if it had been written.
    for name, mode, access in (("stdin", "r", os.O_RDWR), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_RDWR)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, access), mode, encoding="utf-8"))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _let_go_of_streams() -> None:
    """Forget what a stream cannot take: the interpreter would try again at its end, and change the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _usage(error: Exception) -> int:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    message = message.replace(": Value error, ", ": ")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "shadowviz"
    # Where a command is asked for nothing, the message is its help, which is no line to be joined or cut.
    shown = context.get_help() if context is not None else ""
    is_help = bool(shown) and message.strip() in ("", shown.strip())
    write_note(shown if is_help else f"shadowviz: {_one_line(message)} (see: {command} --help)")
    return 2


def _expected(error: Exception) -> int:
    from shadowviz_engine.core.errors import ShadowvizError

    if isinstance(error, ShadowvizError):
        write_note(f"shadowviz: {_one_line(str(error))}")
        return error.exit_code
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        write_note(f"shadowviz: {place}{error.strerror or error}")
        return 2
    raise error


def _one_line(text: str) -> str:
    return shorten(" ".join(text.split()), MAX_LINE)


if __name__ == "__main__":
    sys.exit(main())
