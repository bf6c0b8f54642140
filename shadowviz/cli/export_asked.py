"""The options of `shadowviz export` as one consistent wish, or what contradicts what."""

import sys
from typing import Literal

import msgspec

from shadowviz.cli.export_diagrams import Ask
from shadowviz.cli.export_source import Recording, is_stress_record, name_and_event
from shadowviz.cli.page_file import check_page_file
from shadowviz.diagrams.boundary import BoundaryOptions
from shadowviz.diagrams.boundary_rows import RowsBy
from shadowviz.diagrams.collapse import MAX_BOXES, TreeOptions
from shadowviz.diagrams.derivation_of import View
from shadowviz.exporters.formats import DiagramName, Format, Look, format_named, format_of_file
from shadowviz.replay.derivation import parse_span
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.presets import preset

STDOUT = "-"
DEFAULT_GEOMETRY = "v4-flash"
MAX_LOOKUPS = 2_000
"""Lookups that a table lists at most, the dearest; JSON has all."""

_USED_BY: dict[str, tuple[DiagramName, ...]] = {
    "root": (DiagramName.TREE, DiagramName.MEMORY, DiagramName.DERIVATION),
    "depth": (DiagramName.TREE, DiagramName.MEMORY),
    "min-tokens": (DiagramName.TREE, DiagramName.MEMORY),
    "collapse": (DiagramName.TREE, DiagramName.MEMORY),
    "request": (DiagramName.TREE, DiagramName.DERIVATION, DiagramName.LOOKUPS),
    "row-format": (DiagramName.MEMORY,),
    "span": (DiagramName.DERIVATION,),
    "cut": (DiagramName.DERIVATION,),
    "geometry": (DiagramName.DERIVATION,),
    "rows": (DiagramName.BOUNDARY,),
    "level": (DiagramName.BOUNDARY,),
    "subject": (DiagramName.BOUNDARY,),
    "at": tuple(name for name in DiagramName if name not in (DiagramName.BOUNDARY, DiagramName.CHANGES)),
}
"""Diagrams that an option has a meaning for."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options as they were given."""

    source: str
    form: str
    output: str
    diagram: str
    at: int | None
    request: str
    root: int
    depth: int | None
    min_tokens: int
    collapse: bool | None
    row_format: str
    span: str
    cut: int | None
    geometry: str
    rows: Literal["mode", "kind", "fault", "subject"] | None
    level: str
    subject: str
    compare: tuple[str, str] | None
    demo: bool
    engine: tuple[str, ...]
    dark: bool
    renderer: Literal["auto", "dot", "own"]
    force: bool


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be shown, and how."""

    options: Options
    form: Format
    diagram: DiagramName
    look: Look
    view: View
    geometry: Geometry | None
    """Of a ruler without a run; None = there is a run."""

    def of_run(self, run: Recording) -> Ask:
        """What of `run` is to be shown.

        Raises:
            InputError: two events were asked for.
        """
        options = self.options
        if options.at is not None and run.at is not None and options.at != run.at:
            raise InputError(f"--at {options.at} and {run.name}@{run.at} name two events: expected one")
        return Ask(
            at=run.at if options.at is None else options.at,
            request=options.request,
            tree=TreeOptions(
                root=options.root,
                depth=options.depth,
                min_tokens=options.min_tokens,
                request=options.request,
                collapse=options.collapse,
                collapse_above=self.form.most_boxes,
                max_boxes=self.form.most_boxes or MAX_BOXES,
            ),
            view=self.view,
            row_format=options.row_format,
            boundary=BoundaryOptions(
                rows=RowsBy(options.rows) if options.rows else None, level=options.level, subject=options.subject
            ),
            most_lookups=None if self.form.name == "json" else MAX_LOOKUPS,
        )


def asked(options: Options) -> Asked:
    """The wish behind the options; the file and everything else that needs no run is checked.

    Raises:
        InputError: options that contradict each other, or would do nothing.
    """
    form = _format(options)
    diagram = _diagram(options, form)
    if (diagram is DiagramName.CHANGES) != bool(options.compare):
        raise InputError("--compare A B and --diagram changes go together: expected two runs, or RUN@SEQ twice")
    if options.compare and (options.source or options.demo):
        raise InputError("--compare names both runs: expected no other source beside it")
    form.renderer(diagram)
    _check_used(options, diagram)
    look = _look(options, form, diagram)
    view = View(parse_span(options.span) if options.span else None, options.cut)
    without_run = diagram is DiagramName.DERIVATION and not (options.source or options.demo)
    if options.geometry and not without_run:
        raise InputError(
            f"--geometry {options.geometry[:40]!r} beside a run, which has its own: expected one of the two"
        )
    if without_run and (options.request or options.root or options.at is not None):
        raise InputError("--request, --root and --at name something in a run: expected a source with them")
    if diagram is DiagramName.DERIVATION and options.request and options.root:
        raise InputError("--request and --root name two rulers: expected one of them")
    if options.engine and not (options.source or options.demo or options.compare):
        raise InputError("--engine sets how prompts run: expected prompts or --demo with it")
    _check_output(options, form)
    geometry = preset(options.geometry or DEFAULT_GEOMETRY) if without_run else None
    return Asked(options=options, form=form, diagram=diagram, look=look, view=view, geometry=geometry)


def _format(options: Options) -> Format:
    if options.form:
        return format_named(options.form)
    if options.output == STDOUT and options.compare and sys.stdout.isatty():
        return format_named("text")
    if options.output == STDOUT:
        raise InputError("the format is not known: expected -f FORMAT, or -o FILE with an ending that tells it")
    return format_of_file(options.output)


def _diagram(options: Options, form: Format) -> DiagramName:
    if options.diagram:
        if options.diagram not in list(DiagramName):
            raise InputError(
                f"--diagram {options.diagram[:40]!r} is not known: expected one of {', '.join(DiagramName)}"
            )
        return DiagramName(options.diagram)
    if options.compare:
        return DiagramName.CHANGES
    if options.span or options.cut is not None or options.geometry:
        return DiagramName.DERIVATION
    if options.rows or options.level or options.subject:
        return DiagramName.BOUNDARY
    if is_stress_record(name_and_event(options.source)[0]):
        # It has no tree to show.
        return DiagramName.BOUNDARY
    return DiagramName.TREE if DiagramName.TREE in form.diagrams else form.diagrams[0]


def odd_ending(options: Options, form: Format) -> str:
    """What the ending of the file says that it does not hold; empty where it says nothing, or what it holds."""
    try:
        told = format_of_file(options.output)
    except InputError:
        return ""
    return "" if told.media_type == form.media_type else told.name


def _check_used(options: Options, diagram: DiagramName) -> None:
    given = {
        "root": options.root > 0,
        "depth": options.depth is not None,
        "min-tokens": options.min_tokens > 0,
        "collapse": options.collapse is not None,
        "request": bool(options.request),
        "row-format": bool(options.row_format),
        "span": bool(options.span),
        "cut": options.cut is not None,
        "geometry": bool(options.geometry),
        "rows": options.rows is not None,
        "level": bool(options.level),
        "subject": bool(options.subject),
        "at": options.at is not None,
    }
    for name, is_given in given.items():
        if is_given and diagram not in _USED_BY[name]:
            raise InputError(f"--{name} means nothing for --diagram {diagram}: it is for {', '.join(_USED_BY[name])}")


def _look(options: Options, form: Format, diagram: DiagramName) -> Look:
    given = {"dark": options.dark, "renderer": options.renderer != "auto"}
    for name, is_given in given.items():
        if is_given and name not in form.heeds:
            raise InputError(f"--{name} changes nothing about format {form.name}: leave it out")
    if given["renderer"] and diagram is not DiagramName.TREE:
        raise InputError(f"--renderer lays out trees: leave it out for --diagram {diagram}")
    return Look(dark=options.dark, renderer=options.renderer)


def _check_output(options: Options, form: Format) -> None:
    if options.output != STDOUT:
        inputs = [*filter(None, (options.source,)), *(options.compare or ())]
        files = [*inputs, *(name_and_event(name)[0] for name in inputs)]
        check_page_file(options.output, options.force, files, "-o")
    elif options.force:
        raise InputError("--force replaces a file: expected -o FILE with it")
    elif not form.text and sys.stdout.isatty():
        raise InputError(f"format {form.name} is no text for a terminal: expected -o FILE")
