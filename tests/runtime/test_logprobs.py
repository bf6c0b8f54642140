"""Probabilities of the prompt's own tokens: what they are, and that they limit what is reused."""

import pytest
import torch
from torch import Tensor

from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.verdict import verdict_of
from shadowviz_engine.runtime.request import Request

PROMPT = tuple(range(100, 150))


def ask(name: str, start: int = -1, token_ids: tuple[int, ...] = PROMPT, max_tokens: int = 2) -> Request:
    return Request(id=name, token_ids=token_ids, max_tokens=max_tokens, logprob_start=start)


def run(engine, *requests: Request) -> None:
    """One after the other."""
    for request in requests:
        run_together(engine, request)


def run_together(engine, *requests: Request) -> None:
    for request in requests:
        engine.submit(request)
    engine.run()


def lookup_of(sink, name: str) -> LookupDone:
    return next(event for event in sink.events if isinstance(event, LookupDone) and event.request == name)


@pytest.fixture
def cold_logits(make_engine) -> Tensor:
    """`[tokens, vocab]` of the prompt."""
    engine, _ = make_engine(cache_on=False)
    seen: list[Tensor] = []
    engine.watch(logits=lambda _request, _start, logits: seen.append(logits))
    run(engine, ask("cold", max_tokens=1))
    return torch.cat(seen)


def expected(cold_logits: Tensor, start: int) -> Tensor:
    table = torch.log_softmax(cold_logits.double(), dim=1)
    return torch.stack([table[place, PROMPT[place + 1]] for place in range(start, len(PROMPT) - 1)])


@pytest.mark.parametrize("start", [0, 1, 16, 37, 48])
def test_a_full_tree_is_resumed_at_exactly_the_position_that_is_asked_for(make_engine, cold_logits, start):
    engine, sink = make_engine(resume="any", chunk_tokens=20)
    run(engine, ask("first"), ask("again", start))
    lookup = lookup_of(sink, "again")
    assert (lookup.reused, lookup.cap, lookup.cap_rule, lookup.common) == (start, start, "logprobs", 50)
    found = torch.tensor(engine.outputs["again"].prompt_logprobs, dtype=torch.float64)
    torch.testing.assert_close(found, expected(cold_logits, start), rtol=0, atol=1e-9)
    assert engine.outputs["again"].token_ids == engine.outputs["first"].token_ids


def test_the_bits_depend_neither_on_chunks_nor_on_the_batch_nor_on_what_is_reused(make_engine):
    tellings = set()
    for chunk, resume, batch in ((7, "any", 1), (20, "page", 3), (512, "any", 3)):
        engine, _ = make_engine(resume=resume, chunk_tokens=chunk)
        run(engine, ask("first"))
        run_together(engine, *[ask(f"{number}", 21 - number) for number in range(batch)])
        tellings |= {engine.outputs[f"{number}"].prompt_logprobs[number:] for number in range(batch)}
    assert len(tellings) == 1


def test_the_cap_is_the_verdict_where_it_costs_a_page(make_engine):
    engine, sink = make_engine()
    run(engine, ask("first"), ask("again", 10), ask("late", 49))
    geometry = engine.model.geometry
    finding = verdict_of(lookup_of(sink, "again"), geometry)
    assert (finding.label, finding.gain, lookup_of(sink, "again").reused) == ("CAPPED(logprobs)", 48, 0)
    assert lookup_of(sink, "late").cap_rule == "last token"
    assert engine.outputs["late"].prompt_logprobs == ()


def test_a_request_that_starts_again_tells_its_probabilities_once(make_engine):
    engine, _ = make_engine(num_full_pages=8, num_swa_pages=8, chunk_tokens=16, max_running=4)
    run_together(engine, *[ask(f"r{number}", 0, (number, *PROMPT[1:]), max_tokens=30) for number in range(4)])
    for output in engine.outputs.values():
        assert len(output.prompt_logprobs) == len(PROMPT) - 1
        assert all(value < 0 for value in output.prompt_logprobs)


def test_without_a_start_nothing_is_told_and_nothing_is_capped(make_engine):
    engine, sink = make_engine(resume="any")
    run(engine, ask("first"), ask("again"))
    assert engine.outputs["again"].prompt_logprobs == ()
    assert (lookup_of(sink, "again").reused, lookup_of(sink, "again").cap_rule) == (49, "last token")
