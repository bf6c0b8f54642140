"""Every family under the predicates and rules of reuse, at the lengths that matter to it."""

from math import lcm

import pytest

from shadowviz_engine.core.derive import derive, resume_state
from shadowviz_engine.core.families import FAMILIES
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.memory import memory_table
from shadowviz_engine.core.presets import PRESETS, preset
from shadowviz_engine.core.reuse import (
    Lookup,
    ResumeRule,
    ReusePlan,
    plan_reuse,
    prompt_cap,
    replayed_tokens,
    reuse_rules,
)
from shadowviz_engine.core.row_formats import formats_of
from shadowviz_engine.core.spans import Extent


def repeat(name: str, num_prompt: int, resident: dict[str, list[Extent]] | None = None) -> ReusePlan:
    """A stored prompt sent once more to a family's cache."""
    geometry = preset(name)
    lookup = Lookup(num_prompt, num_prompt, prompt_cap(geometry, num_prompt))
    return plan_reuse(lookup, reuse_rules(geometry, ResumeRule.PAGE), resident or {})


def test_every_family_is_found_by_its_name_and_hides_no_preset() -> None:
    assert not set(FAMILIES) & set(PRESETS)
    assert all(geometry.name == name for name, geometry in FAMILIES.items())
    assert all(geometry.note for geometry in FAMILIES.values())


@pytest.mark.parametrize("geometry", FAMILIES.values(), ids=FAMILIES)
def test_every_family_derives_and_sizes_a_thousand_tokens(geometry: Geometry) -> None:
    state = {descriptor.kind: descriptor.rows for descriptor in resume_state(geometry, 1000)}
    owned = {descriptor.kind: descriptor.rows for descriptor in derive(geometry, 0, 1000)}
    for kind in geometry.kinds:
        rows = state[kind.label]
        match kind.shape:
            case Shape.RANGE:
                assert rows == owned[kind.label] == Extent(0, 1000 // kind.unit)
            case Shape.WINDOW:
                assert rows == Extent(0 if kind.chunk else max(0, 1000 - kind.need), 1000)
            case Shape.OPEN:
                assert rows == Extent(1000 - 1000 % kind.ratio, 1000)
            case Shape.POINT:
                assert rows == Extent(1000, 1001)
                assert owned[kind.label].size == 1000 // kind.grid
            case Shape.KEY:
                assert rows.size == kind.need
    for row_format in formats_of(geometry):
        assert memory_table(geometry, row_format, 1000).total_bytes > 0


@pytest.mark.parametrize("geometry", FAMILIES.values(), ids=FAMILIES)
def test_every_family_reuses_whole_units_before_the_last_token(geometry: Geometry) -> None:
    unit = geometry.reuse_unit
    assert unit == lcm(geometry.page_size, *(kind.grid for kind in geometry.kinds))
    spare = max([1, *(kind.recompute for kind in geometry.kinds)])
    for num_prompt in (1, unit, unit + 1, 2 * unit + 127, 2 * unit + 128, 20_001):
        plan = repeat(geometry.name, num_prompt)
        assert plan.reused == max(0, num_prompt - spare) // unit * unit


@pytest.mark.parametrize(
    ("num_prompt", "v4", "gated", "replayed"),
    [(257, 256, 0, 256), (513, 512, 256, 512), (1025, 1024, 768, 1024), (383, 256, 0, 256), (384, 256, 256, 256),
     (639, 512, 256, 512), (640, 512, 512, 512), (127, 0, 0, 0)],
)  # fmt: skip
def test_v41_reuses_what_its_mode_allows(num_prompt: int, v4: int, gated: int, replayed: int) -> None:
    names = ("v4-flash", "deepseek-v4.1", "deepseek-v4.1-replay")
    assert tuple(repeat(name, num_prompt).reused for name in names) == (v4, gated, replayed)


def test_v41_replays_the_window_only_in_the_mode_that_does_not_keep_it() -> None:
    replaying, gating = preset("deepseek-v4.1-replay"), preset("deepseek-v4.1")
    assert [replayed_tokens(replaying, reused) for reused in (0, 64, 128, 1024)] == [0, 64, 128, 128]
    assert replayed_tokens(gating, 1024) == 0
    assert [kind.label for kind in replaying.kinds if not kind.exact] == ["swa_kv"]
    assert all(kind.exact for kind in gating.kinds)


def test_v41_is_cut_by_a_dead_window_only_where_the_window_gates() -> None:
    dead = {"swa_kv": [Extent(0, 256)]}
    assert repeat("deepseek-v4.1", 1025, dead).reused == 256
    assert repeat("deepseek-v4.1-replay", 1025, dead).reused == 1024


def test_v41_goes_on_at_even_lengths_where_no_page_is_asked_for() -> None:
    geometry = preset("deepseek-v4.1-replay")
    plan = plan_reuse(Lookup(1000, 999, 999), reuse_rules(geometry, ResumeRule.ANY), {})
    assert plan.reused == 998


def test_v41_reads_in_forty_layers_what_four_own() -> None:
    geometry = preset("deepseek-v4.1")
    assert [geometry.kind(label).owners for label in ("pair_kv", "latent_kv")] == [(2, 8, 14), (20,)]
    readers = geometry.kind("pair_kv").readers + geometry.kind("latent_kv").readers
    assert readers == tuple(range(2, 40))
    indexers = geometry.kind("pair_index").owners + geometry.kind("latent_index").readers
    assert indexers == (2, 8, 14, 20, 24, 28, 32, 36)


def test_a_recurrent_state_is_resumed_only_at_a_snapshot() -> None:
    snapshots = [Extent(64 * n, 64 * n + 1) for n in (2, 7)]
    state = {"delta_state": snapshots, "conv_state": snapshots}
    assert repeat("qwen3.5", 500, state).reused == 448
    assert repeat("qwen3.5", 448, state).reused == 128
    assert repeat("qwen3.5", 449, state).reused == 448
    lost = repeat("qwen3.5", 500, {"delta_state": [], "conv_state": snapshots})
    assert [(row.kind, row.length, row.gain) for row in lost.kinds] == [("delta_state", 0, 448)]


def test_two_states_are_resumed_where_both_have_a_snapshot() -> None:
    state = {"delta_state": [Extent(64, 65), Extent(192, 193)], "conv_state": [Extent(64, 65), Extent(128, 129)]}
    plan = repeat("qwen3.5", 500, state)
    assert plan.reused == 64
    assert [(row.kind, row.length, row.gain) for row in plan.kinds] == [
        ("delta_state", 192, 64),
        ("conv_state", 128, 128),
    ]


def test_chunked_attention_needs_nothing_at_a_chunk_and_the_whole_chunk_inside_it() -> None:
    rows = [resume_state(preset("llama4"), length)[1].rows for length in (8191, 8192, 8193, 20_000)]
    assert rows == [Extent(0, 8191), Extent(8192, 8192), Extent(8192, 8193), Extent(16_384, 20_000)]
    assert repeat("llama4", 20_000, {"chunk_kv": []}).reused == 16_384
    assert repeat("llama4", 20_000, {"chunk_kv": [Extent(16_384, 20_000)]}).reused == 19_999
    assert repeat("llama4", 20_000, {"chunk_kv": [Extent(16_385, 20_000)]}).reused == 16_384


def test_a_model_of_windows_alone_asks_for_one_window() -> None:
    assert repeat("mistral-swa", 10_001, {"swa_kv": [Extent(5905, 10_000)]}).reused == 10_000
    assert repeat("mistral-swa", 10_001, {"swa_kv": [Extent(5906, 10_000)]}).reused == 0


def test_layers_that_share_rows_own_none() -> None:
    geometry = preset("gemma3n")
    assert geometry.kind("full_kv").owners == (4, 9, 14, 19)
    assert len(geometry.kind("full_kv").readers) == 7
    assert (len(geometry.kind("swa_kv").owners), len(geometry.kind("swa_kv").readers)) == (16, 28)


def test_pooled_keys_leave_an_open_window_between_their_pages() -> None:
    state = {descriptor.kind: descriptor.rows for descriptor in resume_state(preset("glm5-next"), 1000)}
    assert (state["index_k"], state["index_tail"]) == (Extent(0, 62), Extent(992, 1000))
    assert preset("glm5-next").reuse_unit == 1024
    assert preset("qwen4-exp").reuse_unit == 64
