"""Screen 4: two prompts aligned, why they part, and what that costs."""

from math import inf
from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from shadowviz.tokens.inputs.prompt import Prompt
from shadowviz.tui.frame import Frame
from shadowviz.tui.models.comparison import Compared, Comparison, Rival, prompt_of, rival_of
from shadowviz.tui.screens.ask import AskScreen
from shadowviz.tui.screens.base import PaneScreen
from shadowviz.tui.screens.copying import copy_command, copy_log_command
from shadowviz.tui.widgets.diff_lines import diff_lines, report_paragraphs
from shadowviz.tui.widgets.ready_lines import ReadyLines
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.errors import GeometryError, ShadowvizError
from shadowviz_engine.core.geometry import Geometry

LINES_BEFORE = 4
"""Lines that are seen before the first one that differs."""
ABOUT = "a request of this run, or a prompt: text:..., ids:..., or a file"


class DiffScreen(PaneScreen):
    """A as it is stored and B as it was sent; B is the selected request until another is named."""

    name_of_screen = "diff"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("A", "ask('a')", "set A", id="diff.a"),
        Binding("B", "ask('b')", "set B", id="diff.b"),
        Binding("x", "swap", "swap", id="diff.swap"),
        Binding("n", "change(1)", "next change", id="diff.next"),
        Binding("N", "change(-1)", "change before", show=False, id="diff.previous"),
        Binding("r", "ruler", "ruler of B", id="diff.ruler"),
        Binding("escape", "reset", "the selected request again", show=False, id="diff.reset"),
        Binding("y", "copy", "copy a command that compares them", show=False, id="diff.copy"),
        Binding("e", "export", "export the comparison", show=False, id="diff.export"),
        Binding("p", "app.pause", "pause", show=False, id="time.pause"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._named = {"a": "", "b": ""}
        """As the user named them; empty = by the selection."""
        self._names = ("", "")
        self._comparison: Comparison | None = None
        self._compared_for: tuple[object, ...] = ()
        self._fault = ""
        self._is_asking = False
        """Whether what the lookup of B met is still being replayed."""
        self._drawn: object = None

    def compose_main(self) -> ComposeResult:
        yield ReadyLines(id="list")

    @property
    def view(self) -> ReadyLines:
        """The lines."""
        return self.query_one("#list", ReadyLines)

    def title_segments(self, width: int) -> list[Segment]:
        a, b = (self.look.shown(name) or "-" for name in self._names)
        answer = self._comparison.answer if self._comparison is not None else None
        note = f"  common {answer.report.common:,}" if answer is not None else ""
        return [Segment(f" A {a}   B {b}{note}"[:width], self.look.strong)]

    @property
    def is_working(self) -> bool:
        return self._is_asking

    def show(self, frame: Frame) -> None:  # noqa: ARG002 - prompts do not change
        if self.session.state.opened is None:
            self._compared_for, self._comparison, self._names = (), None, ("", "")
            self._say("Prompts appear once the log was opened.")
            return
        self._set_out()
        comparison = self._comparison
        if self._fault or comparison is None:
            self._say(self._fault or "No request is selected: choose one on screen 1, or name A and B.")
            return
        if comparison.answer is None:
            self._say(comparison.fault or "The two are being compared ...")
            return
        if (comparison, self.look) != self._drawn:
            self._drawn = (comparison, self.look)
            self._draw(comparison.answer)

    def _set_out(self) -> None:
        """Compare what is named or selected, unless that is done already."""
        session = self.session
        b = self._named["b"] or self.selection.request or next(iter(session.state.requests.names[-1:]), "")
        marked = self.selection.rival if self.selection.rival != b else ""
        a = self._named["a"] or marked
        rival = Rival(a) if a or not b else rival_of(session, b)
        a, self._is_asking = rival.name, not rival.known
        compared_for = (a, b, rival.words, id(session.timeline))
        if compared_for == self._compared_for:
            return
        self._compared_for, self._names = compared_for, (a, b)
        self._comparison, self._fault = None, ""
        opened = session.state.opened
        if not a or not b or opened is None:
            self._fault = rival.words if self._is_asking else f"{rival.words} Name a second prompt with A." if b else ""
            return
        try:
            self._comparison = Comparison(self._prompt("a", a), self._prompt("b", b), opened.geometry)
        except ShadowvizError as error:
            self._fault = str(error)

    def _prompt(self, side: str, name: str) -> Prompt | str:
        # What the user has typed may stand for a file or for itself; the name of a request may not.
        if name == self._named[side] and name not in self.session.state.requests.index:
            return name
        return prompt_of(self.session, name)

    def finish(self) -> None:
        if self._is_asking:
            rival_of(self.session, self._names[1], inf)
            self._set_out()
        if self._comparison is not None:
            self._comparison.wait()

    def _say(self, words: str) -> None:
        self._drawn = None
        self.view.show(())
        self.inspector.show([Paragraph(words, self.look.muted)])

    def _draw(self, answer: Compared) -> None:
        lines = diff_lines(answer, self.look)
        self.view.cursor = 0
        self.view.show(lines)
        first = next((row for row, line in enumerate(lines) if line.target), 0)
        self.view.move_to(first, tell=False)
        self.inspector.show(report_paragraphs(answer.report, self.look))
        self.view.show_from(first - LINES_BEFORE)

    def action_ask(self, side: str) -> None:
        """Name the other prompt."""
        self.app.push_screen(
            AskScreen(f"{side.upper()}: {ABOUT}", self._named[side]), lambda text: self._set_name(side, text)
        )

    def _set_name(self, side: str, text: str | None) -> None:
        if text is not None:
            self._named[side] = text
            self.owner.tick()

    def action_swap(self) -> None:
        """A becomes B, and B becomes A."""
        self._named["b"], self._named["a"] = self._names
        self.owner.tick()

    def action_reset(self) -> None:
        """Compare the selected request with the one that its explanation names."""
        self._named = {"a": "", "b": ""}
        self.session.selection.select(rival="")
        self.owner.tick()

    def action_change(self, by: int) -> None:
        """Go to the next stretch that differs, or to the one before."""
        lines, row = self.view.lines, self.view.cursor
        step = 1 if by > 0 else -1
        row += step
        # Past the rest of this stretch first.
        while 0 <= row < len(lines) and lines[row].target and lines[row - step].target:
            row += step
        while 0 <= row < len(lines) and not lines[row].target:
            row += step
        if 0 <= row < len(lines):
            self.view.move_to(row)

    def action_ruler(self) -> None:
        """Show the ruler of B, at the token where the two part."""
        answer = self._comparison.answer if self._comparison is not None else None
        if answer is None or self._names[1] not in self.session.state.requests.index:
            self.owner.say("B is no request of this run")
            return
        self.session.selection.select(request=self._names[1], node=0, token=answer.report.common)
        self.owner.drill("ruler")

    def action_copy(self) -> None:
        """Copy a command that compares the same two."""
        comparison, known = self._comparison, self.session.state.requests.index
        if comparison is None:
            self.owner.say("there are no two prompts to compare")
            return
        cost = _cost_words(comparison.geometry)

        def words(log: str) -> list[str]:
            names = [f"{log}#{name}" if name in known else name for name in self._names]
            dashed = ["--"] if any(name.startswith("-") for name in names) else []
            return ["shadowviz", "diff-tokens", *cost, *dashed, *names]

        if any(name in known for name in self._names):
            copy_log_command(self.owner, words)
        else:
            copy_command(self.owner, words(""))

    def action_export(self) -> None:
        """Write the report, or both prompts line by line, to a file."""
        # Loads what the first frame need not wait for.
        from shadowviz.tui.exports.comparisons import comparison_of
        from shadowviz.tui.screens.export_ask import ask_and_export

        one = self._comparison
        if one is None or one.fault or one.prompts is None:
            self.owner.say("there is no comparison to write")
        else:
            ask_and_export(self.owner, comparison_of(*one.prompts, one.geometry, self.look))


def _cost_words(geometry: Geometry) -> list[str]:
    """Options that let the cost be worked out for the same cache, where they can name it."""
    # Loads what the first comparison need not wait for.
    from shadowviz.tokens.report.cost import geometry_of

    try:
        same = geometry_of(geometry.name, geometry.page_size) == geometry
    except GeometryError:
        return []
    return ["--geometry", geometry.name, "--page-size", str(geometry.page_size)] if same else []
