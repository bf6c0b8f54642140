"""Worked cases of reuse: the window rule, the page rule, and the arithmetic behind each verdict."""

import pytest

from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape, StateKind
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import Lookup, ResumeRule, ReusePlan, plan_reuse, prompt_cap, reuse_rules
from shadowviz_engine.core.spans import Extent, merge

FLASH = preset("v4-flash")
PAGE_ONE = Geometry(
    "page one",
    1,
    (
        StateKind(label="full_kv", shape=Shape.RANGE),
        StateKind(label="swa_kv", shape=Shape.WINDOW, need=127, page_need=128),
    ),
    128,
)
Y, N = True, False
LONG = [(7680, N), (512, Y), (7680, N), (512, Y)]


def live_spans(nodes: list[tuple[int, bool]]) -> list[Extent]:
    """Extents of the nodes whose window rows are alive."""
    spans, start = [], 0
    for length, alive in nodes:
        spans += [Extent(start, start + length)] * alive
        start += length
    return merge(spans)


def again(num_tokens: int, unit: int = 0) -> ReusePlan:
    """A stored prompt of `num_tokens` sent once more."""
    return parting(num_tokens, num_tokens, unit)


def parting(num_prompt: int, common: int, unit: int = 0) -> ReusePlan:
    """A prompt that shares its first `common` tokens with what is stored whole."""
    lookup = Lookup(num_prompt, common, prompt_cap(FLASH, num_prompt))
    return plan_reuse(lookup, reuse_rules(FLASH, ResumeRule.PAGE, unit), {})


@pytest.mark.parametrize(
    ("nodes", "common", "usable"),
    [
        ([(512, Y), (512, N)], 1024, 512),
        ([(512, N), (512, N)], 1024, 0),
        ([(512, Y), (512, N), (256, Y)], 1280, 1280),
        ([(512, Y), (512, N), (64, Y)], 1088, 512),
        ([(512, Y), (512, N), (128, Y)], 1152, 1152),
        ([(512, Y), (512, N), (127, Y)], 1151, 512),
        ([(512, N), (64, Y), (64, Y)], 640, 640),
        (LONG, 16384, 16384),
        (LONG, 12000, 8192),
    ],
)
def test_the_counter_of_live_tokens_decides_under_the_page_rule(
    nodes: list[tuple[int, bool]], common: int, usable: int
) -> None:
    lookup = Lookup(common + 1, common, common)
    plan = plan_reuse(lookup, reuse_rules(PAGE_ONE, ResumeRule.PAGE), {"swa_kv": live_spans(nodes)})
    assert (plan.usable, plan.matched) == (usable, common)


@pytest.mark.parametrize("geometry", [PAGE_ONE, FLASH], ids=["page one", "v4-flash"])
def test_the_any_rule_goes_on_with_one_token_less_than_the_counter_asks_for(geometry: Geometry) -> None:
    live = {"swa_kv": live_spans([(512, Y), (512, N), (127, Y)])}
    plan = plan_reuse(Lookup(1152, 1151, 1151), reuse_rules(geometry, ResumeRule.ANY), live)
    assert (plan.usable, plan.matched) == (1151, 1151)


def test_the_any_rule_resumes_inside_a_node_where_every_row_is_live() -> None:
    live = {"swa_kv": live_spans([(512, N), (512, Y)])}
    rules = reuse_rules(FLASH, ResumeRule.ANY)
    # The window at 639 begins at 512, but the HCA tail needs [512, 639) and the CSA tail [632, 639): all live.
    assert plan_reuse(Lookup(1025, 639, 1024), rules, live).usable == 639
    # One token less, and the window begins inside the dead node.
    assert plan_reuse(Lookup(1025, 638, 1024), rules, live).usable == 0


def test_a_tail_longer_than_the_window_asks_for_its_rows_in_the_window_table() -> None:
    rules = reuse_rules(preset("recall"), ResumeRule.ANY)
    lookup = Lookup(31, 30, 30)
    # At 30 the window is [23, 30), the open CSA window with its overlap [24, 30) and the open HCA window [16, 30).
    assert plan_reuse(lookup, rules, {"swa_kv": [Extent(23, 30)]}).usable == 0
    assert plan_reuse(lookup, rules, {"swa_kv": [Extent(16, 30)]}).usable == 30
    kept_apart = {"swa_kv": [Extent(23, 30)], "hca_tail": [Extent(16, 30)]}
    assert plan_reuse(lookup, rules, kept_apart).usable == 30


@pytest.mark.parametrize(
    ("num_tokens", "reused"), [(255, 0), (256, 0), (257, 256), (512, 256), (513, 512), (16007, 15872)]
)
def test_an_identical_prompt_is_cut_to_whole_pages_before_its_last_token(num_tokens: int, reused: int) -> None:
    assert again(num_tokens).reused == reused


@pytest.mark.parametrize(("shares", "usable"), [(1600, 0), (1800, 1792)])
def test_a_dead_window_makes_a_hit_collapse_rather_than_shrink(shares: int, usable: int) -> None:
    lookup = Lookup(2048, shares, 2047)
    plan = plan_reuse(lookup, reuse_rules(FLASH, ResumeRule.PAGE), {"swa_kv": [Extent(1536, 2048)]})
    assert plan.usable == usable


@pytest.mark.parametrize(
    ("plan", "reused", "cap_gain", "page_gain"),
    [
        (again(257), 256, 0, 0),
        (again(8000), 7936, 0, 63),
        (again(300), 256, 0, 43),
        (again(512), 256, 256, 255),
        (again(200), 0, 0, 199),
        (parting(5000, 2048, 4096), 0, 0, 2048),
        (parting(8000, 5), 0, 0, 5),
        (parting(8000, 8000), 7936, 0, 63),
        (parting(8000, 1), 0, 0, 1),
    ],
    ids=["257", "8000", "300", "512", "200", "unit 4096", "CR LF", "CR LF lifted", "first token only"],
)
def test_each_rule_has_its_price(plan: ReusePlan, reused: int, cap_gain: int, page_gain: int) -> None:
    assert (plan.reused, plan.cap_gain, plan.page_gain) == (reused, cap_gain, page_gain)
    assert plan.kinds == ()


def test_a_window_that_is_gone_costs_what_the_other_kinds_would_serve() -> None:
    lookup = Lookup(1700, 1600, 1699)
    plan = plan_reuse(lookup, reuse_rules(FLASH, ResumeRule.PAGE), {"swa_kv": [Extent(1536, 1700)]})
    assert (plan.matched, plan.reused, plan.page_gain) == (1536, 0, 0)
    (window,) = (row for row in plan.kinds if row.kind == "swa_kv")
    assert (window.length, window.gain) == (0, 1536)
    assert all(row.gain == 0 for row in plan.kinds if row.kind != "swa_kv")


def test_a_prompt_of_a_thousand_sent_again_reuses_all_but_one_where_retention_kept_both_ends() -> None:
    rules = reuse_rules(FLASH, ResumeRule.ANY)
    lookup = Lookup(1000, 1000, prompt_cap(FLASH, 1000))
    assert plan_reuse(lookup, rules, {"swa_kv": [Extent(872, 1000)]}).reused == 999
    assert plan_reuse(lookup, rules, {"swa_kv": [Extent(873, 1000)]}).reused == 0


def test_lifting_a_lower_cap_still_computes_the_last_token() -> None:
    rules = reuse_rules(FLASH, ResumeRule.ANY)
    assert plan_reuse(Lookup(1000, 1000, 999), rules, {}).cap_gain == 0
    assert plan_reuse(Lookup(1000, 1000, 400), rules, {}).cap_gain == 599
    assert plan_reuse(Lookup(1000, 1000, 998), rules, {}).cap_gain == 1


def test_a_pair_that_is_keyed_together_costs_a_page_at_its_edge() -> None:
    plan = plan_reuse(Lookup(513, 513, 511), reuse_rules(FLASH, ResumeRule.PAGE), {})
    assert (plan.reused, plan.cap_gain) == (256, 256)
