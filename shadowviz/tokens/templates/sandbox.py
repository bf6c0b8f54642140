"""The Jinja environment that chat templates expect, in which a template reaches nothing but its variables."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from shadowviz.tokens.templates.marks import Alphabet

MAX_TEXT: Final = 2**24
"""Longest rendering, in characters."""
NUMBER_OF, OPEN, CLOSE = ("shadowviz number", "shadowviz open", "shadowviz close")
"""Filters of marked templates; a blank keeps the names out of a template's reach."""


class TooLongError(Exception):
    """A rendering that is longer than any prompt."""


class Generation(Extension):
    """`{% generation %}` blocks, which tell trainers what the model wrote: rendered as what they hold."""

    tags = {"generation"}  # noqa: RUF012 (the library declares it so)

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        """What stands in the block."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


class PlainNamespace(Namespace):
    """Jinja's namespace without names that begin with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *rest = args
        values = dict(*rest, **kwargs)
        for name in values:
            _check_name(name)
        Namespace.__init__(self, values)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


class Dictionary:
    """`dict` as a template may use it."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        """As `dict.fromkeys`."""
        return dict.fromkeys(*args)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace has the name {name!r}, expected no underscore in front")


@dataclass(frozen=True)
class Marks:
    """What is marked: numbers of objects by `id()`, for loops over them and for `tojson`."""

    alphabet: Alphabet
    loops: Mapping[int, int]
    dumps: Mapping[int, int]


class Sandbox:
    """Templates compiled once, with and without marks."""

    def __init__(self) -> None:
        self._plain: dict[str, tuple[jinja2.Template, tuple[str, ...]]] = {}
        self._marked: dict[str, jinja2.Template] = {}

    def render(self, source: str, variables: Mapping[str, Any], now: datetime) -> str:
        """The text of a template.

        Raises:
            Exception: whatever a template can bring about.
        """
        template, _ = self._compiled(source)
        return _run(template, variables, {"strftime_now": now.strftime})

    def literals(self, source: str) -> tuple[str, ...]:
        """The strings that expressions of a template hold: what it may look for in a message."""
        return self._compiled(source)[1]

    def render_marked(self, source: str, variables: Mapping[str, Any], now: datetime, marks: Marks) -> str:
        """The text with marks around what loops and `tojson` make of numbered objects.

        Raises:
            Exception: whatever a template can bring about.
        """
        template = self._marked.get(source)
        if template is None:
            environment = new_environment(MarkedEnvironment)
            tree = environment.parse(source)
            _mark_loops(tree, environment)
            template = self._marked[source] = environment.from_string(tree)
        environment = template.environment
        assert isinstance(environment, MarkedEnvironment)
        environment.alphabet, filters = marks.alphabet, environment.filters
        filters[NUMBER_OF] = lambda value: marks.loops.get(id(value))
        filters[OPEN] = lambda number: "" if number is None else marks.alphabet.open(number)
        filters[CLOSE] = lambda number: "" if number is None else marks.alphabet.close(number)

        def marked_json(value: Any, *args: Any, **kwargs: Any) -> str:
            written, number = to_json(value, *args, **kwargs), marks.dumps.get(id(value))
            return written if number is None else marks.alphabet.wrap(written, number)

        filters["tojson"] = marked_json
        filters["trim"] = lambda value, chars=None: marks.alphabet.strip(str(value), chars)
        return _run(template, variables, {"strftime_now": now.strftime})

    def _compiled(self, source: str) -> tuple[jinja2.Template, tuple[str, ...]]:
        if source not in self._plain:
            environment = new_environment()
            template = environment.from_string(source)
            found = {node.value for node in environment.parse(source).find_all(nodes.Const)}
            self._plain[source] = template, tuple(sorted(value for value in found if isinstance(value, str)))
        return self._plain[source]


class MarkedEnvironment(ImmutableSandboxedEnvironment):
    """One in which texts are stripped as if they bore no marks."""

    alphabet: Alphabet

    def getattr(self, obj: Any, attribute: str) -> Any:
        """As Jinja gets it, but for the methods that strip texts."""
        if isinstance(obj, str) and attribute in ("strip", "lstrip", "rstrip"):
            sides = {"left": attribute != "rstrip", "right": attribute != "lstrip"}
            return lambda chars=None: self.alphabet.strip(obj, chars, **sides)
        return super().getattr(obj, attribute)


def new_environment(kind: type[ImmutableSandboxedEnvironment] = ImmutableSandboxedEnvironment) -> jinja2.Environment:
    """An environment without a loader, with what chat templates expect beside Jinja's own."""
    environment = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    environment.filters["tojson"] = to_json
    environment.globals |= {"raise_exception": _raise, "dict": Dictionary(), "namespace": PlainNamespace}
    # A marked template is compiled before what its filters do is known.
    environment.filters |= dict.fromkeys((NUMBER_OF, OPEN, CLOSE), str)
    return environment


def to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as it is, without the escapes for HTML that Jinja's own filter writes."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise(message: object) -> None:
    raise jinja2.TemplateError(str(message))


def _run(template: jinja2.Template, variables: Mapping[str, Any], extra: Mapping[str, Any]) -> str:
    # Some filters draw lots; a rendering is the same every time.
    random.seed(0)
    parts, total = [], 0
    for part in template.generate({**extra, **variables}):
        total += len(part)
        if total > MAX_TEXT:
            raise TooLongError(f"writes more than {MAX_TEXT:,} characters")
        parts.append(part)
    return "".join(parts)


def _mark_loops(tree: nodes.Node, environment: jinja2.Environment) -> None:
    for place, loop in enumerate(list(tree.find_all(nodes.For))):
        if isinstance(loop.target, nodes.Name):
            name = f"shadowviz_number_{place}"
            _close_before_jumps(loop.body, name)
            loop.body = [
                nodes.Assign(nodes.Name(name, "store"), _filtered(nodes.Name(loop.target.name, "load"), NUMBER_OF)),
                nodes.Output([_filtered(nodes.Name(name, "load"), OPEN)]),
                *loop.body,
                _closing(name),
            ]
    tree.set_environment(environment).set_lineno(1)


def _close_before_jumps(body: list[nodes.Node], name: str) -> None:
    """Close the stretch before each `continue` and `break` of this loop, not of those inside."""
    for place in range(len(body) - 1, -1, -1):
        node = body[place]
        if isinstance(node, nodes.Continue | nodes.Break):
            body.insert(place, _closing(name))
        # A jump in the `else` of a loop is one of the loop around it.
        fields = ("else_",) if isinstance(node, nodes.For) else node.fields
        for field in fields:
            if isinstance(inner := getattr(node, field), list):
                _close_before_jumps(inner, name)


def _closing(name: str) -> nodes.Output:
    return nodes.Output([_filtered(nodes.Name(name, "load"), CLOSE)])


def _filtered(node: nodes.Expr, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None)
