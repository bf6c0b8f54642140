"""Every resume point that a policy promises can be gone on from once the path is stored, while no pool is short."""

import random

import pytest
from cache_driver import Driver, options
from cache_walks import GEOMETRIES
from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.cache.retention import parse_retention, resume_points
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import ResumeRule

FLASH = preset("v4-flash")
NOT_STORED = -1
"""An id that no stored path has."""


def run_in_chunks(driver: Driver, prompt: list[int], output: list[int], largest: int) -> None:
    """One request to its end, in chunks of at most `largest` tokens, as the scheduler runs it."""
    request, lookup = driver.start(prompt, chunk=largest)
    done = lookup.reused
    while done < len(prompt):
        done = min(len(prompt), done + largest)
        assert driver.manager.extend(request, done) is None
        driver.manager.computed(request, done)
    driver.manager.publish(request)
    for position, token in enumerate(output, len(prompt)):
        driver.append(request, token)
        assert driver.manager.extend(request, position) is None
        driver.manager.computed(request, position)
    driver.finish(request)
    driver.manager.check_invariants()


@given(
    st.integers(0, 2**32),
    st.sampled_from(("window", "every:16", "every:11", "forks")),
    st.sampled_from(ResumeRule),
)
def test_what_a_policy_promises_of_a_stored_path_is_reused(seed: int, retention: str, resume: ResumeRule) -> None:
    rng = random.Random(seed)
    driver = Driver(rng.choice(GEOMETRIES), options(retention=retention, resume=resume))
    paths: list[list[int]] = [[]]
    for _ in range(6):
        stem = rng.choice(paths)
        prompt = [*stem[: rng.randint(0, len(stem))], *(rng.randrange(3) for _ in range(rng.randrange(1, 60)))]
        output = [rng.randrange(3) for _ in range(rng.randrange(0, 20))]
        common = driver.manager.probe(prompt).common
        run_in_chunks(driver, prompt, output, rng.choice((1, 7, 100)))
        stored = [*prompt, *output[:-1]]
        paths.append(stored)
        forks = (common,) if common < len(prompt) else ()
        rules = driver.manager.state.rules
        for point in resume_points(parse_retention(retention), rules, len(prompt), len(stored), forks):
            assert driver.manager.probe([*stored[:point], NOT_STORED]).reused == point


@pytest.mark.parametrize("resume", list(ResumeRule))
@pytest.mark.parametrize(("retention", "reused"), [("all", 1024), ("forks", 1024), ("window", 0)])
def test_the_second_path_of_a_fork_leaves_the_third_its_window_rows(
    resume: ResumeRule, retention: str, reused: int
) -> None:
    driver = Driver(FLASH, options(retention=retention, resume=resume))
    for branch in range(2):
        run_in_chunks(driver, [*range(1024), *range(5000 + 2000 * branch, 6000 + 2000 * branch)], [], 512)
    lookup = driver.manager.probe([*range(1024), NOT_STORED])
    assert (lookup.common, lookup.reused) == (1024, reused)


def test_anchors_lie_every_so_many_tokens_and_nothing_between_them_can_be_gone_on_from() -> None:
    driver = Driver(FLASH, options(retention="every:300", resume=ResumeRule.ANY))
    run_in_chunks(driver, list(range(1000)), [], 512)
    for length, reused in ((300, 300), (301, 300), (599, 300), (600, 600), (750, 600), (900, 900), (999, 999)):
        assert driver.manager.probe([*range(length), NOT_STORED]).reused == reused


@pytest.mark.parametrize(
    "text",
    ["every:0", "every:", "every:-3", pytest.param("every:" + "9" * 5_000, id="digits"), "all:3", "every:1e3", "none"],
)
def test_a_policy_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected all, window, every:TOKENS or forks"):
        parse_retention(text)
