"""What the alignment of two prompts shows."""

from array import array

import pytest
from spelled_encoder import SpelledEncoder

from shadowviz.tokens.align.align import align
from shadowviz.tokens.align.token_diff import Op, TokenDiff
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.side import Side, side_of_ids, side_of_text

TOKENIZER = default_tokenizer()
WORDS = ("sun", "moon", "tide", "wind", "rain")
LINES = [f"Rule {number}: the {word} answers first.\n" for number, word in enumerate(WORDS)]


def sides(text_a: str, text_b: str) -> tuple[Side, Side]:
    return side_of_text("A", text_a, TOKENIZER), side_of_text("B", text_b, TOKENIZER)


def shown(a: Side, b: Side, diff: TokenDiff) -> list[tuple[str, str, str]]:
    """Changes only, with the text of both."""
    return [
        (hunk.op.value, a.bytes_of(hunk.a).decode(), b.bytes_of(hunk.b).decode())
        for hunk in diff.hunks
        if hunk.op is not Op.EQUAL
    ]


def changes(text_a: str, text_b: str) -> list[tuple[str, str, str]]:
    a, b = sides(text_a, text_b)
    return shown(a, b, align(a, b))


def test_equal_prompts_are_one_equal_hunk_and_empty_ones_none() -> None:
    diff = align(*sides("".join(LINES), "".join(LINES)))
    assert diff.equal
    assert (len(diff.hunks), diff.realigned, diff.first) == (1, 0, None)
    assert align(*sides("", "")) == TokenDiff((), 0)


def test_one_empty_side_is_one_insertion_or_deletion() -> None:
    assert changes("", "hello") == [("insert", "", "hello")]
    assert changes("hello", "") == [("delete", "hello", "")]


def test_a_changed_line_leaves_what_stands_around_it_equal() -> None:
    a, b = sides("".join(LINES), "".join([*LINES[:2], "Rule 2: the tide waits.\n", *LINES[3:]]))
    diff = align(a, b)
    assert shown(a, b, diff) == [("replace", " answers first", " waits")]
    assert [hunk.op for hunk in diff.hunks] == [Op.EQUAL, Op.REPLACE, Op.EQUAL]
    assert diff.realigned == len(a.ids) - diff.common - 2


def test_an_inserted_line_that_repeats_the_one_before_stands_behind_it() -> None:
    a, b = sides("".join(LINES), "".join([*LINES[:2], LINES[1], *LINES[2:]]))
    hunk = align(a, b).first
    assert hunk is not None
    assert hunk.op is Op.INSERT
    assert b.byte_at(hunk.b.start) >= len("".join(LINES[:2]))


@pytest.mark.parametrize(
    ("a", "b"), [("201 201", "271"), ("736 21", "6895"), ("16 201", "603"), ("1718 37947 32", "128822")]
)
def test_the_same_text_as_other_ids_is_retokenized(a: str, b: str) -> None:
    before, behind = TOKENIZER.encode("Say this. "), TOKENIZER.encode(" And that.")
    left, right = ([*before, *map(int, ids.split()), *behind] for ids in (a, b))
    diff = align(side_of_ids("A", left, TOKENIZER), side_of_ids("B", right, TOKENIZER))
    assert [hunk.op for hunk in diff.hunks] == [Op.EQUAL, Op.RETOKENIZED, Op.EQUAL]
    assert (diff.common, diff.realigned) == (len(before), len(behind))


def test_a_retokenized_stretch_beside_other_text_is_a_hunk_of_its_own() -> None:
    encode = TOKENIZER.encode
    left = [*encode("One"), 201, 201, *encode("two three"), *encode(" end of it")]
    right = [*encode("One"), 271, *encode("four"), *encode(" end of it")]
    a, b = side_of_ids("A", left, TOKENIZER), side_of_ids("B", right, TOKENIZER)
    assert shown(a, b, align(a, b)) == [("retokenized", "\n\n", "\n\n"), ("replace", "two three", "four")]


def test_equal_bytes_that_end_in_the_middle_of_a_token_stay_with_the_change() -> None:
    assert changes("Be kind.\nGo", "Be kind.\r\nGo") == [("replace", ".\n", ".\r\n")]


def test_a_rewritten_paragraph_is_one_change() -> None:
    frame = "".join(LINES)
    first = "The brown fox jumps over the dog, and then it runs to the forest. Nobody saw, but the moon came out late."
    second = "A slow bear walks under the cat, but later it came from the village. All knew that, early or not, it set."
    a, b = sides(frame + first + "\n" + frame, frame + second + "\n" + frame)
    diff = align(a, b)
    assert [hunk.op for hunk in diff.hunks] == [Op.EQUAL, Op.REPLACE, Op.EQUAL]
    assert diff.realigned >= len(TOKENIZER.encode(frame)) - 1


def test_short_agreement_between_small_changes_is_kept() -> None:
    assert changes("x = 1, y, z = 3;", "x = 1.0, y, z = 3.0;") == [("insert", "", ".0"), ("insert", "", ".0")]


def test_only_the_marker_at_the_front_in_common_stays_the_common_prefix() -> None:
    marker = "<｜begin▁of▁sentence｜>"
    diff = align(*sides(marker + "One thing about cats, all told", marker + "Another matter of dogs, in brief"))
    assert diff.common == 1
    assert (diff.hunks[0].op, diff.hunks[0].a.size) == (Op.EQUAL, 1)


def test_markers_without_bytes_are_other_ids_and_no_other_spelling() -> None:
    encoder = SpelledEncoder({1: b"", 2: b"", 3: b"a"})
    a = Side("A", encoder, array("q", [1, 3]), array("q", [0, 0]), "a", b"a")
    b = Side("B", encoder, array("q", [2, 3]), array("q", [0, 0]), "a", b"a")
    assert [hunk.op for hunk in align(a, b).hunks] == [Op.REPLACE, Op.EQUAL]
