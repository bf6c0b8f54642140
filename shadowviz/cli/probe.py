"""`shadowviz probe`: what a prompt would reuse at the end of a recorded run."""

from typing import Annotated

import typer

from shadowviz.cli.show import write_json, write_out


def probe(
    log: Annotated[str, typer.Option("--log", help="A recorded run.", metavar="RUN")],
    prompt: Annotated[str, typer.Argument(help="JSON lines (.jsonl), one plain text, or - for stdin.")] = "",
    text: Annotated[str | None, typer.Option(help="One prompt, from the command line.")] = None,
    namespace: Annotated[str, typer.Option(help="Namespace, where the prompt names none.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what prompts would reuse of the cache as it was at the end of a recorded run, and why no more.

    The run is replayed and nothing in it changes: no recency, no split.
    """
    from array import array

    from shadowviz.cli.prompts import probe_prompts
    from shadowviz.cli.recorded import Recorded
    from shadowviz.cli.why import explanation_json, explanation_text
    from shadowviz.tokens.encode.tokenizer import default_tokenizer
    from shadowviz_engine.core.errors import InputError

    requests = probe_prompts(prompt, text, default_tokenizer())
    recorded = Recorded(log)
    if recorded.log.opened.redacted:
        raise InputError(f"{log} is redacted: its token ids are keyed hashes, and no prompt can be compared with them")
    explanations = [
        recorded.probe(array("i", request.token_ids), request.namespace or namespace, request.id)
        for request in requests
    ]
    if as_json:
        write_json({"lookups": [explanation_json(explanation) for explanation in explanations]})
    else:
        write_out("\n\n".join(explanation_text(explanation) for explanation in explanations))
