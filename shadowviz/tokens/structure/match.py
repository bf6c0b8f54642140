"""Which messages of two conversations are the same, which moved, and the stretches that are left."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final

from shadowviz.tokens.structure.view import Item, View

SIMILAR: Final = 0.5
"""Share of the words of two texts from which on one is an edited version of the other."""
MAX_CANDIDATES: Final = 64
"""Messages that one is compared with when it is looked for in another place."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of A's messages and the one of B's in its place, as half-open ranges of indices."""

    a_start: int
    a_stop: int
    b_start: int
    b_stop: int


@dataclass(frozen=True)
class Match:
    """Pairs of messages, as their indices in A and in B, behind the leading system messages."""

    kept: tuple[tuple[int, int], ...]
    """The same messages in the same order."""
    moved: tuple[tuple[int, int], ...]
    """The same messages in another order."""
    edited: tuple[tuple[int, int], ...]
    """Messages that moved along with those, and were edited."""
    blocks: tuple[Block, ...]
    """What stands between those that were kept."""

    @cached_property
    def moved_in_a(self) -> frozenset[int]:
        """Indices in A of the messages that moved, edited ones too."""
        return frozenset(i for i, _ in (*self.moved, *self.edited))

    @cached_property
    def moved_in_b(self) -> frozenset[int]:
        """Indices in B of the messages that moved, edited ones too."""
        return frozenset(j for _, j in (*self.moved, *self.edited))


def match_messages(a: View, b: View) -> Match:
    """The messages behind the leading system messages, matched by what they say."""
    kept = _matched(a.items[a.leading :], b.items[b.leading :], a.leading, b.leading)
    blocks = tuple(_blocks(kept, (a.leading, b.leading), (len(a.items), len(b.items))))
    moved = _moved(a, b, blocks)
    return Match(tuple(kept), tuple(moved), tuple(_edited(a, b, blocks, moved) if moved else ()), blocks)


def _matched(old: Sequence[Item], new: Sequence[Item], a_start: int, b_start: int) -> list[tuple[int, int]]:
    head = 0
    while head < min(len(old), len(new)) and old[head].key == new[head].key:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail].key == new[-1 - tail].key:
        tail += 1
    on = [(a_start + place, b_start + place) for place in range(head)]
    if (size := _carried_on(old[head:], new[head:])) > tail:
        return on + [(a_start + len(old) - size + place, b_start + head + place) for place in range(size)]
    if (size := _carried_on(new[head:], old[head:])) > tail:
        return on + [(a_start + head + place, b_start + len(new) - size + place) for place in range(size)]
    left, right = ([item.key for item in items[head : len(items) - tail]] for items in (old, new))
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    pairs = [(head + i + k, head + j + k) for i, j, size in blocks for k in range(size)]
    pairs += [(len(old) - place, len(new) - place) for place in range(tail, 0, -1)]
    return on + [(a_start + i, b_start + j) for i, j in pairs]


def _carried_on(old: Sequence[Item], new: Sequence[Item]) -> int:
    """Messages at the end of one conversation with which the other begins: it dropped older ones and went on.

    The longest such stretch, by the prefix function of Knuth, Morris and Pratt.
    """
    keys = [*(item.key for item in new), None, *(item.key for item in old)]
    sizes = [0] * len(keys)
    for place in range(1, len(keys)):
        size = sizes[place - 1]
        while size and keys[place] != keys[size]:
            size = sizes[size - 1]
        sizes[place] = size + (keys[place] == keys[size])
    return sizes[-1] if old and new else 0


def _blocks(kept: Sequence[tuple[int, int]], start: tuple[int, int], stop: tuple[int, int]) -> list[Block]:
    blocks: list[Block] = []
    i, j = start
    for next_i, next_j in (*kept, stop):
        if next_i > i or next_j > j:
            blocks.append(Block(i, next_i, j, next_j))
        i, j = next_i + 1, next_j + 1
    return blocks


def _moved(a: View, b: View, blocks: Sequence[Block]) -> list[tuple[int, int]]:
    lost: dict[object, deque[int]] = defaultdict(deque)
    for block in blocks:
        for i in range(block.a_start, block.a_stop):
            lost[a.items[i].key].append(i)
    pairs: list[tuple[int, int]] = []
    for block in blocks:
        for j in range(block.b_start, block.b_stop):
            if places := lost.get(b.items[j].key):
                pairs.append((places.popleft(), j))
    return _without_repeats(a, b, blocks, pairs)


def _without_repeats(a: View, b: View, blocks: Sequence[Block], pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without messages that stand where one side had ended, if the other left messages out.

    A conversation that dropped old messages and went on may say again what it had dropped.
    """
    last = blocks[-1] if blocks else Block(0, 0, 0, 0)
    if (last.a_stop, last.b_stop) != (len(a.items), len(b.items)):
        return pairs
    if last.a_start == last.a_stop and len(pairs) < sum(block.a_stop - block.a_start for block in blocks):
        return [(i, j) for i, j in pairs if j < last.b_start]
    if last.b_start == last.b_stop and len(pairs) < sum(block.b_stop - block.b_start for block in blocks):
        return [(i, j) for i, j in pairs if i < last.a_start]
    return pairs


def _edited(a: View, b: View, blocks: Sequence[Block], moved: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Messages of different blocks that are left over, have one role and share most of their words."""
    gone = {i for i, _ in moved}, {j for _, j in moved}
    lost = [
        (number, a.items[i])
        for number, block in enumerate(blocks)
        for i in range(block.a_start, block.a_stop)
        if i not in gone[0]
    ]
    for number, block in enumerate(blocks):
        for j in range(block.b_start, block.b_stop):
            new = b.items[j]
            if j in gone[1] or not new.text:
                continue
            for entry in lost[:MAX_CANDIDATES]:
                if entry[0] != number and entry[1].role == new.role and similar(entry[1].text, new.text):
                    lost.remove(entry)
                    yield entry[1].index, j
                    break


def similar(first: str, second: str) -> bool:
    """Whether two texts share most of their words, so that one may come from the other."""
    left, right = Counter(first.split()), Counter(second.split())
    shared, words = (left & right).total(), max(left.total(), right.total())
    if shared >= SIMILAR * words:
        return True
    # Few words, or a language that writes none: letters decide.
    return words <= 16 and SequenceMatcher(None, first[:400], second[:400], autojunk=False).ratio() >= 0.75
