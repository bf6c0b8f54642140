"""How a program and the process that renders its templates talk: JSON, one value a line."""

import json
from collections.abc import Mapping
from typing import Any


def to_line(value: Mapping[str, Any]) -> bytes:
    """One line; lone surrogates pass, because it is not here that they are refused.

    Raises:
        RecursionError: the values nest too deep.
        TypeError, ValueError: a value that JSON does not know.
    """
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def from_line(line: bytes) -> dict[str, Any]:
    """The value of a line that `to_line` wrote."""
    value: dict[str, Any] = json.loads(line.decode("utf-8", "surrogatepass"))
    return value
