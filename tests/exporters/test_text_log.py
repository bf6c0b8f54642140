"""The text log of real caches: what it says is what the replayed state holds, and lint-log passes it."""

import io
import random
import re

import pytest
from cache_walks import CacheWalk
from event_samples import events_diagram, opened_driver, walked_events

from shadowviz.diagrams.events import EventsDiagram
from shadowviz.exporters.text_log import render
from shadowviz.replay.placement import place_request
from shadowviz.replay.text_log.check import check_log
from shadowviz_engine.core.derive import resume_state
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import LogOpened, LookupDone, SpanInserted
from shadowviz_engine.core.presets import PRESETS, preset
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.core.spans import Extent


def text_of(diagram: EventsDiagram) -> str:
    drawing = render(diagram)
    return (drawing.data + b"".join(drawing.parts)).decode()


@pytest.mark.parametrize("seed", range(12))
def test_the_log_of_a_random_cache_passes_its_own_check(seed: int) -> None:
    walk = CacheWalk(random.Random(seed))
    for _ in range(60):
        walk.step()
    events = walked_events(walk)
    result = check_log(io.BytesIO(text_of(events_diagram(events)).encode()), "walk")
    lookups = [event for event in events if isinstance(event, LookupDone)]
    assert result.contradictions == []
    assert (result.lookups, result.lines) == (len(lookups), 1 + 7 * len(lookups))


def test_blocks_are_the_slots_where_the_replayed_state_has_them() -> None:
    driver = opened_driver(preset("v4-flash"), retention="all")
    system = list(range(1_000, 1_700))
    for turn in range(3):
        driver.run([*system, *range(5_000, 5_300 + 300 * turn)], output=range(9_000, 9_040))
    driver.run([*system[:600], *range(6_000, 6_500)])
    last, found = driver.start([*system[:600], *range(6_000, 6_400), 1])
    assert found.reused
    state = Replayer()
    for event in driver.events:
        state.apply(event)
    place = place_request(state, last, Extent(0, found.reused))
    there = {item.kind: place(item) for item in resume_state(preset("v4-flash"), found.reused)}
    lines = text_of(events_diagram(driver.events)).splitlines()[-7:]
    for line, kind in ((2, "csa_kv"), (3, "hca_kv")):
        assert f"blocks: [{', '.join(map(str, there[kind].slots))}] (" in lines[line]
    window = there["swa_kv"].rows
    assert f"[{window.start}, {window.stop}] (last {window.size} tokens within window of 128)" in lines[4]
    assert len(set(there["csa_kv"].pages)) > 1


def test_one_lookup_reads_as_the_form_says() -> None:
    driver = opened_driver(preset("recall"), resume=ResumeRule.ANY, retention="all")
    driver.run(range(70))
    driver.run([*range(42), 999])
    lines = text_of(events_diagram(driver.events)).splitlines()
    assert lines[0] == "[INFO] ShadowRadix initialized with m=4, m'=16, n_win=8"
    assert lines[-7:] == [
        "[DEBUG] ShadowRadix: Found longest prefix match for len=42. Logical span: [0, 42].",
        "[DEBUG] ShadowRadix: Deriving physical state for [0, 42]...",
        f"[DEBUG] ShadowRadix: -> CSA blocks: [{', '.join(map(str, range(4, 14)))}] "
        "(10 blocks, each covers 4 tokens, sum 85)",
        "[DEBUG] ShadowRadix: -> HCA blocks: [1, 2] (2 blocks, each covers 16 tokens, sum 3)",
        "[DEBUG] ShadowRadix: -> SWA range: [35, 42] (last 7 tokens within window of 8)",
        "[DEBUG] ShadowRadix: -> Tail offset: 2 (CSA tail 2 tokens, HCA tail 10 tokens)",
        "[INFO] Cache hit! Reusing 10 CSA blocks, 2 HCA blocks, and SWA state for 7 tokens.",
    ]


def test_slots_that_no_event_tells_are_unknown_and_still_counted() -> None:
    from msgspec.structs import replace

    driver = opened_driver(preset("recall"), resume=ResumeRule.ANY, retention="all")
    driver.run(range(70))
    driver.run([*range(42), 999])
    bare = [replace(event, full=()) if isinstance(event, SpanInserted) else event for event in driver.events]
    text = text_of(events_diagram(bare))
    assert "-> CSA blocks: unknown (10 blocks, each covers 4 tokens)" in text
    assert check_log(io.BytesIO(text.encode()), "bare").contradictions == []


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_hybrid_geometry_has_its_words(name: str) -> None:
    geometry = preset(name)
    driver = opened_driver(geometry)
    driver.run(range(3 * geometry.page_size))
    driver.run(range(3 * geometry.page_size))
    text = text_of(events_diagram(driver.events))
    assert re.search(r"Cache hit! Reusing .*SWA state for [1-9]", text)
    assert check_log(io.BytesIO(text.encode()), name).contradictions == []


def test_a_model_of_another_family_is_refused_with_what_it_has() -> None:
    opened = LogOpened(seq=0, t_ns=0, schema=1, geometry=preset("qwen3.5"))
    with pytest.raises(InputError, match=r"up to two compressors: geometry .* has .*; expected a run of"):
        render(events_diagram([opened]))
