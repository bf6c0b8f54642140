"""What differs between two tokenizers is said in lines to print."""

import json
from pathlib import Path

import pytest
from vocabularies import encoder_of

from shadowviz.tokens.encode.encoder import Encoder
from shadowviz.tokens.encode.fingerprints import what_moved
from shadowviz.tokens.encode.load import load_tokenizer
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.encode.tokenizer_content import KNOWN_FINGERPRINTS

FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}


def small(path: Path, **changes: object) -> Encoder:
    content = {
        "version": "1.0",
        "added_tokens": [FLAGS | {"id": 3, "content": "<x>"}],
        "normalizer": None,
        "pre_tokenizer": None,
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
    }
    path.write_text(json.dumps(content | changes))
    return load_tokenizer(str(path))


def test_the_same_tokenizer_in_other_bytes_has_one_fingerprint_and_nothing_moved() -> None:
    one, other = default_tokenizer(), encoder_of("dsv4_litellm")
    assert one.fingerprint == other.fingerprint
    assert what_moved(one, other) == ()


def test_the_known_fingerprint_is_the_computed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    known = default_tokenizer().fingerprint
    assert known in KNOWN_FINGERPRINTS.values()
    monkeypatch.setattr("shadowviz.tokens.encode.tokenizer.KNOWN_FINGERPRINTS", {})
    assert load_tokenizer(str(default_tokenizer().path)).fingerprint == known


def test_from_v3_to_v4_only_added_tokens_moved() -> None:
    lines = what_moved(encoder_of("dsv3"), default_tokenizer())
    assert lines[:3] == (
        "ids: 128,815 -> 129,280",
        "added token <think> 128798 -> 128821",
        "added token </think> 128799 -> 128822",
    )
    assert lines[3].startswith("new added tokens: 465 (<｜place▁holder▁no▁798｜>, ")
    assert lines[4:] == ("settings of added tokens: 1 differ (<|EOT|>)",)


def test_from_v2_to_v3_everything_moved() -> None:
    lines = what_moved(encoder_of("dsv2"), encoder_of("dsv3"))
    assert {line.split(":")[0].split(" <")[0] for line in lines} >= {
        "ids", "vocabulary", "merges", "added token", "pre-tokenizer"
    }  # fmt: skip
    assert "added token <｜begin▁of▁sentence｜> 100000 -> 0" in lines


def test_tokenizers_of_two_kinds_are_compared_by_what_both_have() -> None:
    lines = what_moved(encoder_of("mistral_v3"), encoder_of("tekken"))
    assert lines[:2] == ("kind: sentencepiece -> ranks", "ids: 32,768 -> 131,072")
    assert "added token [TOOL_CALLS] 5 -> 9" in lines


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        (
            {"model": {"type": "BPE", "vocab": {"a": 0, "b": 2, "ab": 1}, "merges": ["a b"]}},
            ("vocabulary: 3 -> 3 tokens: 2 with another id",),
        ),
        (
            {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": []}},
            ("merges: 1 -> 0, the same up to number 0",),
        ),
        ({"normalizer": {"type": "NFC"}}, ('normaliser: none -> {"type":"NFC"}',)),
        (
            {
                "added_tokens": [FLAGS | {"id": 4, "content": "<x>"}],
                "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "c": 3}, "merges": ["a b"]},
            },
            ("ids: 4 -> 5", "vocabulary: 3 -> 4 tokens: 1 new", "added token <x> 3 -> 4"),
        ),
        (
            {"added_tokens": [FLAGS | {"id": 3, "content": "\x1b\n"}]},
            ("new added tokens: 1 (\\u001b\\n)", "added tokens gone: 1 (<x>)"),
        ),
        (
            {"added_tokens": [FLAGS | {"id": 3, "content": "<x>", "lstrip": True}]},
            ('settings of added tokens: {"<x>":["special"]} -> {"<x>":["lstrip","special"]}',),
        ),
    ],
)
def test_every_change_is_one_printable_line(tmp_path: Path, changes: dict[str, object], lines: tuple[str, ...]) -> None:
    first = small(tmp_path / "1.json")
    second = small(tmp_path / "2.json", **changes)
    assert what_moved(first, second) == lines
    assert all(line.isprintable() for line in what_moved(first, second))
    assert what_moved(first, first) == ()
