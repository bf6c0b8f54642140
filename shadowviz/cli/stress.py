"""`shadowviz stress`: prove every length, and show that a fault would be found."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from shadowviz.cli.show import number, wrapped, write_json, write_note, write_out, write_progress
from shadowviz.replay.counts import counted

if TYPE_CHECKING:
    from shadowviz.cli.stress_view import Results
    from shadowviz.experiments.stress.naive import Comparison
    from shadowviz.experiments.stress.plans import Asked
    from shadowviz.experiments.stress.run import StressRun

FOUND = 1
INTERRUPTED = 130


def stress(  # one parameter an option
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            help="A geometry, a model, its directory, random:SEED or random:START:STOP; left out: tiny-512.",
            metavar="SUBJECT",
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(help="arithmetic, numeric, oracle or faults; may be given again. Left out: the first two."),
    ] = None,
    lengths: Annotated[str, typer.Option(help="Ranges of lengths, or single ones, with commas between.")] = "1:1001",
    mode: Annotated[list[str] | None, typer.Option(help="Only this mode; may be given again.")] = None,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.", min=0)] = 0,
    claims: Annotated[
        str, typer.Option(help="A derivation of others: module:function, or a .jsonl file of descriptors.")
    ] = "",
    multiples: Annotated[str, typer.Option(help="arithmetic: multiples of a size in a long range, or all.")] = "",
    matrix: Annotated[Literal["ci", "full"] | None, typer.Option(help="numeric: a part, or every combination.")] = None,
    resume: Annotated[Literal["page", "any"] | None, typer.Option(help="numeric: only this resume rule.")] = None,
    retention: Annotated[str, typer.Option(help="numeric: only this retention.")] = "",
    numerics: Annotated[Literal["exact", "fast"] | None, typer.Option(help="numeric: only these.")] = None,
    fault: Annotated[str, typer.Option(help="faults: only this one, or all; list tells their names.")] = "",
    blind: Annotated[int, typer.Option(help="faults: runs whose fault another process draws.", min=0)] = 0,
    naive: Annotated[
        bool, typer.Option("--naive", help="Time a forward a length of transformers beside the exact proof, too.")
    ] = False,
    rows: Annotated[
        Literal["mode", "kind", "fault", "subject"] | None, typer.Option(help="What a row of the map stands for.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes; 0 = one a core.", min=0, max=1024)] = 0,
    output: Annotated[str, typer.Option("--output", "-o", help="Record the results in this file.", metavar="RUN")] = "",
    taken_up: Annotated[
        str, typer.Option("--continue", help="Take this record up where it stopped.", metavar="RUN")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace RUN if it is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Prove that going on at every length is right, and show that a fault would be found.

    Ctrl-C ends the run: the record is whole, --continue takes it up, and the exit code is 130.
    """
    from shadowviz.cli.interrupts import interrupts_held
    from shadowviz_engine.core.errors import ShadowvizError

    with interrupts_held():
        from shadowviz.cli.stress_view import Results
        from shadowviz.experiments.stress.plans import Asked
    if fault == "list":
        return _list_faults(subjects or (), as_json)
    given = {
        "claims": claims,
        "multiples": multiples,
        "matrix": matrix,
        "resume": resume,
        "retention": retention,
        "numerics": numerics,
        "fault": fault,
        "blind": str(blind) if blind else "",
    }
    asked = Asked(
        subjects=tuple(subjects or ()),
        levels=tuple(level or ()),
        lengths=lengths,
        modes=tuple(mode or ()),
        seed=seed,
        options={name: value for name, value in given.items() if value},
    )
    run: StressRun | None = None
    try:
        with interrupts_held():
            run = _continued(taken_up, asked, output, jobs) if taken_up else _begun(asked, output, force, jobs, naive)
    except KeyboardInterrupt:
        if run is not None:
            run.discard()
        raise
    path, results = taken_up or output, Results(rows)
    try:
        _watch(run, results)
    except ShadowvizError:
        if path and results.sums.checks:
            write_note(f"what was checked is in {path}; go on with: shadowviz stress --continue {path}")
        raise
    compared = [] if run.stopped or not naive else _compared(results)
    return _report(run, results, compared, path, as_json)


def _list_faults(subjects: "Sequence[str]", as_json: bool) -> int:
    from shadowviz.cli.stress_faults import fault_table
    from shadowviz.experiments.stress.fault_names import fault_list

    faults = fault_list(subjects)
    if as_json:
        write_json({"faults": faults})
    else:
        write_out(fault_table(faults))
    return 0


def _begun(asked: "Asked", output: str, force: bool, jobs: int, naive: bool) -> "StressRun":
    from shadowviz.cli.page_file import check_page_file
    from shadowviz.experiments.stress.plans import plans_of
    from shadowviz.experiments.stress.record import Record
    from shadowviz.experiments.stress.run import StressRun
    from shadowviz_engine.core.errors import InputError

    if force and not output:
        raise InputError("--force replaces a record: expected -o RUN with it")
    plans = plans_of(asked)
    if naive and all(plan.level != "numeric" for plan in plans):
        raise InputError("--naive times the exact proof of a model: expected level numeric with it")
    if output:
        check_page_file(output, force, (), "-o")
    return StressRun(plans, Record(output, force), jobs or _cores())


def _continued(path: str, asked: "Asked", output: str, jobs: int) -> "StressRun":
    """The run of a record, gone on with; one that is complete is only read."""
    from shadowviz.experiments.stress.plans import Asked
    from shadowviz.experiments.stress.record import ContinuedRecord, progress_of
    from shadowviz.experiments.stress.run import StressRun
    from shadowviz_engine.core.errors import InputError

    if asked != Asked() or output:
        raise InputError(f"--continue {path} brings its own run and record: expected no subject, plan or -o with it")
    progress = progress_of(path)
    return StressRun(progress.plans, ContinuedRecord(path, progress), jobs or _cores())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _watch(run: "StressRun", results: "Results") -> None:
    """Take in everything that the run gives, and show how far it is."""
    from shadowviz.cli.interrupts import on_interrupt

    with on_interrupt(run.stop):
        from shadowviz.cli.stress_progress import progress_bar

        with progress_bar() as bar:
            for event in run.events():
                results.feed(event)
                # What is only read would make the estimate too good.
                if results.sums.checks >= run.num_before:
                    bar.show(results.sums.checks, run.num_cells, results.sums.num_findings)


def _compared(results: "Results") -> "list[Comparison]":
    """Times of the naive way beside those of the exact proof, for every model of the run."""
    from shadowviz.experiments.stress.naive import compare_with_naive
    from shadowviz.experiments.stress.record import plan_of

    try:
        return [
            compare_with_naive(plan_of(event), say=lambda line: write_progress(f"naive way: {line}"))
            for event in results.sums.started
            if event.level == "numeric"
        ]
    finally:
        write_progress("")


def _report(run: "StressRun", results: "Results", compared: "Sequence[Comparison]", path: str, as_json: bool) -> int:
    sums = results.sums
    if as_json:
        figures = [{"share": one.share, **asdict(one)} for one in compared]
        write_json({**results.json(), "naive": figures, "log": path or None, "interrupted": run.stopped})
    elif sums.checks:
        write_out("\n\n".join([results.text(path or "this run"), *(wrapped(str(one)) for one in compared)]))
    if run.stopped:
        again = f"; go on with: shadowviz stress --continue {path}" if path and sums.started else ""
        write_note(f"shadowviz: interrupted: {number(sums.checks)} of {counted(run.num_cells, 'check')} done{again}")
        return INTERRUPTED
    if path:
        write_note(f"recorded in {path}")
    return FOUND if sums.num_findings else 0
