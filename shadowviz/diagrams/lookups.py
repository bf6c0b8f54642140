"""The lookups of a run as a table: what each reused, why no more, and what the run lost by verdict."""

from collections.abc import Sequence

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz.replay.explain import Explanation
from shadowviz.replay.sentences import Fact
from shadowviz.replay.summary import Loss, summarise
from shadowviz.tokens.inert import printable


class LookupLine(msgspec.Struct, frozen=True, kw_only=True):
    """One lookup; lengths in tokens, texts inert."""

    request: str
    seq: int
    num_prompt: int
    common: int
    matched: int
    usable: int
    reused: int
    computed: int
    verdict: str
    detail: str
    lost: int
    """Tokens that lifting the leading rule alone would have saved; 0 when nothing is worth naming."""
    change: str
    """What to do about it; empty when there is nothing to do."""
    facts: tuple[Fact, ...]
    """The chain behind the verdict, a sentence each, with how it is known."""

    @property
    def label(self) -> str:
        """Verdict with its detail."""
        return f"{self.verdict}({self.detail})" if self.detail else self.verdict


class LookupsDiagram(msgspec.Struct, frozen=True, kw_only=True):
    """Lookups in order, and the sums over all of them, those that are not shown included."""

    caption: Caption
    lines: tuple[LookupLine, ...]
    losses: tuple[Loss, ...]
    """By verdict, the dearest first."""
    prompt_tokens: int
    reused_tokens: int
    hit_rate: float
    """Reused of prompt tokens, 0 to 1."""
    best_change: str
    """What would win most; empty when nothing is lost."""
    best_change_wins: int


def lookups_diagram(caption: Caption, explanations: Sequence[Explanation], most: int | None = None) -> LookupsDiagram:
    """The table; `most` keeps the lookups that lost most, in the order of the run."""
    shown: Sequence[Explanation] = explanations
    if most is not None and len(explanations) > most:
        dearest = sorted(range(len(explanations)), key=lambda place: (-explanations[place].lost, place))[:most]
        shown = [explanations[place] for place in sorted(dearest)]
    summary = summarise(explanations)
    counts = (
        ("hit rate", f"{summary.hit_rate:.1%}"),
        ("prompt tokens", f"{summary.prompt_tokens:,}"),
        ("reused", f"{summary.reused_tokens:,}"),
        ("computed", f"{summary.computed_tokens:,}"),
    )
    notes = [printable(summary.hint)] if summary.hint else []
    if len(shown) < len(explanations):
        notes.append(f"The {len(shown):,} lookups that lost most are listed; the sums count all of them.")
    return LookupsDiagram(
        caption=msgspec.structs.replace(
            caption,
            shown=len(shown),
            total=len(explanations),
            unit="lookups",
            counts=(*caption.counts, *counts),
            notes=(*caption.notes, *notes),
        ),
        lines=tuple(_line(explanation) for explanation in shown),
        losses=tuple(_inert_loss(loss) for loss in summary.losses),
        prompt_tokens=summary.prompt_tokens,
        reused_tokens=summary.reused_tokens,
        hit_rate=summary.hit_rate,
        best_change=printable(summary.best_change),
        best_change_wins=summary.best_change_wins,
    )


def verdict_line(explanation: Explanation) -> str:
    """The verdict with what it cost, and the sentence that says why: the words of `why` in one line."""
    verdict = explanation.verdict
    lost = f", {verdict.gain:,} tokens lost" if verdict.material else ""
    says = next((fact.text for fact in explanation.facts if fact.text.startswith("Verdict: ")), "")
    reason = says.removeprefix(f"Verdict: {verdict.label}. ")
    return printable(f"{verdict.label}{lost}: {reason}" if reason else f"{verdict.label}{lost}")


def _line(explanation: Explanation) -> LookupLine:
    lookup, verdict = explanation.lookup, explanation.verdict
    return LookupLine(
        request=printable(explanation.request),
        seq=lookup.seq,
        num_prompt=lookup.num_prompt,
        common=lookup.common,
        matched=lookup.matched,
        usable=lookup.usable,
        reused=lookup.reused,
        computed=lookup.num_prompt - lookup.reused,
        verdict=str(verdict.verdict),
        detail=printable(verdict.detail),
        lost=explanation.lost,
        change=printable(summarise((explanation,)).losses[0].change),
        facts=tuple(Fact(printable(fact.text), fact.origin) for fact in explanation.facts),
    )


def _inert_loss(loss: Loss) -> Loss:
    return msgspec.structs.replace(
        loss, verdict=printable(loss.verdict), example=printable(loss.example), change=printable(loss.change)
    )
