"""The JSON or Python values around a place in a text."""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

from shadowviz.tokens.causes.edit import Stretch

REACH: Final = 40_000
"""Characters before a place in which a value around it may begin, and characters of the longest value that is read."""
DEPTH: Final = 12
"""Values around a place that are tried, innermost first."""

_BRACKETS: Final = re.compile(r"[{}\[\]]")
_DECODER: Final = json.JSONDecoder(strict=False)
_QUOTED: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[{}\[\]()]", re.DOTALL)
_LEAF: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|[^\s\"{}\[\],:]+", re.DOTALL)


class Container(NamedTuple):
    """An object or an array, and where it stands."""

    where: Stretch
    value: Any


def containers_of(stretch: Stretch) -> list[Container]:
    """Values that hold a stretch between their brackets, innermost first."""
    found = []
    for start in islice(_openers(stretch), DEPTH):
        container = _read(stretch.text, start)
        if container and container.where.stop > stretch.stop:
            found.append(container)
    return found


def _openers(stretch: Stretch) -> Iterator[int]:
    """Brackets on the left that no bracket before the stretch closes, nearest first."""
    depth = 0
    for match in reversed(list(_BRACKETS.finditer(stretch.text, max(0, stretch.start - REACH), stretch.start))):
        if match[0] in "}]":
            depth += 1
        elif depth:
            depth -= 1
        else:
            yield match.start()


# Edits that lie beside each other lie in the same values.
@lru_cache(maxsize=32)
def _read(text: str, start: int) -> Container | None:
    try:
        value, length = _DECODER.raw_decode(text[start : start + REACH])
    except (ValueError, RecursionError):
        return _read_literal(text, start)
    return Container(Stretch(text, start, start + length), value)


def _read_literal(text: str, start: int) -> Container | None:
    """A Python display of strings, numbers, lists and dicts."""
    if not re.match(r"[{\[][\s\[{(]*(?:'|[\]}]|True|False|None|-?\d)", text[start : start + 64]):
        return None
    depth = 0
    for match in _QUOTED.finditer(text, start, start + REACH):
        depth += (match[0] in "{[(") - (match[0] in "}])")
        if not depth:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    value = ast.literal_eval(text[start : match.end()])
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                return None
            return Container(Stretch(text, start, match.end()), value)
    return None


def leaf_of(container: Container, stretch: Stretch) -> Stretch | None:
    """The string, number or word of a container in which a stretch lies."""
    for match in _LEAF.finditer(container.where.text, container.where.start, container.where.stop):
        if match.end() >= stretch.stop and match.start() <= stretch.start:
            return Stretch(stretch.text, match.start(), match.end())
        if match.start() > stretch.start:
            return None
    return None
