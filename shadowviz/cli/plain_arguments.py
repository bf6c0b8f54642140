"""A short way from arguments to a call: Typer loads what takes a third of the time to the first frame of a screen.

It reads what leaves no doubt, and leaves everything else to Typer: mistakes, help, numbers, and unusual ways to write.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_type_hints

from typer.models import ArgumentInfo, OptionInfo


def plain_arguments(command: Callable[..., int], arguments: Sequence[str]) -> Mapping[str, Any] | None:
    """What `command` is to be called with; None where that is for Typer to say."""
    options, positions = _parameters(command)
    found: dict[str, Any] = {}
    left, rest = list(arguments), list[str]()
    while left:
        word = left.pop(0)
        if word == "--":
            rest += left
            break
        if not word.startswith("-"):
            rest.append(word)
            continue
        word, is_joined, value = word.partition("=")
        name, kind = options.get(word, ("", None))
        # Behind one dash Typer takes the sign for a part of the value.
        is_odd = bool(is_joined) and (kind is bool or not word.startswith("--"))
        if name in found or kind not in (str, bool) or is_odd:
            return None
        if kind is str and not is_joined:
            if not left or left[0].startswith("-"):
                return None
            value = left.pop(0)
        found[name] = True if kind is bool else value
    if len(rest) > len(positions):
        return None
    return found | dict(zip(positions, rest, strict=False))


def _parameters(command: Callable[..., int]) -> tuple[dict[str, tuple[str, Any]], list[str]]:
    """Parameter and type by the way to write an option; and the parameters that are given by their place."""
    hints, options, positions = get_type_hints(command, include_extras=True), dict[str, tuple[str, Any]](), list[str]()
    for name in inspect.signature(command).parameters:
        kind, *extras = get_args(hints[name])
        for extra in extras:
            if isinstance(extra, ArgumentInfo) and kind is str:
                positions.append(name)
            elif isinstance(extra, OptionInfo):
                # Beside a type, the first way to write an option stands where its default would.
                decls = [decl for decl in (extra.default, *(extra.param_decls or ())) if isinstance(decl, str)]
                # A flag without a name of its own has a second one that turns it off.
                decls = decls or ([] if kind is bool else [f"--{name.replace('_', '-')}"])
                options |= {decl: (name, kind) for decl in decls if decl.startswith("-") and "/" not in decl}
    return options, positions
