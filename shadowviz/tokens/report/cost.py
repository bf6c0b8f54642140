"""What a difference costs under the geometry of a cache, and the token diff summed up."""

from collections import Counter
from typing import Final

import msgspec

from shadowviz.tokens.align.token_diff import Op, TokenDiff
from shadowviz.tokens.report.cure import Cure
from shadowviz.tokens.report.report import Alignment, Cost, KindRows, OpCount, Run
from shadowviz_engine.core.derive import derive
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import Lookup, ResumeRule, plan_reuse, prompt_cap, reuse_rules

MAX_RUNS: Final = 20
"""Stretches of the alignment that are listed."""
STRIP: Final = 60
"""Characters of the strip."""
GLYPHS: Final = {Op.EQUAL: "=", Op.REPLACE: "~", Op.DELETE: "-", Op.INSERT: "+", Op.RETOKENIZED: "%"}
PARTLY: Final = ":"


def geometry_of(name: str, page: int = 0) -> Geometry:
    """A preset, with another page where `page` (tokens) is not 0.

    Raises:
        GeometryError: there is none, or the page does not fit it.
    """
    found = preset(name)
    return msgspec.structs.replace(found, page_size=page) if page else found


def cost_of(
    geometry: Geometry, num_prompt: int, common: int, gain: int, gain_of_all: int, cure: Cure | None = None
) -> Cost:
    """What is reused of a prompt: now, with `gain` tokens more in common, and with every difference mended.

    What a cure has measured stands in the place of `gain`.
    """
    gain = gain if cure is None else cure.common - common
    moved = min(num_prompt, cure.moved) if cure and cure.moved is not None else None
    mended = min(num_prompt, common + gain)
    reused = reused_length(geometry, num_prompt, common)
    reused_if = reused_length(geometry, num_prompt, mended)
    all_mended = max(mended, min(num_prompt, common + gain_of_all))
    return Cost(
        geometry=geometry.name,
        page=reuse_rules(geometry, ResumeRule.PAGE).unit,
        num_prompt=num_prompt,
        common=common,
        reused=reused,
        mended=mended,
        reused_if_mended=reused_if,
        reused_if_all_mended=reused_length(geometry, num_prompt, all_mended),
        lost=reused_if - reused,
        rows=_rows(geometry, reused, reused_if),
        proven=cure is not None,
        proof=cure.done if cure else "",
        moved=moved,
        reused_if_moved=None if moved is None else reused_length(geometry, num_prompt, moved),
    )


def reused_length(geometry: Geometry, num_prompt: int, common: int) -> int:
    """Tokens that are reused of a prompt when `common` of them are stored with all their state."""
    lookup = Lookup(num_prompt, common, prompt_cap(geometry, num_prompt))
    return plan_reuse(lookup, reuse_rules(geometry, ResumeRule.PAGE), {}).reused


def _rows(geometry: Geometry, start: int, stop: int) -> tuple[KindRows, ...]:
    ranged = {kind.label for kind in geometry.kinds if kind.shape is Shape.RANGE}
    return tuple(
        KindRows(owned.kind, owned.rows.size, len(owned.layers))
        for owned in derive(geometry, start, stop)
        if owned.kind in ranged and owned.rows
    )


def alignment_of(diff: TokenDiff) -> Alignment:
    """The diff in figures, its largest stretches, and a drawing of A."""
    differing = [hunk for hunk in diff.hunks if hunk.op is not Op.EQUAL]
    largest = sorted(differing, key=lambda hunk: -max(hunk.a.size, hunk.b.size))[:MAX_RUNS]
    counts = (
        OpCount(op, len(hunks), sum(hunk.a.size for hunk in hunks), sum(hunk.b.size for hunk in hunks))
        for op in Op
        if (hunks := [hunk for hunk in diff.hunks if hunk.op is op])
    )
    return Alignment(
        counts=tuple(counts),
        runs=tuple(Run(hunk.op, hunk.a, hunk.b) for hunk in sorted(largest, key=lambda hunk: (hunk.a, hunk.b))),
        num_runs=len(differing),
        realigned=diff.realigned,
        strip=_strip(diff),
    )


def _strip(diff: TokenDiff) -> str:
    """A and what was put into it, to scale: what most of a part is, or `PARTLY` where less than half of it differs."""
    sizes = [max(hunk.a.size, hunk.b.size) for hunk in diff.hunks]
    total = sum(sizes)
    width = min(STRIP, total)
    cells: list[Counter[Op]] = [Counter() for _ in range(width)]
    end = 0
    for hunk, size in zip(diff.hunks, sizes, strict=True):
        start, end = end, end + size
        if hunk.op is not Op.EQUAL:
            for cell in range(start * width // total, -(-end * width // total)):
                # In units of a token of the whole by the width, so that all is whole numbers.
                inside = min(end * width, (cell + 1) * total) - max(start * width, cell * total)
                cells[cell][hunk.op] += inside
    return "".join(_glyph(cell, total) for cell in cells)


def _glyph(cell: "Counter[Op]", size: int) -> str:
    if not cell:
        return GLYPHS[Op.EQUAL]
    return GLYPHS[cell.most_common(1)[0][0]] if 2 * cell.total() >= size else PARTLY
