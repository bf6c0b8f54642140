"""Reads a log in the form, from anywhere and of any size, and checks every line of it."""

from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from shadowviz.replay.text_log.judge import PARTS, Lookup, Wrong, judge, part_of
from shadowviz.replay.text_log.lines import Init, Line, Outcome, Part, is_whole, parse
from shadowviz_engine.core.errors import InputError

MAX_LINE = 64 * 1024 * 1024
"""Bytes of a line that is read; one of all ids of a million tokens has 2 million."""
MAX_OPEN = 64
"""Lookups of one source that wait for lines at a time; more, and the oldest is taken to be all there is."""
MAX_SOURCES = 1024
MAX_LISTED = 1000
"""Contradictions that are listed; all are counted."""


class Contradiction(Wrong, frozen=True):
    """A wrong claim, and the lookup that makes it."""

    lookup_line: int
    length: int
    """Length of the lookup; -1 = no line names it."""


class Checked(msgspec.Struct):
    """What came of a log."""

    lines: int = 0
    """Lines of the form that were read."""
    other_lines: int = 0
    lookups: int = 0
    incomplete: int = 0
    """Lookups that lack one of the seven lines."""
    wrong_lookups: int = 0
    num_contradictions: int = 0
    contradictions: list[Contradiction] = msgspec.field(default_factory=list)
    """The first ones."""
    unread: list[int] = msgspec.field(default_factory=list)
    """Numbers of the first lines that begin as the form does and cannot be read."""
    num_unread: int = 0
    torn: int = 0
    """Number of the last line, if it was cut off; 0 = it was not."""
    no_geometry: bool = False
    """A lookup came before any init line: what its lines do not state themselves was not checked."""


class Checker:
    """Takes lines in order; lookups of one source may be interleaved."""

    def __init__(self) -> None:
        self.checked = Checked()
        self._inits: dict[str, tuple[Init, int]] = {}
        self._open: dict[str, list[Lookup]] = {}
        self._told: set[tuple[int, str]] = set()

    def take(self, number: int, line: Line) -> None:
        """One line of the form."""
        claim = line.claim
        if claim is None:
            self.checked.num_unread += 1
            if len(self.checked.unread) < MAX_LISTED:
                self.checked.unread.append(number)
            return
        self.checked.lines += 1
        if isinstance(claim, Init):
            self._close_all(line.source)
            self._inits[line.source] = self._inits[""] = claim, number
            return
        self._add(number, line.source, claim)

    def finish(self) -> Checked:
        """What came of it, once there are no more lines."""
        for source in list(self._open):
            self._close_all(source)
        self.checked.contradictions.sort(key=lambda item: item.line)
        return self.checked

    def _add(self, number: int, source: str, claim: Part) -> None:
        waiting = self._open.setdefault(source, [])
        name = part_of(claim)
        lookup = _fitting(waiting, name, number, claim)
        if lookup is None:
            lookup = self._begin(source)
            waiting.append(lookup)
        lookup.parts[name] = number, claim
        if isinstance(claim, Outcome):
            waiting.remove(lookup)
            self._close(lookup)
        if len(waiting) > MAX_OPEN:
            self._close(waiting.pop(0))
        if len(self._open) > MAX_SOURCES:
            self._close_all(next(iter(self._open)))

    def _begin(self, source: str) -> Lookup:
        stated = self._inits.get(source) or self._inits.get("")
        if stated is None:
            self.checked.no_geometry = True
        return Lookup(*(stated or (Init(), 0)))

    def _close_all(self, source: str) -> None:
        for lookup in self._open.pop(source, ()):
            self._close(lookup)

    def _close(self, lookup: Lookup) -> None:
        checked, span = self.checked, lookup.span
        wrong = [item for item in judge(lookup) if (item.line, item.claim) not in self._told]
        # A wrong init line is told once, though every lookup contradicts it.
        self._told |= {(item.line, item.claim) for item in wrong if item.line == lookup.init_line}
        checked.lookups += 1
        checked.incomplete += len(lookup.parts) < len(PARTS)
        checked.wrong_lookups += bool(wrong)
        checked.num_contradictions += len(wrong)
        for item in wrong[: MAX_LISTED - len(checked.contradictions)]:
            fields = msgspec.structs.asdict(item)
            checked.contradictions.append(
                Contradiction(**fields, lookup_line=lookup.first_line, length=span.stop if span else -1)
            )


def _fitting(waiting: list[Lookup], name: str, number: int, claim: Part) -> Lookup | None:
    """The lookup that a line belongs to; None = it is the first of another.

    Of those that wait for it, the one that it contradicts least, and of equals the one that has most lines: each lookup
    has its lines in the order of the form, so that one which waits for an earlier line waits for that first.
    """
    if name == "found":
        return None
    later = PARTS[PARTS.index(name) :]
    lacking = [lookup for lookup in waiting if not any(part in lookup.parts for part in later)]
    lacking = lacking or [lookup for lookup in waiting if name not in lookup.parts]
    if len(lacking) < 2:
        return lacking[0] if lacking else None
    return min(lacking, key=lambda lookup: (_num_wrong(lookup, name, number, claim), -len(lookup.parts)))


def _num_wrong(lookup: Lookup, name: str, number: int, claim: Part) -> int:
    """How much more would be wrong about a lookup if the line were its."""
    trial = Lookup(lookup.init, lookup.init_line)
    trial.parts = {**lookup.parts, name: (number, claim)}
    return len(judge(trial)) - len(judge(lookup))


def check_log(file: BinaryIO, name: str) -> Checked:
    """Check every line of a log.

    Raises:
        InputError: no line has the form.
    """
    checker = Checker()
    for number, text, ended in _lines(file):
        line = parse(text)
        if line is None:
            checker.checked.other_lines += 1
        elif not ended and (line.claim is None or not (is_whole(text) or isinstance(line.claim, Init))):
            checker.checked.torn = number
        else:
            checker.take(number, line)
    checked = checker.finish()
    if not checked.lines:
        found = f"{checked.other_lines + checked.num_unread:,} lines, none of them"
        raise InputError(
            f"{name} holds {found} of the form: expected lines such as "
            "'[DEBUG] ShadowRadix: Found longest prefix match for len=42. Logical span: [0, 42].'"
        )
    return checked


def _lines(file: BinaryIO) -> Iterator[tuple[int, str, bool]]:
    """Number, text, and whether a line end follows; of a line that is too long only its number."""
    number = 0
    while raw := file.readline(MAX_LINE):
        number += 1
        ended = raw.endswith(b"\n")
        if not ended and len(raw) == MAX_LINE:
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(MAX_LINE)
            yield number, "", True
            continue
        yield number, raw.decode("utf-8", "replace").rstrip("\r\n"), ended
