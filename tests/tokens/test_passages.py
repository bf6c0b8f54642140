"""Two prompts laid side by side, line by line."""

import re
from array import array
from collections.abc import Sequence
from itertools import accumulate, pairwise
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prompt_edits import labelled_pairs
from spelled_encoder import SpelledEncoder

from shadowviz.tokens.align.align import align
from shadowviz.tokens.align.token_diff import Op
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.inputs.side import IdsOnly
from shadowviz.tokens.passages.lay_out import passages
from shadowviz.tokens.passages.lines import PART
from shadowviz.tokens.passages.passage import Fold, Line, Mark, Row
from shadowviz.tokens.side import Side, side_of_ids, side_of_text

TOKENIZER = default_tokenizer()
WHOLE = 10**9
"""A context in which nothing is folded."""
ESCAPE = re.compile(rb"\\(\\|n|r|t|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
SPELLINGS = [
    b"a",
    b"b",
    b"ab",
    b"\n",
    b"\r",
    b"\r\n",
    b"a\n",
    b"\n\n",
    b"\xe2",
    b"\x82\xac",
    b"\\",
    b"\xe2\x82\xac",
    b"b\nb",
]
ENCODER = SpelledEncoder(dict(enumerate(SPELLINGS)))
OTHER = SpelledEncoder(dict(enumerate(reversed(SPELLINGS))), "other")
IDS = st.lists(st.integers(0, len(SPELLINGS) - 1), max_size=24)


def rows_of(a: Side, b: Side) -> list[Row]:
    found = list(passages(a, b, align(a, b), WHOLE))
    assert not any(isinstance(part, Fold) for part in found) or all(isinstance(part, Fold) for part in found)
    return [part for part in found if isinstance(part, Row)]


def of_texts(a: str, b: str) -> tuple[Side, Side]:
    return side_of_text("A", a, TOKENIZER), side_of_text("B", b, TOKENIZER)


def shown(line: Line | None) -> str:
    """A line with its marks: [changed], {alone}, <retokenized>."""
    frames = {Mark.SAME: "", Mark.CHANGED: "[]", Mark.ALONE: "{}", Mark.RETOKENIZED: "<>"}
    parts = [(frames[piece.mark], piece.text) for piece in line.pieces] if line else []
    return "".join(frame[:1] + text + frame[1:] for frame, text in parts)


def plain(line: Line) -> bytes:
    return ESCAPE.sub(unescaped, "".join(piece.text for piece in line.pieces).encode())


def unescaped(escape: re.Match[bytes]) -> bytes:
    body = escape[1]
    if body[:1] == b"x":
        return bytes([int(body[1:], 16)])
    if body[:1] in b"uU":
        return chr(int(body[1:], 16)).encode()
    return {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"\\": b"\\"}[body]


def check(a: Side, b: Side) -> None:
    """What holds for any two sides."""
    diff = align(a, b)
    whole = [part for part in passages(a, b, diff, WHOLE) if isinstance(part, Row)]
    one_tokenizer = a.encoder.fingerprint == b.encoder.fingerprint
    if diff.equal:
        assert not (whole and one_tokenizer)
        return
    for side, lines in ((a, [row.a for row in whole if row.a]), (b, [row.b for row in whole if row.b])):
        assert b"".join(map(plain, lines)) == side.raw
        assert all(line.pieces for line in lines)
        assert all(one.token <= other.token for one, other in pairwise(lines))
        begun = accumulate((len(plain(line)) for line in lines), initial=0)
        assert all(side.byte_at(line.token) <= byte for line, byte in zip(lines, begun, strict=False))
        check_marks(side, lines, [(hunk.op, hunk.a if side is a else hunk.b) for hunk in diff.hunks])
    for row in whole:
        # Equal numbers may stand for other text where the tokenizers differ.
        if row.same and one_tokenizer:
            assert row.a is not None
            assert row.b is not None
            assert plain(row.a) == plain(row.b)
    check_folds(whole, list(passages(a, b, diff, 1)), 1)


def check_marks(side: Side, lines: Sequence[Line], hunks: Sequence[tuple[Op, object]]) -> None:
    marks = [piece.mark for line in lines for piece in line.pieces for _ in plain(Line(0, "", (piece,)))]
    for op, extent in hunks:
        span = slice(side.byte_at(extent.start), side.byte_at(extent.stop))  # type: ignore[attr-defined]
        found = marks[span]
        if op is Op.EQUAL:
            # A character that a differing token has a part in is marked whole: at most three bytes at either end.
            assert all(mark is Mark.SAME for mark in found[3:-3])
        else:
            assert all(mark is not Mark.SAME for mark in found)


def check_folds(whole: Sequence[Row], folded: Sequence[Row | Fold], context: int) -> None:
    place = 0
    for part in folded:
        if isinstance(part, Row):
            assert part == whole[place]
            near = whole[max(0, place - context) : place + context + 1]
            assert not all(row.same for row in near)
            place += 1
        else:
            assert all(row.same for row in whole[place : place + part.lines])
            place += part.lines
    assert place == len(whole)


@settings(max_examples=600, deadline=None)
@given(IDS, IDS, st.sampled_from([(ENCODER, ENCODER), (ENCODER, OTHER)]))
@example([8, 9, 3], [11, 3, 0], (ENCODER, ENCODER))
@example([12, 7], [12, 3, 7, 12], (ENCODER, ENCODER))
def test_the_lines_of_a_side_are_its_text_and_their_marks_those_of_the_diff(
    x: list[int], y: list[int], encoders: tuple[SpelledEncoder, SpelledEncoder]
) -> None:
    check(side_of_ids("A", x, encoders[0]), side_of_ids("B", y, encoders[1]))


def test_it_holds_for_edits_of_prompts() -> None:
    for _, pair in labelled_pairs(seed=7, each=2, doubles=10):
        if isinstance(pair.a, str) and isinstance(pair.b, str):
            check(*of_texts(pair.a, pair.b))


def test_a_changed_word_is_marked_within_its_line() -> None:
    rows = rows_of(*of_texts("One.\nThe keeper wrote.\nEnd.\n", "One.\nThe pilot wrote.\nEnd.\n"))
    assert [(shown(row.a), shown(row.b)) for row in rows] == [
        ("One.\\n", "One.\\n"),
        ("The[ keeper] wrote.\\n", "The[ pilot] wrote.\\n"),
        ("End.\\n", "End.\\n"),
    ]
    assert [row.same for row in rows] == [True, False, True]


def test_an_inserted_line_stands_beside_nothing() -> None:
    lines = [f"Rule {number}.\n" for number in range(9)]
    rows = rows_of(*of_texts("".join(lines), "".join([*lines[:4], "Another one.\n", *lines[4:]])))
    assert [(shown(row.a), shown(row.b)) for row in rows if not row.same] == [("", "{Another one.\\n}")]


def test_far_equal_lines_are_folded_and_counted() -> None:
    lines = [f"Rule {number}.\n" for number in range(40)]
    a, b = of_texts("".join(lines), "".join([*lines[:20], "Other\n", *lines[21:]]))
    found = list(passages(a, b, align(a, b), context=2))
    assert [part.lines if isinstance(part, Fold) else 1 for part in found] == [18, 1, 1, 1, 1, 1, 17]
    first = found[0]
    assert isinstance(first, Fold)
    assert first.tokens == len(TOKENIZER.encode("".join(lines[:18])))
    same = list(passages(a, a, align(a, a)))
    assert same == [Fold(40, len(a.ids))]


def test_a_single_line_of_a_megabyte_is_cut_into_parts_that_stand_beside_each_other() -> None:
    random = Random(3)
    words = " ".join(random.choice(("tide", "keeper", "channel", "harbour", "so")) for _ in range(150_000))
    middle = words.index(" ", len(words) // 2)
    a, b = of_texts(words, "Now then, " * 60 + words[:middle] + " a lamp" + words[middle:])
    found = list(passages(a, b, align(a, b), context=0))
    assert sum(isinstance(part, Fold) for part in found) >= 2
    assert sum(isinstance(part, Row) for part in found) < 12
    assert all(len(line.pieces[0].text) <= 2 * PART + 40 for part in found if isinstance(part, Row) if (line := part.a))


@pytest.mark.parametrize("end", ["\r", "\r\n", "\u2028", "\x85", "\x0b", "\x0c"])
def test_line_ends_of_any_kind_end_a_line(end: str) -> None:
    rows = rows_of(*of_texts(f"one{end}two{end}six", f"one{end}two{end}ten"))
    assert len(rows) == 3


def test_ids_that_spell_the_same_text_otherwise_are_named() -> None:
    a, b = side_of_ids("A", [0, 3, 3, 1], ENCODER), side_of_ids("B", [0, 7, 1], ENCODER)
    pieces = [piece for row in rows_of(a, b) if row.b for piece in row.b.pieces if piece.mark is Mark.RETOKENIZED]
    assert [piece.ids for piece in pieces] == [(7,), ()]


def test_control_tokens_are_pieces_of_their_own() -> None:
    rows = rows_of(*of_texts("a<｜User｜>Hello", "a<｜User｜>Goodbye"))
    assert rows[0].a is not None
    assert [(piece.text, piece.control) for piece in rows[0].a.pieces] == [
        ("a", False),
        ("<｜User｜>", True),
        ("Hello", False),
    ]


def test_a_marker_that_the_tokenizer_added_is_spelled_out() -> None:
    bos = TOKENIZER.encode("<｜begin▁of▁sentence｜>")
    plain_side = side_of_text("A", "Hello", TOKENIZER)
    added = Side("B", TOKENIZER, array("q", [*bos, *plain_side.ids]), array("q", [0, 0]), "Hello", b"Hello")
    rows = rows_of(plain_side, added)
    assert [(shown(row.a), shown(row.b)) for row in rows] == [("Hello", "{<｜begin▁of▁sentence｜>}Hello")]


def test_ids_that_cannot_be_read_are_shown_as_numbers() -> None:
    encoder = IdsOnly("redacted", "x")
    rows = rows_of(side_of_ids("A", [7, 11, 13], encoder), side_of_ids("B", [7, 12, 13], encoder))
    assert [(shown(row.a), shown(row.b)) for row in rows] == [("7 [11 ]13 ", "7 [12 ]13 ")]
