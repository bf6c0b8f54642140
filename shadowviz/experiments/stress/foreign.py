"""Claims of another engine's derivation, checked against the definition: a function of a length, or lines of JSON."""

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import msgspec

from shadowviz.experiments.stress.arithmetic_lengths import WHOLE_RANGE, lengths_of
from shadowviz.experiments.stress.definition import Definition, listed_definition, run_definition
from shadowviz.experiments.stress.foreign_fields import LENGTH, SPAN, Descriptor, check_fields
from shadowviz.experiments.stress.work import CellResult, Group, Plan
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.spans import Extent

MODE = "claims"
MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_TOKENS = 2**40
CLAIMS_A_GROUP = 500
RUN_TOKENS = 16 * WHOLE_RANGE
MOST_NAMED = 12
"""Wrong fields that one result names."""


class Claim(msgspec.Struct, frozen=True):
    """What a foreign derivation says of the tokens of a span."""

    span: Extent
    descriptor: Descriptor


class Claims(Protocol):
    """Where claims come from."""

    @property
    def name(self) -> str:
        """What results call them."""

    def lengths(self, plan: Plan, geometry: Geometry) -> list[int]:
        """Lengths of the plan of which there are claims, ascending."""

    def at(self, length: int) -> Sequence[Claim]:
        """Claims about prefixes or spans that end at a length.

        Raises:
            Exception: whatever a foreign function raises.
        """


class StoredClaims:
    """Claims from lines of JSON, each an object with a `length` or a `span`."""

    def __init__(self, path: Path) -> None:
        self.name = shorten(path.name, 60)
        self._by_length: dict[int, list[Claim]] = {}
        for number, line in _lines(path):
            claim = _claim_of(line, f"{shorten(str(path))}, line {number}")
            self._by_length.setdefault(claim.span.stop, []).append(claim)
        if not self._by_length:
            raise InputError(f"{shorten(str(path))} holds no claims: expected a JSON object a line, with a length")

    def lengths(self, plan: Plan, geometry: Geometry) -> list[int]:  # noqa: ARG002
        """Lengths in the file that lie in the plan's ranges."""
        chosen = [
            length for length in sorted(self._by_length) if any(start <= length < stop for start, stop in plan.lengths)
        ]
        if not chosen:
            first, last = min(self._by_length), max(self._by_length)
            raise InputError(f"{self.name} claims lengths from {first} to {last}: expected some of those asked for")
        return chosen

    def at(self, length: int) -> Sequence[Claim]:
        """The lines about spans that end at `length`."""
        return self._by_length[length]


class CalledClaims:
    """Claims of a Python function from a length to a descriptor."""

    def __init__(self, name: str) -> None:
        self.name = shorten(name, 60)
        self._call = _function_named(name)

    def lengths(self, plan: Plan, geometry: Geometry) -> list[int]:
        """Every length of the plan, a long range sampled."""
        return lengths_of(plan, geometry)

    def at(self, length: int) -> Sequence[Claim]:
        """What the function says of `length`."""
        return (Claim(Extent(0, length), _descriptor_of(self._call(length))),)


def claims_from(source: str) -> Claims:
    """Claims from `module:function` or from a file of JSON lines.

    Raises:
        InputError: there is no such file or function, or a line is no claim.
    """
    if Path(source).is_file():
        return StoredClaims(Path(source))
    module, colon, function = source.partition(":")
    if colon and function and all(part.isidentifier() for part in (*module.split("."), *function.split("."))):
        return CalledClaims(source)
    raise InputError(f"claims {shorten(source, 60)!r} are no file and no module:function: expected one of the two")


class ForeignWork:
    """Claims about one geometry against its definition."""

    left_out: tuple[str, ...] = ()

    def __init__(self, plan: Plan, geometry: Geometry, claims: Claims) -> None:
        self.plan = plan
        self.geometry = geometry
        self._claims = claims
        for mode in plan.modes:
            if mode != MODE:
                raise InputError(f"mode {mode[:40]!r} does not go with claims: expected {MODE}")

    @property
    def subject(self) -> str:
        """Name of the claims and of the geometry that they are about."""
        return f"{self._claims.name} on {self.geometry.name}"

    def groups(self) -> Sequence[Group]:
        """All claimed lengths, in groups of a few hundred."""
        starts = range(0, len(self._lengths), CLAIMS_A_GROUP)
        return [Group(MODE, tuple(self._lengths[start : start + CLAIMS_A_GROUP])) for start in starts]

    def check(self, group: Group) -> Iterator[CellResult]:
        """Results of a group, in the order of its lengths."""
        for length in group.lengths:
            try:
                claims = self._claims.at(length)
            except (Exception, SystemExit) as error:
                # Somebody else's function may raise anything, or leave; that it does is what is found.
                detail = f"raised {type(error).__name__}: {shorten(str(error), 120)}"
                yield CellResult(mode=MODE, length=length, outcome="refused", detail=detail)
                continue
            yield self._checked(length, claims)

    def _checked(self, length: int, claims: Sequence[Claim]) -> CellResult:
        definition = self._run if length <= RUN_TOKENS else self._listed
        checked = [check_fields(definition, claim.descriptor, claim.span) for claim in claims]
        wrong = [item for found in checked for item in found.wrong]
        names = shorten(", ".join(dict.fromkeys(name for found in checked for name in found.unknown)), 120)
        if not all(found.num_known for found in checked):
            detail = f"no field of a claim is known: found {names or 'none'}"
            return CellResult(mode=MODE, length=length, outcome="refused", detail=detail)
        if not wrong:
            return CellResult(mode=MODE, length=length, detail=f"not checked: {names}" if names else "")
        first, more = wrong[0], len(wrong) - MOST_NAMED
        return CellResult(
            mode=MODE,
            length=length,
            outcome="differs",
            stage="state",
            kind=first.kind,
            row=first.row,
            detail="; ".join(map(str, wrong[:MOST_NAMED])) + (f"; {more} more" if more > 0 else ""),
        )

    @cached_property
    def _lengths(self) -> list[int]:
        return self._claims.lengths(self.plan, self.geometry)

    @cached_property
    def _run(self) -> Definition:
        return run_definition(self.geometry, max((n for n in self._lengths if n <= RUN_TOKENS), default=0))

    @cached_property
    def _listed(self) -> Definition:
        return listed_definition(self.geometry)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise InputError(f"{shorten(str(path))}, line {number} is longer than {MAX_LINE_BYTES} bytes")
                if line.strip():
                    yield number, line
    except OSError as error:
        raise InputError(f"{shorten(str(path))} cannot be read: {error.strerror}") from error


def _claim_of(line: bytes, where: str) -> Claim:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{where} is no JSON: {shorten(str(error))}") from error
    if not isinstance(value, dict):
        raise InputError(f"{where} is no claim: expected a JSON object with a length or a span")
    return Claim(_span_of(value, where), value)


def _span_of(value: Mapping[str, object], where: str) -> Extent:
    for name in SPAN:
        if name in value:
            ends = value[name]
            if isinstance(ends, list) and len(ends) == 2 and all(type(end) is int for end in ends):
                start, stop = ends
                if 0 <= start <= stop <= MAX_TOKENS:
                    return Extent(start, stop)
            raise InputError(f"{where}: {name} is {shorten(repr(ends), 60)}, expected [START, STOP], half-open")
    for name in LENGTH:
        if name in value:
            length = value[name]
            if type(length) is int and 0 <= length <= MAX_TOKENS:
                return Extent(0, length)
            raise InputError(f"{where}: {name} is {shorten(repr(length), 60)}, expected a number of tokens")
    raise InputError(f"{where} names no tokens: expected a field length or span")


def _function_named(name: str) -> Callable[[int], object]:
    module, _, function = name.partition(":")
    # As `python -m` does: a module beside the work at hand is meant first.
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: object = importlib.import_module(module)
        for part in function.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise InputError(f"{shorten(name, 60)} cannot be loaded: {shorten(str(error), 120)}") from error
    if not callable(found):
        raise InputError(f"{shorten(name, 60)} is a {type(found).__name__}: expected a function of a length")
    return found


def _descriptor_of(value: object) -> Descriptor:
    """Fields of what a function returned: a mapping, an object with fields, or descriptors of kinds with rows."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    if isinstance(value, list | tuple) and value and all(hasattr(item, "kind") for item in value):
        return {item.kind: tuple(item.rows) for item in value}
    if hasattr(value, "__dict__"):
        return dict(vars(value))
    raise TypeError(f"returned a {type(value).__name__}, expected a mapping or an object with fields")
