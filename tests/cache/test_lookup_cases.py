"""The worked cases of the design, through the cache: what is reused, and which rule costs what."""

from collections.abc import Sequence

import pytest
from cache_driver import Driver, options

from shadowviz_engine.cache.radix import path_of
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape, StateKind
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.core.spans import Extent

FLASH = preset("v4-flash")
WINDOW_ONLY = Geometry(
    "page 1, window 128",
    1,
    (
        StateKind(label="kv", shape=Shape.RANGE),
        StateKind(label="swa_kv", shape=Shape.WINDOW, need=127, page_need=128),
    ),
)


@pytest.mark.parametrize(
    ("num_prompt", "reused", "cap_gain", "page_gain"),
    [(255, 0, 0, 254), (256, 0, 256, 255), (257, 256, 0, 0), (300, 256, 0, 43), (512, 256, 256, 255),
     (513, 512, 0, 0), (8_000, 7_936, 0, 63), (16_007, 15_872, 0, 134), (200, 0, 0, 199)],
)  # fmt: skip
@pytest.mark.parametrize("retention", ["all", "window", "every:300", "forks"])
def test_identical_prompt_sent_again(
    num_prompt: int, reused: int, cap_gain: int, page_gain: int, retention: str
) -> None:
    driver = Driver(FLASH, options(retention=retention))
    driver.run(range(num_prompt))
    again = driver.run(range(num_prompt))
    assert (again.common, again.reused, again.cap_gain, again.page_gain) == (num_prompt, reused, cap_gain, page_gain)
    assert again.kinds == ()


@pytest.mark.parametrize("retention", ["all", "window", "every:300", "forks"])
def test_any_resumes_at_the_prompts_end_less_one(retention: str) -> None:
    driver = Driver(FLASH, options(retention=retention, resume=ResumeRule.ANY))
    driver.run(range(1_000), output=[5, 6, 7])
    assert driver.run(range(1_000)).reused == 999
    assert driver.run([*range(999), 77]).reused == 999
    assert driver.run([*range(1_000), 5, 6, 8, 9]).reused == 1_002


def test_any_reuses_every_length_when_all_rows_stay() -> None:
    driver = Driver(FLASH, options(retention="all", resume=ResumeRule.ANY))
    driver.run(range(600))
    for length in (1, 2, 127, 128, 129, 383, 599):
        assert driver.manager.probe([*range(length), -1, -1]).reused == length


def shared_prompt(common: int, num_prompt: int) -> list[int]:
    return [*range(common), *range(-1, -1 - (num_prompt - common), -1)]


@pytest.mark.parametrize(
    ("common", "num_prompt", "reused", "gain"), [(1_600, 1_700, 0, 1_536), (1_800, 1_900, 1_792, 0)]
)
def test_lost_window_collapses_a_hit_instead_of_shrinking_it(
    common: int, num_prompt: int, reused: int, gain: int
) -> None:
    driver = Driver(FLASH, options(retention="all"))
    driver.run(range(2_048))
    (node,) = driver.manager.state.tree.nodes.values()
    driver.manager._evictor.free_window(node, Extent(0, 1_536), "pressure", "r0")
    driver.manager.check_invariants()
    lookup = driver.manager.probe(shared_prompt(common, num_prompt))
    assert (lookup.common, lookup.reused) == (common, reused)
    window = [kind for kind in lookup.kinds if kind.kind == "swa_kv"]
    assert [(kind.length, kind.gain) for kind in window] == ([(0, gain)] if gain else [])
    if gain:
        assert lookup.swa_lost == driver.events[-1].seq


Y, N = True, False


@pytest.mark.parametrize(
    ("nodes", "num_prompt", "usable", "matched"),
    [
        ([(512, Y), (512, N)], None, 512, 1_024),
        ([(512, N), (512, N)], None, 0, 1_024),
        ([(512, Y), (512, N), (256, Y)], None, 1_280, 1_280),
        ([(512, Y), (512, N), (64, Y)], None, 512, 1_088),
        ([(512, Y), (512, N), (128, Y)], None, 1_152, 1_152),
        ([(512, N), (64, Y), (64, Y)], None, 640, 640),
        ([(7_680, N), (512, Y), (7_680, N), (512, Y)], None, 16_384, 16_384),
        ([(7_680, N), (512, Y), (7_680, N), (512, Y)], 12_000, 8_192, 12_000),
        ([(512, Y), (512, N), (127, Y)], None, 512, 1_151),
    ],
)
def test_window_counter_of_the_page_rule(
    nodes: Sequence[tuple[int, bool]], num_prompt: int | None, usable: int, matched: int
) -> None:
    driver = stored_path(nodes, ResumeRule.PAGE)
    total = sum(length for length, _ in nodes)
    lookup = driver.manager.probe([*range(num_prompt or total), -1])
    assert (lookup.usable, lookup.matched) == (usable, matched)


def test_any_asks_for_one_row_less_than_the_counter() -> None:
    driver = stored_path([(512, Y), (512, N), (127, Y)], ResumeRule.ANY)
    lookup = driver.manager.probe([*range(1_151), -1])
    assert (lookup.usable, lookup.matched) == (1_151, 1_151)


def stored_path(nodes: Sequence[tuple[int, bool]], resume: ResumeRule) -> Driver:
    """One path made of nodes of given lengths, each with its window rows or as a tombstone."""
    total = sum(length for length, _ in nodes)
    driver = Driver(WINDOW_ONLY, options(num_full_pages=total, num_swa_pages=total, retention="all", resume=resume))
    stop = 0
    for length, _ in nodes:
        stop += length
        driver.run(range(stop))
    leaf = driver.manager.state.tree.walk("", b"".join(i.to_bytes(8, "little") for i in range(total))).node
    for node, (length, live) in zip(path_of(leaf), nodes, strict=True):
        assert node.stop - node.start == length
        if not live:
            driver.manager._evictor.free_window(node, Extent(node.start, node.stop), "pressure", "")
    return driver


def test_unit_above_what_is_common_reuses_nothing() -> None:
    driver = Driver(FLASH, options(unit=4_096))
    driver.run(range(5_000))
    lookup = driver.manager.probe(shared_prompt(2_048, 5_000))
    assert (lookup.common, lookup.unit, lookup.reused, lookup.page_gain) == (2_048, 4_096, 0, 2_048)


def test_a_difference_at_token_five_leaves_five_tokens_in_common() -> None:
    driver = Driver(FLASH, options())
    driver.run(range(8_000))
    prompt = list(range(8_000))
    prompt[5] = -1
    lookup = driver.manager.probe(prompt)
    (node,) = driver.manager.state.tree.nodes.values()
    assert (lookup.common, lookup.reused, lookup.page_gain, lookup.near) == (5, 0, 5, node.id)


def test_classic_match_of_a_registered_path_still_computes_its_last_token() -> None:
    driver = Driver(WINDOW_ONLY, options(match_mode="classic", resume=ResumeRule.ANY, retention="all"))
    driver.run([0, 1, 2, 3, 4])
    lookup = driver.run([0, 1, 2, 3, 4])
    assert (lookup.common, lookup.reused, lookup.cap) == (5, 4, 4)
    assert driver.manager.probe([0, 1, 2, 3, 9]).common == 0
