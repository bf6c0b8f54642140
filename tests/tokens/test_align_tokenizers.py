"""The alignment of one text, or nearly, under two tokenizers."""

from string import ascii_lowercase, printable

from spelled_encoder import SpelledEncoder

from shadowviz.tokens.align.align import align
from shadowviz.tokens.align.token_diff import Op
from shadowviz.tokens.side import side_of_text

LETTERS = SpelledEncoder({ord(letter): letter.encode() for letter in printable}, "letters")
ENDINGS = SpelledEncoder(
    {**LETTERS.table, **{200 + place: ending.encode() for place, ending in enumerate(("ing", "the", "er", "on"))}},
    "letters and endings",
)
MOVED = SpelledEncoder({token_id + 1: text for token_id, text in LETTERS.table.items()}, "moved")
TEXT = "".join(f"{word} {number} being there on the shore, " for number, word in enumerate(ascii_lowercase))


def test_ids_are_compared_as_numbers_for_the_common_prefix() -> None:
    # An "a" of one is a "b" of the other: a cache sees the same id.
    diff = align(side_of_text("A", "bbb", LETTERS), side_of_text("B", "aaa", MOVED))
    assert diff.equal
    assert diff.common == 3


def test_the_same_text_is_equal_where_ids_and_places_are_and_retokenized_elsewhere() -> None:
    a, b = side_of_text("A", TEXT, LETTERS), side_of_text("B", TEXT, ENDINGS)
    diff = align(a, b)
    assert {hunk.op for hunk in diff.hunks} == {Op.EQUAL, Op.RETOKENIZED}
    for hunk in diff.hunks:
        assert a.byte_at(hunk.a.start) == b.byte_at(hunk.b.start)
        if hunk.op is Op.RETOKENIZED:
            assert all(token_id >= 200 for token_id in b.ids[hunk.b.start : hunk.b.stop])
    assert sum(hunk.b.size for hunk in diff.hunks if hunk.op is Op.RETOKENIZED) == sum(i >= 200 for i in b.ids)


def test_no_id_is_the_same_where_every_one_has_moved() -> None:
    diff = align(side_of_text("A", TEXT, LETTERS), side_of_text("B", TEXT, MOVED))
    assert [hunk.op for hunk in diff.hunks] == [Op.RETOKENIZED]


def test_changes_of_text_stand_apart_from_the_text_between_them() -> None:
    changed = TEXT.replace("e 4 being", "e FOUR being").replace("p 15 being", "p FIFTEEN being")
    a, b = side_of_text("A", TEXT, LETTERS), side_of_text("B", changed, MOVED)
    diff = align(a, b)
    kinds = [(hunk.op, a.bytes_of(hunk.a), b.bytes_of(hunk.b)) for hunk in diff.hunks if hunk.op is Op.REPLACE]
    assert kinds == [(Op.REPLACE, b"4", b"FOUR"), (Op.REPLACE, b"15", b"FIFTEEN")]
    assert sum(hunk.a.size for hunk in diff.hunks if hunk.op is Op.RETOKENIZED) == len(a.ids) - 3
    assert not any(hunk.op is Op.EQUAL for hunk in diff.hunks)


def test_one_id_of_other_length_in_the_same_place_is_not_equal() -> None:
    long, short = SpelledEncoder({9: b"x", 5: b"ab"}, "long"), SpelledEncoder({8: b"x", 5: b"a", 6: b"b"}, "short")
    diff = align(side_of_text("A", "xab", long), side_of_text("B", "xab", short))
    assert [hunk.op for hunk in diff.hunks] == [Op.RETOKENIZED]
