"""What the inspector says beside the pools: the line at the cursor, what leaves next, and what fits."""

from collections.abc import Sequence

from shadowviz.diagrams.roles import NEXT_OUT
from shadowviz.replay.counts import tokens
from shadowviz.tui.models.pools_model import Fit
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.pool_lines import NOT_SHARED, PAGES, PoolLines
from shadowviz.tui.widgets.text_pane import Paragraph

MAX_NAMED = 6
"""Nodes that are named for each pool."""


def pool_paragraphs(about: str, lines: PoolLines, look: Look) -> list[Paragraph]:
    """What is at the cursor first, and what is always so last."""
    parts = [Paragraph(about, look.strong)] if about else []
    parts.append(_next("out", lines.order_words or _named(lines.leaving, "nothing can be evicted"), look))
    if lines.fits:
        parts.append(Paragraph(f"{_fitting(lines.fits)} (derived)", look.text, "fit     ", look.title))
    if not lines.order_words:
        freed = [rows.node for rows in lines.freed]
        parts.append(_next("rows", _named(freed, "no window rows can be freed"), look))
    return [*parts, *_definitions(look)]


def _next(what: str, words: str, look: Look) -> Paragraph:
    return Paragraph(words, look.text, f"{look.glyph(NEXT_OUT)} {what:<6}", look.ink(NEXT_OUT))


def _named(nodes: Sequence[int], none: str) -> str:
    if not nodes:
        return none
    more = " ..." if len(nodes) > MAX_NAMED else ""
    return f"{', '.join(f'n{node}' for node in nodes[:MAX_NAMED])}{more} (derived)"


def _fitting(fits: Sequence[Fit]) -> str:
    return ", ".join(f"{one.sessions:,} of {tokens(one.length)}" for one in fits if one.sessions) or "not one session"


def _definitions(look: Look) -> list[Paragraph]:
    return [
        Paragraph(
            "out: nodes that would be evicted for want of full pages, first the next one; rows: nodes whose window "
            "rows would be freed for want of swa pages.",
            look.muted,
        ),
        Paragraph(
            f"{PAGES}. locked: on the path of a running request, so they cannot leave. running: pages that requests "
            "hold beside the tree.",
            look.muted,
        ),
        Paragraph(f"Sessions fit {NOT_SHARED}.", look.muted),
    ]
