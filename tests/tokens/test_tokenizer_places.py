"""Places of tokens in the text, under tokenizers of every kind."""

import random
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vocabularies import encoder_of

from shadowviz.tokens.encode import rank_encoder, sentencepiece_encoder, tokenizer
from shadowviz.tokens.encode.cuts import PART, SURE, parts_of
from shadowviz.tokens.encode.encoder import Encoded, Encoder
from shadowviz.tokens.encode.load import load_tokenizer
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz_engine.core.errors import InputError

LOSSLESS = ("deepseek-v4", "bytes", "dsv3", "dsv2", "qwen1", "qwen3_6", "llama3", "llama4", "tekken", "o200k")
LOSSY = ("claude2", "mistral_v3", "minilm")
ALL = (*LOSSLESS, *LOSSY)
MARKERS = ("<think>", "<｜User｜>", "<s>", "[INST]", "<|im_end|>", "<|begin_of_text|>", "<EOT>", "[CLS]")
# What joins, splits or vanishes: spaces of all kinds, digits, marks that compose, letters of several scripts.
JOINING = [
    "  \n",
    "don't",
    "été",
    "e\u0301",
    "12345",
    "中文，",
    "한국",
    "ﬁ",
    "Ａ",
    "😀",
    "👨\u200d👩",
    "ÅÅ",
    "a/b",
    "x = {'k': 1}\n",
]
PIECES = st.sampled_from([*MARKERS, *" \n\r\t\u00a0\u3000\u200b", *JOINING])
TEXTS = st.lists(PIECES | st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=30).map("".join)


@cache
def encoder(name: str) -> Encoder:
    return load_tokenizer(name) if name in ("deepseek-v4", "bytes") else encoder_of(name)


def joined(tokens: Encoded, by: Encoder) -> bytes:
    return b"".join(map(by.token_bytes, tokens.ids))


@pytest.mark.parametrize("name", LOSSLESS)
@settings(max_examples=60)
@given(text=TEXTS)
def test_a_token_stands_for_the_bytes_up_to_the_next_one(name: str, text: str) -> None:
    by, raw = encoder(name), text.encode()
    placed = by.place(text)
    bounds = [*placed.starts, len(raw)]
    assert [raw[start:stop] for start, stop in pairwise(bounds)] == [
        by.token_bytes(token_id) for token_id in placed.ids
    ]
    assert joined(placed, by) == raw
    by.check_ids(placed.ids)


@pytest.mark.parametrize("name", LOSSY)
@settings(max_examples=60)
@given(text=TEXTS)
def test_places_never_fall_and_lie_in_the_text_where_it_is_changed_first(name: str, text: str) -> None:
    by = encoder(name)
    placed = by.place(text)
    assert len(placed.starts) == len(placed.ids)
    assert list(placed.starts) == sorted(placed.starts)
    assert all(0 <= start <= len(text.encode()) for start in placed.starts)
    by.check_ids(placed.ids)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=30)
@given(text=TEXTS)
def test_added_markers_stand_around_the_same_tokens(name: str, text: str) -> None:
    by = encoder(name)
    plain, added = by.place(text), by.place(text, add_special=True)
    # Their number is that of any text: this one may be empty, or begin with such a marker itself.
    before = next(n for n in range(2) if by.place("a", add_special=True).ids[n:][:1] == by.place("a").ids[:1])
    assert added.ids[before : before + len(plain.ids)] == plain.ids
    assert added.starts[before : before + len(plain.ids)] == plain.starts
    assert set(added.ids[:before]) <= by.bos_ids
    assert set(added.ids[before + len(plain.ids) :]) <= by.eos_ids
    assert list(added.starts) == sorted(added.starts)


def test_a_character_of_several_tokens_has_a_byte_for_each() -> None:
    placed = default_tokenizer().place("a🜁b")
    assert list(placed.starts) == [0, 1, 3, 4, 5]
    assert joined(placed, default_tokenizer()) == "a🜁b".encode()


@pytest.mark.parametrize(
    ("name", "text", "starts"),
    [
        # The four characters after NFKC come from one of three bytes.
        ("claude2", "Ⅷ x", [0, 3]),
        # The space that the model puts before the text takes no place.
        ("mistral_v3", "Hi yo", [0, 2]),
        ("minilm", "Hi  there", [0, 4]),
    ],
)
def test_places_of_a_changed_text_are_those_of_the_text_as_given(name: str, text: str, starts: list[int]) -> None:
    placed = encoder(name).place(text)
    assert sorted(set(placed.starts)) == starts


@pytest.mark.parametrize("name", ALL)
def test_a_lone_surrogate_and_ids_outside_are_refused(name: str) -> None:
    by = encoder(name)
    with pytest.raises(InputError, match=r"character 1 is the lone surrogate U\+D800"):
        by.place("a\ud800")
    for outside in (-1, by.vocab_size, 2**40, 2**70):
        with pytest.raises(InputError, match="token 1 has id"):
            by.check_ids([0, outside])
        with pytest.raises(InputError, match="token 0 has id"):
            by.token_bytes(outside)
        assert not by.is_control(outside)
    by.check_ids([])


@cache
def long_text(seed: int) -> str:
    """A text of several parts in which every kind of piece stands at the places where it may be cut."""
    chance = random.Random(seed)
    pieces = [
        "word",
        " word",
        "\n",
        "\n\n  ",
        " 12345",
        "don't",
        "中文",
        "，",
        "。",
        "한국 ",
        "Été ",
        ".\n",
        "x=1;\n",
        "  ",
    ]
    return "".join(chance.choices([*pieces, *MARKERS, "e\u0301", "\u200b", "\r\n", "😀"], k=4 * PART))


@pytest.mark.parametrize("name", ["deepseek-v4", "dsv2", "qwen1", "qwen3_6", "llama3", "o200k", "tekken", "claude2"])
@pytest.mark.parametrize("seed", range(2))
def test_a_text_in_parts_has_the_ids_and_places_of_the_whole(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, by = long_text(seed), encoder(name)
    assert len(list(parts_of(text))) > 3
    in_parts = by.place(text)
    for module in (tokenizer, rank_encoder, sentencepiece_encoder):
        monkeypatch.setattr(module, "LONG_TEXT", len(text) + 1)
    assert by.place(text) == in_parts


@pytest.mark.parametrize("name", ["deepseek-v4", "dsv2", "qwen1", "qwen3_6", "llama3", "o200k", "tekken", "claude2"])
@settings(max_examples=100)
@given(before=TEXTS, letter=st.sampled_from("aZéДя中龥한"), mark=st.sampled_from(" \n，。！？、；："), behind=TEXTS)
def test_ids_are_those_of_both_parts_wherever_a_text_may_be_cut(
    name: str, before: str, letter: str, mark: str, behind: str
) -> None:
    assert SURE.search(letter + mark)
    by = encoder(name)
    cut = [by.place(part).ids for part in (before + letter, mark + behind)]
    assert by.place(before + letter + mark + behind).ids == cut[0] + cut[1]


def test_a_sentencepiece_text_in_parts_has_the_ids_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    by = encoder_of("mistral_v3")
    text = "".join(
        random.Random(3).choices(["word", " word", "  two", "\n", " end.", " 12", "中文", "é", " <s>"], k=60_000)
    )
    in_parts = by.place(text)
    monkeypatch.setattr(sentencepiece_encoder, "LONG_TEXT", len(text) + 1)
    assert by.place(text) == in_parts


@pytest.mark.parametrize("name", ["qwen1", "o200k"])
def test_spaces_that_the_library_gives_up_on_are_encoded_all_the_same(name: str) -> None:
    by, few, many = encoder(name), " " * 20_000, " " * 1_500_000
    text = "<|endoftext|>a" + many + "b"
    placed = by.place(text)
    assert joined(placed, by) == text.encode()
    # As many spaces as the library can still take are split the same way by both.
    assert isinstance(by, rank_encoder.RankEncoder)
    assert list(by._ranks_by_pieces(f"<|endoftext|>a{few}b\n  c")) == list(by.place(f"<|endoftext|>a{few}b\n  c").ids)
