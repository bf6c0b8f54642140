"""Looking at the passes of a running engine: what requests find, store and read, and all of their logits."""

from collections import defaultdict
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from shadowviz_engine.core.derive import resume_state
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import LookupDone, StepDone
from shadowviz_engine.model.trace import Stage, Traced
from shadowviz_engine.runtime.request import Request

PROMPT = tuple(range(100, 150))


class Watch:
    """Logits by request and position, and rows by request, stage, kind and layer."""

    def __init__(self) -> None:
        self.logits: dict[tuple[str, int], Tensor] = {}
        self.rows: dict[tuple[str, str, str, int], dict[int, Tensor]] = defaultdict(dict)

    def trace(self, requests: Sequence[str], traced: Traced) -> None:
        """Take what a layer did."""
        for number, row, value in zip(traced.sequences, traced.rows, traced.values, strict=True):
            self.rows[requests[number], traced.stage, traced.kind, traced.layer].setdefault(int(row), value)

    def take_logits(self, request: str, start: int, logits: Tensor) -> None:
        """Take the logits of a request's tokens of one pass."""
        for place, row in enumerate(logits):
            self.logits[request, start + place] = row


def test_a_resumed_request_finds_the_rows_that_a_cold_one_stored_and_gives_its_logits(make_engine):
    engine, sink = make_engine(resume="any", chunk_tokens=20)
    watch = Watch()
    engine.watch(watch.trace, watch.take_logits)
    for name, length in (("cold", 50), ("other", 50), ("warm", 50)):
        ids = PROMPT[:length] if name != "other" else PROMPT[:37] + (9,) * 13
        engine.submit(Request(id=name, token_ids=ids, max_tokens=3))
        engine.run()
    reused = {event.request: event.reused for event in sink.events if isinstance(event, LookupDone)}
    assert reused == {"cold": 0, "other": 37, "warm": 49}
    for item in resume_state(engine.model.geometry, 37):
        for layer in engine.model.geometry.kind(item.kind).owners:
            found = watch.rows["other", Stage.STATE, item.kind, layer]
            stored = watch.rows["cold", Stage.STATE, item.kind, layer]
            for row in range(item.rows.start, item.rows.stop):
                assert torch.equal(found[row], stored[row]), (item.kind, layer, row)
    assert [place for name, place in watch.logits if name == "cold"] == list(range(52))
    assert torch.equal(watch.logits["warm", 49], watch.logits["cold", 49])
    assert engine.outputs["cold"].token_ids == tuple(
        int(watch.logits["cold", place].argmax()) for place in range(49, 52)
    )


def test_requests_of_one_pass_are_told_apart(make_engine):
    engine, _ = make_engine()
    watch = Watch()
    engine.watch(watch.trace, watch.take_logits)
    for name, length in (("a", 20), ("b", 33)):
        engine.submit(Request(id=name, token_ids=PROMPT[:length], max_tokens=1))
    engine.run()
    assert sorted(watch.rows["a", Stage.READ, "swa_kv", 0]) == list(range(20))
    assert sorted(watch.rows["b", Stage.STATE, "swa_kv", 2]) == list(range(33))
    assert torch.equal(watch.logits["a", 19], watch.logits["b", 19])


def test_looking_changes_no_output_and_ends_when_it_is_said(make_engine):
    outputs = []
    for looks in (True, False):
        engine, _ = make_engine()
        watch = Watch()
        if looks:
            engine.watch(watch.trace, watch.take_logits)
        engine.submit(Request(id="a", token_ids=PROMPT, max_tokens=6))
        engine.step()
        engine.watch()
        seen = len(watch.logits), len(watch.rows)
        engine.run()
        assert (len(watch.logits), len(watch.rows)) == seen
        outputs.append(engine.outputs["a"].token_ids)
        assert engine.model.transformer.trace is None
    assert outputs[0] == outputs[1]


def test_chunks_can_be_made_smaller_while_the_engine_runs(make_engine):
    engine, sink = make_engine(chunk_tokens=64)
    engine.submit(Request(id="a", token_ids=PROMPT, max_tokens=1))
    engine.run()
    engine.limit_chunks(20)
    engine.submit(Request(id="b", token_ids=PROMPT, max_tokens=1, namespace="other"))
    engine.run()
    parts = [part for event in sink.events if isinstance(event, StepDone) for part in event.prefill]
    assert [start for name, start, _ in parts if name == "a"] == [0]
    assert max(stop - start for name, start, stop in parts if name == "b") <= 20
    with pytest.raises(InputError, match="at least 1"):
        engine.limit_chunks(0)
