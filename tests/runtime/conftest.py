"""Models and engines for the tests of the runtime."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from shadowviz_engine.core.geometry import SWA_ONLY, Compressor, LayerSchedule
from shadowviz_engine.core.sinks import MemorySink, NullSink
from shadowviz_engine.model.config import Rope
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.presets import model_preset
from shadowviz_engine.model.random_weights import random_weights
from shadowviz_engine.model.transformer import Transformer
from shadowviz_engine.runtime.assembly import EngineModel, load_engine_model
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request


class HandClock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now_ns = 1_000

    def __call__(self) -> int:
        return self.now_ns

    def advance(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)


@pytest.fixture
def clock() -> HandClock:
    """A clock that stands until it is moved."""
    return HandClock()


@pytest.fixture(scope="session")
def tiny_model() -> EngineModel:
    """The preset `tiny-512`, exact: page 256, window 128, ratios 4 and 128."""
    return load_engine_model(EngineOptions(model="tiny-512", numerics=Numerics.EXACT))


@pytest.fixture(scope="session")
def small_model() -> EngineModel:
    """A model in which everything is near: page 16, window 8, ratios 4 and 16, two entries selected; exact."""
    config = replace(
        model_preset("tiny-512"),
        hidden_size=32,
        moe_intermediate_size=16,
        num_heads=2,
        head_dim=16,
        q_lora_rank=16,
        o_lora_rank=16,
        num_experts=2,
        num_experts_per_tok=1,
        hash_layers=(True, False, False),
        compressors=(Compressor("csa", 4, overlap=True, indexed=True), Compressor("hca", 16)),
        schedule=LayerSchedule((SWA_ONLY, "csa", "hca")),
        n_win=8,
        index_topk=2,
        index_heads=8,
        index_head_dim=16,
        hc_mult=2,
        hc_iterations=4,
        rope_main=Rope(10_000.0, 8),
        rope_compress=Rope(160_000.0, 8),
        max_positions=512,
    )
    transformer = Transformer(config, random_weights(config, 11), Numerics.EXACT)
    return EngineModel("small", "", config.geometry("small", 16), config, transformer)


@dataclass
class Oracle:
    """Outputs without a cache, each request run by itself."""

    model: EngineModel
    known: dict[tuple[object, ...], tuple[int, ...]] = field(default_factory=dict)

    def output(self, request: Request) -> tuple[int, ...]:
        """Tokens of `request` on its own."""
        key = (request.token_ids, request.temperature, request.seed, request.stop_ids)
        if len(self.known.get(key, ())) < request.max_tokens:
            options = EngineOptions(numerics="exact", cache_on=False, num_full_pages=32, num_swa_pages=32)
            with Engine(options, NullSink(), model=self.model) as engine:
                engine.submit(request)
                engine.run()
            self.known[key] = engine.outputs[request.id].token_ids
        return self.known[key][: request.max_tokens]


@pytest.fixture(scope="session")
def oracle(small_model: EngineModel) -> Oracle:
    """What requests give on `small_model` without a cache."""
    return Oracle(small_model)


MakeEngine = Callable[..., tuple[Engine, MemorySink]]


@pytest.fixture
def make_engine(small_model: EngineModel, clock: HandClock) -> MakeEngine:
    """An engine over `small_model` with 40 pages of each pool unless `options` say otherwise, and its record."""

    def make(model: EngineModel = small_model, **options: object) -> tuple[Engine, MemorySink]:
        sink = MemorySink()
        sizes = {} if options.keys() & {"pool_bytes", "mem_fraction"} else {"num_full_pages": 40, "num_swa_pages": 40}
        switches = {"numerics": Numerics.EXACT, **sizes, **options}
        return Engine(EngineOptions(**switches), sink, clock, model), sink

    return make
