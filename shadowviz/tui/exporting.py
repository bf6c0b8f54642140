"""Writes what a screen shows to a file, in the format that its ending tells.

The log is read anew for it: the screens go on meanwhile, and the file is the same as that of `shadowviz export`.
"""

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.caption_of import state_caption
from shadowviz.diagrams.collapse import MAX_BOXES, TreeOptions
from shadowviz.exporters.formats import LIGHT, Diagram, DiagramName, Format, format_of_file, formats_of
from shadowviz.replay.moment import Moment, moment_at, of_request, state_at
from shadowviz.sources.logfile import LogFile
from shadowviz.tokens.inert import printable, shorten
from shadowviz.tokens.words import words_of
from shadowviz_engine.core.errors import InputError

MAX_LOOKUPS = 2_000
"""Lookups that a table lists at most, the dearest; JSON has all."""

Export = Callable[[LogFile, Format], Diagram]


def endings_of(diagram: DiagramName) -> str:
    """Endings of the files that can hold a diagram, for a question."""
    return " ".join(form.endings[0] for form in formats_of(diagram))


def export_to(file: str, log: str | Path, diagram: DiagramName, make: Export) -> str:
    """Write the diagram that `make` builds; what was written, in words.

    Raises:
        InputError: the ending tells no format of the diagram, the file is there already, or it cannot be written.
        LogError: the log cannot be read, or contradicts itself.
    """
    form = format_of_file(file)
    render = form.renderer(diagram)
    target = _free_target(file)
    shown = make(LogFile(log), form)
    drawing = render(shown, LIGHT)
    write_new(target, drawing.data)
    caption = shown.caption
    words = f"{shorten(str(target), 100)}: {caption.shown:,} of {caption.total:,} {caption.unit} shown"
    return "; ".join([words, *(printable(note) for note in drawing.notes)])


def lookups_at(seq: int) -> Export:
    """The table of all lookups up to an event."""

    def make(log: LogFile, form: Format) -> Diagram:
        from shadowviz.diagrams.lookups import lookups_diagram

        moment = moment_at(log.events(), words_of(log.opened), seq)
        return lookups_diagram(
            _caption("Lookups", log, moment), moment.explanations, None if form.name == "json" else MAX_LOOKUPS
        )

    return make


def tree_at(seq: int, root: int, request: str) -> Export:
    """The tree after an event, or the part of it below `root`, with the path of a request if there is one."""

    def make(log: LogFile, form: Format) -> Diagram:
        from shadowviz.diagrams.tree_of import tree_diagram

        words = words_of(log.opened)
        moment = moment_at(log.events(), words, seq, of_request(request)) if request else state_at(log.events(), seq)
        options = TreeOptions(
            root=root, request=request, collapse_above=form.most_boxes, max_boxes=form.most_boxes or MAX_BOXES
        )
        explanation = moment.explanations[0] if moment.explanations else None
        return tree_diagram(_caption("Radix tree", log, moment), moment.state, options, explanation, words)

    return make


def write_new(target: Path, content: bytes) -> None:
    """The bytes under a name that is free: whole or not at all, and never over what is there.

    Raises:
        InputError: the name is taken, or cannot be written.
    """
    beside = target.with_name(f".shadowviz-{secrets.token_hex(8)}.tmp")
    try:
        try:
            with beside.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            # A link takes a name only where it is free, also when somebody takes it meanwhile.
            os.link(beside, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                beside.unlink()
    except FileExistsError:
        raise _taken(target) from None
    except OSError as error:
        raise InputError(f"{printable(str(target))} cannot be written: {error.strerror or error}") from None


def _free_target(file: str) -> Path:
    try:
        target = Path(file).expanduser()
        if os.path.lexists(target):
            raise _taken(target)
        if not target.resolve().parent.is_dir():
            raise InputError(f"{printable(file)} cannot be written: expected a file in a folder that is there")
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{printable(file)} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return target


def _taken(target: Path) -> InputError:
    return InputError(f"{printable(str(target))} is there already and is not replaced: choose another file")


def _caption(title: str, log: LogFile, moment: Moment) -> Caption:
    caption = state_caption(title, str(log.path), moment.state, moment.last_seq)
    lost = log.summary.lost
    notes = (f"The record is not whole: {printable(lost)}.",) if lost else ()
    return msgspec.structs.replace(caption, notes=(*caption.notes, *notes))
