"""What every alignment must keep, checked hunk by hunk."""

from itertools import pairwise

from shadowviz.tokens.align.token_diff import Hunk, Op, TokenDiff
from shadowviz.tokens.side import Side
from shadowviz_engine.core.spans import Extent


def ids_of(side: Side, part: Extent) -> list[int]:
    return list(side.ids[part.start : part.stop])


def check_sound(a: Side, b: Side, diff: TokenDiff) -> None:
    """The contract of `TokenDiff`, hunk by hunk."""
    token_a = token_b = 0
    for hunk in diff.hunks:
        assert (hunk.a.start, hunk.b.start) == (token_a, token_b)
        token_a, token_b = hunk.a.stop, hunk.b.stop
        same_ids = ids_of(a, hunk.a) == ids_of(b, hunk.b)
        same_bytes = a.bytes_of(hunk.a) == b.bytes_of(hunk.b)
        expected = {
            Op.EQUAL: same_ids and bool(hunk.a),
            Op.RETOKENIZED: same_bytes and not same_ids and bool(hunk.a) and bool(hunk.b),
            Op.REPLACE: not same_bytes and bool(hunk.a) and bool(hunk.b),
            Op.INSERT: not hunk.a and bool(hunk.b),
            Op.DELETE: bool(hunk.a) and not hunk.b,
        }
        assert expected[hunk.op], (hunk, diff)
    assert (token_a, token_b) == (len(a.ids), len(b.ids))
    ops = [hunk.op for hunk in diff.hunks]
    assert (Op.EQUAL, Op.EQUAL) not in pairwise(ops)
    prefix = next((i for i, (x, y) in enumerate(zip(a.ids, b.ids, strict=False)) if x != y), min(token_a, token_b))
    assert diff.common == prefix
    assert not prefix or diff.hunks[0] == Hunk(Op.EQUAL, Extent(0, prefix), Extent(0, prefix))
