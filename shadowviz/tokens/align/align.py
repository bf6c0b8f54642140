"""Two prompts aligned token by token."""

import numpy as np

from shadowviz.tokens.align.hunks import hunks_between, without_islands
from shadowviz.tokens.align.matching import equal_runs
from shadowviz.tokens.align.runs import Integers, Run, common_prefix, common_suffix
from shadowviz.tokens.align.same_text import equal_in_place, same_back, same_front, same_stretches
from shadowviz.tokens.align.slides import slid
from shadowviz.tokens.align.token_diff import Hunk, Op, TokenDiff
from shadowviz.tokens.side import Side
from shadowviz_engine.core.spans import Extent


def align(a: Side, b: Side) -> TokenDiff:
    """What differs between two prompts.

    `common` counts ids as numbers, as a cache does, whatever the tokenizers. Behind it, text that is the same on both
    sides is aligned by its bytes; what lies between by ids, or by bytes where the tokenizers differ. `align(b, a)` is
    the same with the sides exchanged. Time is about linear in the lengths: alike prompts get an alignment that is as
    good as can be, unlike ones that repeat themselves get a true one that may leave equal stretches unfound.
    """
    x, y = _ids(a), _ids(b)
    common = common_prefix(x, y)
    # The work is done in an order that does not depend on which side is called A.
    if (len(y), *y[common : common + 1]) < (len(x), *x[common : common + 1]):
        return _mirrored(_align(b, a, common))
    return _align(a, b, common)


def _align(a: Side, b: Side, common: int) -> TokenDiff:
    x, y = _ids(a), _ids(b)
    back = common_suffix(x[common:], y[common:])
    rest_a, rest_b = Extent(common, len(x) - back), Extent(common, len(y) - back)
    front_a, front_b = same_front(a, b, rest_a, rest_b)
    back_a, back_b = same_back(a, b, Extent(front_a, rest_a.stop), Extent(front_b, rest_b.stop))
    hunks = [
        *_equal(Run(0, 0, common)),
        *_same_text(a, b, Extent(common, front_a), Extent(common, front_b)),
        *_other_text(a, b, Extent(front_a, back_a), Extent(front_b, back_b)),
        *_same_text(a, b, Extent(back_a, rest_a.stop), Extent(back_b, rest_b.stop)),
        *_equal(Run(rest_a.stop, rest_b.stop, back)),
    ]
    return TokenDiff(tuple(without_islands(a, b, _joined(hunks))), common)


def _same_text(a: Side, b: Side, part_a: Extent, part_b: Extent) -> list[Hunk]:
    return hunks_between(a, b, part_a, part_b, equal_in_place(a, b, part_a, part_b))


def _other_text(a: Side, b: Side, part_a: Extent, part_b: Extent) -> list[Hunk]:
    if a.encoder.fingerprint == b.encoder.fingerprint:
        x, y = _ids(a)[part_a.start : part_a.stop], _ids(b)[part_b.start : part_b.stop]
        runs = [Run(part_a.start + run.a, part_b.start + run.b, run.size) for run in slid(x, y, equal_runs(x, y))]
        return hunks_between(a, b, part_a, part_b, runs)
    hunks: list[Hunk] = []
    token_a, token_b = part_a.start, part_b.start
    for same_a, same_b in same_stretches(a, b, part_a, part_b):
        hunks += hunks_between(a, b, Extent(token_a, same_a.start), Extent(token_b, same_b.start), [])
        hunks += _same_text(a, b, same_a, same_b)
        token_a, token_b = same_a.stop, same_b.stop
    return hunks + hunks_between(a, b, Extent(token_a, part_a.stop), Extent(token_b, part_b.stop), [])


def _joined(hunks: list[Hunk]) -> list[Hunk]:
    """The hunks, with neighbours that say the same made one."""
    result: list[Hunk] = []
    for hunk in hunks:
        last = result[-1] if result else None
        if last and last.op is hunk.op:
            result[-1] = Hunk(hunk.op, Extent(last.a.start, hunk.a.stop), Extent(last.b.start, hunk.b.stop))
        else:
            result.append(hunk)
    return result


def _equal(run: Run) -> list[Hunk]:
    if not run.size:
        return []
    return [Hunk(Op.EQUAL, Extent(run.a, run.a + run.size), Extent(run.b, run.b + run.size))]


def _mirrored(diff: TokenDiff) -> TokenDiff:
    other = {Op.INSERT: Op.DELETE, Op.DELETE: Op.INSERT}
    return TokenDiff(tuple(Hunk(other.get(hunk.op, hunk.op), hunk.b, hunk.a) for hunk in diff.hunks), diff.common)


def _ids(side: Side) -> Integers:
    return np.frombuffer(side.ids, np.int64)
