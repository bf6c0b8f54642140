"""The reuse plan against a search that tries every length downwards and looks at every position."""

from collections.abc import Sequence
from math import lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Scope, Shape, StateKind
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import Lookup, ResumeRule, ReuseRules, longest_length, plan_reuse, reuse_rules
from shadowviz_engine.core.spans import Extent, merge

LONGEST = 160
Live = dict[str, set[int]]


def draw_kind(draw: st.DrawFn, number: int, shape: Shape, follows: str) -> StateKind:
    """A kind of `shape` with sizes that divide nothing in particular."""
    sizes = {
        Shape.RANGE: {"unit": draw(st.integers(1, 7))},
        Shape.WINDOW: {"need": draw(st.integers(0, 40)), "page_need": draw(st.integers(0, 41))},
        Shape.OPEN: {"ratio": draw(st.integers(1, 20))},
        Shape.POINT: {"grid": draw(st.integers(1, 9))},
        Shape.KEY: {"need": 3},
    }[shape]
    if shape is Shape.OPEN:
        sizes["overlap"] = draw(st.sampled_from([0, sizes["ratio"], draw(st.integers(0, sizes["ratio"]))]))
        if follows and draw(st.booleans()):
            sizes |= {"follows": follows, "scope": Scope.FOLLOWS}
    if shape is Shape.WINDOW and draw(st.booleans()):
        sizes |= {"chunk": draw(st.integers(1, 50))}
    return StateKind(label=f"{shape}{number}", shape=shape, gates=draw(st.integers(0, 9)) > 0, **sizes)


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """One to five kinds of any shapes, and a page that no window straddles."""
    kinds: list[StateKind] = []
    for number, shape in enumerate(draw(st.lists(st.sampled_from(Shape), min_size=1, max_size=5))):
        windows = [kind.label for kind in kinds if kind.shape is Shape.WINDOW]
        kinds.append(draw_kind(draw, number, shape, windows[-1] if windows else ""))
    units = [kind.unit for kind in kinds if kind.shape is Shape.RANGE]
    page = lcm(*units, *(kind.ratio for kind in kinds if kind.shape is Shape.OPEN)) * draw(st.integers(1, 4))
    return Geometry("random", page, tuple(kinds))


@st.composite
def residencies(draw: st.DrawFn, geometry: Geometry) -> dict[str, list[Extent]]:
    """Few or many live stretches for some of the kinds."""
    stretch = st.tuples(st.integers(0, LONGEST), st.integers(1, 90)).map(lambda p: Extent(p[0], p[0] + p[1]))
    rooted = st.integers(1, LONGEST + 1).map(lambda stop: Extent(0, stop))
    resident = {}
    for kind in geometry.kinds:
        if draw(st.integers(0, 3)):
            resident[kind.label] = merge(draw(st.lists(stretch | rooted, max_size=5)))
    return resident


@st.composite
def cases(draw: st.DrawFn) -> tuple[Lookup, Geometry, ReuseRules, dict[str, list[Extent]]]:
    """A lookup, the rules of a geometry, and what is live on its path."""
    geometry = draw(geometries())
    num_prompt = draw(st.integers(1, LONGEST))
    common = draw(st.integers(0, num_prompt))
    cap = draw(st.one_of(st.just(num_prompt - 1), st.integers(0, num_prompt - 1)))
    rules = reuse_rules(geometry, draw(st.sampled_from(ResumeRule)), draw(st.sampled_from([0, 0, 6, 10])))
    return Lookup(num_prompt, common, cap), geometry, rules, draw(residencies(geometry))


def accepts(kind: StateKind, length: int, live: Live, page_rule: bool) -> bool:
    """Whether every row that going on at `length` reads is live, position by position."""
    positions = live.get(kind.label, live.get(kind.follows))
    if positions is None or length == 0:
        return True
    for token in range(length):
        match kind.shape:
            case Shape.RANGE:
                read = (token + 1) % kind.unit == 0
            case Shape.WINDOW if kind.chunk:
                read = token // kind.chunk == length // kind.chunk
            case Shape.WINDOW:
                need = kind.need if not page_rule or kind.page_need < kind.need else kind.page_need
                read = length - token <= need
            case Shape.OPEN:
                window, open_window = token // kind.ratio, length // kind.ratio
                overlaps = window < open_window and open_window * kind.ratio - token <= kind.overlap
                read = window == open_window or overlaps
            case _:
                read = False
        if read and token not in positions:
            return False
    if kind.shape is Shape.POINT:
        return length % kind.grid == 0 and length in positions
    return True


def longest(kinds: Sequence[StateKind], limit: int, unit: int, live: Live, page_rule: bool) -> int:
    """The first length that every kind accepts, trying each one downwards."""
    for length in range(limit, 0, -1):
        if length % unit == 0 and all(accepts(kind, length, live, page_rule) for kind in kinds):
            return length
    return 0


@given(cases())
def test_a_plan_equals_the_search_of_every_length(case: tuple) -> None:
    lookup, geometry, rules, resident = case
    live = {label: {p for e in extents for p in range(e.start, e.stop)} for label, extents in resident.items()}
    page_rule = rules.resume is ResumeRule.PAGE
    gating = [kind for kind in geometry.kinds if kind.gates]
    grid = lcm(*(kind.grid for kind in gating if kind.shape is not Shape.KEY))
    limit = min(lookup.common, lookup.cap)

    plan = plan_reuse(lookup, rules, resident)

    matched = longest([], limit, rules.unit, live, page_rule)
    usable = longest(gating, limit, rules.unit, live, page_rule)
    assert (plan.matched, plan.usable, plan.reused) == (matched, usable, usable)
    last = lookup.num_prompt - 1
    ceiling = lookup.common if lookup.cap == last else min(lookup.common, last)
    uncapped = longest(gating, ceiling, rules.unit, live, page_rule) - usable
    assert plan.cap_gain == (0 if lookup.cap == last and uncapped == 1 else uncapped)
    if usable == matched:
        assert plan.page_gain == longest([], limit, grid, live, page_rule) - matched
    else:
        assert plan.page_gain == longest(gating, limit, grid, live, page_rule) - usable
    expected = {}
    for kind in gating:
        alone = longest([kind], limit, rules.unit, live, page_rule)
        if alone < matched:
            others = [k for k in gating if kind.label not in (k.label, k.follows)]
            lifted = longest(others, limit, rules.unit, live, page_rule)
            expected[kind.label] = (alone, lifted - usable)
    assert {row.kind: (row.length, row.gain) for row in plan.kinds} == expected


@pytest.mark.parametrize("shape", [Shape.RANGE, Shape.WINDOW, Shape.OPEN, Shape.POINT])
@given(data=st.data())
def test_one_kind_alone_goes_on_at_the_last_length_that_it_accepts(shape: Shape, data: st.DataObject) -> None:
    kind = draw_kind(data.draw, 0, shape, "")
    geometry = Geometry("alone", kind.unit * max(1, kind.ratio), (kind,))
    rules = reuse_rules(geometry, data.draw(st.sampled_from(ResumeRule)))
    cuts = data.draw(st.lists(st.integers(0, 50), max_size=8, unique=True).map(sorted))
    extents = merge(Extent(start, stop) for start, stop in zip(cuts[::2], cuts[1::2], strict=False))
    positions = {p for e in extents for p in range(e.start, e.stop)}
    for unit in {1, rules.unit}:
        expected = longest([kind], 45, unit, {kind.label: positions}, rules.resume is ResumeRule.PAGE)
        assert longest_length(kind, rules, {kind.label: extents}, 45, unit) == expected


@given(cases())
def test_each_length_is_at_most_the_one_before_it(case: tuple) -> None:
    lookup, _, rules, resident = case
    plan = plan_reuse(lookup, rules, resident)
    assert 0 <= plan.reused <= plan.usable <= plan.matched <= plan.common == lookup.common
    assert plan.matched <= plan.cap
    assert plan.reused % rules.unit == 0
    assert plan.computed == lookup.num_prompt - plan.reused
    assert plan.cap_gain >= 0
    assert plan.page_gain >= 0
    assert all(0 <= row.length < plan.matched and row.gain >= 0 for row in plan.kinds)


@given(cases(), st.integers(0, 9))
def test_more_common_tokens_or_more_live_rows_never_lose_reuse(case: tuple, more: int) -> None:
    lookup, _, rules, resident = case
    reused = plan_reuse(lookup, rules, resident).reused
    longer = Lookup(lookup.num_prompt + more, lookup.common + more, lookup.cap + more)
    assert plan_reuse(longer, rules, resident).reused >= reused
    for label in resident:
        richer = resident | {label: merge([*resident[label], Extent(5, 5 + 10 * more)])}
        assert plan_reuse(lookup, rules, richer).reused >= reused


@given(cases())
def test_a_path_that_is_live_throughout_plans_like_one_without_gaps(case: tuple) -> None:
    lookup, geometry, rules, _ = case
    everywhere = {kind.label: [Extent(0, LONGEST + 2)] for kind in geometry.kinds}
    assert plan_reuse(lookup, rules, everywhere) == plan_reuse(lookup, rules, {})


NODES = st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=9)


@given(NODES, st.integers(1, 12), st.integers(1, 30), st.integers(0, 60))
def test_the_page_rule_is_the_production_counter(
    nodes: list[tuple[int, bool]], page: int, n_win: int, common_pages: int
) -> None:
    window = StateKind(label="swa_kv", shape=Shape.WINDOW, need=n_win - 1, page_need=n_win)
    geometry = Geometry("counter", page, (StateKind(label="full_kv", shape=Shape.RANGE), window))
    common = min(common_pages, sum(pages for pages, _ in nodes)) * page
    counter, best, position = float("inf"), 0, 0
    live = []
    for pages, alive in nodes:
        live += [Extent(position, position + pages * page)] * alive
        for _ in range(pages):
            # A match may split a node at any page, so every page end is the end of a node.
            counter = counter + page if alive else 0
            position += page
            if counter >= n_win and position <= common:
                best = position
    plan = plan_reuse(
        Lookup(common + 1, common, common), reuse_rules(geometry, ResumeRule.PAGE), {"swa_kv": merge(live)}
    )
    assert (plan.usable, plan.matched) == (best, common)


def test_a_page_that_a_cap_below_nothing_leaves_is_nothing() -> None:
    plan = plan_reuse(Lookup(1, 1, 0), reuse_rules(preset("v4-flash"), ResumeRule.ANY), {})
    assert (plan.matched, plan.reused, plan.computed, plan.cap_gain) == (0, 0, 1, 0)


def test_another_unit_joins_the_page_and_rules_the_any_rule() -> None:
    geometry = preset("v4-flash")
    assert reuse_rules(geometry, ResumeRule.PAGE, 4096).unit == 4096
    assert reuse_rules(geometry, ResumeRule.PAGE, 48).unit == 768
    assert reuse_rules(geometry, ResumeRule.ANY).unit == 1
    assert reuse_rules(geometry, ResumeRule.ANY, 48).unit == 48
