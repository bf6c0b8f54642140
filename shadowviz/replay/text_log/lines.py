"""Lines of the form, read: an init line, and seven lines a lookup, whatever stands before them."""

import re
from typing import Final, TypeAlias

import msgspec

from shadowviz_engine.core.spans import Extent

NAME: Final = "ShadowRadix"
UNKNOWN_IDS: Final = "unknown"
"""Stands for the ids of blocks where the record does not tell the slots."""
NO_RATIO: Final = "none"
"""Stands for the ratio of a compressor that the geometry lacks."""


class Init(msgspec.Struct, frozen=True):
    """What the arithmetic depends on; None = not stated, a ratio of 0 = there is no such compressor."""

    csa: int | None = None
    hca: int | None = None
    n_win: int | None = None


class Found(msgspec.Struct, frozen=True):
    """The lookup's length and span."""

    length: int
    span: Extent


class Deriving(msgspec.Struct, frozen=True):
    """The span that is derived."""

    span: Extent


class Blocks(msgspec.Struct, frozen=True):
    """Blocks of one kind; what a line does not state is None."""

    kind: str
    """CSA or HCA."""
    ids: tuple[int, ...] | None
    count: int | None = None
    covers: int | None = None
    """Tokens a block."""
    ids_sum: int | None = None


class Window(msgspec.Struct, frozen=True):
    """The range of the sliding window."""

    span: tuple[int, int]
    count: int | None = None
    n_win: int | None = None


class Tail(msgspec.Struct, frozen=True):
    """Tokens of the open windows."""

    offset: int
    none: bool = False
    """The line says that there is no tail."""
    length: int | None = None
    """The length that is said to be a multiple."""
    multiples: tuple[int, ...] = ()
    csa: int | None = None
    hca: int | None = None


class Outcome(msgspec.Struct, frozen=True):
    """The last line: what was reused."""

    hit: bool
    csa: int
    hca: int
    swa: int


Part: TypeAlias = Found | Deriving | Blocks | Window | Tail | Outcome
Claim: TypeAlias = Init | Part


class Line(msgspec.Struct, frozen=True):
    """One line of the form."""

    source: str
    """What stands before the level, without the time: lines of one process have the same."""
    claim: Claim | None
    """None = it begins as the form does and cannot be read."""


_N: Final = r"([0-9]{1,18})"
_RATIO: Final = rf"([0-9]{{1,18}}|{NO_RATIO})"
_RANGE: Final = rf"\[\s*{_N}\s*,\s*{_N}\s*[\])]"
_END: Final = r"\s*(?:\((.*)\))?\s*"
_BODY = re.compile(rf"{NAME}\s*(?::|initialized)|Cache\s+(?:hit|miss)\s*!")
_LEVEL = re.compile(r"\[?\b(?:DEBUG|INFO|WARNING|TRACE)\b\]?:?\s*\Z")
_TIME = re.compile(
    r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]+)?(?:Z|[+-][0-9:]{4,6})?"
    r"|[0-9]{9,}(?:[.,][0-9]+)?|[0-9]+\.[0-9]+"
)
_INIT = re.compile(rf"{NAME} initialized with m\s*=\s*{_RATIO},\s*m['′’]\s*=\s*{_RATIO},\s*n_win\s*=\s*{_N}\b.*")
_FOUND = re.compile(rf"{NAME}: Found longest prefix match for len\s*=\s*{_N}\. Logical span: {_RANGE}\.?\s*")
_DERIVING = re.compile(rf"{NAME}: Deriving physical state for {_RANGE}(?:\.\.\.|…)?\s*")
_BLOCKS = re.compile(rf"{NAME}: -> (CSA|HCA) blocks: (?:\[\s*([0-9,\s]*)\]|{UNKNOWN_IDS}){_END}")
_WINDOW = re.compile(rf"{NAME}: -> SWA range: {_RANGE}{_END}")
_TAIL = re.compile(rf"{NAME}: -> Tail offset: {_N}{_END}")
_OUTCOME = re.compile(
    rf"Cache\s+(hit|miss)\s*! Reusing {_N} CSA blocks?, {_N} HCA blocks?,? and SWA state for {_N} tokens?\.?\s*"
)
_IDS = re.compile(r"[0-9]{1,18}(?:\s*,\s*[0-9]{1,18})*\s*")
_COUNT, _COVERS, _SUM = (re.compile(rf"\b{p}\b") for p in (f"{_N} blocks?", f"covers {_N} tokens?", f"sum {_N}"))
_LAST, _OF_WINDOW = re.compile(rf"\blast {_N} tokens?\b"), re.compile(rf"\bwindow of {_N}\b")
_MULTIPLE = re.compile(rf"\b{_N} is (?:a )?multiple of {_N}(?: and {_N})?")
_CSA_TAIL, _HCA_TAIL = (re.compile(rf"\b{kind} tail {_N}\b") for kind in ("CSA", "HCA"))
_NO_TAIL = re.compile(r"\bno tail\b")
_WHOLE = re.compile(r"[])}.…]\s*\Z")


def parse(text: str) -> Line | None:
    """The line, if it has the form's words anywhere in it; None = it is another's."""
    body = _BODY.search(text)
    if body is None:
        return None
    before = _LEVEL.sub("", text[: body.start()].rstrip()[-400:])
    source = " ".join(_TIME.sub(" ", before).split())
    return Line(source, _claim(text[body.start() :].rstrip()))


def is_whole(text: str) -> bool:
    """Whether a line ends as the form's lines end; one that was cut off does not."""
    return _WHOLE.search(text) is not None


def _claim(body: str) -> Claim | None:
    for pattern, read in _READERS:
        match = pattern.fullmatch(body)
        if match is not None:
            return read(match)
    return None


def _init(match: re.Match[str]) -> Init:
    csa, hca = (0 if text == NO_RATIO else int(text) for text in match.group(1, 2))
    return Init(csa, hca, int(match[3]))


def _found(match: re.Match[str]) -> Found:
    return Found(int(match[1]), Extent(int(match[2]), int(match[3])))


def _deriving(match: re.Match[str]) -> Deriving:
    return Deriving(Extent(int(match[1]), int(match[2])))


def _blocks(match: re.Match[str]) -> Blocks | None:
    kind, listed, rest = match[1], match[2], match[3] or ""
    if listed is None or not listed.strip():
        ids: tuple[int, ...] | None = None if listed is None else ()
    elif _IDS.fullmatch(listed):
        ids = tuple(map(int, listed.split(",")))
    else:
        return None
    return Blocks(kind, ids, _number(_COUNT, rest), _number(_COVERS, rest), _number(_SUM, rest))


def _window(match: re.Match[str]) -> Window:
    rest = match[3] or ""
    return Window((int(match[1]), int(match[2])), _number(_LAST, rest), _number(_OF_WINDOW, rest))


def _tail(match: re.Match[str]) -> Tail:
    rest = match[2] or ""
    multiple = _MULTIPLE.search(rest)
    numbers = [int(text) for text in multiple.groups() if text] if multiple else []
    return Tail(
        int(match[1]),
        none=_NO_TAIL.search(rest) is not None,
        length=numbers[0] if numbers else None,
        multiples=tuple(numbers[1:]),
        csa=_number(_CSA_TAIL, rest),
        hca=_number(_HCA_TAIL, rest),
    )


def _outcome(match: re.Match[str]) -> Outcome:
    return Outcome(match[1] == "hit", *map(int, match.group(2, 3, 4)))


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    found = pattern.search(text)
    return int(found[1]) if found else None


_READERS = (
    (_BLOCKS, _blocks),
    (_FOUND, _found),
    (_DERIVING, _deriving),
    (_WINDOW, _window),
    (_TAIL, _tail),
    (_OUTCOME, _outcome),
    (_INIT, _init),
)
