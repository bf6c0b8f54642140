"""What holds for the alignment of any two sides."""

from collections.abc import Sequence

from alignment_checks import check_sound, ids_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from spelled_encoder import SpelledEncoder

from shadowviz.tokens.align.align import align
from shadowviz.tokens.align.token_diff import Hunk, Op
from shadowviz.tokens.side import Side, side_of_ids
from shadowviz_engine.core.spans import Extent

SPELLINGS = [b"a", b"b", b"ab", b"ba", b"aa", b"aba", b" ", b" a", b"c", b"bc"]
ENCODER = SpelledEncoder(dict(enumerate(SPELLINGS)))
OTHER = SpelledEncoder(dict(enumerate(reversed(SPELLINGS))), "other")
DISTINCT = SpelledEncoder({token_id: b"<%d>" % token_id for token_id in range(1000)})
IDS = st.lists(st.integers(0, len(SPELLINGS) - 1), max_size=24)
FEW = st.lists(st.integers(0, 3), max_size=28)
MIRRORED = {Op.INSERT: Op.DELETE, Op.DELETE: Op.INSERT}
ENCODERS = st.sampled_from([(ENCODER, ENCODER), (ENCODER, OTHER)])


def of_ids(a: Sequence[int], b: Sequence[int], encoder: SpelledEncoder = ENCODER) -> tuple[Side, Side]:
    return side_of_ids("A", a, encoder), side_of_ids("B", b, encoder)


def longest_common(x: Sequence[int], y: Sequence[int]) -> int:
    """Length of the longest common subsequence, by the table."""
    row = [0] * (len(y) + 1)
    for value in x:
        above, row = row, [0]
        for place, other in enumerate(y):
            row.append(above[place] + 1 if value == other else max(row[place], above[place + 1]))
    return row[-1]


@settings(max_examples=600, deadline=None)
@given(IDS, IDS, ENCODERS)
@example([2, 0, 5], [0, 1, 2, 5], (ENCODER, ENCODER))
def test_hunks_cover_both_sides_and_are_what_they_are_called(
    x: list[int], y: list[int], encoders: tuple[SpelledEncoder, SpelledEncoder]
) -> None:
    a, b = side_of_ids("A", x, encoders[0]), side_of_ids("B", y, encoders[1])
    check_sound(a, b, align(a, b))


@settings(max_examples=300, deadline=None)
@given(IDS, IDS)
def test_b_is_a_with_the_changed_hunks_put_in(x: list[int], y: list[int]) -> None:
    a, b = of_ids(x, y)
    rebuilt: list[int] = []
    for hunk in align(a, b).hunks:
        rebuilt += ids_of(a, hunk.a) if hunk.op is Op.EQUAL else ids_of(b, hunk.b)
    assert rebuilt == y


@settings(max_examples=300, deadline=None)
@given(IDS, IDS, ENCODERS)
def test_exchanged_sides_give_the_mirrored_hunks(
    x: list[int], y: list[int], encoders: tuple[SpelledEncoder, SpelledEncoder]
) -> None:
    a, b = side_of_ids("A", x, encoders[0]), side_of_ids("B", y, encoders[1])
    there, back = align(a, b), align(b, a)
    assert back.common == there.common
    assert list(back.hunks) == [Hunk(MIRRORED.get(hunk.op, hunk.op), hunk.b, hunk.a) for hunk in there.hunks]


@settings(max_examples=600, deadline=None)
@given(FEW, FEW)
def test_equal_tokens_are_as_many_as_can_be_but_for_islands_inside_a_replacement(x: list[int], y: list[int]) -> None:
    a, b = of_ids(x, y, DISTINCT)
    diff = align(a, b)
    hidden = sum(longest_common(ids_of(a, hunk.a), ids_of(b, hunk.b)) for hunk in diff.hunks if hunk.op is not Op.EQUAL)
    assert diff.common + diff.realigned + hidden == longest_common(x, y)


@settings(max_examples=300, deadline=None)
@given(IDS, IDS)
def test_text_that_is_the_same_between_shared_boundaries_is_never_part_of_a_replacement_edge(
    x: list[int], y: list[int]
) -> None:
    a, b = of_ids(x, y)
    for hunk in align(a, b).hunks:
        if hunk.op is not Op.REPLACE:
            continue
        for token_a in range(hunk.a.start + 1, hunk.a.stop + 1):
            for token_b in range(hunk.b.start + 1, hunk.b.stop + 1):
                front = (Extent(hunk.a.start, token_a), Extent(hunk.b.start, token_b))
                assert a.bytes_of(front[0]) != b.bytes_of(front[1]), hunk


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, len(SPELLINGS) - 1), min_size=1, max_size=40), st.data())
def test_one_text_as_two_lists_of_ids_is_equal_in_place_or_retokenized(x: list[int], data: st.DataObject) -> None:
    raw, y = b"".join(SPELLINGS[token_id] for token_id in x), list[int]()
    while place := len(raw):
        fits = [token_id for token_id, text in enumerate(SPELLINGS) if raw.endswith(text)]
        y.insert(0, data.draw(st.sampled_from(fits)))
        raw = raw[: place - len(SPELLINGS[y[0]])]
    a, b = of_ids(x, y)
    in_place = {(a.byte_at(i), a.byte_at(i + 1), token_id) for i, token_id in enumerate(x)}
    in_place &= {(b.byte_at(i), b.byte_at(i + 1), token_id) for i, token_id in enumerate(y)}
    diff = align(a, b)
    assert {hunk.op for hunk in diff.hunks} <= {Op.EQUAL, Op.RETOKENIZED}
    assert diff.common + diff.realigned == len(in_place)
