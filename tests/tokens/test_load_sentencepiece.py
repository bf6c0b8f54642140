"""Sentencepiece models: kinds of pieces, normalisers, places, and torn files."""

import io
import random
from functools import cache
from pathlib import Path

import pytest
from vocabularies import vocabulary_of

from shadowviz.tokens.encode import sentencepiece_encoder
from shadowviz.tokens.encode.fingerprints import what_moved
from shadowviz.tokens.encode.load import load_tokenizer
from shadowviz.tokens.encode.sentencepiece_encoder import SentencePieceEncoder
from shadowviz.tokens.encode.sentencepiece_kinds import kinds_of
from shadowviz.tokens.encode.sentencepiece_parts import parts_for
from shadowviz_engine.core.errors import InputError

SENTENCES = ["the keeper wrote the depth into the book", "twelve fathoms deep, again and again"] * 20


@cache
def trained(kind: str, normaliser: str, squeeze: bool = True) -> bytes:
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        vocab_size=60,
        model_type=kind,
        normalization_rule_name=normaliser,
        user_defined_symbols=["<turn>"],
        remove_extra_whitespaces=squeeze,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def encoder(kind: str = "bpe", normaliser: str = "identity") -> SentencePieceEncoder:
    return SentencePieceEncoder(trained(kind, normaliser), f"{kind}.model")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_model_is_known_by_its_content(kind: str, tmp_path: Path) -> None:
    (tmp_path / "spiece.model").write_bytes(trained(kind, "identity"))
    by = load_tokenizer(str(tmp_path))
    assert (by.bos_ids, by.eos_ids, by.token_bytes(1)) == ({1}, {2}, b"<s>")
    assert by.place("the", add_special=True).ids[0] == 1
    assert what_moved(by, encoder(kind)) == ()


def test_markers_are_controls_and_what_the_user_defined() -> None:
    by = encoder()
    placed = by.place("book<turn><s>")
    controls = [by.token_bytes(token_id) for token_id in placed.ids if by.is_control(token_id)]
    assert controls == [b"<turn>"]
    assert [by.is_control(token_id) for token_id in (0, 1, 2, 3, 4)] == [False, True, True, True, False]


def test_places_are_those_of_the_text_before_spaces_were_squeezed_and_widths_changed() -> None:
    by = encoder("unigram", "nmt_nfkc")
    text = "the   ｂｏｏｋ<turn>x"
    placed = by.place(text)
    at = {by.token_bytes(token_id): start for token_id, start in zip(placed.ids, placed.starts, strict=True)}
    assert at[b"<turn>"] == text.encode().index(b"<turn>")
    assert list(placed.starts) == sorted(placed.starts)
    assert max(placed.starts) < len(text.encode())


@pytest.mark.parametrize(
    ("kind", "squeeze", "in_how_many"), [("bpe", False, 5), ("bpe", True, 0), ("unigram", False, 5)]
)
def test_a_long_text_has_the_ids_of_the_whole(
    kind: str, squeeze: bool, in_how_many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    by = SentencePieceEncoder(trained(kind, "identity", squeeze), "x.model")
    text = "".join(random.Random(5).choices(["the", " the", "  book", " deep,", "\n", " 12", "é", "<turn>"], k=40_000))
    assert len(parts_for(text, by._inner)) == in_how_many
    in_parts = by.place(text)
    monkeypatch.setattr(sentencepiece_encoder, "LONG_TEXT", len(text) + 1)
    assert by.place(text) == in_parts


def test_kinds_and_scores_are_part_of_the_fingerprint() -> None:
    models = [("bpe", "identity"), ("unigram", "identity"), ("bpe", "nmt_nfkc")]
    assert len({encoder(*model).fingerprint for model in models}) == 3
    (line,) = what_moved(encoder(), encoder("bpe", "nmt_nfkc"))
    assert line.startswith("normaliser: ")


def test_a_torn_or_changed_model_is_refused_in_one_line() -> None:
    model = trained("bpe", "identity")
    chance = random.Random(1)
    messages: list[str] = []
    for _ in range(60):
        changed = bytearray(model)
        changed[chance.randrange(len(model))] ^= 1 << chance.randrange(8)
        try:
            SentencePieceEncoder(bytes(changed[: chance.randrange(1, len(model))]), "torn.model").place("the book")
        except InputError as error:
            messages.append(str(error))
    assert len(messages) > 40
    assert all(message.isprintable() for message in messages)


def test_kinds_are_read_as_the_library_reads_them() -> None:
    import sentencepiece

    raw = vocabulary_of("mistral_v3").read_bytes()
    inner = sentencepiece.SentencePieceProcessor(model_proto=raw)
    kinds = kinds_of(raw)
    assert len(kinds) == inner.get_piece_size()
    assert [kind == 3 for kind in kinds] == [inner.is_control(token_id) for token_id in range(len(kinds))]
    assert [kind == 6 for kind in kinds] == [inner.is_byte(token_id) for token_id in range(len(kinds))]
    with pytest.raises(ValueError, match="without an end"):
        kinds_of(b"\xff\xff")
