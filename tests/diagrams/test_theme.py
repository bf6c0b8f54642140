"""Looks keep apart without colour, for colour-blind eyes, on both grounds, and whatever a kind is called."""

import unicodedata
from collections.abc import Iterator
from itertools import combinations
from math import dist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz.diagrams import roles
from shadowviz.diagrams.kind_styles import MAX_WORD, kind_style, kind_styles
from shadowviz.diagrams.roles import HEAT, heat_style, tier_style, verdict_style
from shadowviz.diagrams.theme import BLUE, GREY, GROUNDS, ORANGE, PURPLE, ROSE, TEAL, YELLOW, Ground, Hue, Style
from shadowviz_engine.core.families import FAMILIES
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.presets import PRESETS
from shadowviz_engine.core.verdict import Verdict

HUES = {"blue": BLUE, "teal": TEAL, "orange": ORANGE, "purple": PURPLE, "yellow": YELLOW, "rose": ROSE, "grey": GREY}
GEOMETRIES = {**PRESETS, **FAMILIES}

# Machado, Oliveira and Fernandes 2009, full strength, on linear light.
BLINDNESS = {
    "no red cones": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green cones": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue cones": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
TO_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1.0, 1.089)


def linear(colour: str) -> tuple[float, ...]:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def times(matrix: tuple[tuple[float, ...], ...], values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(sum(weight * part for weight, part in zip(row, values, strict=True)) for row in matrix)


def lab(light: tuple[float, ...]) -> tuple[float, ...]:
    """CIE Lab of linear light, in which a distance of 2.3 is just noticed."""
    parts = (max(0.0, part) / white for part, white in zip(times(TO_XYZ, light), WHITE, strict=True))
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in parts)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("ground", list(Ground))
@pytest.mark.parametrize("hue", HUES.values(), ids=HUES)
def test_words_and_lines_stand_out_on_both_grounds(hue: Hue, ground: Ground) -> None:
    paint = Style(word="", glyph="", ascii="", hue=hue).paint(ground)
    assert contrast(paint.text, paint.fill) >= 7
    assert contrast(paint.stroke, GROUNDS[ground].background) >= 4.5
    assert contrast(paint.stroke, paint.fill) >= 3


@pytest.mark.parametrize("ground", list(Ground))
def test_text_without_a_style_stands_out(ground: Ground) -> None:
    paint = GROUNDS[ground]
    assert contrast(paint.text, paint.background) >= 12
    assert contrast(paint.muted, paint.background) >= 4.5


@pytest.mark.parametrize("eyes", BLINDNESS)
@pytest.mark.parametrize("ground", list(Ground))
def test_hues_keep_apart_for_colour_blind_eyes(eyes: str, ground: Ground) -> None:
    kinds_of_v4 = (BLUE, ORANGE, PURPLE, GREY)
    for pair in combinations(HUES.values(), 2):
        strokes = [Style(word="", glyph="", ascii="", hue=hue).paint(ground).stroke for hue in pair]
        first, second = (lab(times(BLINDNESS[eyes], linear(stroke))) for stroke in strokes)
        assert dist(first, second) > (23 if all(hue in kinds_of_v4 for hue in pair) else 13), strokes


@pytest.mark.parametrize("geometry", GEOMETRIES.values(), ids=GEOMETRIES)
def test_the_kinds_of_every_family_are_known_and_keep_apart_without_colour(geometry: Geometry) -> None:
    labels = [kind.label for kind in geometry.kinds]
    styles = kind_styles(labels)
    assert list(styles) == labels
    assert all(styles[label] == kind_style(label) and styles[label].meaning for label in labels)
    for part in ("word", "glyph", "ascii"):
        assert len({getattr(style, part) for style in styles.values()}) == len(labels)


@given(st.lists(st.text(), max_size=12, unique=True))
def test_kinds_of_any_name_have_a_stable_look_of_their_own(labels: list[str]) -> None:
    styles = kind_styles(labels)
    assert styles == kind_styles(labels)
    assert len({(style.glyph, style.ascii) for style in styles.values()}) >= min(len(labels), 10)
    for style in styles.values():
        assert 0 < len(style.word) <= MAX_WORD
        assert not any(unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs"} for character in style.word)


def test_a_label_that_is_met_beside_a_known_kind_gives_way_to_it() -> None:
    alike = next(f"kind{n}" for n in range(1_000) if kind_style(f"kind{n}").glyph == kind_style("csa_kv").glyph)
    styles = kind_styles([alike, "csa_kv"])
    assert styles["csa_kv"] == kind_style("csa_kv")
    assert styles[alike].glyph != styles["csa_kv"].glyph


def all_styles() -> Iterator[Style]:
    for value in vars(roles).values():
        if isinstance(value, Style):
            yield value
        elif isinstance(value, dict):
            yield from (style for style in value.values() if isinstance(style, Style))
    yield from HEAT
    yield from (kind_style(kind.label) for geometry in GEOMETRIES.values() for kind in geometry.kinds)


def test_every_style_has_a_word_a_cell_wide_glyph_and_an_ascii_twin() -> None:
    styles = list(all_styles())
    assert len(styles) > 40
    for style in styles:
        assert style.word
        assert len(style.glyph) == len(style.ascii) == 1
        assert style.ascii.isascii()
        assert style.ascii.isprintable()
        assert unicodedata.east_asian_width(style.glyph) in "NAaH" or style.glyph.isascii()
        assert unicodedata.category(style.glyph) != "Mn"


def test_heat_has_five_steps_and_takes_any_rank() -> None:
    assert [heat_style(rank).ascii for rank in (0.0, 0.2, 0.5, 0.7, 1.0)] == list("01234")
    assert heat_style(-1.0) == HEAT[0]
    assert heat_style(2.0) == HEAT[-1]


def test_a_tier_of_another_name_keeps_its_name_and_loses_its_escape_codes() -> None:
    assert tier_style("host").word == "host"
    assert tier_style("l3\x1b[2J").word == "l3\\u001b[2J"
    assert tier_style("").word == "unnamed tier"


def test_verdicts_are_hit_clipped_miss_or_unknown() -> None:
    assert verdict_style(Verdict.FULL_HIT, 256).ascii == "H"
    assert verdict_style(Verdict.CUT_BY_SWA, 256).ascii == "C"
    assert verdict_style(Verdict.TOKENS_DIFFER, 0).ascii == "M"
    assert verdict_style(Verdict.COLD, 0).ascii == "M"
    assert verdict_style(Verdict.UNKNOWN, 512).ascii == "?"
