"""Two JSON values that hold the same in another order."""

from collections.abc import Mapping, Sequence
from typing import Any

from shadowviz.tokens.inert import inert
from shadowviz.tokens.structure.view import canonical


def disordered(value: Any) -> str:
    """Canonical JSON in which the order of lists does not show either."""
    return canonical(_sorted(value))


def moved_keys(a: Any, b: Any) -> str:
    """The first keys that stand in another order, as a sentence names them: `the keys properties and type`."""
    found = _first_moved(a, b)
    return f"the keys {inert(found[0][:40])} and {inert(found[1][:40])}" if found else "its keys"


def _first_moved(a: Any, b: Any) -> tuple[str, str] | None:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for left, right in zip(a, b, strict=False):
            if left != right:
                return str(left), str(right)
            if found := _first_moved(a[left], b[right]):
                return found
    elif _is_list(a) and _is_list(b):
        for left, right in zip(a, b, strict=False):
            if found := _first_moved(left, right):
                return found
    return None


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sorted(item) for key, item in value.items()}
    if _is_list(value):
        return sorted((_sorted(item) for item in value), key=canonical)
    return value


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
