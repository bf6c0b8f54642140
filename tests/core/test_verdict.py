"""Verdicts of the worked cases, and the order and size of the rules behind them."""

import pytest

from shadowviz_engine.core.events import Elsewhere, LeftCache, LookupDone
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape, StateKind
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import KindLength, Lookup, ResumeRule, ReuseRules, plan_reuse, reuse_rules
from shadowviz_engine.core.spans import Extent, merge
from shadowviz_engine.core.verdict import Finding, TokensRule, Verdict, findings, is_material, verdict_of

V4 = preset("v4-flash")


def looked_up(
    num_prompt: int, common: int, unit: int = 0, resident: dict[str, list[Extent]] | None = None, **fields: object
) -> LookupDone:
    """A lookup of the v4-flash geometry, planned by the product's own rules."""
    return planned(reuse_rules(V4, ResumeRule.PAGE, unit), num_prompt, common, resident, **fields)


def planned(
    rules: ReuseRules, num_prompt: int, common: int, resident: dict[str, list[Extent]] | None = None, **fields: object
) -> LookupDone:
    plan = plan_reuse(Lookup(num_prompt, common, num_prompt - 1), rules, resident or {})
    values: dict[str, object] = {
        "num_prompt": plan.num_prompt,
        "common": plan.common,
        "cap": plan.cap,
        "unit": plan.unit,
        "matched": plan.matched,
        "usable": plan.usable,
        "reused": plan.reused,
        "cap_gain": plan.cap_gain,
        "page_gain": plan.page_gain,
        "kinds": plan.kinds,
    }
    return LookupDone(seq=7, t_ns=0, request="r", **(values | fields))  # type: ignore[arg-type]


def told(finding: Finding) -> tuple[str, int]:
    return finding.label, finding.gain


def test_257_tokens_again_reuse_256_and_are_a_full_hit() -> None:
    lookup = looked_up(257, 257)
    assert (lookup.reused, findings(lookup, V4)) == (256, (Finding(Verdict.FULL_HIT, "", length=256),))


def test_8000_tokens_again_are_a_full_hit_with_the_page_behind_it() -> None:
    lookup = looked_up(8000, 8000)
    leader, page = findings(lookup, V4)
    assert lookup.reused == 7936
    assert told(leader) == ("FULL_HIT", 0)
    assert (told(page), page.length, page.material) == (("PAGE_ALIGNED(63)", 63), 7999, False)


def test_300_tokens_again_lose_a_tenth_to_the_page() -> None:
    lookup = looked_up(300, 300)
    assert (lookup.reused, told(verdict_of(lookup, V4))) == (256, ("PAGE_ALIGNED(43)", 43))


def test_512_tokens_again_are_capped_and_the_page_follows() -> None:
    lookup = looked_up(512, 512)
    assert lookup.reused == 256
    assert [told(f) for f in findings(lookup, V4)] == [("CAPPED(last token)", 256), ("PAGE_ALIGNED(255)", 255)]


def test_200_tokens_again_are_too_short_for_a_page() -> None:
    lookup = looked_up(200, 200)
    assert (lookup.reused, verdict_of(lookup, V4).label) == (0, "TOO_SHORT(256)")


def test_2048_common_tokens_are_too_short_for_a_unit_of_4096() -> None:
    lookup = looked_up(5000, 2048, unit=4096)
    assert (lookup.reused, told(verdict_of(lookup, V4))) == (0, ("TOO_SHORT(4096)", 2048))


def test_a_line_end_at_token_5_of_8000_leads_over_the_page() -> None:
    lookup = looked_up(8000, 5)
    tokens = TokensRule(token=5, cause="CRLF", length=7936, gain=7936)
    assert [told(f) for f in findings(lookup, V4, tokens)] == [("TOKENS_DIFFER(CRLF)", 7936), ("TOO_SHORT(256)", 5)]


def test_a_hole_in_the_window_rows_makes_the_hit_collapse() -> None:
    lookup = looked_up(1700, 1600, resident={"swa_kv": [Extent(1536, 2048)]}, swa_lost=3)
    leader = verdict_of(lookup, V4)
    assert (lookup.matched, lookup.usable) == (1536, 0)
    assert (told(leader), leader.event) == (("CUT_BY_SWA", 1536), 3)
    longer = looked_up(1900, 1800, resident={"swa_kv": [Extent(1536, 2048)]})
    assert longer.usable == 1792


def test_a_kind_that_cut_the_hit_leads_over_a_page_that_gains_up_to_twice_as_much() -> None:
    # Window rows are there for 966 tokens, not for 768 of them: any length would do, but the window is what cut.
    lookup = looked_up(1100, 966, resident={"swa_kv": [Extent(830, 970)]})
    assert (lookup.matched, lookup.usable) == (768, 0)
    assert [told(f) for f in findings(lookup, V4)] == [("CUT_BY_SWA", 768), ("TOO_SHORT(256)", 966)]


@pytest.mark.parametrize(("page_gain", "label"), [(512, "CUT_BY_SWA"), (513, "TOO_SHORT(256)")])
def test_a_page_that_gains_more_than_twice_as_much_leads_over_a_kind(page_gain: int, label: str) -> None:
    # As where a second kind lets no more than 256 tokens through once the first is lifted.
    lookup = looked_up(1100, 966, page_gain=page_gain, kinds=(KindLength("swa_kv", 0, 256),), usable=0, reused=0)
    assert verdict_of(lookup, V4).label == label


def test_a_kind_that_cut_nothing_off_does_not_lead_over_the_page() -> None:
    lookup = looked_up(300, 300, kinds=(KindLength("swa_kv", 256, 43),))
    assert verdict_of(lookup, V4).label == "PAGE_ALIGNED(43)"


def test_8000_tokens_that_share_one_token_are_cold() -> None:
    lookup = looked_up(8000, 1)
    tokens = TokensRule(token=1, cause="TEXT", length=0, gain=0)
    assert (lookup.reused, verdict_of(lookup, V4, tokens).label) == (0, "COLD")


@pytest.mark.parametrize(
    ("num_prompt", "reused"), [(255, 0), (256, 0), (257, 256), (512, 256), (513, 512), (16007, 15872)]
)
def test_an_identical_prompt_reuses_whole_pages_below_its_last_token(num_prompt: int, reused: int) -> None:
    assert looked_up(num_prompt, num_prompt).reused == reused


WINDOW_ONLY = Geometry(
    "window", 1, (StateKind(label="swa_kv", shape=Shape.WINDOW, need=127, page_need=128),), n_win=128
)


@pytest.mark.parametrize(
    ("nodes", "covered", "usable"),
    [
        ([(512, True), (512, False)], 1024, 512),
        ([(512, False), (512, False)], 1024, 0),
        ([(512, True), (512, False), (256, True)], 1280, 1280),
        ([(512, True), (512, False), (64, True)], 1088, 512),
        ([(512, True), (512, False), (128, True)], 1152, 1152),
        ([(512, False), (64, True), (64, True)], 640, 640),
        ([(7680, False), (512, True), (7680, False), (512, True)], 16384, 16384),
        ([(7680, False), (512, True), (7680, False), (512, True)], 12000, 8192),
    ],
)
def test_the_window_rule_leads_exactly_when_it_cuts(nodes: list[tuple[int, bool]], covered: int, usable: int) -> None:
    live, start = [], 0
    for length, alive in nodes:
        live += [Extent(start, start + length)] if alive else []
        start += length
    # One token more in the prompt, so that the cap costs nothing.
    rules = reuse_rules(WINDOW_ONLY, ResumeRule.PAGE)
    lookup = planned(rules, covered + 1, covered, {"swa_kv": merge(live)})
    assert (lookup.usable, lookup.matched) == (usable, covered)
    leader = verdict_of(lookup, WINDOW_ONLY)
    if usable == covered:
        assert leader.verdict is Verdict.FULL_HIT
    else:
        assert told(leader) == ("CUT_BY_SWA", covered - usable)


def test_another_kind_that_is_gone_is_named() -> None:
    lookup = looked_up(3001, 3000, resident={"hca_kv": [Extent(0, 1000)]})
    assert told(verdict_of(lookup, V4)) == ("NO_STATE(hca_kv)", 2816 - 768)


def test_equal_gains_rank_in_the_order_in_which_a_hit_is_cut_down() -> None:
    lookup = looked_up(
        2000,
        0,
        cap_gain=512,
        page_gain=512,
        kinds=(KindLength("swa_kv", 0, 512), KindLength("hca_kv", 0, 512)),
        namespace=Elsewhere(common=600, gain=512, namespace="lora"),
        in_flight=Elsewhere(common=600, gain=512, request="r9"),
        left=LeftCache(length=600, reason="lru", event=3, gain=512),
    )
    tokens = TokensRule(token=0, cause="CASE", length=512, gain=512)
    assert [f.label for f in findings(lookup, V4, tokens)] == [
        "CAPPED(last token)",
        "OTHER_NAMESPACE(lora)",
        "TOO_SHORT(256)",
        "EVICTED(lru)",
        "IN_FLIGHT(r9)",
        "TOKENS_DIFFER(CASE)",
        "CUT_BY_SWA",
        "NO_STATE(hca_kv)",
    ]


@pytest.mark.parametrize(
    ("reason", "label"),
    [
        ("lru", "EVICTED(lru)"),
        ("ttl", "EVICTED(ttl)"),
        ("abort", "NOT_STORED(abort)"),
        ("flush", "NOT_STORED(flush)"),
        ("retracted", "NOT_STORED(retracted)"),
    ],
)
def test_what_left_is_an_eviction_or_was_never_stored(reason: str, label: str) -> None:
    lookup = looked_up(1000, 0, left=LeftCache(length=999, reason=reason, event=41, gain=768))
    leader = verdict_of(lookup, V4)
    assert (leader.label, leader.event) == (label, 41)


def test_with_the_cache_off_that_is_the_verdict() -> None:
    alone = looked_up(1000, 0, cache_on=False)
    assert [f.label for f in findings(alone, V4)] == ["NOT_STORED(off)"]
    seen = looked_up(1000, 0, cache_on=False, left=LeftCache(length=999, reason="off", event=4, gain=768))
    assert told(verdict_of(seen, V4)) == ("NOT_STORED(off)", 768)


def test_cold_becomes_unknown_once_the_cache_has_forgotten() -> None:
    assert verdict_of(looked_up(1000, 0, ghost_overflowed=True), V4).verdict is Verdict.UNKNOWN
    assert verdict_of(looked_up(257, 257, ghost_overflowed=True), V4).verdict is Verdict.FULL_HIT


def test_where_any_length_can_be_reused_the_first_token_alone_is_no_hit() -> None:
    anywhere = reuse_rules(V4, ResumeRule.ANY)
    beginning = planned(anywhere, 8000, 1)
    assert (beginning.reused, verdict_of(beginning, V4).verdict) == (1, Verdict.COLD)
    again = planned(anywhere, 1000, 1000)
    assert (again.reused, verdict_of(again, V4).verdict) == (999, Verdict.FULL_HIT)
    short = planned(anywhere, 20, 20)
    assert (short.reused, verdict_of(short, V4).verdict) == (19, Verdict.FULL_HIT)


def test_where_any_length_can_be_reused_a_loss_of_few_tokens_is_no_reason() -> None:
    anywhere = reuse_rules(V4, ResumeRule.ANY)
    lookup = planned(anywhere, 8000, 7999, kinds=(KindLength("csa_tail", 7990, 9),), usable=7990, reused=7990)
    assert [told(f) for f in findings(lookup, V4)] == [("FULL_HIT", 0), ("NO_STATE(csa_tail)", 9)]


def test_a_gain_is_material_from_one_unit_or_a_tenth_of_the_prompt_on() -> None:
    assert is_material(256, 256, 100_000)
    assert not is_material(255, 256, 100_000)
    assert is_material(100, 256, 1000)
    assert not is_material(99, 256, 1000)
    assert not is_material(0, 1, 1)
