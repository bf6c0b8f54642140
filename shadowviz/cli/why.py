"""`shadowviz why`: the reason of one lookup, or what a whole run lost and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from shadowviz.cli.show import number, strong, table, wrapped, write_json, write_note, write_out

if TYPE_CHECKING:
    from shadowviz.replay.explain import Explanation
    from shadowviz.replay.summary import Summary
    from shadowviz_engine.core.verdict import Verdict

FOUND = 1
"""Exit code when `--fail-on` found what it looks for."""


def why(
    log: Annotated[str, typer.Argument(help="A recorded run.", metavar="RUN")],
    request: Annotated[str, typer.Argument(help="One request of it; left out: the whole run.")] = "",
    fail_on: Annotated[
        list[str] | None,
        typer.Option(help="Exit with 1 if a lookup has this verdict; may be given again.", metavar="VERDICT"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Say why prompts were reused no further: for one request the chain of facts, for a run the losses by verdict."""
    wanted = [_verdict(name) for name in fail_on or ()]
    from shadowviz.cli.recorded import Recorded

    recorded = Recorded(log)
    explanations = recorded.of_request(request) if request else recorded.explanations
    if request:
        if as_json:
            write_json({"lookups": [explanation_json(explanation) for explanation in explanations]})
        else:
            write_out("\n\n".join(explanation_text(explanation) for explanation in explanations))
    else:
        from shadowviz.replay.summary import summarise

        summary = summarise(explanations)
        if as_json:
            write_json(summary)
        else:
            write_out(_summary_text(summary, log))
    return _found(explanations, wanted)


def explanation_text(explanation: "Explanation") -> str:
    """Verdict and facts of one lookup."""
    verdict = explanation.verdict
    gain = f", {number(verdict.gain)} tokens lost" if verdict.material else ""
    name = explanation.request or "prompt"
    lines = [f"{name}: {strong(verdict.label)}{gain}"]
    lines += [wrapped(fact.text, f"{fact.origin:>8}  ") for fact in explanation.facts]
    return "\n".join(lines)


def explanation_json(explanation: "Explanation") -> dict[str, object]:
    """One lookup as it appears in JSON."""
    return {
        "request": explanation.request,
        "seq": explanation.lookup.seq,
        "verdict": explanation.verdict.verdict,
        "detail": explanation.verdict.detail,
        "lost": explanation.lost,
        "lookup": explanation.lookup,
        "findings": explanation.findings,
        "parting": explanation.parting,
        "facts": explanation.facts,
    }


def _summary_text(summary: "Summary", log: str) -> str:
    rows = [
        [
            loss.verdict,
            number(loss.requests),
            number(loss.lost),
            loss.example if loss.lost else "",
            _lost(loss.lost, loss.example_lost),
        ]
        for loss in summary.losses
    ]
    head = (
        f"{number(summary.lookups)} lookups, {number(summary.prompt_tokens)} prompt tokens, "
        f"{number(summary.reused_tokens)} reused ({summary.hit_rate:.1%})"
    )
    blocks = [head, "", table(["verdict", "lookups", "lost", "worst example", "its loss"], rows, left=(0, 3))]
    if summary.best_change:
        from shadowviz.cli.lookup_table import change_line

        blocks += ["", change_line(summary)]
        blocks.append(f"reasons: shadowviz why {log} {summary.losses[0].example}")
    return "\n".join(blocks)


def _lost(total: int, example: int) -> str:
    return number(example) if total else ""


def _verdict(name: str) -> "Verdict":
    from shadowviz_engine.core.errors import InputError
    from shadowviz_engine.core.verdict import Verdict

    try:
        return Verdict(name.upper().replace("-", "_"))
    except ValueError:
        raise InputError(f"--fail-on {name[:40]!r} is no verdict: expected one of {', '.join(Verdict)}") from None


def _found(explanations: "list[Explanation]", wanted: "list[Verdict]") -> int:
    matching = [explanation for explanation in explanations if explanation.verdict.verdict in wanted]
    if not matching:
        return 0
    write_note(f"shadowviz: {len(matching)} of {len(explanations)} lookups are {', '.join(wanted)}")
    return FOUND
