"""The engine and the model on CUDA, against the CPU in float32.

Tolerances. float32 on both: 99 % of the logits within 1e-3 (their standard deviation is 1), the same best token at
99 % of the positions; a choice of experts or entries that hangs on the last bit may move the rest. bfloat16 against
float32: the median within 0.05, the mean within 0.15, the same best token at 80 % of the positions; bfloat16 on the
CPU itself has 0.014, 0.033 and 93 %.
"""

import numpy as np
import pytest
import torch
from torch import Tensor

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.sinks import MemorySink
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.presets import model_preset
from shadowviz_engine.model.random_weights import random_weights
from shadowviz_engine.model.step import SequenceStep
from shadowviz_engine.model.transformer import Transformer
from shadowviz_engine.runtime.assembly import load_engine_model
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request
from shadowviz_engine.runtime.sizing import free_memory

pytestmark = pytest.mark.gpu

DEVICE = "cuda"
LENGTH = 400
CUT = 287
NUM_SLOTS = 1024
CONFIG = model_preset("tiny-512")
IDS = np.random.default_rng(0).integers(0, CONFIG.vocab_size, LENGTH)
SLOTS = np.arange(256, 256 + LENGTH)


def identity_table() -> np.ndarray:
    table = np.zeros(NUM_SLOTS, np.int64)
    table[SLOTS] = SLOTS
    return table


def logits_of(device: str, dtype: torch.dtype, cuts: tuple[int, ...] = ()) -> Tensor:
    """`[LENGTH, vocabulary]` on the CPU, computed in chunks that end at `cuts`, in `fast` numerics."""
    model = Transformer(CONFIG, random_weights(CONFIG, 0), Numerics.FAST, device, dtype)
    buffers = model.make_buffers(NUM_SLOTS, NUM_SLOTS)
    parts = []
    for start, stop in zip((0, *cuts), (*cuts, LENGTH), strict=True):
        step = SequenceStep(IDS[:stop], SLOTS[:stop], start, stop)
        parts.append(model.forward_all([step], identity_table(), buffers)[0][0].cpu())
    return torch.cat(parts)


def best_token_agrees(left: Tensor, right: Tensor) -> float:
    return float((left.argmax(-1) == right.argmax(-1)).float().mean())


@pytest.fixture(scope="module")
def on_cpu() -> Tensor:
    return logits_of("cpu", torch.float32)


def test_float32_logits_on_the_gpu_are_those_of_the_cpu(on_cpu):
    difference = (logits_of(DEVICE, torch.float32) - on_cpu).abs()
    assert difference.flatten()[::7].quantile(0.99) < 1e-3
    assert best_token_agrees(logits_of(DEVICE, torch.float32), on_cpu) >= 0.99


def test_bfloat16_logits_on_the_gpu_stay_near_those_of_the_cpu(on_cpu):
    found = logits_of(DEVICE, torch.bfloat16)
    difference = (found - on_cpu).abs()
    assert difference.median() < 0.05
    assert difference.mean() < 0.15
    assert best_token_agrees(found, on_cpu) >= 0.8


@pytest.mark.parametrize(("dtype", "median", "agreement"), [(torch.float32, 1e-4, 0.99), (torch.bfloat16, 0.05, 0.8)])
def test_a_run_that_goes_on_from_stored_state_stays_near_a_cold_one(dtype, median, agreement):
    cold, resumed = logits_of(DEVICE, dtype), logits_of(DEVICE, dtype, (CUT, CUT + 1, CUT + 40))
    assert (cold - resumed).abs().median() < median
    assert best_token_agrees(cold, resumed) >= agreement


def prompts() -> list[Request]:
    """Prompts that share stems, cut inside a page and inside a window."""
    stem = [int(token) for token in IDS]
    cuts = ((0, 300), (256, 40), (300, 1), (187, 90), (399, 1))
    return [
        Request(id=str(number), token_ids=(*stem[:cut], *range(number, number + fresh)), max_tokens=4)
        for number, (cut, fresh) in enumerate(cuts)
    ]


def lookups_on(device: str, resume: str) -> list[tuple[int, int, int, int]]:
    """(common, matched, usable, reused) of every prompt, run one after the other."""
    options = EngineOptions(model="tiny-512", device=device, resume=resume, num_full_pages=12, num_swa_pages=12)
    sink = MemorySink()
    with Engine(options, sink) as engine:
        for request in prompts():
            engine.submit(request)
            engine.run()
            engine.cache.check_invariants()
        assert all(len(output.token_ids) == 4 for output in engine.outputs.values())
    found = [event for event in sink.events if isinstance(event, LookupDone)]
    return [(event.common, event.matched, event.usable, event.reused) for event in found]


@pytest.mark.parametrize("resume", ["page", "any"])
def test_the_cache_reuses_on_the_gpu_what_it_reuses_on_the_cpu(resume):
    found = lookups_on(DEVICE, resume)
    assert found == lookups_on("cpu", resume)
    assert any(reused for _, _, _, reused in found)


def test_fast_on_the_gpu_computes_in_bfloat16_and_exact_is_refused():
    assert load_engine_model(EngineOptions(model="tiny-512", device=DEVICE)).transformer.dtype is torch.bfloat16
    with pytest.raises(ModelError, match="exact numerics on cuda"):
        load_engine_model(EngineOptions(model="tiny-512", device=DEVICE, numerics="exact"))


def test_a_share_of_the_memory_is_of_the_gpus():
    free = free_memory(torch.device(DEVICE))
    assert 0 < free <= torch.cuda.get_device_properties(0).total_memory
