"""Writes `reference/events.md` from the event types: `python docs/make_events.py`."""

import ast
from collections.abc import Iterator
from pathlib import Path

from shadowviz_engine.core import event, events, stress_events

TARGET = Path(__file__).parent / "reference" / "events.md"
HEAD = """\
# Events

A log holds one event a line, as JSON: `type`, `seq`, `t_ns`, then the fields below; a field that has its default is
left out. Fields of type `bytes` are base64, tuples are arrays. This page is made from the types of schema {schema} by
`docs/make_events.py`.

Every event has:

{common}
"""
PARTS = """
## Parts of events
"""


def reference() -> str:
    """The page, whole."""
    trees = [ast.parse(Path(module.__file__).read_text(encoding="utf-8")) for module in (event, events, stress_events)]
    classes = {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    kinds = [kind.__name__ for kind in events.EVENT_TYPES]
    text = HEAD.format(schema=events.SCHEMA, common=_table(classes["Event"]))
    for kind in events.EVENT_TYPES:
        note = "\nLeaves tree, pools and requests as they were.\n" if kind.volatile else ""
        text += f"\n## {kind.__name__}\n\n{ast.get_docstring(classes[kind.__name__])}\n{note}"
        text += _section(kind.__name__, classes)
    text += PARTS
    for name, node in classes.items():
        if name not in kinds and name != "Event":
            text += f"\n### {name}\n\n{ast.get_docstring(node)}\n{_section(name, classes)}"
    return text


def _section(name: str, classes: dict[str, ast.ClassDef]) -> str:
    table = _table(classes[name])
    return f"\n{table}\n" if table else ""


def _table(node: ast.ClassDef) -> str:
    rows = [f"| `{name}` | `{kind}` | {default} | {meaning} |" for name, kind, default, meaning in _fields(node)]
    return "\n".join(["| field | type | default | meaning |", "| --- | --- | --- | --- |", *rows]) if rows else ""


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str, str, str]]:
    for i, statement in enumerate(node.body):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        kind = ast.unparse(statement.annotation)
        if kind.startswith("ClassVar"):
            continue
        default = "" if statement.value is None else f"`{ast.unparse(statement.value)}`"
        after = node.body[i + 1] if i + 1 < len(node.body) else None
        meaning = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            meaning = " ".join(str(after.value.value).split())
        yield statement.target.id, kind.replace("|", "\\|"), default, meaning.replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
