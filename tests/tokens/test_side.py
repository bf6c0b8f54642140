"""One side of a comparison: bytes, characters and segments of its tokens."""

from array import array
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from spelled_encoder import SpelledEncoder

from shadowviz.tokens.encode.byte_encoder import ByteEncoder
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.rendering.messages import parse_messages
from shadowviz.tokens.rendering.render import Segment, render
from shadowviz.tokens.side import Side, side_of_ids, side_of_text
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.spans import Extent

TOKENIZER = default_tokenizer()
BYTES = ByteEncoder()
PIECES = (b"a", b"\xc3", b"\xa9", b"\xe2\x82", b"\xac", b"\xf0\x9f", b"\x98", b"\x80", "é😀\ufffd".encode(), b"\xff")


def in_order(raw: bytes) -> Iterator[tuple[int, str]]:
    """Where each character of some bytes begins, by taking the shortest piece that the rest goes on from."""
    text, place = raw.decode(errors="replace"), 0
    for index, character in enumerate(text):
        yield place, character
        place = next(
            stop
            for stop in range(place + 1, len(raw) + 1)
            if raw[place:stop].decode(errors="replace") == character
            and raw[stop:].decode(errors="replace") == text[index + 1 :]
        )


@given(st.text())
@example("né 😀 \ufffd")
def test_tokens_of_a_text_say_in_which_character_they_begin(text: str) -> None:
    side = side_of_text("A", text, TOKENIZER)
    for token in range(len(side.ids)):
        character, byte = side.character_at(token), side.byte_at(token)
        assert len(text[:character].encode()) <= byte < len(text[: character + 1].encode())
    assert side.character_at(len(side.ids)) == len(text)


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join))
@example(b"\x80\x80")
@example(b"\xf0\x9f\x98")
def test_bytes_that_form_no_character_are_counted_as_they_are_decoded(raw: bytes) -> None:
    side = side_of_ids("A", raw, BYTES)
    assert (side.raw, side.text) == (raw, raw.decode(errors="replace"))
    starts = [place for place, _ in in_order(raw)]
    for byte in range(len(raw)):
        assert side.character_at(byte) == sum(start <= byte for start in starts) - 1


def test_ready_ids_make_the_same_side_as_their_text() -> None:
    text = "Grüße, 世界!\n" * 3
    of_text = side_of_text("A", text, TOKENIZER)
    of_ids = side_of_ids("A", list(of_text.ids), TOKENIZER, ["read as ids"])
    assert (of_ids.ids, of_ids.starts, of_ids.text, of_ids.raw) == (of_text.ids, of_text.starts, text, text.encode())
    assert of_ids.notes == ("read as ids",)
    assert of_ids.ids.typecode == of_ids.starts.typecode == "q"


def test_no_ids_make_an_empty_side() -> None:
    side = side_of_ids("A", [], TOKENIZER)
    assert (len(side.ids), len(side.starts), side.text, side.raw) == (0, 0, "", b"")
    assert (side.character_at(0), side.byte_at(0), side.token_at(0), side.segment_of(0)) == (0, 0, 0, None)


def test_an_id_outside_the_vocabulary_is_refused() -> None:
    with pytest.raises(InputError, match="token 1 has id 129280, expected 0 to 129279"):
        side_of_ids("A", [5, 129_280], TOKENIZER)


def test_each_id_is_looked_up_once() -> None:
    class Counting(SpelledEncoder):
        looked_up = 0

        def token_bytes(self, token_id: int) -> bytes:
            self.looked_up += 1
            return super().token_bytes(token_id)

    encoder = Counting({1: b"one ", 2: b"two "})
    assert side_of_ids("A", [1, 2] * 1000, encoder).raw == b"one two " * 1000
    assert encoder.looked_up == 2


def test_stretches_and_bytes_lead_to_each_other() -> None:
    side = side_of_text("A", "one two three", TOKENIZER)
    assert side.bytes_of(Extent(1, 3)) == b" two three"
    assert [side.token_at(byte) for byte in (0, 2, 3, 7, 99)] == [0, 0, 1, 2, 2]
    assert side.byte_at(3) == len(side.raw)


def test_a_token_is_in_the_segment_in_which_it_begins() -> None:
    rendered = render(
        parse_messages([{"role": "system", "content": "Seid nett, ja? é"}, {"role": "user", "content": "hi"}])
    )
    side = side_of_text("A", rendered.text, TOKENIZER, segments=rendered.segments)
    for token in range(len(side.ids)):
        assert side.segment_of(token) == rendered.segment_at(side.character_at(token))
    assert side.segment_of(len(side.ids)) is None
    assert side_of_text("A", "hi", TOKENIZER).segment_of(0) is None


def test_a_marker_without_bytes_begins_where_the_next_token_does() -> None:
    encoder = SpelledEncoder({1: b"", 3: "é".encode()})
    side = Side("A", encoder, array("q", [1, 3]), array("q", [0, 0]), "é", "é".encode(), (Segment("all", 0, 1),))
    assert [side.character_at(token) for token in range(3)] == [0, 0, 1]
    assert side.segment_of(0) == Segment("all", 0, 1)
