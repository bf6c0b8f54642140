"""The steps of an alignment, each by itself."""

from array import array

import numpy as np
import pytest
from alignment_checks import check_sound
from spelled_encoder import SpelledEncoder

from shadowviz.tokens.align import anchors as anchor_module
from shadowviz.tokens.align.align import align
from shadowviz.tokens.align.anchors import anchors
from shadowviz.tokens.align.runs import Integers, Run
from shadowviz.tokens.align.slides import slid
from shadowviz.tokens.align.token_diff import Op
from shadowviz.tokens.side import Side, side_of_ids

DISTINCT = SpelledEncoder({token_id: b"<%d>" % token_id for token_id in range(300)})


def values(*numbers: int) -> Integers:
    return np.array(numbers, np.int64)


def ops(x: list[int], y: list[int]) -> list[Op]:
    return [hunk.op for hunk in align(side_of_ids("A", x, DISTINCT), side_of_ids("B", y, DISTINCT)).hunks]


def test_anchors_on_both_sides_of_a_deleted_repeat_do_not_overlap() -> None:
    x, y = values(1, 2, 5, 6, 7, 5, 6, 7, 3, 4), values(1, 2, 5, 6, 7, 3, 4)
    assert anchors(x, y, 4) == [Run(0, 0, 5), Run(8, 5, 2)]


def test_values_decide_where_hashes_collide(monkeypatch: pytest.MonkeyPatch) -> None:
    def weak(numbers: Integers, width: int) -> Integers:
        return (numbers[: len(numbers) - width + 1] % 100).astype(np.uint64) << np.uint64(58)

    monkeypatch.setattr(anchor_module, "_hashes", weak)
    assert anchors(values(1, 2, 3), values(101, 102, 103), 1) == []
    assert anchors(values(1, 2, 3), values(1, 2, 3), 1) == [Run(0, 0, 3)]


def test_an_insertion_of_what_stands_before_it_slides_behind_it() -> None:
    x, y = values(1, 2, 3, 2, 3, 4), values(1, 2, 3, 2, 3, 2, 3, 4)
    assert slid(x, y, [Run(0, 0, 1), Run(1, 3, 5)]) == [Run(0, 0, 5), Run(5, 7, 1)]


def test_what_is_equal_at_the_ends_of_a_gap_joins_the_runs_beside_it() -> None:
    x, y = values(1, 6, 9, 5, 2), values(1, 6, 8, 5, 2)
    assert slid(x, y, [Run(0, 0, 1), Run(4, 4, 1)]) == [Run(0, 0, 2), Run(3, 3, 2)]


def test_one_equal_token_between_two_single_insertions_is_shown() -> None:
    assert ops([1, 2, 3, 4, 5], [1, 2, 3, 100, 4, 101, 5]) == [Op.EQUAL, Op.INSERT, Op.EQUAL, Op.INSERT, Op.EQUAL]


@pytest.mark.parametrize(("size", "kept"), [(1, False), (3, False), (4, True), (9, True)])
def test_a_stretch_of_four_equal_tokens_between_larger_changes_is_shown(size: int, kept: bool) -> None:
    shared = list(range(10, 10 + size))
    x, y = [1, *range(100, 110), *shared, *range(110, 120), 2], [1, *range(200, 210), *shared, *range(210, 220), 2]
    middle = [Op.REPLACE, Op.EQUAL, Op.REPLACE] if kept else [Op.REPLACE]
    assert ops(x, y) == [Op.EQUAL, *middle, Op.EQUAL]


def test_equal_ids_of_text_that_a_tokenizer_normalises_are_one_hunk() -> None:
    # Token 1 stands for a capital in A, which the tokenizer takes for the small letter of B.
    encoder = SpelledEncoder({1: b"x", 2: b"m", 3: b"n", 4: b"ab", 5: b"a", 6: b"b", 8: b"h", 9: b"k"})
    a = Side("A", encoder, array("q", [9, 1, 2, 3, 4]), array("q", [0, 1, 2, 3, 4]), "kXmnab", b"kXmnab")
    b = Side("B", encoder, array("q", [8, 1, 2, 3, 5, 6]), array("q", [0, 1, 2, 3, 4, 5]), "hxmnab", b"hxmnab")
    diff = align(a, b)
    check_sound(a, b, diff)
    assert [hunk.op for hunk in diff.hunks] == [Op.REPLACE, Op.EQUAL, Op.RETOKENIZED]
