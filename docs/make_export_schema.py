"""Writes `reference/export-schema.json` from the diagram types: `python docs/make_export_schema.py`."""

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec

from shadowviz.exporters.json_out import VERSION, AnyDocument

TARGET = Path(__file__).parent / "reference" / "export-schema.json"


def reference() -> str:
    """The schema, whole."""
    schema = msgspec.json.schema(AnyDocument)
    definitions = schema.pop("$defs")
    meanings = _meanings(get_args(AnyDocument))
    for name, definition in definitions.items():
        if "properties" not in definition:
            continue
        # Every field is written, those with their default too.
        definition["required"] = list(definition["properties"])
        for field, value in definition["properties"].items():
            value.pop("default", None)
            if meaning := meanings.get((name, field)):
                value["description"] = meaning
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"What `shadowviz export -f json` writes, version {VERSION}",
        "description": "Made from the types by docs/make_export_schema.py.",
    }
    return json.dumps({**head, **schema, "$defs": definitions}, indent=2) + "\n"


def _meanings(types: tuple[type, ...]) -> dict[tuple[str, str], str]:
    """What the docstring under each field says, by type and field, in the modules of all types that are reached."""
    found: dict[tuple[str, str], str] = {}
    for module in sorted(_modules(types)):
        tree = ast.parse(inspect.getsource(sys.modules[module]))
        for node in (node for node in tree.body if isinstance(node, ast.ClassDef)):
            found |= {(node.name, field): meaning for field, meaning in _fields(node)}
    return found


def _modules(types: tuple[type, ...]) -> set[str]:
    modules: set[str] = set()
    seen: set[Any] = set()
    waiting: list[Any] = list(types)
    while waiting:
        kind = waiting.pop()
        waiting += [part for part in get_args(kind) if part is not Ellipsis]
        if not isinstance(kind, type) or kind in seen or not issubclass(kind, (msgspec.Struct, tuple)):
            continue
        seen.add(kind)
        modules.add(kind.__module__)
        waiting += inspect.get_annotations(kind, eval_str=True).values()
    return modules - {"builtins"}


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement, after in zip(node.body, node.body[1:], strict=False):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            yield statement.target.id, " ".join(str(after.value.value).split())


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
