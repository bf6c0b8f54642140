"""Fields of a foreign descriptor and what each must say: found and expected, by name.

Names are those of the article's Physical State Descriptor, and the labels of the geometry's own kinds.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeGuard

from shadowviz.experiments.stress.arithmetic_spans import first_difference, shown
from shadowviz.experiments.stress.definition import NOTHING, Account, Definition, Range
from shadowviz.tokens.inert import shorten, shown_number
from shadowviz_engine.core.spans import Extent

Descriptor: TypeAlias = Mapping[str, object]

LENGTH, SPAN = ("length", "prefix_len", "num_tokens"), ("span", "logical_span")
PLACES = ("is_loaded_on_gpu", "is_offloaded_to_cpu")
_TAILS = ("tail_state_offset", "tail_offset")
_MOST_SHOWN = 60
_MOST_IDS = 1 << 24


class Wrong(NamedTuple):
    """A field that says something else than it must."""

    field: str
    kind: str
    row: int
    """First row that only one side has; -1 where none is."""
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.field} is {self.found}: expected {self.expected}"


class Checked(NamedTuple):
    """What came of a descriptor's fields."""

    num_known: int
    wrong: list[Wrong]
    unknown: list[str]
    """Names that nothing is known of."""


def check_fields(definition: Definition, descriptor: Descriptor, span: Extent) -> Checked:
    """Every field of a claim about the tokens of `span`."""
    by_label = {account.rule.label: account for account in definition.accounts}
    wrong: list[Wrong | None] = []
    unknown = []
    for name, value in descriptor.items():
        if name in (*LENGTH, *SPAN):
            continue
        if not isinstance(name, str):
            unknown.append(_text(name))
        elif name in PLACES:
            wrong.append(_place_wrong(name, value))
        elif name in by_label:
            wrong.append(_rows_wrong(name, value, definition, by_label[name], span))
        elif (account := _account_of(name, definition)) is None:
            unknown.append(name)
        elif name.endswith("_block_ids"):
            wrong.append(_blocks_wrong(name, value, definition, account, span))
        elif name == "swa_token_range":
            wrong.append(_window_wrong(name, value, account, span))
        else:
            wrong.append(_number_wrong(name, value, _expected_numbers(definition, account, span), account))
    known = len(wrong)
    if all(descriptor.get(name) is False for name in PLACES):
        wrong.append(Wrong(PLACES[0], "", -1, "False, and so is the other", "the state to be on the GPU or the CPU"))
    return Checked(known, [item for item in wrong if item is not None], unknown)


def _account_of(name: str, definition: Definition) -> Account | None:
    """What a field of the article's is about."""
    labels = {account.rule.label: account for account in definition.accounts}
    if name in ("swa_token_range", "swa_start_idx"):
        return next((item for item in definition.accounts if item.rule.shape == "window"), None)
    if name in _TAILS:
        # One number for all tails can only mean the finest: at its multiples alone the article's text finds no tail.
        return min(
            (item for item in definition.accounts if item.rule.shape == "open"),
            key=lambda item: item.rule.size,
            default=None,
        )
    for ending, kind in (("_block_ids", "_kv"), ("_start_idx", "_kv"), ("_tail_offset", "_tail")):
        if name.endswith(ending):
            found = labels.get(name.removesuffix(ending) + kind)
            return found if found and found.rule.shape in ("range", "open") else None
    return None


def _expected_numbers(definition: Definition, account: Account, span: Extent) -> tuple[int, ...]:
    """Numbers that a field may say."""
    if account.rule.shape == "window":
        return tuple(start for start, _ in _windows(account, span))
    if account.rule.shape == "open":
        return (span.stop - range(0, span.stop + 1, account.rule.size)[-1],)
    rows, _ = definition.owned(account, 0, span.start)
    return (rows[1],)


def _windows(account: Account, span: Extent) -> list[Range]:
    """The window that the next token reads, and the one of the production counter, which has a token more."""
    starts = dict.fromkeys((account.kept(span.stop), account.page_kept(span.stop)))
    return [(max(start, span.start), span.stop) for start in starts]


def _window_wrong(name: str, value: object, account: Account, span: Extent) -> Wrong | None:
    expected = [item if item[0] < item[1] else NOTHING for item in _windows(account, span)]
    found = _range_in(value)
    if found in expected:
        return None
    row = -1 if found is None else first_difference(expected[0], found)
    return Wrong(name, account.rule.label, row, _text(value), shown(expected[0]))


def _blocks_wrong(name: str, value: object, definition: Definition, account: Account, span: Extent) -> Wrong | None:
    """Blocks may have any ids, but no two the same, and there is one for each entry that the span closes."""
    label = account.rule.label
    (first, stop), _ = definition.owned(account, *span)
    expected = stop - first
    words = f"{expected}, {'no entry is' if not expected else f'entries {shown((first, stop))} are'} closed"
    if not _are_counts(value):
        return Wrong(name, label, -1, _text(value), f"a list of {words}")
    if len(value) != expected:
        with_room = definition.figures(account, span.stop)[1] - definition.figures(account, span.start)[0]
        if len(value) == with_room:
            words += " and the last one here is still open"
        return Wrong(name, label, first + min(len(value), expected), f"{len(value)} blocks", words)
    seen: set[int] = set()
    for row, block in enumerate(value, first):
        if block in seen:
            return Wrong(name, label, row, f"block {shown_number(block)} twice", f"{expected} different blocks")
        seen.add(block)
    return None


def _rows_wrong(name: str, value: object, definition: Definition, account: Account, span: Extent) -> Wrong | None:
    """A kind by its own label: the rows that going on at the span's end needs, as a range or one by one."""
    expected, _ = definition.needed(account, span.stop)
    found = _range_in(value)
    if found is None and _are_counts(value) and list(value) == list(range(*expected)):
        return None
    if found == expected:
        return None
    row = -1 if found is None else first_difference(expected, found)
    return Wrong(name, account.rule.label, row, _text(value), f"rows {shown(expected)}")


def _number_wrong(name: str, value: object, expected: Sequence[int], account: Account) -> Wrong | None:
    if _is_count(value) and value in expected:
        return None
    if account.rule.shape == "open":
        # A field for several tails says the finest; whoever means another one sees which was held against it.
        return Wrong(name, account.rule.label, -1, _text(value), f"{expected[0]}, L mod {account.rule.size}")
    return Wrong(name, account.rule.label, expected[0], _text(value), str(expected[0]))


def _place_wrong(name: str, value: object) -> Wrong | None:
    return None if isinstance(value, bool) else Wrong(name, "", -1, _text(value), "true or false")


def _range_in(value: object) -> Range | None:
    """A half-open range of two numbers; an empty one is `NOTHING`."""
    if value is None:
        return NOTHING
    if not _are_counts(value) or len(value) not in (0, 2):
        return None
    items = list(value)
    return (items[0], items[1]) if items and items[0] < items[1] else NOTHING


def _are_counts(value: object) -> TypeGuard[Sequence[int]]:
    return isinstance(value, list | tuple | range) and len(value) <= _MOST_IDS and all(map(_is_count, value))


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _text(value: object) -> str:
    if isinstance(value, list | tuple) and _are_counts(value):
        return "[" + ", ".join(shown_number(item) for item in value[:8]) + (", ...]" if len(value) > 8 else "]")
    return shorten(repr(value)[: 4 * _MOST_SHOWN] if not isinstance(value, int) else shown_number(value), _MOST_SHOWN)
