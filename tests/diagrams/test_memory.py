"""Bytes of a treemap are rows times their size, each row counted once, pages as the cache's own pools have them."""

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lookup_runs import ByNumber
from trees import caption_of, chat_state, walked, wide_state

from shadowviz.diagrams.collapse import TreeOptions
from shadowviz.diagrams.memory import MemoryDiagram
from shadowviz.diagrams.memory_of import EVERYTHING, memory_diagram, row_format_named
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.families import FAMILIES
from shadowviz_engine.core.kinds import Shape, StateKind
from shadowviz_engine.core.replayer import Replayer


def treemap(state: Replayer, options: TreeOptions = EVERYTHING) -> MemoryDiagram:
    return memory_diagram(caption_of(state), state, ByNumber(), options)


def rows_of(kind: StateKind, runs: tuple[tuple[int, int, int], ...]) -> int:
    unit = kind.unit if kind.shape is Shape.RANGE else 1
    return sum((token + 1) % unit == 0 for start, stop, _ in runs for token in range(start, stop))


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_every_row_is_counted_once_whatever_is_shown(seed: int) -> None:
    walk, state = walked(seed)
    rng = random.Random(seed)
    options = TreeOptions(
        collapse=rng.choice([True, False]), max_boxes=rng.choice([1, 4, 100]), depth=rng.choice([None, 1])
    )
    diagram = treemap(state, options)
    living = [node for node in range(1, len(state.nodes)) if state.nodes.alive[node]]
    for kind, figures in zip(walk.geometry.kinds, diagram.kinds, strict=True):
        tiles = [tile for tile in diagram.tiles if tile.kind == kind.label]
        pool = "full" if kind.shape is Shape.RANGE else "swa"
        runs = state.full_runs if kind.shape is Shape.RANGE else state.swa_runs
        for tile in tiles:
            if tile.node and not tile.gathered:
                assert tile.rows == rows_of(kind, runs(tile.node))
        held = sum(rows_of(kind, held) for held in state.held[pool].values())
        assert sum(tile.rows for tile in tiles if tile.request) == held
        whole = held + sum(rows_of(kind, runs(node)) for node in living)
        assert (figures.rows, sum(tile.rows for tile in tiles)) == (whole, whole)
        size = figures.row_bytes * len(kind.owners)
        assert all(tile.num_bytes == tile.rows * size for tile in tiles)
    assert diagram.total_bytes == sum(tile.num_bytes for tile in diagram.tiles)


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_pages_taken_are_those_that_the_pools_of_the_cache_lack(seed: int) -> None:
    walk, state = walked(seed)
    pools = walk.driver.manager.state.full, walk.driver.manager.state.swa
    pages = walk.options.num_full_pages, walk.options.num_swa_pages
    for kind, figures in zip(walk.geometry.kinds, treemap(state).kinds, strict=True):
        place, unit = (0, kind.unit) if kind.shape is Shape.RANGE else (1, 1)
        page_bytes = walk.geometry.page_size // unit * figures.row_bytes * figures.layers
        assert figures.allocated_bytes == (pages[place] - len(pools[place].free)) * page_bytes
        assert figures.capacity_bytes == pages[place] * page_bytes
        assert figures.num_bytes is not None
        assert figures.num_bytes <= figures.allocated_bytes


def test_tiles_hang_together_in_each_kind() -> None:
    diagram = treemap(chat_state())
    for figures in diagram.kinds:
        seen: set[int] = set()
        for tile in diagram.tiles:
            if tile.kind == figures.kind:
                assert tile.parent in seen or tile.node == 0
                seen.add(tile.node)
    assert {node for node, _ in diagram.labels} == {tile.node for tile in diagram.tiles if tile.node}


def test_a_thousand_tokens_weigh_what_their_rows_do() -> None:
    state = chat_state()
    first = state.nodes.first_child[0]
    node = max(state.nodes.path(first), key=lambda n: state.nodes.stop[n])
    diagram = treemap(state, TreeOptions(root=node))
    tile = next(tile for tile in diagram.tiles if tile.kind == "hca_kv" and tile.node == node)
    tokens = range(state.nodes.start[node], state.nodes.stop[node])
    assert tile.rows == sum((token + 1) % 128 == 0 for token in tokens)
    assert tile.num_bytes == tile.rows * 20 * 1_024  # 20 layers, 512 numbers in bf16


def test_bytes_of_a_row_are_assumed_unless_the_geometry_states_them() -> None:
    state = chat_state()
    diagram = treemap(state)
    assert (diagram.row_format, diagram.format_origin) == ("bf16", Origin.ASSUMED)
    assert any("row format bf16" in note for note in diagram.caption.notes)
    fp8 = memory_diagram(caption_of(state), state, ByNumber(), format_name="fp8")
    assert fp8.total_bytes < diagram.total_bytes
    with pytest.raises(InputError, match=r"no row format 'int1'.*bf16, fp8"):
        row_format_named(state.opened.geometry, "int1")  # type: ignore[union-attr]


def test_a_kind_that_no_event_speaks_of_has_unknown_bytes_and_no_tile() -> None:
    state = chat_state()
    assert state.opened is not None
    state.opened = msgspec.structs.replace(state.opened, geometry=FAMILIES["qwen3.5"])
    diagram = treemap(state)
    full, *snapshots = diagram.kinds
    assert full.num_bytes == diagram.total_bytes > 0
    assert diagram.format_origin is Origin.OBSERVED
    assert all((kind.rows, kind.num_bytes, kind.capacity_bytes) == (None, None, None) for kind in snapshots)
    assert {tile.kind for tile in diagram.tiles} == {"full_kv"}
    assert sum("unknown" in note for note in diagram.caption.notes) == len(snapshots) == 2


def test_many_nodes_are_gathered() -> None:
    state = wide_state(60_000)
    diagram = treemap(state)
    assert diagram.caption.total == 60_000
    assert diagram.caption.shown <= 200
    for figures in diagram.kinds:
        tiles = [tile for tile in diagram.tiles if tile.kind == figures.kind]
        assert sum(tile.nodes for tile in tiles if tile.gathered) > 10_000
        assert len(tiles) <= 3 * 201
