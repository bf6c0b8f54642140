"""The preset `tiny-512` (page 256, window 128, ratios 4 and 128) with the cache on and off."""

import random

import pytest

from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.sinks import NullSink
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request

STEM = tuple(random.Random(4).randrange(512) for _ in range(700))
CUTS = (
    # Tokens of the stem that a prompt shares, and fresh ones after them.
    (520, 0),
    (520, 0),  # an identical prompt
    (519, 1),  # another last token
    (512, 30),  # a page's end
    (513, 2),
    (385, 40),  # behind a multiple of 128
    (130, 5),  # inside a window of 128 and of 4
    (257, 0),
    (700, 0),
    (3, 3),
)


def requests() -> list[Request]:
    return [
        Request(id=str(n), token_ids=(*STEM[:cut], *range(n, n + fresh)), max_tokens=3)
        for n, (cut, fresh) in enumerate(CUTS)
    ]


@pytest.fixture(scope="module")
def cold(tiny_model) -> dict[str, tuple[int, ...]]:
    """Outputs without a cache, one request after the other."""
    options = EngineOptions(
        numerics="exact", cache_on=False, max_running=1, chunk_tokens=2048, num_full_pages=4, num_swa_pages=4
    )
    with Engine(options, NullSink(), model=tiny_model) as engine:
        for request in requests():
            engine.submit(request)
        engine.run()
    return {name: output.token_ids for name, output in engine.outputs.items()}


@pytest.mark.parametrize("resume", ["page", "any"])
@pytest.mark.parametrize("retention", ["all", "window", "every:200", "forks"])
def test_every_fork_of_a_stem_gives_the_output_of_a_cold_run(make_engine, tiny_model, cold, resume, retention):
    engine, sink = make_engine(
        tiny_model, resume=resume, retention=retention, num_full_pages=18, num_swa_pages=12, chunk_tokens=300
    )
    for number, request in enumerate(requests()):
        engine.submit(request)
        # Every third is left to run together with the one that follows.
        while (number + 1) % 3 and engine.step():
            engine.cache.check_invariants()
    engine.run()
    engine.cache.check_invariants()
    assert {name: output.token_ids for name, output in engine.outputs.items()} == cold
    reused = [event.reused for event in sink.events if isinstance(event, LookupDone)]
    assert sum(length > 0 for length in reused) >= 3
    assert any(length % 256 for length in reused) == (resume == "any")
    engine.flush()
    assert all(pool.free_pages == pool.num_pages for pool in engine.cache.pools())


def test_an_identical_prompt_of_520_reuses_519_or_two_pages(make_engine, tiny_model):
    for resume, expected in (("any", 519), ("page", 512)):
        engine, _ = make_engine(tiny_model, resume=resume, retention="window", num_full_pages=9, num_swa_pages=6)
        for name in ("first", "again"):
            engine.submit(Request(id=name, token_ids=STEM[:520], max_tokens=2))
            engine.run()
        assert engine.outputs["again"].lookup.reused == expected
        assert engine.outputs["again"].token_ids == engine.outputs["first"].token_ids
