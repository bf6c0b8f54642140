"""Options of the rendering that differ between two requests."""

from dataclasses import replace
from typing import Final

from shadowviz.tokens.finding import Cause
from shadowviz.tokens.inert import inert
from shadowviz.tokens.structure.change import Change, Mend, Told, quoted
from shadowviz.tokens.structure.places import Place
from shadowviz.tokens.structure.view import canonical, differing_options, option

EFFORT: Final = "reasoning effort"

_ADVICE: Final = {
    "thinking": "use one mode for all requests that share a prefix",
    "enable_thinking": "use one mode for all requests that share a prefix",
    "drop_thinking": "use one value for all requests: off keeps the reasoning in the history",
}


def option_changes(a: Told, b: Told) -> list[Change]:
    """EFFORT_PREFIX for an option that names an effort, TEMPLATE with the option's name as subject for the others."""
    return [_option_change(a, b, name) for name in differing_options(a.view, b.view)]


def _option_change(a: Told, b: Told, name: str) -> Change:
    old, new = (_value(side, name) for side in (a, b))
    options = {key: value for key, value in b.view.options.items() if key != name}
    if name in a.view.options:
        options[name] = a.view.options[name]
    mends = (Mend(replace(b.view.conversation, options=options)),)
    shown = inert(name[:40])
    if "effort" in name:
        place = Place(a.layout.labelled(EFFORT), b.layout.labelled(EFFORT))
        detail = f"reasoning effort {old} in {a.name}, {new} in {b.name}: its text stands before the messages"
        advice = "use one effort for all requests that share a prefix"
        return Change(Cause.EFFORT_PREFIX, "", None if place == Place(None, None) else place, detail, advice, mends)
    detail = f"the option {shown} is {old} in {a.name} and {new} in {b.name}"
    advice = _ADVICE.get(name, f"use one value of {shown} for all requests that share a prefix")
    return Change(Cause.TEMPLATE, shown, None, detail, advice, mends)


def _value(side: Told, name: str) -> str:
    value = option(side.view, name)
    if value is None:
        return "not set"
    return quoted(canonical(value)).strip("'") if not isinstance(value, str) else quoted(value).strip("'")
