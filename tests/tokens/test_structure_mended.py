"""How far prompts would agree if one of their conversations were another."""

from hypothesis import given
from hypothesis import strategies as st

from shadowviz.tokens.align.align import align
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.side import side_of_text
from shadowviz.tokens.structure.mended import MAX_ENCODED, common_of, common_with

PIECES = (
    "<｜User｜>",
    "<｜Assistant｜>",
    "<think>",
    "12",
    "3",
    " the",
    " house",
    "\n",
    "\n\n",
    "ß",
    "漢",
    "🙂",
    "a",
    "bc",
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(head=TEXTS, middle=TEXTS, old=TEXTS, new=TEXTS, tail=TEXTS)
def test_what_a_mended_text_shares_is_what_encoding_it_whole_shows(
    head: str, middle: str, old: str, new: str, tail: str
) -> None:
    encoder = default_tokenizer()
    a = side_of_text("A", head + middle + old + tail, encoder)
    b = side_of_text("B", head + new + middle + tail, encoder)
    mended = head + middle + new + tail
    wanted = align(a, side_of_text("B", mended, encoder)).common
    assert common_with(a, b, mended, align(a, b).common) == wanted
    assert common_of(encoder, a.text, mended) == wanted


def test_a_text_that_would_take_too_long_is_not_counted() -> None:
    encoder = default_tokenizer()
    long = "a b " * (MAX_ENCODED // 4 + 1)
    assert common_of(encoder, long, f"{long}c") is None
