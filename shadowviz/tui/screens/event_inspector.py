"""What the inspector says of an event: what its kind means, what it says in words, and every field of it."""

from shadowviz.diagrams.roles import verdict_style
from shadowviz.replay.nearest import Words
from shadowviz.tui.models.event_says import event_says
from shadowviz.tui.models.event_words import event_fields, event_words, meaning
from shadowviz.tui.session import Session
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import Event, LookupDone

LEAD = 13
"""Columns of what a line is about."""


def event_paragraphs(session: Session, event: Event, at: int, words: Words | None, look: Look) -> list[Paragraph]:
    """The paragraphs about an event, where the state is shown after event `at`."""
    if event.seq == at:
        when = "the state shown is the one after it"
    elif event.seq < at:
        when = "Enter shows the state after it"
    else:
        when = "not happened yet in the state shown; Enter goes there"
    kind = event_words(event).kind
    says = [_line(name, value, look) for name, value in event_says(event, words)]
    return [
        Paragraph(f"{kind}: {meaning(event)}", look.text, f"e{event.seq:,}  ", look.strong),
        *([_verdict(session, event, look)] if isinstance(event, LookupDone) else []),
        *says,
        Paragraph(when, look.muted),
        Paragraph("as it is recorded:", look.muted),
        *(_line(name, value, look) for name, value in event_fields(event)),
    ]


def explain_more(session: Session, event: Event, budget_s: float) -> bool:
    """Work on the verdict of a lookup for about so long; whether there is more to do."""
    if not isinstance(event, LookupDone) or session.verdict(event).sure:
        return False
    try:
        return session.explain(event.seq, budget_s) is None
    except LogError:
        return False


def _verdict(session: Session, lookup: LookupDone, look: Look) -> Paragraph:
    known = session.timeline.explained(lookup.seq)
    if known is None and not session.verdict(lookup).sure:
        return _line("verdict", "replaying what it met, for the facts ...", look)
    finding = session.verdict(lookup).finding
    style = verdict_style(str(finding.verdict), lookup.reused)
    lost = f", {finding.gain:,} tokens lost" if finding.material else ""
    text = f"{look.glyph(style)} {finding.label}{lost}"
    if known is not None:
        says = next((fact.text for fact in known.facts if fact.text.startswith("Verdict: ")), "")
        text += f". {says.removeprefix(f'Verdict: {finding.label}. ')}"
    return Paragraph(look.shown(text), look.ink(style, bold=True), f"{'verdict':<{LEAD}}", look.title)


def _line(name: str, value: str, look: Look) -> Paragraph:
    return Paragraph(look.shown(value), look.text, f"{name:<{LEAD - 1}} ", look.title)
