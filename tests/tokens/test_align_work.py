"""How much an alignment looks at, whatever the two sides are."""

import random

import numpy as np
import pytest

from shadowviz.tokens import anchors, matching
from shadowviz.tokens.edits import Path, shortest_path
from shadowviz.tokens.runs import Integers, Run

SIZE = 20_000
RANDOM = random.Random(6)
ROWS = list(range(SIZE))
TWO = [RANDOM.randrange(2) for _ in ROWS]
PARAGRAPHS = [[RANDOM.randrange(50, 5000) for _ in range(200)] for _ in range(SIZE // 200)]
HARD = {
    "two values at random": (TWO, TWO[::2] + TWO[1::2]),
    "teeth of a comb": (
        ROWS,
        [value for pair in zip(ROWS[: SIZE // 2], ROWS[SIZE // 2 :], strict=True) for value in pair],
    ),
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
    steps, hashed = [], []

    def counted_path(x: Integers, y: Integers, max_edits: int) -> Path:
        path = shortest_path(x, y, max_edits)
        steps.append(path.steps)
        return path

    def counted_anchors(x: Integers, y: Integers, width: int) -> list[Run]:
        hashed.append(len(x) + len(y))
        return anchors.anchors(x, y, width)

    monkeypatch.setattr(matching, "MOST_STEPS", 50_000)
    monkeypatch.setattr(matching, "shortest_path", counted_path)
    monkeypatch.setattr(matching, "anchors", counted_anchors)
    x, y = arrays(*HARD[name])
    matching.equal_runs(x, y)
    largest = (matching.MANY_EDITS + 1) * (matching.MANY_EDITS + 2) // 2
    assert 0 < sum(steps) <= 2 * (50_000 + largest)
    assert sum(hashed) <= matching.MOST_PASSES * (len(x) + len(y))
    assert (
        len(hashed)
        <= 1 + sum(hashed) // matching.COST_OF_A_PASS + matching.MOST_PASSES * 2 * SIZE // matching.COST_OF_A_PASS
    )
