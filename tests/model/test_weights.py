"""Model directories: what transformers writes loads unchanged, and what is wrong with one is said in a line."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from oracle_model import oracle_of
from paged_runs import Subject, subject
from safetensors.torch import load_file, save_file

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.model.random_weights import random_weights
from shadowviz_engine.model.weights import INDEX_FILE, SINGLE_FILE, check_tensors, load_model, save_model


@pytest.fixture(scope="module")
def model() -> Subject:
    return subject("near")


@pytest.fixture
def directory(model: Subject, tmp_path: Path) -> Path:
    save_model(tmp_path, model.config, model.weights)
    return tmp_path


def edit_tensors(directory: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = load_file(directory / SINGLE_FILE)
    change(tensors)
    save_file(tensors, directory / SINGLE_FILE)


def refusal(directory: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load_model(directory)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("shard_size", ["1GB", "300KB"])
def test_a_directory_that_transformers_wrote_loads_unchanged(model: Subject, tmp_path: Path, shard_size: str) -> None:
    oracle_of(model).save_pretrained(tmp_path, max_shard_size=shard_size)
    assert (tmp_path / INDEX_FILE).exists() == (shard_size == "300KB")
    config, tensors = load_model(tmp_path)
    assert config == model.config
    assert tensors.keys() == model.weights.keys()
    assert all(torch.equal(tensors[name], model.weights[name]) for name in tensors)


def test_a_saved_model_loads_as_it_was(model: Subject, directory: Path) -> None:
    config, tensors = load_model(directory)
    assert config == model.config
    assert all(torch.equal(tensors[name], model.weights[name]) for name in model.weights)


def test_tied_embeddings_need_no_head(model: Subject, tmp_path: Path) -> None:
    config = replace(model.config, tie_embeddings=True)
    save_model(tmp_path, config, random_weights(config))
    _, tensors = load_model(tmp_path)
    assert "lm_head.weight" not in tensors


def test_the_layer_for_multi_token_prediction_is_left_out(directory: Path) -> None:
    edit_tensors(directory, lambda tensors: tensors.update({"mtp.0.norm.weight": torch.ones(4)}))
    _, tensors = load_model(directory)
    assert not any("mtp" in name for name in tensors)


def test_a_missing_tensor_is_named(directory: Path) -> None:
    edit_tensors(directory, lambda tensors: tensors.pop("model.layers.3.self_attn.sinks"))
    assert "lack model.layers.3.self_attn.sinks" in refusal(directory)


def test_an_unexpected_tensor_is_named(directory: Path) -> None:
    edit_tensors(directory, lambda tensors: tensors.update({"model.layers.9.extra": torch.ones(1)}))
    assert "hold model.layers.9.extra" in refusal(directory)


def test_a_misshapen_tensor_is_named_with_both_shapes(directory: Path) -> None:
    edit_tensors(directory, lambda tensors: tensors.update({"model.norm.weight": torch.ones(63)}))
    assert refusal(directory) == "tensor model.norm.weight has shape [63]: expected [64]"


def test_an_expert_that_is_not_there_is_named(model: Subject, tmp_path: Path) -> None:
    oracle_of(model).save_pretrained(tmp_path)
    edit_tensors(tmp_path, lambda tensors: tensors.pop("model.layers.1.ffn.experts.2.w3.weight"))
    assert "expert 2 of model.layers.1.mlp.experts.gate_up_proj" in refusal(tmp_path)


def test_one_expert_too_many_is_named(model: Subject, tmp_path: Path) -> None:
    oracle_of(model).save_pretrained(tmp_path)
    names = [f"model.layers.1.ffn.experts.4.w{number}.weight" for number in (1, 2, 3)]
    edit_tensors(tmp_path, lambda tensors: tensors.update({name: torch.ones(64, 64) for name in names}))
    assert "hold expert 4 of" in refusal(tmp_path)


@pytest.mark.parametrize("cut", [0, 5, 100, -1])
def test_a_torn_file_is_named(directory: Path, cut: int) -> None:
    path = directory / SINGLE_FILE
    path.write_bytes(path.read_bytes()[:cut])
    assert refusal(directory).startswith(f"{path} is no whole safetensors file")


def test_an_expert_table_with_an_expert_that_is_not_there_is_refused(directory: Path) -> None:
    config, tensors = load_model(directory)
    name = next(name for name in tensors if name.endswith("tid2eid"))
    tensors = {**tensors, name: tensors[name].clone()}
    tensors[name][3, 0] = config.num_experts
    with pytest.raises(ModelError, match=r"tid2eid names an expert outside of 0\.\."):
        check_tensors(config, tensors)


def test_quantised_weights_are_refused_by_name(directory: Path) -> None:
    name = "model.layers.0.self_attn.kv_proj.weight"
    edit_tensors(directory, lambda tensors: tensors.update({name: tensors[name].to(torch.float8_e4m3fn)}))
    assert f"quantised ({name} is torch.float8_e4m3fn)" in refusal(directory)


def test_a_scale_beside_a_weight_is_a_quantised_form(directory: Path) -> None:
    name = "model.layers.0.self_attn.kv_proj.weight_scale_inv"
    edit_tensors(directory, lambda tensors: tensors.update({name: torch.ones(1, 1)}))
    assert f"quantised ({name}" in refusal(directory)


def test_integer_weights_are_refused(directory: Path) -> None:
    edit_tensors(directory, lambda tensors: tensors.update({"model.norm.weight": torch.ones(64, dtype=torch.int8)}))
    assert "model.norm.weight is of type torch.int8" in refusal(directory)


def test_a_directory_without_weights_says_what_it_lacks(directory: Path) -> None:
    (directory / SINGLE_FILE).unlink()
    assert refusal(directory) == f"{directory} holds neither {SINGLE_FILE} nor {INDEX_FILE}"


def test_a_missing_shard_is_named(model: Subject, tmp_path: Path) -> None:
    oracle_of(model).save_pretrained(tmp_path, max_shard_size="300KB")
    shard = sorted(tmp_path.glob("model-*.safetensors"))[1]
    shard.unlink()
    assert f"lacks {shard.name}" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"weight_map": 3}', "cannot be read"),
        ('{"weight_map": {"a": "../model.safetensors"}}', "expected files of its own directory"),
    ],
)
def test_a_bad_index_is_refused(directory: Path, text: str, message: str) -> None:
    (directory / INDEX_FILE).write_text(text)
    assert message in refusal(directory)


def test_nothing_is_written_for_weights_that_do_not_fit(model: Subject, tmp_path: Path) -> None:
    target = tmp_path / "new"
    with pytest.raises(ModelError):
        save_model(target, model.config, {})
    assert not target.exists()


def test_seeded_weights_depend_on_name_and_seed_alone(model: Subject) -> None:
    again, other = random_weights(model.config), random_weights(model.config, seed=1)
    larger = random_weights(replace(model.config, vocab_size=640))
    name = "model.layers.4.self_attn.q_a_proj.weight"
    assert torch.equal(again[name], model.weights[name])
    assert torch.equal(larger[name], model.weights[name])
    assert not torch.equal(other[name], model.weights[name])


def test_an_expert_table_names_distinct_experts(model: Subject) -> None:
    table = model.weights["model.layers.0.mlp.gate.tid2eid"]
    assert (table.sort(dim=1).values.diff(dim=1) > 0).all()


def test_configuration_text_is_stable(directory: Path) -> None:
    text = (directory / "config.json").read_text()
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True) + "\n"
    assert re.search(r'"csa_overlap": true', text)
