"""What the inspector says of an event: what its kind means, and every field of it."""

from shadowviz.tui.models.event_words import event_fields, event_words, meaning
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.events import Event


def event_paragraphs(event: Event, at: int, look: Look) -> list[Paragraph]:
    """The paragraphs about an event, where the state is shown after event `at`."""
    if event.seq == at:
        when = "the state shown is the one after it"
    elif event.seq < at:
        when = "Enter shows the state after it"
    else:
        when = "not happened yet in the state shown; Enter goes there"
    kind = event_words(event).kind
    return [
        Paragraph(f"{kind}: {meaning(event)}", look.text, f"e{event.seq:,}  ", look.strong),
        Paragraph(when, look.muted),
        *(Paragraph(value, look.text, f"{name:<12} ", look.title) for name, value in event_fields(event)),
    ]
