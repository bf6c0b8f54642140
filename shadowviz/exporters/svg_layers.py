"""Shapes of many boxes in few elements: those that look alike are parts of one path.

An element a shape would be millions in a large tree, and so would be the clones that `<use>` makes: browsers take
minutes and gigabytes over either.
"""

from collections.abc import Iterable, Iterator
from operator import itemgetter

from shadowviz.exporters.svg_shapes import Level, Shape, figure

Looks = tuple[Level, str]


Corners = list[str]
"""Moves to the corners from which the same shapes are drawn."""


class Layers:
    """Gathers shapes by their looks; `paths` draws and forgets them."""

    def __init__(self) -> None:
        self._parts: list[tuple[Corners, list[tuple[Looks, str]]]] = []

    def part(self, shapes: Iterable[Shape]) -> Corners:
        """A list for moves: from each that is put there these shapes are drawn."""
        corners: Corners = []
        self._parts.append((corners, _by_looks(shapes)))
        return corners

    def paths(self) -> Iterator[str]:
        """A path for all shapes that look alike, lower levels first."""
        layers: dict[Looks, list[str]] = {}
        for corners, part in self._parts:
            if corners:
                for looks, data in part:
                    layers.setdefault(looks, []).append(data.join(corners) + data)
                corners.clear()
        for (_, attributes), found in sorted(layers.items(), key=itemgetter(0)):
            yield f'<path d="{"".join(found)}" {attributes}/>'


def _by_looks(shapes: Iterable[Shape]) -> list[tuple[Looks, str]]:
    """Path data from the corner of a box on, for each look; a shape that another follows must end where it began."""
    data: dict[Looks, str] = {}
    ends: dict[Looks, tuple[float, float]] = {}
    for shape in shapes:
        looks = (shape.level, shape.looks)
        x, y = ends.get(looks, (0.0, 0.0))
        data[looks] = data.get(looks, "") + f"m{figure(shape.x - x)} {figure(shape.y - y)}{shape.data}"
        ends[looks] = (shape.x, shape.y)
    return list(data.items())
