"""What the lines of one lookup claim against the arithmetic: each wrong claim with what was found and expected."""

from collections.abc import Iterator, Sequence
from itertools import product, starmap
from typing import TypeAlias

import msgspec

from shadowviz.replay.text_log.lines import Blocks, Deriving, Found, Init, Outcome, Part, Tail, Window
from shadowviz_engine.core.spans import Extent

Key: TypeAlias = tuple[str, int]
"""A figure and the value that it was said to have."""
_SYMBOLS = {"csa": "m", "hca": "m'", "n_win": "n_win"}
PARTS = ("found", "deriving", "csa", "hca", "window", "tail", "outcome")


class Wrong(msgspec.Struct, frozen=True):
    """One claim that cannot be true."""

    line: int
    claim: str
    """What the claim is about, such as CSA blocks."""
    found: str
    expected: str
    why: str


class Lookup:
    """Lines of one lookup, by part, with their numbers."""

    def __init__(self, init: Init, init_line: int) -> None:
        self.init = init
        self.init_line = init_line
        self.parts: dict[str, tuple[int, Part]] = {}

    @property
    def first_line(self) -> int:
        """Number of its first line."""
        return min(line for line, _ in self.parts.values())

    @property
    def span(self) -> Extent | None:
        """The span that its lines speak of, where they agree most; None = no line names one."""
        spans = _spans(self)
        return spans[0] if spans else None


def part_of(claim: Part) -> str:
    """Which part of a lookup a claim is; each lookup has one of each."""
    match claim:
        case Found():
            return "found"
        case Deriving():
            return "deriving"
        case Blocks():
            return claim.kind.lower()
        case Window():
            return "window"
        case Tail():
            return "tail"
        case Outcome():
            return "outcome"


def judge(lookup: Lookup) -> list[Wrong]:
    """The claims that are wrong, by line.

    Where lines contradict each other on the span or the geometry, the reading that leaves the fewest claims wrong is
    taken for the true one.
    """
    best: list[Wrong] | None = None
    spans: list[Extent | None] = [*_spans(lookup)]
    for span, geometry in product(spans or [None], starmap(Init, product(*_geometries(lookup)))):
        wrong = list(_Judge(lookup, span, geometry).all())
        if best is None or len(wrong) < len(best):
            best = wrong
        if not best:
            break
    return sorted(best or (), key=lambda item: item.line)


def _spans(lookup: Lookup) -> list[Extent]:
    """Spans that the lines name, the one named most often first."""
    named: list[Extent] = []
    for _, part in lookup.parts.values():
        if isinstance(part, Found):
            named += [part.span, Extent(part.span.start, part.length)]
        elif isinstance(part, Deriving):
            named.append(part.span)
    return sorted(dict.fromkeys(named), key=lambda span: -named.count(span))


def _geometries(lookup: Lookup) -> Iterator[list[int | None]]:
    """Values of m, m' and n_win that the lines name, those of the init line first."""
    init = lookup.init
    for name, of_init in (("csa", init.csa), ("hca", init.hca), ("window", init.n_win)):
        part = lookup.parts.get(name, (0, None))[1]
        stated = part.covers if isinstance(part, Blocks) else part.n_win if isinstance(part, Window) else None
        named = [value for value in (of_init, stated) if value is not None]
        yield [*dict.fromkeys(named)] or [None]


class _Judge:
    """One reading of a lookup: which span, which geometry."""

    def __init__(self, lookup: Lookup, span: Extent | None, geometry: Init) -> None:
        self._lookup, self._span, self._geometry = lookup, span, geometry
        self._said: set[Key] = set()
        """Wrong figures that an earlier line claimed: to repeat one is no further contradiction."""

    def all(self) -> Iterator[Wrong]:
        """Every wrong claim, in the order of the form."""
        for claim in ("csa", "hca", "n_win"):
            said, meant = getattr(self._lookup.init, claim), getattr(self._geometry, claim)
            if said is not None and said != meant:
                why = f"the lookup at line {self._lookup.first_line} means {meant}"
                yield Wrong(self._lookup.init_line, _SYMBOLS[claim], str(said), str(meant), why)
        for name in PARTS:
            if name in self._lookup.parts:
                line, part = self._lookup.parts[name]
                for claim, found, expected, why in self._of(part):
                    yield Wrong(line, claim, found, expected, why)

    def _of(self, part: Part) -> "Iterator[_Claimed]":
        match part:
            case Found() | Deriving():
                return self._spans(part)
            case Blocks():
                return self._blocks(part)
            case Window():
                return self._window(part)
            case Tail():
                return self._tail(part)
            case Outcome():
                return self._outcome(part)

    def _spans(self, part: Found | Deriving) -> "Iterator[_Claimed]":
        span = self._span
        assert span is not None, "a part that names a span gives one"
        if isinstance(part, Found) and part.length != span.stop - span.start:
            yield "match length", str(part.length), str(span.stop - span.start), f"the span is {_range(span)}"
        if part.span != span:
            yield "logical span", _range(part.span), _range(span), "the other lines of the lookup speak of that one"
        if span.stop < span.start:
            yield "logical span", _range(span), "start <= stop", "a span ends behind its start"

    def _blocks(self, part: Blocks) -> "Iterator[_Claimed]":
        kind, ratio = part.kind, self._ratio(part.kind)
        if part.covers is not None and ratio is not None and part.covers != ratio:
            yield (
                f"tokens a {kind} block",
                str(part.covers),
                str(ratio),
                self._stated(f"{_SYMBOLS[kind.lower()]}={ratio}"),
            )
        counts = [len(part.ids)] if part.ids is not None else []
        counts += [part.count] if part.count is not None else []
        for count in counts:
            yield from self._count(kind, count)
        if len(set(counts)) > 1 and self._closed(kind) is None:
            yield f"{kind} blocks", str(counts[1]), str(counts[0]), "so many ids are listed"
        ids = part.ids or ()
        if (twice := _twice(ids)) is not None:
            yield f"{kind} block ids", f"{twice} twice", f"{len(ids)} different blocks", "no two entries share a slot"
        if part.ids_sum is not None and part.ids is not None and part.ids_sum != sum(ids):
            yield f"{kind} block ids", f"sum {sum(ids)}", f"sum {part.ids_sum}", "the line states the sum of its ids"

    def _count(self, kind: str, count: int) -> "Iterator[_Claimed]":
        closed, span = self._closed(kind), self._span
        if closed is None or span is None or count == closed or (kind, count) in self._said:
            return
        self._said.add((kind, count))
        ratio = self._ratio(kind)
        if not ratio:
            yield f"{kind} blocks", str(count), "0", f"the geometry has no {kind}"
            return
        whole, rest = divmod(span.stop, ratio)
        why = f"{span.stop} = {whole} x {ratio} + {rest}"
        if rest and count == closed + 1:
            why += ": the last one is still open"
        yield f"{kind} blocks", str(count), str(closed), why

    def _window(self, part: Window) -> "Iterator[_Claimed]":
        n_win, span, (start, stop) = self._geometry.n_win, self._span, part.span
        if n_win is not None and part.n_win is not None and part.n_win != n_win:
            yield "window", str(part.n_win), str(n_win), self._stated(f"n_win={n_win}")
        right = self._windows()
        if span is not None and part.span not in right and (right or stop != span.stop or start > stop):
            expected = right[0] if right else (0, span.stop)
            why = f"n_win is {n_win}, the length {span.stop}" if right else f"the length is {span.stop}"
            self._said.add(("SWA", stop - start))
            yield "SWA range", f"[{start}, {stop}]", f"[{expected[0]}, {expected[1]}]", why
        # Beside a wrong range the right count is no second mistake.
        sizes = {stop - start} | {b - a for a, b in right if part.span not in right}
        if part.count is not None and part.count not in sizes:
            yield "SWA tokens", str(part.count), str(stop - start), f"the range is [{start}, {stop}]"

    def _tail(self, part: Tail) -> "Iterator[_Claimed]":
        span, ratios = self._span, (self._geometry.csa, self._geometry.hca)
        known = [ratio for ratio in ratios if ratio]
        if span is None or None in ratios:
            return
        csa, hca = (span.stop % ratio if ratio else 0 for ratio in ratios)
        right = (
            part.offset == (span.stop % min(known) if known else 0)
            and not (part.none and (csa or hca))
            and part.length in (None, span.stop)
            and (not part.multiples or list(part.multiples) == known)
            and part.csa in (None, csa)
            and part.hca in (None, hca)
        )
        if not right:
            expected = [
                f"{kind} {rest}" for kind, rest, ratio in zip(("CSA", "HCA"), (csa, hca), ratios, strict=True) if ratio
            ]
            why = ", ".join(f"{span.stop} = {span.stop // r} x {r} + {span.stop % r}" for r in known)
            yield "tail", _tail_words(part), " and ".join(expected) or "0", why or "nothing is compressed"

    def _outcome(self, part: Outcome) -> "Iterator[_Claimed]":
        yield from self._count("CSA", part.csa)
        yield from self._count("HCA", part.hca)
        windows = self._windows()
        stated = self._lookup.parts.get("window", (0, None))[1]
        if isinstance(stated, Window) and (not windows or stated.span in windows):
            windows = [stated.span]
        sizes = [stop - start for start, stop in windows]
        if sizes and part.swa not in sizes and ("SWA", part.swa) not in self._said:
            yield "SWA tokens", str(part.swa), str(sizes[0]), f"the window is [{windows[0][0]}, {windows[0][1]}]"
        if self._span is not None and part.hit != bool(self._span.stop):
            words = ("miss", "hit")
            yield "outcome", words[part.hit], words[not part.hit], f"the length is {self._span.stop}"

    def _windows(self) -> list[tuple[int, int]]:
        """The tokens that the next one reads; and those with one more, for which the production counter asks."""
        if self._span is None or not self._geometry.n_win:
            return []
        stop = self._span.stop
        return [(max(0, stop - need), stop) for need in (self._geometry.n_win - 1, self._geometry.n_win)]

    def _ratio(self, kind: str) -> int | None:
        return self._geometry.csa if kind == "CSA" else self._geometry.hca

    def _closed(self, kind: str) -> int | None:
        """Entries that the span closes; None = not known."""
        ratio = self._ratio(kind)
        if ratio is None or self._span is None:
            return None
        return self._span.stop // ratio - self._span.start // ratio if ratio else 0

    def _stated(self, text: str) -> str:
        return f"line {self._lookup.init_line} states {text}" if self._lookup.init_line else f"other lines mean {text}"


_Claimed: TypeAlias = tuple[str, str, str, str]
"""Claim, found, expected, why."""


def _twice(ids: Sequence[int]) -> int | None:
    seen: set[int] = set()
    for block in ids:
        if block in seen:
            return block
        seen.add(block)
    return None


def _range(span: Extent) -> str:
    return f"[{span.start}, {span.stop}]"


def _tail_words(part: Tail) -> str:
    words = [f"offset {part.offset}"]
    words += ["no tail"] if part.none else []
    if part.multiples:
        words.append(f"{part.length} a multiple of {' and '.join(map(str, part.multiples))}")
    words += [f"{kind} {rest}" for kind, rest in (("CSA", part.csa), ("HCA", part.hca)) if rest is not None]
    return ", ".join(words)
