"""Which messages of two conversations are the same, which moved, and the stretches that are left."""

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from shadowviz.tokens.structure_view import Item, View


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
    blocks: tuple[Block, ...]
    """What stands between those that were kept."""

    @cached_property
    def moved_in_a(self) -> frozenset[int]:
        """Indices in A of the messages that moved."""
        return frozenset(i for i, _ in self.moved)

    @cached_property
    def moved_in_b(self) -> frozenset[int]:
        """Indices in B of the messages that moved."""
        return frozenset(j for _, j in self.moved)


def match_messages(a: View, b: View) -> Match:
    """The messages behind the leading system messages, matched by what they say."""
    kept = _matched(a.items[a.leading :], b.items[b.leading :], a.leading, b.leading)
    blocks = tuple(_blocks(kept, (a.leading, b.leading), (len(a.items), len(b.items))))
    return Match(tuple(kept), tuple(_moved(a, b, blocks)), blocks)


def _matched(old: Sequence[Item], new: Sequence[Item], a_start: int, b_start: int) -> list[tuple[int, int]]:
    head = 0
    while head < min(len(old), len(new)) and old[head].key == new[head].key:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail].key == new[-1 - tail].key:
        tail += 1
    left, right = ([item.key for item in items[head : len(items) - tail]] for items in (old, new))
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    pairs = [(place, place) for place in range(head)]
    pairs += [(head + i + k, head + j + k) for i, j, size in blocks for k in range(size)]
    pairs += [(len(old) - place, len(new) - place) for place in range(tail, 0, -1)]
    return [(a_start + i, b_start + j) for i, j in pairs]


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
    return pairs
