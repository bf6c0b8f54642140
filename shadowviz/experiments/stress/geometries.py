"""Geometries to stress: those with a name, those of a model directory, and random ones that divide nothing."""

from collections.abc import Callable
from math import lcm
from pathlib import Path
from random import Random

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.geometry import SWA_ONLY, Compressor, Geometry, LayerSchedule, hybrid_geometry
from shadowviz_engine.core.kinds import Scope, Shape, StateKind
from shadowviz_engine.core.presets import preset

RANDOM = "random:"
MAX_SEED_DIGITS = 12
LEAST_PAGE = 256


def geometry_of(subject: str) -> Geometry:
    """The geometry that `subject` names: a preset or family, a model directory, or `random:SEED`.

    Raises:
        InputError: it names none.
        ModelError: the directory holds no model that can be run.
    """
    if subject.startswith(RANDOM):
        return random_geometry(_seed_of(subject))
    if Path(subject, "config.json").is_file():
        return _geometry_of_directory(Path(subject))
    return preset(subject)


def random_geometry(seed: int) -> Geometry:
    """A geometry of one of `SORTS`, in turn by `seed`, and of sizes drawn with it."""
    chance = Random(f"geometry {seed}")
    sort = SORTS[seed % len(SORTS)]
    return sort(f"{RANDOM}{seed}", chance)


def _nothing_divides(name: str, chance: Random) -> Geometry:
    """Two small ratios that need not divide one another, any overlap, and a window shorter or longer than they."""
    fine = Compressor("csa", chance.randint(1, 13), overlap=chance.random() < 0.7, indexed=True)
    coarse = Compressor("hca", chance.randint(2, 37), overlap=chance.random() < 0.3)
    return _hybrid(name, chance, (fine, coarse), chance.randint(1, 60))


def _exploding(name: str, chance: Random) -> Geometry:
    """Two ratios without a common factor, whose common multiple is far above both."""
    first = chance.randint(24, 60)
    second = next(ratio for ratio in iter(lambda: chance.randint(90, 140), 0) if lcm(first, ratio) == first * ratio)
    compressors = (Compressor("csa", first, overlap=chance.random() < 0.5, indexed=True), Compressor("hca", second))
    return _hybrid(name, chance, compressors, chance.randint(2, 300))


def _pairs(name: str, chance: Random) -> Geometry:
    """Ratios 1 and 2 owned by few layers and read by many, as in DeepSeek-V4.1: no overlap, even lengths alone."""
    num_layers, window = chance.randint(6, 40), chance.choice((16, 64, 128))
    owners = tuple(sorted(chance.sample(range(num_layers), 3)))
    last = (chance.randrange(num_layers),)
    kinds = (
        StateKind(label="pair_kv", shape=Shape.RANGE, unit=2, owners=owners, readers=tuple(range(num_layers))),
        StateKind(label="pair_index", shape=Shape.RANGE, unit=2, owners=owners),
        StateKind(label="latent_kv", shape=Shape.RANGE, owners=last),
        StateKind(
            label="swa_kv",
            shape=Shape.WINDOW,
            need=window - 1,
            page_need=window,
            recompute=chance.choice((0, window)),
            owners=tuple(range(num_layers)),
        ),
        StateKind(label="pair_tail", shape=Shape.OPEN, ratio=2, grid=2, owners=owners, scope=Scope.REQUEST),
        StateKind(label="lookback", shape=Shape.KEY, need=chance.randint(0, 4), owners=last, gates=False),
    )
    return Geometry(name, 2 * chance.choice((1, 32, 128)), kinds, window, chance.randint(1, 512))


def _any_shapes(name: str, chance: Random) -> Geometry:
    """Kinds of every shape with any sizes, as in families beside attention with a window."""
    unit, ratio = chance.randint(1, 9), chance.randint(1, 40)
    chunk = chance.choice((0, 0, chance.randint(2, 200)))
    kinds = (
        StateKind(label="full_kv", shape=Shape.RANGE, owners=(0, 2)),
        StateKind(label="pooled_kv", shape=Shape.RANGE, unit=unit, overlap=chance.choice((0, unit, 2 * unit + 1))),
        StateKind(
            label="window_kv", shape=Shape.WINDOW, need=0 if chunk else chance.randint(0, 150), chunk=chunk, owners=(1,)
        ),
        StateKind(label="raw_rows", shape=Shape.OPEN, ratio=ratio, overlap=chance.randint(0, ratio), owners=(2,)),
        StateKind(
            label="own_rows",
            shape=Shape.OPEN,
            ratio=unit,
            overlap=chance.randint(0, 2 * unit),
            scope=Scope.FOLLOWS,
            follows="window_kv",
        ),
        StateKind(label="snapshot", shape=Shape.POINT, grid=chance.randint(1, 64), owners=(1, 3)),
        StateKind(label="ids", shape=Shape.KEY, need=chance.randint(0, 5), gates=False),
    )
    return Geometry(name, lcm(unit, ratio) * chance.randint(1, 3), kinds)


def _three_ratios(name: str, chance: Random) -> Geometry:
    """Three compressors, of which the middle one may be left without a layer."""
    ratios = sorted(chance.sample(range(1, 25), 3))
    compressors = tuple(
        Compressor(label, ratio, overlap=chance.random() < 0.5, indexed=label == "csa")
        for label, ratio in zip(("csa", "mca", "hca"), ratios, strict=True)
    )
    return _hybrid(name, chance, compressors, chance.choice((1, 2, 7, 16, 129)))


SORTS: tuple[Callable[[str, Random], Geometry], ...] = (
    _nothing_divides,
    _exploding,
    _pairs,
    _any_shapes,
    _three_ratios,
)


def _hybrid(name: str, chance: Random, compressors: tuple[Compressor, ...], n_win: int) -> Geometry:
    schedule = LayerSchedule((SWA_ONLY, *chance.choices([item.name for item in compressors], k=chance.randint(2, 9))))
    alignment = lcm(*(item.ratio for item in compressors))
    page = alignment * chance.randint(1, 3 if alignment < LEAST_PAGE else 1)
    return hybrid_geometry(name, page, n_win, compressors, schedule, chance.randint(1, 20))


def _seed_of(subject: str) -> int:
    text = subject.removeprefix(RANDOM)
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_SEED_DIGITS):
        raise InputError(f"{subject[:40]!r} names no random geometry: expected one such as {RANDOM}7")
    return int(text)


def _geometry_of_directory(directory: Path) -> Geometry:
    from shadowviz_engine.model.config_json import read_config

    config = read_config(directory)
    alignment = lcm(*(item.ratio for item in config.used_compressors))
    return config.geometry(directory.resolve().name, -(-LEAST_PAGE // alignment) * alignment)
