"""Every key that works on a screen, made from its bindings, and what its marks mean."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from shadowviz.tui.models.cells import fit
from shadowviz.tui.screens.marks import marks_of
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.text_pane import Paragraph, TextPane

_GROUPS = ("On this screen", "In the list", "Everywhere")


class HelpScreen(ModalScreen[None]):
    """Keys, what each does, and the id by which a keymap may change it."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; background: $background 60%; }
    HelpScreen > Vertical { width: 76; max-width: 100%; height: 90%; border: solid $primary; background: $surface; }
    HelpScreen.-ascii > Vertical { border: ascii $primary; }
    HelpScreen TextPane { height: 1fr; padding: 0 1; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "leave", "leave", id="help.leave"),
    ]

    def __init__(self, active: Sequence[ActiveBinding], screen: Screen[object]) -> None:
        super().__init__()
        self._active = [found for found in active if found.enabled and found.binding.id]
        self._screen = screen

    def compose(self) -> ComposeResult:
        with Vertical():
            yield TextPane(id="help")

    def on_mount(self) -> None:
        self.set_class(self.app.look.ascii, "-ascii")  # type: ignore[attr-defined]
        self.query_one(TextPane).show(self._paragraphs())
        self.query_one(TextPane).focus()

    def _paragraphs(self) -> list[Paragraph]:
        app = self.app
        look = app.look  # type: ignore[attr-defined]
        groups: dict[str, dict[str, tuple[Binding, list[str]]]] = {}
        for found in self._active:
            group = groups.setdefault(self._group(found), {})
            entry = group.setdefault(found.binding.action, (found.binding, []))
            # The foot names several keys by one, which leaves out some.
            alone = replace(found.binding, key_display=None)
            entry[1].append(app.key_words(alone))  # type: ignore[attr-defined]
        parts = [
            Paragraph(
                "Keys that work here; Escape closes this. The id at the right names a key in a keymap.", look.muted
            )
        ]
        for name, group in sorted(groups.items(), key=lambda item: _GROUPS.index(item[0])):
            parts += [Paragraph(""), Paragraph(name, look.title)]
            for binding, keys in group.values():
                words = (
                    f"{fit(binding.description, 30)} {binding.id}" if self.app.size.width >= 76 else binding.description
                )
                parts.append(Paragraph(words, look.text, fit(", ".join(keys), 18), look.strong))
        return [*parts, *self._marks(look)]

    def _marks(self, look: Look) -> Iterator[Paragraph]:
        name = getattr(self._screen, "name_of_screen", "")
        session = self.app.session  # type: ignore[attr-defined]
        marks = marks_of(name, session, look)
        if marks:
            yield Paragraph("")
            yield Paragraph("Marks", look.title)
        for mark, ink, words in marks:
            yield Paragraph(words, look.text, fit(mark, 4), ink)

    def _group(self, found: ActiveBinding) -> str:
        node = found.node
        if node is self._screen:
            return _GROUPS[0]
        if isinstance(node, Widget):
            return _GROUPS[1]
        return _GROUPS[2]

    def action_leave(self) -> None:
        """Close it."""
        self.dismiss(None)
