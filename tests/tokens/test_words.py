"""Token ids as text and causes, for views that know no tokenizer."""

import msgspec
import pytest

from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Cause
from shadowviz.tokens.words import IdWords, TokenWords, words_of
from shadowviz_engine.core.events import SCHEMA, LogOpened
from shadowviz_engine.core.presets import preset

TOKENIZER = default_tokenizer()
OPENED = LogOpened(seq=0, t_ns=0, schema=SCHEMA, geometry=preset("tiny"), tokenizer_fingerprint=TOKENIZER.fingerprint)


def test_ids_of_the_tokenizer_at_hand_are_read() -> None:
    words = words_of(OPENED)
    assert isinstance(words, TokenWords)
    assert words.text(TOKENIZER.encode("a\tb")) == "a\\tb"


@pytest.mark.parametrize(
    "changes", [{"redacted": True}, {"tokenizer_fingerprint": "another"}, {"tokenizer_fingerprint": ""}]
)
def test_ids_of_another_vocabulary_are_not(changes: dict[str, object]) -> None:
    words = words_of(msgspec.structs.replace(OPENED, **changes))
    assert isinstance(words, IdWords)
    assert words.cause([1], [2]) == Cause.UNKNOWN
    assert not words.readable


def test_a_token_that_is_part_of_a_character_shows_its_bytes() -> None:
    ids = TOKENIZER.encode("\U0001fae8")
    assert len(ids) > 1
    assert TokenWords(TOKENIZER).text(ids[:1]).startswith("\\x")


@pytest.mark.parametrize(
    ("prompt", "stored", "cause"),
    [("line one\r\nline two", "line one\nline two", Cause.CRLF), ("a  b", "a b", Cause.SPACE_COUNT)],
)
def test_the_cause_is_that_of_the_texts(prompt: str, stored: str, cause: Cause) -> None:
    assert TokenWords(TOKENIZER).cause(TOKENIZER.encode(prompt), TOKENIZER.encode(stored)) == cause


def test_the_same_text_as_other_ids_is_retokenized() -> None:
    assert TokenWords(TOKENIZER).cause([201, 201], [271]) == Cause.RETOKENIZED
