"""What the inspector says of a request: the verdict, its lengths, and the chain of facts behind it."""

from shadowviz.diagrams.roles import ORIGINS, verdict_style
from shadowviz.replay.explain import Explanation
from shadowviz.replay.summary import summarise
from shadowviz.tui.request_facts import RequestFacts
from shadowviz.tui.session import TICK_S, Session
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import RequestAborted


def request_paragraphs(
    session: Session, facts: RequestFacts, look: Look, budget_s: float = TICK_S
) -> tuple[list[Paragraph], bool]:
    """The paragraphs, and whether they are all there is to say; if not, ask again.

    Args:
        budget_s: for what has to be replayed, about; 0 = only what is known already is told.
    """
    lookup = facts.lookup
    if lookup is None:
        state = Paragraph(f"{facts.state}, {facts.num_prompt:,} tokens; not looked up yet", look.text)
        return [_named(state, facts, look), *_ending(facts, look)], True
    try:
        told = session.timeline.explained(lookup.seq)
        explanation = told or (session.explain(lookup.seq, budget_s) if budget_s else None)
    except LogError as error:
        return [_named(Paragraph(str(error), look.warning), facts, look)], True
    if explanation is None:
        verdict = session.verdict(lookup)
        known = verdict.finding.label if verdict.sure else "The verdict is being worked out"
        words = f"{known}: replaying what it met, for the facts ..."
        return [_named(Paragraph(words, look.muted), facts, look), _lengths(facts, look)], False
    return _explained(explanation, facts, look), True


def _explained(explanation: Explanation, facts: RequestFacts, look: Look) -> list[Paragraph]:
    verdict = explanation.verdict
    style = verdict_style(str(verdict.verdict), explanation.lookup.reused)
    lost = f", {verdict.gain:,} tokens lost" if verdict.material else ""
    ink = look.ink(style, bold=True)
    says = next((fact.text for fact in explanation.facts if fact.text.startswith("Verdict: ")), "")
    reason = says.removeprefix(f"Verdict: {verdict.label}. ")
    head = Paragraph(f"{look.glyph(style)} {verdict.label}{lost}. {reason}", ink, f"{facts.name}  ", look.strong)
    change = summarise((explanation,)).losses[0].change
    parts = [head, _lengths(facts, look)]
    if change:
        parts.append(Paragraph(change, look.text, "change    ", look.title))
    parts += [
        Paragraph(fact.text, look.text, f"{fact.origin:<9} ", look.ink(ORIGINS[fact.origin]))
        for fact in explanation.facts
        if fact.text != says
    ]
    return [*parts, *_ending(facts, look)]


def _lengths(facts: RequestFacts, look: Look) -> Paragraph:
    lookup = facts.lookup
    assert lookup is not None, "asked only of requests that were looked up"
    arrow = look.pick("→", "->")
    way = f" {arrow} ".join(
        f"{word} {length:,}"
        for word, length in (
            ("prompt", facts.num_prompt),
            ("common", lookup.common),
            ("matched", lookup.matched),
            ("usable", lookup.usable),
            ("reused", lookup.reused),
        )
    )
    return Paragraph(f"{way}; computed {lookup.num_prompt - lookup.reused:,}", look.text)


def _named(part: Paragraph, facts: RequestFacts, look: Look) -> Paragraph:
    return Paragraph(part.text, part.ink, f"{facts.name}  ", look.strong)


def _ending(facts: RequestFacts, look: Look) -> list[Paragraph]:
    words = []
    if facts.namespace:
        words.append(f"namespace {facts.namespace}")
    words.append(f"submitted in e{facts.submitted:,}")
    if facts.lookup is not None:
        words.append(f"looked up in e{facts.lookup.seq:,}")
    if isinstance(facts.end, RequestAborted):
        words.append(f"aborted in e{facts.end.seq:,}: {facts.end.reason}, {facts.end.computed:,} tokens computed")
    elif facts.end is not None:
        words.append(f"done in e{facts.end.seq:,} ({facts.end.reason}), {facts.num_output:,} tokens of output")
    else:
        words.append(f"{facts.state}, {facts.computed:,} tokens computed")
    return [Paragraph("; ".join(words), look.muted)]
