"""Checks a JSON value against a schema: the few keywords that the published schema uses, and no others."""

from collections.abc import Iterator, Mapping
from typing import Any

KEYWORDS = {
    "$ref", "anyOf", "enum", "type", "properties", "required", "items", "prefixItems", "minItems", "maxItems",
    "title", "description", "discriminator", "$defs", "$schema",
}  # fmt: skip
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "null": type(None),
    "boolean": bool,
}


def contradictions(value: Any, schema: Mapping[str, Any], whole: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Where `value` is not as the schema says; a field that the schema does not name is one too."""
    assert set(schema) <= KEYWORDS, f"the checker does not know {set(schema) - KEYWORDS}"
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from contradictions(value, whole["$defs"][name], whole, place)
    if "anyOf" in schema and all(any(contradictions(value, option, whole)) for option in schema["anyOf"]):
        yield f"{place}: none of the choices"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is not one of {schema['enum']}"
    expected = schema.get("type")
    if expected and (not isinstance(value, TYPES[expected]) or (expected != "boolean" and isinstance(value, bool))):
        yield f"{place}: {value!r} is no {expected}"
        return
    if isinstance(value, dict) and "properties" in schema:
        yield from (f"{place}: {name} is missing" for name in schema["required"] if name not in value)
        for name, part in value.items():
            if name not in schema["properties"]:
                yield f"{place}: {name} is not in the schema"
            else:
                yield from contradictions(part, schema["properties"][name], whole, f"{place}.{name}")
    if isinstance(value, list):
        yield from _of_list(value, schema, whole, place)


def _of_list(value: list[Any], schema: Mapping[str, Any], whole: Mapping[str, Any], place: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{place}: {len(value)} items"
    first = schema.get("prefixItems", ())
    for at, (part, known) in enumerate(zip(value, first, strict=False)):
        yield from contradictions(part, known, whole, f"{place}[{at}]")
    rest = schema.get("items")
    for at, part in enumerate(value[len(first) :], len(first)):
        if isinstance(rest, Mapping):
            yield from contradictions(part, rest, whole, f"{place}[{at}]")
