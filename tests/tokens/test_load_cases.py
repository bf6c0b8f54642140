"""Ids under nine vocabularies are those of the labelled cases."""

import json
from pathlib import Path
from typing import Any

import pytest
from vocabularies import LABELS, encoder_of

from shadowviz.tokens.encode.encoder import Encoder

DRIFT_LABELS = {"v2(0.1.2)": "dsv2", "v3(0.2.0)": "dsv3", "v4(0.3.0)": "dsv4", "v4(litellm)": "dsv4_litellm"}


def cases(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "cases" / name).read_bytes().split(b"\n") if line]


def ids(encoder: Encoder, text: str) -> list[int]:
    return list(encoder.place(text).ids)


@pytest.mark.parametrize("label", LABELS)
def test_ids_of_every_pair_are_the_recorded_ones(label: str, shared_dir: Path) -> None:
    pairs = [case for case in cases(shared_dir, "pairs.jsonl") if case["tokenizer"] == label]
    assert len(pairs) == 40
    encoder = encoder_of(label)
    for case in pairs:
        for side in "ab":
            assert ids(encoder, case[side]) == [int(word) for word in case[f"ids_{side}"].split()], case["id"]


@pytest.mark.parametrize("label", LABELS)
def test_generated_ids_stand_for_their_text_and_encode_again_as_recorded(label: str, shared_dir: Path) -> None:
    encoder = encoder_of(label)
    for case in (case for case in cases(shared_dir, "retokenize.jsonl") if case["tokenizer"] == label):
        stands_for = b"".join(map(encoder.token_bytes, case["generated_ids"])).decode()
        # A sentencepiece model puts a space before every text, which decoding takes away again.
        assert stands_for.removeprefix(" " if label == "mistral_v3" else "") == case["decoded"]
        assert ids(encoder, case["decoded"]) == case["reencoded"]


@pytest.mark.parametrize(("version", "label"), DRIFT_LABELS.items())
def test_ids_of_every_version_of_one_family_are_the_recorded_ones(version: str, label: str, shared_dir: Path) -> None:
    encoder = encoder_of(label)
    for case in cases(shared_dir, "version_drift.jsonl"):
        assert ids(encoder, case["text"]) == case["ids"][version], case["text"]
