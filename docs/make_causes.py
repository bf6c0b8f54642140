"""Writes `reference/causes.md` from the code: every cause, and how often it is named rightly.

`python docs/make_causes.py`; the counts need the vocabularies that the tests fetch.
"""

import ast
import inspect
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SUPPORT = str(ROOT / "tests" / "support")
if SUPPORT not in sys.path:
    sys.path.insert(0, SUPPORT)

from cause_examples import EXAMPLES, Example  # noqa: E402
from cause_runs import findings_of, side_of_chat, tally_of_cases, tally_under  # noqa: E402
from cause_tally import Tally  # noqa: E402
from vocabularies import LABELS, encoder_of  # noqa: E402

from shadowviz.tokens import finding  # noqa: E402
from shadowviz.tokens.encode.tokenizer import default_tokenizer  # noqa: E402
from shadowviz.tokens.finding import Cause  # noqa: E402
from shadowviz.tokens.side import Side, side_of_ids, side_of_text  # noqa: E402

TARGET = ROOT / "docs" / "reference" / "causes.md"
CASES = ROOT.parent / "shared" / "cases" / "pairs.jsonl"
EACH = 10

HEAD = """\
# Causes

Why two prompts part, as `shadowviz diff-tokens` names it. The cause that ends the common prefix leads; others that hold
behind it are listed after it. Nothing is named where the ids are equal and the text too. This page is made by
`docs/make_causes.py`.
"""

COUNTS = f"""
## How often the right cause is named

Right and wrong answers, by class and tokenizer. Labels of the tokenizers: `dsv4`, `dsv3`, `dsv2` DeepSeek V4, V3, V2;
`qwen1`, `qwen3_6` Qwen; `llama3` Llama 3; `mistral_v3` and `tekken` Mistral; `claude2` Claude 2, which normalises its
text. A dash stands where a class was not tried. What a tokenizer makes equal, or a prefix, counts as right under that
name only.

### Pairs of the shared cases

{{cases}}

### Generated edits

{EACH} random edits of each class in real-looking prompts, labelled by construction (`tests/support/prompt_edits.py`,
seed 0). Edits of DeepSeek's markers are tried with its V4 vocabulary.

{{edits}}
"""


def causes() -> str:
    """The part of the page that says what each cause is."""
    meanings = _meanings()
    return HEAD + "".join(_section(cause, meanings[cause.name]) for cause in Cause)


def counts() -> str:
    """The tables of right and wrong answers."""
    rows = [json.loads(line) for line in CASES.read_bytes().strip().split(b"\n")]
    cases = {
        label: tally_of_cases([row for row in rows if row["tokenizer"] == label], encoder_of(label)) for label in LABELS
    }
    edits = {label: tally_under(encoder_of(label), 0, EACH, markers=label == "dsv4") for label in LABELS}
    return COUNTS.format(cases=_table(cases), edits=_table(edits))


def reference() -> str:
    """The page, whole."""
    return causes() + counts()


def _meanings() -> dict[str, str]:
    """The line that stands under each name in the source."""
    (body,) = (
        node.body
        for node in ast.parse(inspect.getsource(finding)).body
        if isinstance(node, ast.ClassDef) and node.name == "Cause"
    )
    found = {}
    for name, text in pairwise(body):
        match name, text:
            case ast.Assign(targets=[ast.Name(id=member)]), ast.Expr(value=ast.Constant(value=str(line))):
                found[member] = line
    return found


def _section(cause: Cause, meaning: str) -> str:
    example = EXAMPLES[cause]
    lines = [f"\n## {cause.value}\n", f"{meaning}\n", "```text", *_shown(example), "```\n"]
    return "\n".join([*lines, f"Change: {_advice(cause, example)}\n"])


def _shown(example: Example) -> list[str]:
    if example.shown:
        return list(example.shown)
    show = _escaped if example.escaped else _inert
    return [f"{name}  {show(value)}" for name, value in (("A", example.a), ("B", example.b))]


def _escaped(value: str) -> str:
    return value.encode("unicode_escape").decode()


def _inert(value: Any) -> str:
    if not isinstance(value, str):
        return str(value)
    return "".join(each if each.isprintable() else _escaped(each) for each in value)


def _advice(cause: Cause, example: Example) -> str:
    if example.advice:
        return example.advice
    found = findings_of(_side("A", example.a), _side("B", example.b))
    assert found, f"no cause is named for the example of {cause}"
    assert found[0].cause is cause, f"{found[0].cause} is named for the example of {cause}"
    return found[0].advice or "nothing, no token is lost"


def _side(name: str, value: Any) -> Side:
    encoder = default_tokenizer()
    if isinstance(value, str):
        return side_of_text(name, value, encoder)
    return side_of_ids(name, value, encoder) if isinstance(value, list) else side_of_chat(name, value, encoder)


def _table(tallies: dict[str, Tally]) -> str:
    names = sorted({name for tally in tallies.values() for name in tally.right})
    head = ["class", *tallies]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    for name in names:
        cells = [_cell(tally, name) for tally in tallies.values()]
        lines.append(f"| {name.replace('|', ' or ')} | {' | '.join(cells)} |")
    sums = [f"{tally.total - len(tally.misses)} / {len(tally.misses)}" for tally in tallies.values()]
    return "\n".join([*lines, f"| all | {' | '.join(sums)} |"])


def _cell(tally: Tally, name: str) -> str:
    return f"{tally.right[name]} / {tally.wrong[name]}" if name in tally.right else "-"


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
