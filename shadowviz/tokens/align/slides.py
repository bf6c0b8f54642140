"""Insertions and deletions put where the front of both sequences has as much in common as can be."""

from shadowviz.tokens.align.runs import Integers, Run, common_prefix, common_suffix, joined


def slid(x: Integers, y: Integers, runs: list[Run]) -> list[Run]:
    """The runs with every insertion and deletion as late as it can stand; no fewer values are equal than before.

    One that repeats what stands before it can be placed in several ways; the late one goes with a common prefix that is
    as long as can be. What is equal at the ends of a gap joins the runs beside it.
    """
    result: list[Run] = []
    before = Run(0, 0, 0)
    for run in [*runs, Run(len(x), len(y), 0)]:
        before, behind = _closed(x, y, before, run)
        if behind.size or run.a == len(x):
            result.append(before)
            before = behind
    return joined([*result, before])


def _closed(x: Integers, y: Integers, before: Run, behind: Run) -> tuple[Run, Run]:
    """Two runs in a row after the gap between them was made as late and as small as can be."""
    stop_a, stop_b = before.a + before.size, before.b + before.size
    size_a, size_b = behind.a - stop_a, behind.b - stop_b
    if size_a and size_b:
        front = common_prefix(x[stop_a : behind.a], y[stop_b : behind.b])
        back = common_suffix(x[stop_a + front : behind.a], y[stop_b + front : behind.b])
        return _grown(before, front), Run(behind.a - back, behind.b - back, behind.size + back)
    longer = x[stop_a : behind.a + behind.size] if size_a else y[stop_b : behind.b + behind.size]
    moved = common_prefix(longer, longer[size_a + size_b :])
    return _grown(before, moved), Run(behind.a + moved, behind.b + moved, behind.size - moved)


def _grown(run: Run, size: int) -> Run:
    return Run(run.a, run.b, run.size + size)
