"""How much an alignment looks at, whatever the two sides are."""

import random

import numpy as np
import pytest

from shadowviz.tokens.align import anchors, matching
from shadowviz.tokens.align.edits import Path, shortest_path
from shadowviz.tokens.align.runs import Integers, Run

SIZE = 20_000
RANDOM = random.Random(6)
ROWS = list(range(SIZE))
TWO = [RANDOM.randrange(2) for _ in ROWS]
HARD = {
    "two values at random": (TWO, TWO[::2] + TWO[1::2]),
    "teeth of a comb": (
        ROWS,
        [value for pair in zip(ROWS[: SIZE // 2], ROWS[SIZE // 2 :], strict=True) for value in pair],
    ),
    "a change every fifty": (ROWS, [row + SIZE * (row % 50 < 8) for row in ROWS]),
    "backwards": (ROWS, ROWS[::-1]),
    "blocks in another order": (
        ROWS,
        [value for start in RANDOM.sample(range(0, SIZE, 20), SIZE // 20) for value in ROWS[start : start + 20]],
    ),
    "dots at other distances": ([int(row % 7 == 0) for row in ROWS], [2 * int(row % 11 == 0) for row in ROWS]),
}


def arrays(x: list[int], y: list[int]) -> tuple[Integers, Integers]:
    return np.array(x, np.int64), np.array(y, np.int64)


@pytest.mark.parametrize("name", HARD)
def test_no_input_costs_more_than_the_limits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: dict[int, int] = {}
    hashed: list[int] = []

    def counted_path(x: Integers, y: Integers, max_edits: int) -> Path:
        path = shortest_path(x, y, max_edits)
        kind = matching.MANY_EDITS if max_edits == matching.MANY_EDITS else matching.FEW_EDITS
        steps[kind] = steps.get(kind, 0) + path.steps
        return path

    def counted_anchors(x: Integers, y: Integers, width: int) -> list[Run]:
        hashed.append(len(x) + len(y))
        return anchors.anchors(x, y, width)

    monkeypatch.setattr(matching, "MOST_STEPS", 500)
    monkeypatch.setattr(matching, "MOST_PASSES", 2)
    monkeypatch.setattr(matching, "shortest_path", counted_path)
    monkeypatch.setattr(matching, "anchors", counted_anchors)
    x, y = arrays(*HARD[name])
    matching.equal_runs(x, y)
    assert steps
    for max_edits, looked_at in steps.items():
        # The last one that is begun is also finished.
        assert looked_at <= 500 + (max_edits + 1) * (max_edits + 2)
    allowed = 2 * (len(x) + len(y))
    assert sum(hashed) <= allowed
    assert (len(hashed) - 1) * matching.COST_OF_A_PASS <= allowed
