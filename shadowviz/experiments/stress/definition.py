"""What a length means, from scratch: tokens run one at a time, and rows noted as they close. Shares no formula.

Two ways give the same answers. `Tape` runs token by token and remembers every length up to its own; `Listed` lists the
positions in question, which works at lengths that nobody wants to run to.
"""

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from shadowviz_engine.core.geometry import Geometry

if TYPE_CHECKING:
    from shadowviz_engine.core.kinds import StateKind

Range = tuple[int, int]
"""Half-open; everything empty is `NOTHING`."""
NOTHING = (0, 0)


class Rule(NamedTuple):
    """What a kind keeps, in the words of its model family."""

    label: str
    shape: str
    size: int
    """Tokens a row (range), a window's chunk (window, 0 = it slides), a compression window (open), a grid (point)."""
    back: int
    """Tokens before its own that a row or a query reads."""
    page_back: int
    """As many as the production counter asks for."""
    layers: tuple[int, ...]
    in_window_table: bool
    """Whether its rows lie at the window's slots."""


def rules_of(geometry: Geometry) -> tuple[Rule, ...]:
    """Rules of every kind: of a DeepSeek-V4-like model from its compressors and window, of others from their kinds."""
    if not geometry.compressors:
        return tuple(_rule_of(kind) for kind in geometry.kinds)
    schedule = geometry.schedule.compressors
    entries, tails = [], []
    for compressor in geometry.compressors:
        layers = tuple(number for number, name in enumerate(schedule) if name == compressor.name)
        back = compressor.ratio if compressor.overlap else 0
        for stem in (compressor.name, "index") if compressor.indexed else (compressor.name,):
            entry = "index_k" if stem == "index" else f"{stem}_kv"
            entries.append(Rule(entry, "range", compressor.ratio, back, back, layers, False))
            tails.append(Rule(f"{stem}_tail", "open", compressor.ratio, back, back, layers, True))
    every_layer = tuple(range(len(schedule)))
    # A query is in its own window, so one token less lies before it; the production counter asks for all.
    window = Rule("swa_kv", "window", 0, geometry.n_win - 1, geometry.n_win, every_layer, True)
    return (*entries, window, *tails)


def _rule_of(kind: "StateKind") -> Rule:
    shape = kind.shape.value
    sizes = {"range": kind.unit, "window": kind.chunk, "open": kind.ratio, "point": kind.grid, "key": 0}
    back = kind.need if shape in ("window", "key") else kind.overlap
    page_back = max(back, kind.page_need) if shape == "window" else back
    in_table = shape == "window" or (shape == "open" and bool(kind.follows))
    return Rule(kind.label, shape, sizes[shape], back, page_back, kind.owners, in_table)


class Account(Protocol):
    """What happened to one kind before the token at a length."""

    @property
    def rule(self) -> Rule:
        """What the kind keeps."""

    def closed(self, length: int) -> int:
        """Rows closed by then (range), snapshots taken (point)."""

    def kept(self, length: int) -> int:
        """First earlier token that is still read from there on; `length` if none is."""

    def page_kept(self, length: int) -> int:
        """As `kept`, by the production counter."""

    def read(self, row: int) -> Range:
        """Tokens that went into a closed row (range)."""


class Tape:
    """One kind, run token by token up to `num_tokens`."""

    def __init__(self, rule: Rule, num_tokens: int) -> None:
        self.rule = rule
        self._closed: list[int] = []
        self._kept: list[int] = []
        self._page_kept: list[int] = []
        self._read: list[Range] = []
        self._run(num_tokens)

    def closed(self, length: int) -> int:
        """Rows closed by then (range), snapshots taken (point)."""
        return self._closed[length]

    def kept(self, length: int) -> int:
        """First earlier token that is still read from there on; `length` if none is."""
        return self._kept[length]

    def page_kept(self, length: int) -> int:
        """As `kept`, by the production counter."""
        return self._page_kept[length]

    def read(self, row: int) -> Range:
        """Tokens that went into a closed row (range)."""
        return self._read[row]

    def _run(self, num_tokens: int) -> None:
        rule = self.rule
        slides = rule.shape == "key" or (rule.shape == "window" and not rule.size)
        before: deque[int] = deque(maxlen=rule.back)
        page_before: deque[int] = deque(maxlen=rule.page_back)
        window: list[int] = []
        closed = 0
        for token in range(num_tokens + 1):
            self._closed.append(closed)
            self._kept.append(before[0] if before else window[0] if window else token)
            self._page_kept.append(page_before[0] if page_before else window[0] if window else token)
            if slides:
                before.append(token)
                page_before.append(token)
                continue
            window.append(token)
            if len(window) == rule.size:
                self._read.append((before[0] if before else window[0], token + 1))
                if rule.shape != "window":
                    before.extend(window)
                    page_before.extend(window)
                closed += 1
                window.clear()


class Listed:
    """One kind at any length: the positions that close a row, start a window or are looked back at, listed."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def closed(self, length: int) -> int:
        """Rows closed by then (range), snapshots taken (point)."""
        return len(range(self.rule.size - 1, length, self.rule.size)) if self.rule.size else 0

    def kept(self, length: int) -> int:
        """First earlier token that is still read from there on; `length` if none is."""
        return self._first_read(length, self.rule.back)

    def page_kept(self, length: int) -> int:
        """As `kept`, by the production counter."""
        return self._first_read(length, self.rule.page_back)

    def read(self, row: int) -> Range:
        """Tokens that went into a closed row (range)."""
        closing = range(self.rule.size - 1, self.rule.size * (row + 1), self.rule.size)[row]
        own = range(closing, -1, -1)[: self.rule.size + self.rule.back]
        return own[-1], closing + 1

    def _first_read(self, length: int, back: int) -> int:
        rule = self.rule
        window_start = length
        if rule.shape in ("open", "window") and rule.size:
            window_start = range(0, length + 1, rule.size)[-1]
            if rule.shape == "window":
                return window_start
        earlier = range(window_start - 1, -1, -1)[:back]
        return earlier[-1] if earlier else window_start


class Definition:
    """What spans own and lengths need, of every kind of a geometry."""

    def __init__(self, accounts: Iterable[Account]) -> None:
        self.accounts = tuple(accounts)
        self.kinds = [(account.rule.label, account.rule.layers) for account in self.accounts]
        """Label and layers of every kind, in order."""

    def owned(self, account: Account, start: int, stop: int) -> tuple[Range, Range]:
        """Rows that the tokens [start, stop) close or write, and the tokens these were made from."""
        shape = account.rule.shape
        if shape == "key" or start == stop:
            return NOTHING, NOTHING
        if shape in ("window", "open"):
            return (start, stop), (start, stop)
        first, last = account.closed(start), account.closed(stop)
        if first == last:
            return NOTHING, NOTHING
        if shape == "point":
            return (first, last), (0, last * account.rule.size)
        return (first, last), (account.read(first)[0], account.read(last - 1)[1])

    def needed(self, account: Account, length: int) -> tuple[Range, Range]:
        """Rows that going on at `length` needs, and the tokens these were made from."""
        shape = account.rule.shape
        if length == 0:
            return NOTHING, NOTHING
        if shape == "point":
            return (length, length + 1), (0, length)
        if shape == "range":
            return self.owned(account, 0, length)
        first = account.kept(length)
        rows = (first, length) if first < length else NOTHING
        return rows, rows

    def figures(self, account: Account, length: int) -> tuple[int, int, int]:
        """Closed rows, rows with room, and tokens of the open window (range)."""
        closed = account.closed(length)
        pending = length - (account.read(closed - 1)[1] if closed else 0)
        return closed, closed + (1 if pending else 0), pending

    def retained(self, length: int, page_rule: bool) -> Range:
        """Tokens whose rows in the window's table a resume at `length` reads."""
        first = length
        for account in self.accounts:
            if account.rule.in_window_table:
                first = min(first, account.page_kept(length) if page_rule else account.kept(length))
        return (first, length) if first < length else NOTHING


def run_definition(geometry: Geometry, num_tokens: int) -> Definition:
    """The definition for lengths up to `num_tokens`, run token by token."""
    return Definition(Tape(rule, num_tokens) for rule in rules_of(geometry))


def listed_definition(geometry: Geometry) -> Definition:
    """The definition for any length."""
    return Definition(Listed(rule) for rule in rules_of(geometry))
