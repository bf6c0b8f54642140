"""The parts of an engine, made from its options."""

from datetime import datetime
from pathlib import Path

import msgspec
import torch

from shadowviz_engine.cache.faults import check_faults
from shadowviz_engine.cache.options import CacheOptions
from shadowviz_engine.cache.policies import policy_named
from shadowviz_engine.cache.retention import parse_retention
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import SCHEMA, LogOpened
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.presets import PRESETS
from shadowviz_engine.model.config import ModelConfig
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.presets import model_preset
from shadowviz_engine.model.random_weights import random_weights
from shadowviz_engine.model.transformer import Transformer
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.sizing import PageBytes, PoolSizes, free_memory, page_bytes, size_pools


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
    config = model_preset(options.model)
    tensors = random_weights(config, options.seed)
    geometry = config.geometry(options.model, options.page_size or PRESETS[options.model].page_size)
    transformer = Transformer(config, tensors, options.numerics, device, state_dtype(device, options.numerics))
    return EngineModel(options.model, "", geometry, config, transformer)


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


def cache_options(options: EngineOptions, pools: PoolSizes) -> CacheOptions:
    """The cache's switches among those of the engine, checked by name as well, so that the cache takes them.

    Raises:
        InputError: a switch that is out of range or unknown.
    """
    policy_named(options.policy)
    check_faults(frozenset(options.faults))
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
