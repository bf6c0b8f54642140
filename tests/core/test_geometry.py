"""Geometries: what they refuse, what they warn of, and the presets."""

import msgspec
import pytest

from shadowviz_engine.core.errors import GeometryError
from shadowviz_engine.core.geometry import Compressor, Geometry, LayerSchedule, hybrid_geometry
from shadowviz_engine.core.kinds import Scope, Shape, StateKind
from shadowviz_engine.core.presets import CSA, PRESETS, preset

FULL = StateKind(label="full_kv", shape=Shape.RANGE)


def odd_pair(page_size: int) -> Geometry:
    """Ratios 30 and 127, which share nothing."""
    return hybrid_geometry(
        "odd", page_size, 128, (Compressor("csa", 30), Compressor("hca", 127)), LayerSchedule(("csa", "hca")), 0
    )


def test_flash_begins_with_two_window_layers_and_alternates() -> None:
    schedule = preset("v4-flash").schedule
    assert len(schedule.layers) == 43
    assert schedule.layers_of("") == (0, 1)
    assert schedule.layers_of("csa") == tuple(range(2, 43, 2))
    assert schedule.layers_of("hca") == tuple(range(3, 42, 2))


def test_pro_begins_with_two_hca_layers_and_has_no_layer_of_window_alone() -> None:
    schedule = preset("v4-pro").schedule
    assert len(schedule.layers) == 61
    assert schedule.layers_of("") == ()
    assert (len(schedule.layers_of("hca")), len(schedule.layers_of("csa"))) == (31, 30)
    assert schedule.compressors[:4] == ("hca", "hca", "csa", "hca")


@pytest.mark.parametrize(
    ("name", "page", "n_win", "topk", "ratios", "overlap"),
    [
        ("v4-flash", 256, 128, 512, (4, 128), True),
        ("v4-pro", 256, 128, 1024, (4, 128), True),
        ("article", 128, 2048, 512, (32, 128), False),
    ],
)
def test_presets_hold_the_published_figures(
    name: str, page: int, n_win: int, topk: int, ratios: tuple[int, int], overlap: bool
) -> None:
    geometry = preset(name)
    assert (geometry.page_size, geometry.n_win, geometry.index_topk) == (page, n_win, topk)
    assert tuple(compressor.ratio for compressor in geometry.compressors) == ratios
    assert [compressor.overlap for compressor in geometry.compressors] == [overlap, False]
    assert [kind.label for kind in geometry.kinds] == [
        "csa_kv",
        "index_k",
        "hca_kv",
        "swa_kv",
        "csa_tail",
        "index_tail",
        "hca_tail",
    ]


def test_every_preset_survives_a_trip_through_json() -> None:
    for geometry in PRESETS.values():
        assert msgspec.json.decode(msgspec.json.encode(geometry), type=Geometry) == geometry


def test_a_geometry_that_shares_a_window_and_a_ratio_above_it_is_legal() -> None:
    recall = preset("recall")
    assert recall.n_win < recall.alignment == recall.page_size


def test_a_page_that_splits_a_window_is_refused_with_the_multiple_it_needs() -> None:
    with pytest.raises(GeometryError, match=r"page_size 256 splits a window.*lcm 3810"):
        odd_pair(256)


def test_ratios_that_share_little_are_warned_of_with_what_they_waste() -> None:
    (warning,) = odd_pair(3810).warnings()
    assert "lcm 3810" in warning
    assert "30.0 times the largest ratio" in warning
    assert "3809 at worst" in warning


@pytest.mark.parametrize("name", ["v4-flash", "v4-pro", "article"])
def test_ratios_that_divide_each_other_waste_nothing(name: str) -> None:
    geometry = preset(name)
    assert geometry.alignment == 128
    assert geometry.warnings() == ()


def test_the_unit_of_reuse_is_the_page_and_every_grid() -> None:
    kinds = (FULL, StateKind(label="state", shape=Shape.POINT, grid=48))
    assert Geometry("grid", 64, kinds).reuse_unit == 192
    loose = StateKind(label="state", shape=Shape.POINT, grid=48, gates=False)
    assert Geometry("loose", 64, (FULL, loose)).reuse_unit == 64


@pytest.mark.parametrize(
    ("kinds", "page", "message"),
    [
        ((FULL, FULL), 1, "share a label"),
        ((FULL,), 0, "page_size 0 must be at least 1"),
        (
            (StateKind(label="tail", shape=Shape.OPEN, ratio=1, scope=Scope.FOLLOWS, follows="swa_kv"),),
            1,
            "tail follows swa_kv, which geometry bad lacks",
        ),
        ((StateKind(label="tail", shape=Shape.OPEN, ratio=4),), 6, "page_size 6 splits a window"),
    ],
)
def test_parts_that_do_not_fit_are_refused(kinds: tuple[StateKind, ...], page: int, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        Geometry("bad", page, kinds)


def test_a_hybrid_geometry_refuses_a_window_of_nothing_and_two_indexers() -> None:
    schedule = LayerSchedule(("csa",))
    with pytest.raises(GeometryError, match="n_win 0 must be at least 1"):
        hybrid_geometry("bad", 4, 0, (CSA,), schedule, 1)
    with pytest.raises(GeometryError, match="more than one indexed compressor"):
        hybrid_geometry("bad", 4, 8, (CSA, Compressor("other", 2, indexed=True)), schedule, 1)
    with pytest.raises(GeometryError, match="ratio 0 of compressor csa must be at least 1"):
        Compressor("csa", 0)


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(GeometryError, match=r"no state kind 'c4'.*csa_kv, index_k"):
        preset("v4-flash").kind("c4")
    with pytest.raises(GeometryError, match=r"no geometry is called 'v5'.*v4-flash.*qwen3\.5"):
        preset("v5")
    assert preset("v4-flash").kind("hca_kv").unit == 128
