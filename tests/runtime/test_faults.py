"""Faults of the model in a running engine: they act on requests that go on, and show where they are said to."""

import numpy as np
import pytest
import torch
from torch import Tensor

from shadowviz_engine.cache.faults import FAULTS
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import FaultInjected
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.faults import MODEL_FAULTS
from shadowviz_engine.model.step import SequenceStep
from shadowviz_engine.model.transformer import Transformer
from shadowviz_engine.runtime.assembly import EngineModel, allocate, sort_faults
from shadowviz_engine.runtime.injection import ModelFaults, Resumed
from shadowviz_engine.runtime.request import Request
from shadowviz_engine.runtime.sizing import PoolSizes

MASTER = tuple(np.random.default_rng(3).integers(0, 512, 80).tolist())
OTHER = (MASTER[0], *((token + 7) % 512 for token in MASTER[1:]))
LENGTHS = (1, 8, 19, 31, 46)


class Logits:
    """Logits of a request by position."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[int, Tensor]] = {}

    def take(self, request: str, start: int, logits: Tensor) -> None:
        """Take those of one pass."""
        self.rows.setdefault(request, {}).update(enumerate(logits, start))


def run(engine, name: str, tokens: tuple[int, ...], start: int = -1, namespace: str = "") -> None:
    engine.submit(Request(id=name, token_ids=tokens, max_tokens=1, namespace=namespace, logprob_start=start))
    engine.run()


def injected(sink) -> list[FaultInjected]:
    return [event for event in sink.events if isinstance(event, FaultInjected)]


def offsets_that_differ(engine, seen: Logits, length: int) -> list[int]:
    run(engine, f"at {length}", MASTER, length)
    mine, cold = seen.rows[f"at {length}"], seen.rows["cold"]
    assert sorted(mine) == list(range(length, 80))
    return [place - length for place in sorted(mine) if not torch.equal(mine[place], cold[place])]


@pytest.mark.parametrize("name", MODEL_FAULTS)
def test_a_fault_shows_in_the_logits_where_it_is_said_to_and_on_no_cold_request(make_engine, name):
    engine, sink = make_engine(resume="any", faults=(name,))
    seen = Logits()
    engine.watch(logits=seen.take)
    run(engine, "other", OTHER, namespace="elsewhere")
    run(engine, "cold", MASTER)
    assert [event.request for event in injected(sink)] == [""]
    fault, geometry = MODEL_FAULTS[name], engine.model.geometry
    cold = seen.rows["cold"]
    for length in LENGTHS:
        differing = offsets_that_differ(engine, seen, length)
        event = injected(sink)[-1]
        if fault.reason_absent(geometry, length):
            assert differing == []
            assert event.request != f"at {length}"
            continue
        assert (event.fault, event.request, event.length, event.kind) == (name, f"at {length}", length, fault.kind)
        equal = event.layer < 0
        # The two requests share their first token and nothing else.
        assert equal == (fault.needs_other and fault.rows(geometry, length) == Extent(0, 1) and "last" not in name)
        offset = fault.first_offset(geometry, length)
        if equal:
            assert differing == []
        elif fault.must_show(geometry, length):
            assert differing[0] == offset
        else:
            assert all(place >= offset for place in differing)
    run(engine, "again", MASTER, namespace="fresh")
    assert all(torch.equal(cold[place], row) for place, row in seen.rows["again"].items())


@pytest.mark.parametrize("name", ["hca_next_rope", "hca_partial", "hca_tail_first_lost", "swa_window_narrow"])
def test_a_fault_lasts_over_the_passes_of_a_request(make_engine, name):
    engine, sink = make_engine(resume="any", faults=(name,), chunk_tokens=2)
    seen = Logits()
    engine.watch(logits=seen.take)
    run(engine, "cold", MASTER)
    differing = offsets_that_differ(engine, seen, 33)
    assert differing[0] == MODEL_FAULTS[name].first_offset(engine.model.geometry, 33)
    assert len(injected(sink)) == 2


def ready(model: EngineModel, *names: str) -> tuple[ModelFaults, Transformer, SequenceStep, np.ndarray]:
    """Faults over buffers of random rows, and a step that goes on at 37."""
    buffers = allocate(model, PoolSizes(8, 8))
    for key in buffers.keys:
        buffers.rows(*key).copy_(torch.randn(buffers.rows(*key).shape, generator=torch.Generator().manual_seed(1)))
    faults = ModelFaults(sort_faults(names, model.geometry), model.transformer, model.geometry, buffers)
    slots = np.arange(16, 66)
    return faults, buffers, SequenceStep(np.array(MASTER[:50]), slots, 37, 50), np.arange(9 * 16)


def test_rows_are_wrong_during_a_pass_alone(small_model):
    faults, buffers, step, table = ready(small_model, "swa_rolled", "csa_tail_lost@1", "swa_oldest_zeroed")
    before = {key: buffers.rows(*key).clone() for key in buffers.keys}
    with faults.acting([Resumed("r", 37)], [step], table):
        wrong = {key for key in buffers.keys if not torch.equal(before[key], buffers.rows(*key))}
        assert wrong == {("swa_kv", 0), ("swa_kv", 1), ("swa_kv", 2), ("csa_tail", 1)}
        assert small_model.transformer.tamper is not None
    assert all(torch.equal(before[key], buffers.rows(*key)) for key in buffers.keys)
    assert small_model.transformer.tamper is None
    assert [(item.fault, item.layer, item.row) for item in faults.take()] == [
        ("swa_rolled", 0, 30),
        ("csa_tail_lost@1", 1, 36),
        ("swa_oldest_zeroed", 0, 30),
    ]
    assert faults.take() == ()


def test_rows_are_put_right_when_a_pass_fails(small_model):
    faults, buffers, step, table = ready(small_model, "swa_rolled")
    before = buffers.rows("swa_kv", 0).clone()
    acting = faults.acting([Resumed("r", 37)], [step], table)
    acting.__enter__()
    assert not torch.equal(before, buffers.rows("swa_kv", 0))
    error = RuntimeError("the pass failed")
    assert not acting.__exit__(RuntimeError, error, None)
    assert torch.equal(before, buffers.rows("swa_kv", 0))
    assert small_model.transformer.tamper is None


def test_faults_of_cache_and_model_are_told_apart(small_model):
    names = ("slot_leaked", "hca_partial", "lock_skipped", "csa_tail_lost@1", "hca_partial")
    found = sort_faults(names, small_model.geometry)
    assert found.cache == {"slot_leaked", "lock_skipped"}
    assert [placed.name for placed in found.model] == ["hca_partial", "csa_tail_lost@1"]
    with pytest.raises(InputError, match=r"'gremlin': expected one of lock_skipped.*index_unranked"):
        sort_faults(("gremlin",), small_model.geometry)
    assert not FAULTS.keys() & MODEL_FAULTS.keys()
