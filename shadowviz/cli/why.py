"""`shadowviz why`: the reason of one lookup, or what a whole run lost and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from shadowviz.cli.show import number, strong, table, wrapped, write_json, write_out
from shadowviz.replay.counts import counted

if TYPE_CHECKING:
    from shadowviz.replay.explain import Explanation
    from shadowviz.replay.summary import Summary


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
    from shadowviz.cli.gate import judge, unwanted
    from shadowviz.cli.recorded import Recorded

    names = unwanted(fail_on or ())
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
            write_out(_summary_text(summary, log, recorded.coverage))
    return judge(explanations, names, recorded.torn if request else recorded.gap)


def explanation_text(explanation: "Explanation") -> str:
    """Verdict and facts of one lookup."""
    verdict = explanation.verdict
    gain = f", {counted(verdict.gain, 'token')} lost" if verdict.material else ""
    name = explanation.request or "prompt"
    lines = [f"{name}: {strong(verdict.label)}{gain}"]
    lines += [wrapped(fact.text, f"{fact.origin:>8}  ") for fact in explanation.facts]
    change = _change(explanation)
    lines += [wrapped(f"what to change: {change}")] if change else []
    return "\n".join(lines)


def _change(explanation: "Explanation") -> str:
    from shadowviz.replay.summary import summarise

    return summarise((explanation,)).losses[0].change


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
        "change": _change(explanation),
    }


def _summary_text(summary: "Summary", log: str, coverage: str) -> str:
    from shadowviz.cli.lookup_table import CACHE_IS_OFF, change_line, is_off

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
    if not rows:
        return f"no lookups: {coverage}" if coverage else "no lookups"
    head = (
        f"{counted(summary.lookups, 'lookup')}, {counted(summary.prompt_tokens, 'prompt token')}, "
        f"{number(summary.reused_tokens)} reused ({summary.hit_rate:.1%})"
    )
    blocks = [
        head,
        *([coverage] if coverage else []),
        "",
        table(["verdict", "lookups", "lost", "worst example", "its loss"], rows, left=(0, 3)),
    ]
    if is_off(summary):
        blocks += ["", CACHE_IS_OFF]
    if summary.hint:
        blocks += ["", wrapped(summary.hint)]
    if summary.best_change:
        blocks += ["", change_line(summary)]
        blocks.append(f"reasons: shadowviz why {log} {summary.losses[0].example}")
    return "\n".join(blocks)


def _lost(total: int, example: int) -> str:
    return number(example) if total else ""
