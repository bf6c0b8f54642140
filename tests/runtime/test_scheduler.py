"""Who computes what, who starts and who gives way."""

from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.runtime.scheduler import (
    Progress,
    Work,
    choose_retracted,
    chunk_stop,
    may_start,
    plan_decode,
    plan_prefill,
    spent,
)


@st.composite
def running_requests(draw):
    """Requests in prefill or decode; one that decodes has exactly one token whose state is missing."""
    items = []
    for number in range(draw(st.integers(0, 6))):
        num_prompt = draw(st.integers(1, 2000))
        generated = draw(st.integers(0, 5))
        computed = num_prompt + generated - 1 if generated else draw(st.integers(0, num_prompt - 1))
        items.append(Progress(str(number), num_prompt, num_prompt + generated, computed))
    return items


@given(running_requests())
def test_every_decoding_request_computes_its_newest_token(running):
    assert plan_decode(running) == tuple(
        Work(item.request, item.num_tokens - 1, item.num_tokens)
        for item in running
        if item.num_tokens > item.num_prompt
    )


@given(running_requests(), st.integers(1, 900), st.sampled_from((1, 16, 128)))
def test_chunks_keep_the_budget_and_serve_the_first_prompt_first(running, budget, grid):
    chunks = plan_prefill(running, budget, grid)
    prompts = [item for item in running if item.computed < item.num_prompt]
    assert spent(chunks) <= budget
    assert [chunk.request for chunk in chunks] == [item.request for item in prompts[: len(chunks)]]
    for item, chunk in zip(prompts, chunks, strict=False):
        assert item.computed == chunk.start < chunk.stop <= item.num_prompt
    for item, chunk in zip(prompts, chunks[:-1], strict=False):
        assert chunk.stop == item.num_prompt or chunk.stop % grid == 0
    if len(chunks) < len(prompts):
        assert spent(chunks) == budget or any(chunk.stop % grid == 0 for chunk in chunks)


@given(st.integers(0, 3000), st.integers(1, 1500), st.integers(1, 900), st.sampled_from((1, 16, 128)))
def test_a_chunk_ends_on_the_grid_the_prompts_end_or_where_the_budget_is_too_small(start, rest, budget, grid):
    num_prompt = start + rest
    stop = chunk_stop(start, num_prompt, budget, grid)
    assert start < stop <= min(num_prompt, start + budget)
    if stop not in (num_prompt, start + budget):
        assert stop % grid == 0
        assert stop + grid > start + budget


def test_chunks_end_on_the_grid_and_the_next_prompt_takes_what_is_left():
    assert chunk_stop(871, 5000, 512, 16) == 1376
    assert plan_prefill([Progress("a", 1000, 1000, 300), Progress("b", 400, 400, 0)], 512, 16) == (
        Work("a", 300, 800),
        Work("b", 0, 12),
    )


def test_nobody_starts_without_a_place_a_budget_or_while_another_waits_for_room():
    assert may_start(3, 4, 1, (), held_back=False)
    assert not may_start(4, 4, 1, (), held_back=False)
    assert not may_start(3, 4, 0, (), held_back=False)
    assert not may_start(3, 4, 1, ("a",), held_back=False)
    assert not may_start(3, 4, 1, (), held_back=True)
    assert may_start(0, 4, 1, (), held_back=True)


@given(running_requests().filter(len))
def test_the_youngest_of_several_gives_way_and_one_alone_does_not(running):
    assert choose_retracted(running) == (None if len(running) == 1 else running[-1].request)
