"""The parts of an engine, made from its options."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from math import lcm
from pathlib import Path

import msgspec
import torch
from torch import Tensor

import shadowviz_engine.model
from shadowviz_engine.cache.faults import FAULTS
from shadowviz_engine.cache.options import CacheOptions
from shadowviz_engine.cache.policies import policy_named
from shadowviz_engine.cache.retention import parse_retention
from shadowviz_engine.core.errors import CapacityError, InputError, ModelError, ShadowvizError
from shadowviz_engine.core.events import SCHEMA, LogOpened
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.presets import PRESETS
from shadowviz_engine.model.buffers import StateBuffers
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.config_json import config_to_json
from shadowviz_engine.model.faults import MODEL_FAULTS, place_fault
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.presets import MODEL_PRESETS, TRAINED, model_preset
from shadowviz_engine.model.random_weights import random_weights
from shadowviz_engine.model.transformer import Transformer
from shadowviz_engine.model.weights import load_model
from shadowviz_engine.runtime.injection import PASS_FAULTS, EngineFaults
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.sizing import PageBytes, PoolSizes, free_memory, page_bytes, pages_of, size_pools

DEFAULT_PAGE_SIZE = 256

CHECKPOINTS = Path(shadowviz_engine.model.__file__).with_name("checkpoints")

_STUMBLES = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RuntimeError)
"""What reading and placing raise for values that no check has thought of."""


class EngineModel(msgspec.Struct, frozen=True):
    """A model that is ready to run; engines may share one."""

    name: str
    fingerprint: str
    geometry: Geometry
    config: ModelConfig
    transformer: Transformer


def load_engine_model(options: EngineOptions) -> EngineModel:
    """The model that `options` name, on its device.

    Raises:
        ModelError: there is no such model, or it cannot run this way.
        InputError: there is no such device.
        GeometryError: the page splits a compression window.
    """
    device = device_named(options.device)
    if options.model in MODEL_PRESETS:
        return _placed(options, device, _random(options.model, options.seed))
    try:
        return _placed(options, device, _stored(options.model))
    except ShadowvizError:
        raise
    except _STUMBLES as error:
        found = " ".join(str(error).split())[:200]
        raise ModelError(f"{options.model} is no model that can run: {type(error).__name__}, {found}") from error


def _placed(options: EngineOptions, device: torch.device, source: "_Source") -> EngineModel:
    """The model on its device."""
    geometry = source.config.geometry(source.name, options.page_size or source.page_size)
    dtype = state_dtype(device, options.numerics)
    transformer = Transformer(source.config, source.tensors, options.numerics, device, dtype)
    return EngineModel(source.name, source.fingerprint, geometry, source.config, transformer)


def check_model(options: EngineOptions, model: EngineModel) -> EngineModel:
    """`model`, when it was loaded for the numerics and the device of `options`.

    Raises:
        InputError: it was not.
    """
    transformer = model.transformer
    if transformer.numerics is not options.numerics:
        raise InputError(f"model {model.name} was loaded for {transformer.numerics} numerics, not {options.numerics}")
    if transformer.device != device_named(options.device):
        raise InputError(f"model {model.name} was loaded on {transformer.device}, not {options.device}")
    return model


class _Source(msgspec.Struct, frozen=True):
    """A model before it is on a device."""

    name: str
    config: ModelConfig
    tensors: Mapping[str, Tensor]
    page_size: int
    fingerprint: str


def _random(name: str, seed: int) -> _Source:
    """A preset with random weights."""
    config = model_preset(name)
    # Random weights depend on configuration and seed alone, so these stand for them.
    fingerprint = _digest([_config_bytes(config), str(seed).encode()])
    return _Source(name, config, random_weights(config, seed), PRESETS[name].page_size, fingerprint)


def _stored(name: str) -> _Source:
    """A trained preset that comes with the package, or a directory."""
    directory = CHECKPOINTS / name if name in TRAINED else Path(name)
    if not directory.is_dir():
        known = ", ".join((*MODEL_PRESETS, *TRAINED))
        raise ModelError(f"no model is called {name!r}: expected one of {known}, or a model directory")
    config, tensors = load_model(directory)
    page_size = PRESETS[name].page_size if name in TRAINED else default_page_size(config)
    parts = [_config_bytes(config)]
    for key in sorted(tensors):
        parts += [key.encode(), tensors[key].contiguous().view(torch.uint8).numpy().tobytes()]
    return _Source(directory.resolve().name, config, tensors, page_size, _digest(parts))


def _config_bytes(config: ModelConfig) -> bytes:
    return json.dumps(config_to_json(config), sort_keys=True).encode()


def default_page_size(config: ModelConfig) -> int:
    """Tokens of a page where nothing else is said: the first multiple of every ratio from 256 on."""
    alignment = lcm(*(compressor.ratio for compressor in config.used_compressors))
    return pages_of(DEFAULT_PAGE_SIZE, alignment) * alignment


def _digest(parts: Iterable[bytes]) -> str:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def device_named(name: str) -> torch.device:
    """The device called `name`.

    Raises:
        InputError: torch knows no such device, or it is not there.
    """
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(f"device {name!r} is unknown: expected cpu or cuda") from error
    if device.type not in ("cpu", "cuda"):
        raise InputError(f"device {name!r} is not supported: expected cpu or cuda")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InputError(f"device {name!r} is not there: torch sees {torch.cuda.device_count()} CUDA devices; use cpu")
    return device


def state_dtype(device: torch.device, numerics: Numerics) -> torch.dtype:
    """Type of weights and state: bfloat16 in `fast` on a GPU, float32 otherwise."""
    return torch.bfloat16 if device.type == "cuda" and numerics is Numerics.FAST else torch.float32


def page_cost(model: EngineModel) -> PageBytes:
    """Bytes of one page of each pool."""
    return page_bytes(model.config, model.geometry.page_size, model.transformer.dtype)


def pool_sizes(options: EngineOptions, model: EngineModel) -> PoolSizes:
    """Pages of both pools.

    Raises:
        CapacityError: the bytes hold no page of each pool.
        InputError: `mem_fraction` is given and the system does not say how much memory is free.
    """
    free = free_memory(model.transformer.device) if options.mem_fraction else 0
    return size_pools(options, model.geometry, page_cost(model), free)


def allocate(model: EngineModel, pools: PoolSizes) -> StateBuffers:
    """Rows for `pools` and their dummy pages.

    Raises:
        CapacityError: the device has not so much memory.
    """
    page_size = model.geometry.page_size
    try:
        return model.transformer.make_buffers(
            (pools.num_full_pages + 1) * page_size, (pools.num_swa_pages + 1) * page_size
        )
    except (RuntimeError, TypeError, OverflowError) as error:
        size = page_cost(model).total(pools.num_full_pages, pools.num_swa_pages)
        raise CapacityError(
            f"pools of {size} bytes find no room on {model.transformer.device}: give fewer --pool-bytes"
        ) from error


def cache_options(options: EngineOptions, pools: PoolSizes) -> CacheOptions:
    """The cache's switches among those of the engine, checked by name as well, so that the cache takes them.

    Raises:
        InputError: a switch that is out of range or unknown.
    """
    policy_named(options.policy)
    return CacheOptions(
        num_full_pages=pools.num_full_pages,
        num_swa_pages=pools.num_swa_pages,
        cache_on=options.cache_on,
        resume=options.resume,
        match_mode=options.match_mode,
        retention=options.retention,
        policy=options.policy,
        idle_ttl_s=options.idle_ttl_s,
        unit=options.unit,
        ghost_entries=options.ghost_entries,
    )


def sort_faults(names: Sequence[str], geometry: Geometry) -> EngineFaults:
    """Faults of the cache and of passes by name, and those of the model in their layers.

    Raises:
        InputError: a name that is none, or a fault in rows or a layer that the model has not.
    """
    model = [name for name in dict.fromkeys(names) if name not in FAULTS and name not in PASS_FAULTS]
    for name in model:
        if name.partition("@")[0] not in MODEL_FAULTS:
            known = ", ".join((*FAULTS, *PASS_FAULTS, *MODEL_FAULTS))
            raise InputError(f"no fault point is called {name[:40]!r}: expected one of {known}")
    given = frozenset(names)
    placed = tuple(place_fault(name, geometry) for name in model)
    return EngineFaults(given & FAULTS.keys(), given & PASS_FAULTS.keys(), placed)


def log_opened(
    options: EngineOptions, model: EngineModel, pools: PoolSizes, stamp: tuple[int, int], opened_at: datetime
) -> LogOpened:
    """The first event of the engine's record."""
    return LogOpened(
        seq=stamp[0],
        t_ns=stamp[1],
        schema=SCHEMA,
        geometry=model.geometry,
        model=model.name,
        model_fingerprint=model.fingerprint,
        tokenizer_fingerprint=options.tokenizer_fingerprint,
        resume=options.resume,
        unit=options.unit,
        match_mode=options.match_mode,
        retention=str(parse_retention(options.retention)),
        policy=options.policy,
        numerics=options.numerics,
        record=options.record,
        idle_ttl_s=options.idle_ttl_s,
        num_full_pages=pools.num_full_pages,
        num_swa_pages=pools.num_swa_pages,
        cache_on=options.cache_on,
        opened_at=opened_at.isoformat(timespec="seconds"),
        sidecar=Path(options.sidecar).name,
    )
