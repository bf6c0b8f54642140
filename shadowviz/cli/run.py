"""`shadowviz run`: prompts on the embedded engine, with a verdict for every lookup."""

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shadowviz.cli.show import write_json, write_note, write_out, write_progress
from shadowviz.replay.counts import counted

if TYPE_CHECKING:
    from shadowviz.sources.embedded import EmbeddedRun
    from shadowviz.tokens.encode.tokenizer import Tokenizer
    from shadowviz.tokens.inputs.requests import PromptRequest
    from shadowviz_engine.core.events import Event
    from shadowviz_engine.core.log import FileSink
    from shadowviz_engine.core.sinks import Sink


def run(  # one parameter an option
    prompts: Annotated[
        str, typer.Argument(help="JSON lines (.jsonl), one plain text, or - for JSON lines from stdin.")
    ] = "",
    text: Annotated[str | None, typer.Option(help="One prompt, from the command line.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Run the demo workload.")] = False,
    output: Annotated[str, typer.Option("--output", "-o", help="Record the run in this file.", metavar="RUN")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace RUN if it is there.")] = False,
    model: Annotated[str, typer.Option(help="A preset such as tiny, or a checkpoint's directory.")] = "tiny",
    seed: Annotated[int, typer.Option(help="Of a preset's random weights.")] = 0,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    threads: Annotated[int, typer.Option(help="CPU threads of a pass; more pay with large checkpoints.")] = 1,
    numerics: Annotated[
        Literal["exact", "fast"], typer.Option(help="fast, or exact: reuse changes no bit of any output.")
    ] = "fast",
    cache: Annotated[bool, typer.Option("--cache/--no-cache", help="Keep a prefix cache.")] = True,
    resume: Annotated[
        Literal["page", "any"], typer.Option(help="Reuse whole pages (page), or any length (any).")
    ] = "page",
    retention: Annotated[str, typer.Option(help="Window rows kept: all, window, every:TOKENS, forks.")] = "all",
    match_mode: Annotated[
        Literal["partial", "classic"], typer.Option(help="partial, or classic: whole registered paths only.")
    ] = "partial",
    policy: Annotated[Literal["lru", "lfu", "fifo"], typer.Option(help="What leaves first: lru, lfu or fifo.")] = "lru",
    page_size: Annotated[int, typer.Option(help="Tokens of a page; 0 = the model's.")] = 0,
    pool_bytes: Annotated[int, typer.Option(help="Bytes of all pools; 0 = the default.")] = 0,
    mem_fraction: Annotated[float, typer.Option(help="Pools as a share of the free memory.")] = 0.0,
    idle_ttl: Annotated[float, typer.Option(help="Seconds until an idle path is evicted; 0 = never.")] = 0.0,
    max_running: Annotated[int, typer.Option(help="Requests in one pass of the model.")] = 16,
    chunk_tokens: Annotated[int, typer.Option(help="Prompt tokens in one pass.")] = 512,
    record: Annotated[
        Literal["lookups", "full"], typer.Option(help="lookups, or full: selected entries too, in RUN.topk.")
    ] = "lookups",
    record_text: Annotated[bool, typer.Option("--record-text", help="Put prompt texts on record.")] = False,
    redact: Annotated[bool, typer.Option("--redact", help="Record keyed hashes instead of token ids.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Run prompts on the embedded engine and print a verdict for every lookup.

    In a terminal, without a source of prompts, the demo workload runs; prompts that are piped in are asked for with -.

    Ctrl-C ends the run after the pass at hand: the
    table shows what was done, the record is whole, and the exit code is 130.
    """
    _check_recording(output, record, record_text=record_text, redact=redact)
    sidecar = f"{output}.topk" if record == "full" else ""
    options = {
        "model": model,
        "seed": seed,
        "device": device,
        "threads": threads,
        "numerics": numerics,
        "cache_on": cache,
        "resume": resume,
        "retention": retention,
        "match_mode": match_mode,
        "policy": policy,
        "page_size": page_size,
        "pool_bytes": pool_bytes,
        "mem_fraction": mem_fraction,
        "idle_ttl_s": idle_ttl,
        "max_running": max_running,
        "chunk_tokens": chunk_tokens,
        "record": record,
        "sidecar": sidecar,
    }
    tokenizer, requests = _requests(prompts, text, demo=demo)
    _check_outputs(prompts, output, sidecar)
    recorder = _Recorder(output, force, redact, sidecar)
    source, events = _run(options, requests, tokenizer, recorder, record_text)
    _report(source, events, len(requests), output, as_json)
    return 130 if source.stopped else 0


def _check_recording(output: str, record: str, *, record_text: bool, redact: bool) -> None:
    from shadowviz_engine.core.errors import InputError

    if (redact or record_text or record == "full") and not output:
        raise InputError("--record full, --record-text and --redact say what is recorded: expected -o RUN with them")
    if redact and record_text:
        raise InputError("--redact hides what --record-text shows: expected one of the two")


def _requests(prompts: str, text: str | None, *, demo: bool) -> "tuple[Tokenizer, list[PromptRequest]]":
    """The prompts, with the tokenizer that encoded them; those of the demo where a terminal gives none."""
    from shadowviz.cli.prompts import run_prompts
    from shadowviz.tokens.encode.tokenizer import default_tokenizer

    tokenizer = default_tokenizer()
    unasked = not prompts and text is None and not demo and sys.stdin.isatty() and sys.stdout.isatty()
    return tokenizer, run_prompts(prompts, text, demo or unasked, tokenizer)


def _check_outputs(prompts: str, *outputs: str) -> None:
    from shadowviz_engine.core.errors import InputError

    for written in filter(None, outputs):
        if _is_one_file(prompts, written):
            raise InputError(f"{written} holds the prompts: choose another RUN")


def _is_one_file(path: str, other: str) -> bool:
    from pathlib import Path

    try:
        return bool(path) and Path(path).samefile(other)
    except (OSError, ValueError):
        return False


def _holds_something(path: str) -> bool:
    from pathlib import Path

    try:
        return Path(path).is_file() and Path(path).stat().st_size > 0
    except (OSError, ValueError):
        return False


class _Recorder:
    """The file of a run; what was in it is lost only once the run has begun."""

    def __init__(self, path: str, force: bool, redact: bool, sidecar: str) -> None:
        self.sinks: list[Sink] = []
        self._file: FileSink | None = None
        if not path:
            return
        from pathlib import Path

        from shadowviz_engine.core import log
        from shadowviz_engine.core.errors import InputError

        if not force and _holds_something(path):
            raise InputError(f"{path} is not empty: choose another RUN, or replace it with --force")
        if sidecar and not force and Path(sidecar).exists():
            raise InputError(f"{sidecar} is there already: choose another RUN, or replace both with --force")
        self._file = log.FileSink(path, overwrite=force)
        self.sinks = [self._file]
        if redact:
            import secrets

            from shadowviz_engine.core.redact import RedactingSink

            self.sinks = [RedactingSink(self._file, secrets.token_bytes(32))]

    def discard(self) -> None:
        """Leave everything as it was before."""
        if self._file is not None:
            self._file.discard()


def _run(
    options: dict[str, Any],
    requests: "list[PromptRequest]",
    tokenizer: "Tokenizer",
    recorder: _Recorder,
    record_text: bool,
) -> "tuple[EmbeddedRun, list[Event]]":
    from shadowviz.cli.interrupts import interrupts_held, on_interrupt
    from shadowviz_engine.core.events import RequestFinished

    source: EmbeddedRun | None = None
    events: list[Event] = []
    done = 0
    try:
        with interrupts_held():
            from shadowviz.sources import embedded
        source = embedded.EmbeddedRun(embedded.engine_options(options), recorder.sinks, tokenizer, record_text)
        stop_ids = (tokenizer.eos_id,) if tokenizer.eos_id < source.vocab_size else ()
        with on_interrupt(source.stop):
            for event in source.events(requests, stop_ids):
                events.append(event)
                if isinstance(event, RequestFinished):
                    done += 1
                    write_progress(f"{done} of {counted(len(requests), 'request')} done")
    except BaseException:
        if source is None or not source.started:
            recorder.discard()
        if source is not None:
            source.engine.close()
        raise
    finally:
        write_progress("")
    return source, events


def _report(source: "EmbeddedRun", events: "list[Event]", num_requests: int, output: str, as_json: bool) -> None:
    from shadowviz.cli.lookup_table import lookup_rows, report
    from shadowviz.cli.recorded import coverage
    from shadowviz.replay.explain import explain_events
    from shadowviz.replay.summary import summarise
    from shadowviz.tokens.words import words_of
    from shadowviz_engine.core.events import LogOpened

    opened = events[0]
    assert isinstance(opened, LogOpened), "an engine opens its record first"
    explanations = list(explain_events(events, words_of(opened)))
    summary = summarise(explanations)
    rows = lookup_rows(events, explanations)
    if as_json:
        write_json(
            {
                "lookups": rows,
                "summary": summary,
                "log": output or None,
                "interrupted": source.stopped,
                "prompt_logprobs": source.prompt_logprobs,
            }
        )
    else:
        write_out(report(rows, summary))
    if source.stopped:
        done = coverage(num_requests, explanations) or "every request was looked up"
        write_note(f"shadowviz: interrupted: {done}; what was done until then is shown")
    if output:
        write_note(f"recorded in {output}; ask for reasons with: shadowviz why {output}")
