"""The rules of a plain radix cache, each shown by the cache itself in its match mode `classic`, one token a page."""

from itertools import permutations

import pytest
from cache_driver import Driver, options
from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.cache.radix import Node, unpack_key
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape, StateKind
from shadowviz_engine.core.reuse import ResumeRule

PLAIN = Geometry("one handle a token", 1, (StateKind(label="kv", shape=Shape.RANGE),))
PATHS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=10), min_size=1, max_size=8)
Shown = list[tuple[list[int], bool, list[object]]]


def cache_of(*paths: list[int], match_mode: str = "classic") -> Driver:
    """A cache in which `paths` were registered one after another."""
    switches = {"match_mode": match_mode, "retention": "all", "resume": ResumeRule.ANY}
    driver = Driver(PLAIN, options(num_full_pages=200, num_swa_pages=200, **switches))
    for path in paths:
        driver.run(path)
    return driver


def hit(driver: Driver, prompt: list[int]) -> int:
    """Tokens that equal a stored path, as far as the match mode counts them."""
    return driver.manager.probe(prompt).common


def tree(driver: Driver) -> Shown:
    """Every edge with its tokens, whether a registered path ends at it, and what is below."""

    def below(node: Node) -> Shown:
        return sorted((list(unpack_key(c.key)), c.terminal, below(c)) for c in node.children.values())

    return below(driver.manager.state.tree.root(""))


def handles(driver: Driver) -> dict[tuple[int, ...], list[int]]:
    """Slot of every token, by the path that leads up to the end of each edge."""
    found: dict[tuple[int, ...], list[int]] = {}

    def visit(node: Node, ids: tuple[int, ...], slots: list[int]) -> None:
        for child in node.children.values():
            path = (*ids, *unpack_key(child.key))
            own = [run.slot + i for run in child.full for i in range(run.stop - run.start)]
            found[path] = [*slots, *own]
            visit(child, path, [*slots, *own])

    visit(driver.manager.state.tree.root(""), (), [])
    return found


def test_a_new_path_makes_an_edge_and_a_differing_token_splits_one() -> None:
    assert tree(cache_of([1, 2, 3, 4])) == [([1, 2, 3, 4], True, [])]
    assert tree(cache_of([1, 2, 3, 4], [1, 2, 9])) == [([1, 2], False, [([3, 4], True, []), ([9], True, [])])]


def test_a_split_leaves_the_old_suffix_its_children_its_mark_and_its_handle() -> None:
    driver = cache_of([1, 2, 3, 4], [1, 2, 3, 4, 5])
    before = handles(driver)
    driver.run([1, 2, 9])
    assert tree(driver) == [([1, 2], False, [([3, 4], True, [([5], True, [])]), ([9], True, [])])]
    after = handles(driver)
    assert {path: after[path] for path in before} == before


@pytest.mark.parametrize("order", list(permutations([[4, 5, 6, 7], [4, 5], [4, 8]])))
def test_every_order_of_registering_ends_in_the_same_tree(order: tuple[list[int], ...]) -> None:
    assert tree(cache_of(*order)) == [([4], False, [([5], True, [([6, 7], True, [])]), ([8], True, [])])]


def test_a_path_registered_before_its_prefix_is_cut_and_marked_at_the_end_of_it() -> None:
    assert tree(cache_of([4, 5, 6, 7], [4, 5])) == [([4, 5], True, [([6, 7], True, [])])]


def test_only_whole_edges_up_to_the_end_of_a_registered_path_count() -> None:
    driver = cache_of([0, 1, 2, 3], [0, 1, 2, 3, 4], [9, 9, 9])
    assert [hit(driver, prompt) for prompt in ([0, 1, 2, 3, 4, 5], [9, 9, 9], [7, 6, 5])] == [5, 3, 0]
    assert hit(cache_of([4, 5, 6, 7], [4, 5]), [4, 5, 8]) == 2
    assert hit(driver, [0, 1, 2, 9]) == 0


def test_a_partial_match_ends_inside_an_edge_and_splits_it_there() -> None:
    driver = cache_of([4, 5, 6, 7], match_mode="partial")
    assert hit(driver, [4, 5, 8]) == 2
    assert len(tree(driver)) == 1
    request, lookup = driver.start([4, 5, 8])
    assert lookup.reused == 2
    assert tree(driver) == [([4, 5], False, [([6, 7], True, [])])]
    driver.abort(request)


@given(PATHS, st.lists(st.integers(0, 2), max_size=12))
def test_the_longest_common_prefix_is_the_largest_over_all_stored_paths(
    paths: list[list[int]], prompt: list[int]
) -> None:
    def common(path: list[int]) -> int:
        pairs = zip(path, prompt, strict=False)
        return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(path), len(prompt)))

    whole = [len(path) for path in paths if prompt[: len(path)] == path]
    assert hit(cache_of(*paths, match_mode="partial"), prompt) == max(map(common, paths))
    assert hit(cache_of(*paths), prompt) == max(whole, default=0)


@given(PATHS, st.lists(st.integers(0, 2), min_size=1, max_size=12), st.sampled_from(["classic", "partial"]))
def test_what_is_reused_and_what_is_computed_make_up_the_prompt(
    paths: list[list[int]], prompt: list[int], match_mode: str
) -> None:
    driver = cache_of(*paths, match_mode=match_mode)
    expected = handles(driver)
    request, lookup = driver.start(prompt)
    # The handle of a hit: the slots of its tokens as the tree has them.
    kept = next(
        (slots for path, slots in expected.items() if path[: lookup.reused] == tuple(prompt[: lookup.reused])), []
    )
    assert list(driver.manager.slots(request)[: lookup.reused]) == kept[: lookup.reused]
    driver.prefill(request, len(prompt))
    driver.finish(request)
    assert lookup.reused == min(lookup.common, len(prompt) - 1)
    assert hit(driver, prompt) == len(prompt)


def test_a_prompt_that_is_registered_whole_still_computes_its_last_token() -> None:
    lookup: LookupDone = cache_of([0, 1, 2, 3, 4]).run([0, 1, 2, 3, 4])
    assert (lookup.common, lookup.reused, lookup.cap, lookup.cap_rule) == (5, 4, 4, "last token")


def test_an_empty_prompt_matches_nothing_and_cannot_be_registered() -> None:
    driver = cache_of([1, 2])
    assert hit(driver, []) == 0
    for register in (driver.start, driver.register):
        with pytest.raises(InputError, match="is empty: expected at least one token"):
            register([])


def test_a_path_shows_its_pages_beside_its_tokens() -> None:
    driver = cache_of([1, 2, 3, 4], [1, 2, 9])
    assert handles(driver) == {(1, 2): [1, 2], (1, 2, 3, 4): [1, 2, 3, 4], (1, 2, 9): [1, 2, 7]}
