"""Causes that only the ids show: the same text as other tokens, and marks that stand for nothing in the text."""

from collections.abc import Sequence

from shadowviz.tokens.finding import Cause
from shadowviz.tokens.side import Side
from shadowviz_engine.core.spans import Extent


def mark_cause(a: Side, b: Side, tokens_a: Extent, tokens_b: Extent) -> Cause | None:
    """BOS_DOUBLED, BOS_MISSING or EOS_SWAPPED, where a stretch holds only such marks."""
    ids_a, ids_b = a.ids[tokens_a.start : tokens_a.stop], b.ids[tokens_b.start : tokens_b.stop]
    for side, tokens, ids, others in ((a, tokens_a, ids_a, ids_b), (b, tokens_b, ids_b, ids_a)):
        if ids and not others and _all_in(ids, side.encoder.bos_ids):
            # A mark of a beginning that also ends a text says which of the two it is only where a text begins.
            if tokens.start and _all_in(ids, side.encoder.eos_ids):
                return None
            beside = [*side.ids[max(0, tokens.start - 1) : tokens.start], *side.ids[tokens.stop : tokens.stop + 1]]
            doubled = len(ids) > 1 or any(i in side.encoder.bos_ids for i in beside)
            return Cause.BOS_DOUBLED if doubled else Cause.BOS_MISSING
    if ids_a and ids_b and _all_in(ids_a, a.encoder.eos_ids) and _all_in(ids_b, b.encoder.eos_ids):
        return Cause.EOS_SWAPPED if _controls(a, ids_a) and _controls(b, ids_b) else None
    return None


def same_text_cause(a: Side, b: Side, tokens_a: Extent, tokens_b: Extent) -> Cause:
    """Why the same bytes stand there as other ids."""
    if a.encoder.fingerprint != b.encoder.fingerprint:
        return Cause.TOKENIZER_VERSION
    ids_a, ids_b = a.ids[tokens_a.start : tokens_a.stop], b.ids[tokens_b.start : tokens_b.stop]
    return Cause.SPECIAL_VS_TEXT if _controls(a, ids_a) != _controls(b, ids_b) else Cause.RETOKENIZED


def _controls(side: Side, ids: Sequence[int]) -> int:
    return sum(map(side.encoder.is_control, ids))


def _all_in(ids: Sequence[int], marks: frozenset[int]) -> bool:
    return bool(ids) and all(i in marks for i in ids)
