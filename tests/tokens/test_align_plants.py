"""Edits at known places are found where they were made, in short prompts and in long ones that repeat themselves."""

import random
from itertools import count

import pytest
from alignment_checks import check_sound

from shadowviz.tokens.align.align import align
from shadowviz.tokens.align.token_diff import Hunk, Op
from shadowviz.tokens.encode.byte_encoder import ByteEncoder
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.side import side_of_ids
from shadowviz_engine.core.spans import Extent

TOKENIZER = default_tokenizer()
FRESH = 100_000
"""Ids from here on stand on one side only."""


def planted(base: list[int], num_edits: int, apart: int, rng: random.Random) -> tuple[list[int], list[Hunk]]:
    """The base with edits at least `apart` tokens from each other, and the hunks that they are."""
    fresh = count(FRESH)
    places = sorted(rng.sample(range(1, len(base) // (apart + 6) - 1), num_edits))
    edited: list[int] = []
    hunks: list[Hunk] = []
    done = 0
    for place in (place * (apart + 6) + rng.randrange(3) for place in places):
        num_out, num_in = rng.choice([(0, 1), (1, 0), (1, 1), (2, 0), (0, 3), (3, 1), (1, 3)])
        hunks.append(Hunk(Op.EQUAL, Extent(done, place), Extent(len(edited), len(edited) + place - done)))
        edited += base[done:place]
        op = Op.REPLACE if num_in and num_out else Op.INSERT if num_in else Op.DELETE
        hunks.append(Hunk(op, Extent(place, place + num_out), Extent(len(edited), len(edited) + num_in)))
        edited += [next(fresh) for _ in range(num_in)]
        done = place + num_out
    hunks.append(Hunk(Op.EQUAL, Extent(done, len(base)), Extent(len(edited), len(edited) + len(base) - done)))
    return edited + base[done:], hunks


def found(x: list[int], y: list[int]) -> list[Hunk]:
    """The hunks of an alignment that is checked to be a sound one."""
    a, b = side_of_ids("A", x, TOKENIZER), side_of_ids("B", y, TOKENIZER)
    diff = align(a, b)
    check_sound(a, b, diff)
    return list(diff.hunks)


@pytest.mark.parametrize("seed", range(20))
def test_edits_of_a_short_prompt_are_the_hunks(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        base = rng.sample(range(5000, 9000), rng.randrange(60, 600))
        edited, hunks = planted(base, rng.randrange(1, len(base) // 30 + 1), 4, rng)
        assert found(base, edited) == hunks


def test_a_thousand_edits_of_a_long_prompt_are_the_hunks() -> None:
    rng = random.Random(1)
    base = rng.sample(range(FRESH), 90_000)
    edited, hunks = planted(base, 1000, 30, rng)
    assert found(base, edited) == hunks


def test_edits_of_a_prompt_of_one_paragraph_over_and_over_are_the_hunks() -> None:
    rng = random.Random(2)
    base = rng.sample(range(FRESH), 250) * 80
    edited, hunks = planted(base, 300, 12, rng)
    assert found(base, edited) == hunks


def test_insertions_into_a_prompt_of_two_tokens_are_the_hunks() -> None:
    rng = random.Random(3)
    base = [rng.choice((7, 8)) for _ in range(4000)]
    places = sorted(rng.sample(range(1, 400), 16))
    edited = list(base)
    for number, place in enumerate(places):
        edited.insert(place * 10 + number, FRESH + number)
    inserted = [hunk for hunk in found(base, edited) if hunk.op is not Op.EQUAL]
    assert [(hunk.op, hunk.a.start, hunk.b.size) for hunk in inserted] == [
        (Op.INSERT, place * 10, 1) for place in places
    ]


def test_a_moved_block_costs_the_shorter_of_the_two_that_changed_places() -> None:
    base = list(range(1000, 3000))
    hunks = found(base, [*base[:500], *base[600:1500], *base[500:600], *base[1500:]])
    assert [(hunk.op, hunk.a.size, hunk.b.size) for hunk in hunks if hunk.op is not Op.EQUAL] == [
        (Op.DELETE, 100, 0),
        (Op.INSERT, 0, 100),
    ]


def adversaries() -> dict[str, tuple[list[int], list[int]]]:
    rng = random.Random(4)
    size = 30_000
    rows = list(range(1, size + 1))
    blocks = [rows[start : start + 10] for start in range(0, size, 10)]
    rng.shuffle(blocks)
    dotted = [FRESH if place % 61 == 0 else 5 for place in range(size)]
    return {
        "one token over and over": ([5] * size, [5] * (size - 9)),
        "one token, dotted at other distances": (
            dotted,
            [FRESH + 1 if place % 67 == 0 else 5 for place in range(size)],
        ),
        "two tokens in turn, begun at either": ([5, 6] * (size // 2), [6, 5] * (size // 2)),
        "two tokens at random": ([rng.randrange(2) for _ in rows], [rng.randrange(2) for _ in rows]),
        "blocks of ten in another order": (rows, [token for block in blocks for token in block]),
        "backwards": (rows, rows[::-1]),
        "halves like the teeth of a comb": (
            rows,
            [row for pair in zip(rows[: size // 2], rows[size // 2 :], strict=True) for row in pair],
        ),
        "nothing in common": (rows, [row + size for row in rows]),
        "nothing on one side": ([], rows),
        "one token that the other holds": ([size // 2], rows),
        "one token that the other lacks": ([FRESH], rows),
    }


@pytest.mark.parametrize("name", adversaries())
def test_sides_that_make_alignment_hard_get_a_true_one(name: str) -> None:
    x, y = adversaries()[name]
    for first, second in ((x, y), (y, x)):
        hunks = found(first, second)
        assert sum(hunk.a.size for hunk in hunks) == len(first)
        assert sum(hunk.b.size for hunk in hunks) == len(second)


def test_bytes_of_two_long_texts_are_aligned() -> None:
    text = "".join(f"line {number} of the text\n" for number in range(2000))
    encoder = ByteEncoder()
    a, b = side_of_ids("A", text.encode(), encoder), side_of_ids("B", text.replace("1234", "twelve").encode(), encoder)
    diff = align(a, b)
    check_sound(a, b, diff)
    assert [(a.bytes_of(h.a), b.bytes_of(h.b)) for h in diff.hunks if h.op is not Op.EQUAL] == [(b"1234", b"twelve")]
