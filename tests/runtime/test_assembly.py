"""Models, devices and switches as an engine takes them."""

import shutil
from dataclasses import replace

import pytest
import torch

from shadowviz_engine.core.errors import CapacityError, GeometryError, InputError, ModelError
from shadowviz_engine.core.geometry import Compressor
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.sinks import MemorySink
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.presets import TRAINED, model_preset
from shadowviz_engine.model.random_weights import random_weights
from shadowviz_engine.model.weights import save_model
from shadowviz_engine.runtime.assembly import (
    CHECKPOINTS,
    default_page_size,
    device_named,
    load_engine_model,
    state_dtype,
)
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request


def test_a_preset_and_its_checkpoint_give_the_same_output(tmp_path, tiny_model):
    config = model_preset("tiny-512")
    save_model(tmp_path / "copy", config, random_weights(config, 0))
    outputs = []
    for model in ("tiny-512", str(tmp_path / "copy")):
        options = EngineOptions(model=model, numerics="exact", num_full_pages=4, num_swa_pages=4)
        with Engine(options, MemorySink()) as engine:
            engine.submit(Request(id="a", token_ids=tuple(range(20)), max_tokens=3))
            engine.run()
            outputs.append(engine.outputs["a"].token_ids)
            assert engine.model.geometry.page_size == 256
            assert engine.model.geometry.kinds == tiny_model.geometry.kinds
    assert outputs[0] == outputs[1]
    assert engine.model.name == "copy"


def test_a_fingerprint_changes_with_seed_weights_and_configuration(tmp_path, tiny_model):
    prints = {tiny_model.fingerprint, load_engine_model(EngineOptions(model="tiny-512", seed=1)).fingerprint}
    config = model_preset("tiny-512")
    weights = random_weights(config, 0)
    for name in ("a", "b"):
        save_model(tmp_path / name, config, weights)
        prints.add(load_engine_model(EngineOptions(model=str(tmp_path / name))).fingerprint)
        weights["lm_head.weight"] = weights["lm_head.weight"] + 1e-3
    save_model(tmp_path / "c", replace(config, index_topk=8), random_weights(config, 0))
    prints.add(load_engine_model(EngineOptions(model=str(tmp_path / "c"))).fingerprint)
    assert len(prints) == 5
    assert "" not in prints


def test_an_unknown_model_is_refused_by_name():
    with pytest.raises(
        ModelError,
        match=r"no model is called 'huge': expected one of tiny, tiny-512.* recall-hca, or a model directory",
    ):
        load_engine_model(EngineOptions(model="huge"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hidden_size", "{}"),
        ("hc_mult", "null"),
        ("routed_scaling_factor", '"x"'),
        ("rope_parameters", '["x"]'),
        ("compress_rates", "[[1]]"),
        ("architectures", "5"),
        ("vocab_size", "9" * 5000),
        ("vocab_size", "[" * 100_000),
    ],
)
def test_a_directory_of_nonsense_is_refused_in_one_line(tmp_path, name, value):
    directory = shutil.copytree(CHECKPOINTS / "recall", tmp_path / "bad")
    path = directory / "config.json"
    path.write_text(path.read_text().rstrip().removesuffix("}") + f', "{name}": {value}}}')
    with pytest.raises(ModelError) as refused:
        load_engine_model(EngineOptions(model=str(directory)))
    assert len(str(refused.value)) < 1000
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", TRAINED)
def test_a_trained_preset_has_the_geometry_of_its_name(name):
    model = load_engine_model(EngineOptions(model=name))
    assert model.name == name
    assert model.geometry == preset(name)


def test_a_page_that_splits_a_window_is_refused():
    with pytest.raises(GeometryError, match="page_size 100 splits a window"):
        load_engine_model(EngineOptions(model="tiny-512", page_size=100))
    assert load_engine_model(EngineOptions(model="tiny-512", page_size=384)).geometry.page_size == 384


def test_the_default_page_is_the_first_multiple_of_every_ratio_from_256_on():
    config = model_preset("tiny-512")
    assert default_page_size(config) == 256
    odd = replace(config, compressors=(Compressor("csa", 3, overlap=True, indexed=True), Compressor("hca", 10)))
    assert default_page_size(odd) == 270


@pytest.mark.parametrize("name", ["gpu9", "mps", "meta", "cuda:99"])
def test_a_device_that_is_unknown_or_absent_is_refused(name):
    with pytest.raises(InputError, match=f"device '{name}' is"):
        device_named(name)


def test_state_is_bfloat16_only_in_fast_on_a_gpu():
    assert state_dtype(torch.device("cuda"), Numerics.FAST) is torch.bfloat16
    assert state_dtype(torch.device("cpu"), Numerics.FAST) is torch.float32
    assert state_dtype(torch.device("cpu"), Numerics.EXACT) is torch.float32


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"retention": "sometimes"}, "retention 'sometimes' is unknown"),
        ({"policy": "best"}, "'best'"),
        ({"match_mode": "loose"}, "match mode 'loose'"),
        ({"faults": ("gremlin",)}, "'gremlin'"),
    ],
)
def test_a_switch_that_the_cache_does_not_know_is_refused_before_anything_is_on_record(tiny_model, changes, words):
    sink = MemorySink()
    with pytest.raises(InputError, match=words):
        Engine(EngineOptions(numerics="exact", num_full_pages=2, num_swa_pages=2, **changes), sink, model=tiny_model)
    assert not sink.events


def test_faults_are_on_record_right_after_the_log_is_opened(tiny_model):
    sink = MemorySink()
    options = EngineOptions(numerics="exact", num_full_pages=2, num_swa_pages=2, faults=("slot_leaked",))
    Engine(options, sink, model=tiny_model).close()
    assert [type(event).__name__ for event in sink.events] == ["LogOpened", "FaultInjected", "LogClosed"]


def test_a_model_that_was_loaded_for_other_numerics_is_refused(tiny_model):
    with pytest.raises(InputError, match="loaded for exact numerics, not fast"):
        Engine(EngineOptions(numerics="fast"), MemorySink(), model=tiny_model)


@pytest.mark.parametrize("digits", [20, 30])
def test_pools_that_no_memory_can_hold_are_refused_with_their_size(tiny_model, digits):
    sink = MemorySink()
    with pytest.raises(CapacityError, match=rf"pools of \d{{{digits}}} bytes find no room on cpu"):
        Engine(EngineOptions(numerics="exact", pool_bytes=2 * 10 ** (digits - 1)), sink, model=tiny_model)
    assert not sink.events
