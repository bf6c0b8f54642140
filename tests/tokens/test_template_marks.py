"""Marks: read back as they were put, never where a text holds their characters, invisible to stripping."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz.tokens.templates.marks import (
    PRIVATE,
    SIZE,
    Alphabet,
    MarkError,
    Stretch,
    free_alphabet,
    mark_pieces,
    mark_whole,
)

MARKS = Alphabet("".join(map(chr, PRIVATE[:SIZE])))
TEXTS = st.text(st.sampled_from("ab<> \n\t\u00a0é字\\u"), max_size=12)


@given(st.lists(st.tuples(TEXTS, st.integers(0, 2**20 - 1), TEXTS)), st.booleans())
def test_marks_are_read_as_they_were_put_also_out_of_json(pieces: list[tuple[str, int, str]], as_json: bool) -> None:
    write = (lambda text: json.dumps(text)[1:-1]) if as_json else str
    marked = "".join(before + MARKS.wrap(inside, number) for before, number, inside in pieces)
    text, stretches = MARKS.read(write(marked))
    assert text == write("".join(before + inside for before, _, inside in pieces))
    assert [(write(inside), number) for _, number, inside in pieces] == [
        (text[stretch.start : stretch.stop], stretch.number) for stretch in stretches
    ]


def test_inner_stretches_come_before_those_around_them() -> None:
    assert MARKS.read("x" + MARKS.wrap("a" + MARKS.wrap("b", 2), 1)) == ("xab", [Stretch(2, 3, 2), Stretch(1, 3, 1)])


@pytest.mark.parametrize(
    "marked",
    [MARKS.open(1), MARKS.close(1), MARKS.open(1) + MARKS.close(2), MARKS.wrap("a", 1)[1:], MARKS.wrap("a", 1)[:-1]],
    ids=["never closed", "never opened", "crossed", "without its head", "without its tail"],
)
def test_damaged_marks_are_refused(marked: str) -> None:
    with pytest.raises(MarkError):
        MARKS.read(marked)


@given(TEXTS, TEXTS, TEXTS, st.sampled_from([None, "\n", " a", ""]), st.sampled_from(["strip", "lstrip", "rstrip"]))
def test_stripping_takes_what_it_would_take_without_marks(a: str, b: str, c: str, chars: str | None, how: str) -> None:
    marked = MARKS.wrap(a + MARKS.wrap(b, 2), 1) + c
    stripped = MARKS.strip(marked, chars, left=how != "rstrip", right=how != "lstrip")
    assert MARKS.read(stripped)[0] == getattr(a + b + c, how)(chars)


@given(TEXTS)
def test_marking_changes_nothing_but_adds_marks(text: str) -> None:
    assert MARKS.read(mark_whole(text, 3, MARKS))[0] == text
    pieces = mark_pieces(text, 3, MARKS, re.compile("<a|>"))
    read, stretches = MARKS.read(pieces)
    assert read == text
    assert all(">" not in text[stretch.start : stretch.stop] for stretch in stretches)
    assert pieces.count("<a") == text.count("<a")


def test_an_alphabet_avoids_every_text_that_is_rendered() -> None:
    taken = "".join(map(chr, PRIVATE[: 3 * SIZE]))
    alphabet = free_alphabet([taken, json.dumps(chr(PRIVATE[3 * SIZE]))], 1)
    assert alphabet is not None
    assert alphabet.letters == "".join(map(chr, PRIVATE[4 * SIZE : 5 * SIZE]))
    assert free_alphabet(["".join(map(chr, PRIVATE))], 5) is None
