"""`shadowviz export`: pictures, tables and traces of a run, in a file."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shadowviz.cli.show import number, table, write_bytes, write_note, write_out, write_progress

if TYPE_CHECKING:
    from shadowviz.cli.export_asked import Asked
    from shadowviz.exporters.formats import Diagram, Drawing

STDOUT = "-"


def export(  # one parameter an option
    source: Annotated[
        str, typer.Argument(help="A record, RUN@SEQ, prompts to run (.jsonl or text), or - for prompts from stdin.")
    ] = "",
    form: Annotated[
        str, typer.Option("--format", "-f", help="Left out: what the ending of FILE says.", metavar="FORMAT")
    ] = "",
    output: Annotated[
        str, typer.Option("--output", "-o", help="The file; - or left out: stdout.", metavar="FILE")
    ] = STDOUT,
    diagram: Annotated[
        str, typer.Option(help="tree, derivation, lookups, memory, changes, boundary or events.", metavar="DIAGRAM")
    ] = "",
    at: Annotated[int | None, typer.Option(help="Show the run after this event.", metavar="SEQ", min=0)] = None,
    request: Annotated[str, typer.Option(help="Mark the path of this request, or show its ruler.", metavar="ID")] = "",
    root: Annotated[
        int, typer.Option(help="Only this node and what is below, or the ruler of its path.", metavar="NODE", min=0)
    ] = 0,
    depth: Annotated[int | None, typer.Option(help="Edges below the root of the picture.", min=0)] = None,
    min_tokens: Annotated[int, typer.Option(help="Leave smaller subtrees out.", min=0)] = 0,
    collapse: Annotated[
        bool | None,
        typer.Option("--collapse/--whole", help="Nodes: the largest of each level alone, or all."),
    ] = None,
    row_format: Annotated[str, typer.Option(help="Memory: how rows are stored.", metavar="NAME")] = "",
    span: Annotated[str, typer.Option(help="Ruler: tokens to show, such as 1000 or 256:1000.", metavar="SPAN")] = "",
    cut: Annotated[int | None, typer.Option(help="Ruler: length that is gone on from.", min=0)] = None,
    geometry: Annotated[str, typer.Option(help="Ruler of --span without a run: a preset.", metavar="NAME")] = "",
    rows: Annotated[
        Literal["mode", "kind", "fault", "subject"] | None, typer.Option(help="Boundary: what a row stands for.")
    ] = None,
    level: Annotated[str, typer.Option(help="Boundary: only this level of proof.", metavar="LEVEL")] = "",
    subject: Annotated[str, typer.Option(help="Boundary: only this geometry or model.", metavar="NAME")] = "",
    compare: Annotated[
        tuple[str, str] | None, typer.Option(help="What differs between two runs or moments.", metavar="A B")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Run the demo workload and show that.")] = False,
    engine: Annotated[
        list[str] | None,
        typer.Option(help="An option of run for prompts that run here, such as page-size=64.", metavar="NAME=VALUE"),
    ] = None,
    dark: Annotated[bool, typer.Option("--dark", help="Draw for a dark ground.")] = False,
    renderer: Annotated[
        Literal["auto", "dot", "own"], typer.Option(help="Who lays out a tree: dot, or the layout built in.")
    ] = "auto",
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
    list_formats: Annotated[bool, typer.Option("--list", help="List formats and what each can show.")] = False,
) -> int:
    """Write a picture, a table or a trace of a run: of a record, or of prompts that run now.

    The state is that after the last event, or after the one that --at or RUN@SEQ names; a ruler is that of the moment
    at which the request was looked up. Ctrl-C while prompts run shows what was done until then, with exit code 130.
    """
    from shadowviz.cli.export_asked import Options, asked

    if list_formats:
        write_out(_formats_table())
        return 0
    options = Options(
        source=source,
        form=form,
        output=output,
        diagram=diagram,
        at=at,
        request=request,
        root=root,
        depth=depth,
        min_tokens=min_tokens,
        collapse=collapse,
        row_format=row_format,
        span=span,
        cut=cut,
        geometry=geometry,
        rows=rows,
        level=level,
        subject=subject,
        compare=compare,
        demo=demo,
        engine=tuple(engine or ()),
        dark=dark,
        renderer=renderer,
        force=force,
    )
    return _export(asked(options))


def _export(ask: "Asked") -> int:
    # Its module is loaded before anything long begins: what it lacks is said at once.
    render = ask.form.renderer(ask.diagram)
    shown, interrupted = _diagram(ask)
    write_progress(f"drawing {_counted(shown)}")
    try:
        drawing = render(shown, ask.look)
    finally:
        write_progress("")
    _write(ask, drawing)
    _tell(ask, shown, drawing)
    return 130 if interrupted else 0


def _diagram(ask: "Asked") -> "tuple[Diagram, bool]":
    """What is to be drawn, and whether the run that it shows was interrupted."""
    from shadowviz.cli import export_diagrams as diagrams
    from shadowviz.cli.export_source import open_source

    if ask.geometry is not None:
        return diagrams.length_only(ask.geometry, ask.view), False
    if ask.options.compare:
        before, after = (open_source(name, False, ask.options.engine) for name in ask.options.compare)
        return diagrams.changes_of(before, after), before.interrupted or after.interrupted
    run = open_source(ask.options.source, ask.options.demo, ask.options.engine)
    return diagrams.diagram_of(ask.diagram, run, ask.of_run(run)), run.interrupted


def _write(ask: "Asked", drawing: "Drawing") -> None:
    from shadowviz.cli.page_file import write_whole

    if ask.options.output == STDOUT:
        write_bytes(drawing.data, drawing.parts)
    else:
        write_whole(ask.options.output, drawing.data, drawing.parts)


def _tell(ask: "Asked", shown: "Diagram", drawing: "Drawing") -> None:
    from shadowviz.cli.export_asked import odd_ending

    if told := odd_ending(ask.options, ask.form):
        write_note(f"shadowviz: {ask.options.output} ends as {told} does and holds {ask.form.name}")
    for note in drawing.notes:
        write_note(f"shadowviz: {note}")
    where = "" if ask.options.output == STDOUT else f"{ask.options.output}: "
    caption = shown.caption
    moment = f", after event {number(caption.seq)} of {number(caption.last_seq)}" if caption.seq >= 0 else ""
    drawn = f"; drawn by {drawing.drawn_by}" if drawing.drawn_by else ""
    write_note(f"{where}{_counted(shown)}{moment}{drawn}")


def _counted(shown: "Diagram") -> str:
    caption = shown.caption
    return f"{number(caption.shown)} of {number(caption.total)} {caption.unit} shown"


def _formats_table() -> str:
    from shadowviz.exporters.formats import FORMATS

    rows = [[form.name, " ".join(form.endings), ", ".join(form.diagrams), form.title] for form in FORMATS]
    return table(["format", "endings", "shows", "what it is"], rows, left=(0, 1, 2, 3))
