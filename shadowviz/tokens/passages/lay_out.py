"""Two compared prompts as rows of lines, aligned by their tokens; equal lines far from a difference folded."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from shadowviz.tokens.align.runs import Integers
from shadowviz.tokens.align.token_diff import Hunk, Op, TokenDiff
from shadowviz.tokens.passages.lines import Lettered, Lines, cut_places, lettered
from shadowviz.tokens.passages.pairs import Pair, pairs_of
from shadowviz.tokens.passages.passage import Fold, Mark, Row
from shadowviz.tokens.side import Side
from shadowviz_engine.core.spans import Extent

MARKS = {
    Op.INSERT: Mark.ALONE,
    Op.DELETE: Mark.ALONE,
    Op.REPLACE: Mark.CHANGED,
    Op.RETOKENIZED: Mark.RETOKENIZED,
}


def passages(a: Side, b: Side, diff: TokenDiff, context: int = 3) -> Iterator[Row | Fold]:
    """Both prompts from their beginning to their end.

    Lines end after line ends of any kind; a very long one is cut into parts. The pieces of all lines of a side, with
    their escapes undone, are its text, in which markers that the tokenizer added are spelled out; of ids that cannot be
    read, their numbers. A token that differs marks every character that it has a part in.

    Args:
        context: equal lines that are shown before and behind a difference.
    """
    letters_a, letters_b = lettered(a), lettered(b)
    partners = _partners(letters_a, letters_b, diff)
    one, other = _lines(letters_a, letters_b, partners, diff)
    pairs = list(pairs_of(one, other, partners))
    for shown, group in groupby(zip(_shown(one, other, pairs, context), pairs, strict=True), key=lambda item: item[0]):
        rows = [pair for _, pair in group]
        if shown:
            for i, j in rows:
                yield Row(None if i is None else one.line(i), None if j is None else other.line(j))
        else:
            first, last = rows[0][0], rows[-1][0]
            assert first is not None, "only lines that both have are folded"
            assert last is not None, "only lines that both have are folded"
            yield Fold(len(rows), one.num_tokens(first, last))


def _shown(one: Lines, other: Lines, pairs: Sequence[Pair], context: int) -> list[bool]:
    """For each row whether a difference is near."""
    same = [i is not None and j is not None and bool(one.clean[i] and other.clean[j]) for i, j in pairs]
    differing = np.flatnonzero(~np.array(same, np.bool_))
    rows = np.arange(len(pairs))
    begun = np.searchsorted(differing, rows - context, side="left")
    shown: list[bool] = (begun < np.searchsorted(differing, rows + context, side="right")).tolist()
    return shown


def _lines(one: Lettered, other: Lettered, partners: Integers, diff: TokenDiff) -> tuple[Lines, Lines]:
    cuts = cut_places(one, one.line_ends)
    # Parts of a long line begin at the same token on both sides, so that they can be laid side by side.
    held = partners[np.searchsorted(one.tokens[:-1], cuts, side="left")]
    carried = other.tokens[held[held >= 0]]
    ends = np.union1d(other.line_ends, carried[(carried > 0) & (carried < len(other.text))])
    return (
        Lines(one, np.union1d(one.line_ends, cuts), _marked(one, [(hunk, hunk.a) for hunk in diff.hunks])),
        Lines(
            other,
            np.union1d(ends, cut_places(other, ends)),
            _marked(other, [(hunk, hunk.b) for hunk in diff.hunks]),
        ),
    )


def _partners(one: Lettered, other: Lettered, diff: TokenDiff) -> Integers:
    """For each token of A the one of B that holds the same text's beginning; -1 where there is none."""
    partners = np.full(len(one.starts), -1, np.int64)
    for hunk in diff.hunks:
        tokens_a, tokens_b = slice(hunk.a.start, hunk.a.stop), slice(hunk.b.start, hunk.b.stop)
        if hunk.op is Op.EQUAL:
            partners[tokens_a] = np.arange(hunk.b.start, hunk.b.stop)
        elif hunk.op is Op.RETOKENIZED:
            starts_b = other.starts[tokens_b]
            places = one.starts[tokens_a] - one.starts[hunk.a.start] + starts_b[0]
            partners[tokens_a] = hunk.b.start + np.searchsorted(starts_b, places, side="right") - 1
    return partners


def _marked(letters: Lettered, hunks: Sequence[tuple[Hunk, Extent]]) -> list[tuple[Extent, Mark]]:
    """What differs, grown to whole characters; one that belongs to two stretches stays with the first."""
    marked: list[tuple[Extent, Mark]] = []
    done = 0
    for hunk, tokens in hunks:
        if hunk.op is Op.EQUAL or not tokens.size:
            continue
        start = int(letters.tokens[tokens.start])
        last = letters.starts[tokens.stop] if tokens.stop < len(letters.starts) else len(letters.raw)
        stop = int(np.searchsorted(letters.characters, last, side="left"))
        # A token without a text of its own marks the character before which it stands.
        start = max(done, min(start, len(letters.text) - 1))
        stop = min(max(stop, start + 1), len(letters.text))
        if start < stop:
            marked.append((Extent(start, stop), MARKS[hunk.op]))
            done = stop
    return marked
