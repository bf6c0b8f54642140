"""Screen 5: what a stress run found, length by length, while it goes on or afterwards."""

from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from shadowviz.diagrams.boundary_rows import RowsBy
from shadowviz.tui.frame import Frame
from shadowviz.tui.models.cells import wrap
from shadowviz.tui.models.stress_grid import StressGrid
from shadowviz.tui.screens.base import PaneScreen
from shadowviz.tui.screens.copying import copy_command, copy_text
from shadowviz.tui.screens.stress_inspector import stress_paragraphs
from shadowviz.tui.screens.stress_start import go_on
from shadowviz.tui.stress_checks import StressChecks
from shadowviz.tui.stress_run import StressRun
from shadowviz.tui.stress_title import no_finding_words, title_words
from shadowviz.tui.stress_words import StressStand, cell_command, command_of, is_stress_command, stand_of, stand_words
from shadowviz.tui.widgets.lines import LineView
from shadowviz.tui.widgets.one_line import FewLines
from shadowviz.tui.widgets.stress_view import HEADS, StressRows, StressView
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import BoundaryChecked

GATHER_S = 0.02
"""Work of one frame on new checks."""
MOST_ROWS = 2
"""Of the sentence that tells how the run stands."""
ROWS: tuple[RowsBy | None, ...] = (None, *RowsBy)


class StressScreen(PaneScreen):
    """The heat map of the record; Enter on a cell opens the ruler at its length."""

    name_of_screen = "stress"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "drill", "ruler", id="stress.drill"),
        Binding("r", "begin", "begin a run", id="stress.begin"),
        Binding("x", "stop", "stop it", id="stress.stop"),
        Binding("c", "go_on", "go on", id="stress.go-on"),
        Binding("n", "finding(1)", "next finding", id="stress.next"),
        Binding("N", "finding(-1)", "finding before", show=False, id="stress.previous"),
        Binding("s", "rows", "rows", id="stress.rows"),
        Binding("plus,equals_sign", "rescale(-1)", "zoom in", show=False, id="stress.zoom-in"),
        Binding("minus", "rescale(1)", "zoom", id="stress.zoom-out", key_display="+ -"),
        Binding("y", "copy", "copy command", id="stress.copy"),
        Binding("e", "export", "export the heat map", show=False, id="stress.export"),
        Binding("p", "app.pause", "pause", show=False, id="time.pause"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._checks = self._counted = StressChecks()
        """Up to the moment shown, and those that tell how the run stands, whatever moment that is."""
        self._whole = StressChecks()
        """Up to the newest event, where another moment is shown."""
        self._stand: StressStand | None = None
        self._rows_by: RowsBy | None = None
        self._drawn: tuple[object, ...] = ()

    def compose_main(self) -> ComposeResult:
        yield FewLines(id="stand")
        yield StressView(id="list")

    @property
    def _grid(self) -> StressGrid | None:
        return self._checks.grid

    @property
    def is_working(self) -> bool:
        return super().is_working or self._checks.is_behind or self._counted.is_behind

    @property
    def view(self) -> StressView:
        """The heat map."""
        return self.query_one("#list", StressView)

    def title_segments(self, width: int) -> list[Segment]:
        grid, look = self._grid, self.look
        if grid is None or not grid.started:
            return [Segment(" Stress", look.muted)]
        subjects = list(dict.fromkeys(event.subject for event in grid.started))
        named = subjects[0] if len(subjects) == 1 else f"{len(subjects)} subjects"
        return [Segment(title_words(grid, self._rows_by, look.shown(named), self.view.place.zoom, width), look.strong)]

    def show(self, frame: Frame) -> None:
        self._checks.sync(self.session.follower, frame.at, self._rows_by, GATHER_S)
        self._count(frame)
        self._tell_stand(frame)
        grid, view = self._grid, self.view
        if grid is None or not grid.started:
            view.rows, self._drawn = None, ()
            view.rows_changed()
            self.inspector.show([Paragraph(self._nothing(), self.look.muted)])
            return
        drawn = (grid, grid.num_checks, self.look, view.size.width)
        if drawn != self._drawn:
            self._drawn = drawn
            is_new = view.rows is None or view.rows.grid is not grid
            had_none = view.rows is None or not view.rows.rows
            view.rows = StressRows(grid, view.place, self.look)
            if had_none:
                view.cursor = max(view.cursor, HEADS)
            if is_new:
                view.place.move(view.place.length, grid.lengths, view.columns)
            view.rows_changed()
        self._inspect()

    def _count(self, frame: Frame) -> None:
        """Take in all checks on record; those of the grid are all of them unless the user stays at another moment."""
        self._counted = self._checks
        if frame.at < frame.head and not self.session.timeline.follows:
            self._counted = self._whole
            self._whole.sync(self.session.follower, frame.head, None, GATHER_S)

    def _nothing(self) -> str:
        run = self.owner.runs.stress
        if run is not None and run.state.alive:
            return f"The run loads what it needs, and works out what there is to check: {command_of(run)}"
        (key,) = self._keys_of("stress.begin")
        words = f"No stress run is on this record. {key} begins one here; or in another terminal, to be followed while "
        return words + "it goes on: shadowviz stress tiny-512 -o stress.jsonl"

    def _keys_of(self, *names: str) -> list[str]:
        """The keys of bindings of this screen, as the foot writes them; empty where there is none."""
        found = {one.binding.id: one.binding for one in reversed(self.active_bindings.values())}
        return [self.owner.key_words(found[name]) if name in found else "" for name in names]

    def _tell_stand(self, frame: Frame) -> None:
        """How the run stands, in a sentence over the heat map."""
        stand = self._stand = stand_of(self._counted, self._run, frame.log, frame.head)
        words = stand_words(stand, *self._keys_of("stress.stop", "stress.go-on", "stress.next"))
        look, rows = self.look, wrap(self.look.shown(words), max(1, self.size.width - 2))[:MOST_ROWS]
        ink = look.warning if stand.needs_look else look.title
        self.query_one("#stand", FewLines).show_lines([[Segment(f" {row}", ink)] for row in rows] if words else [])

    @property
    def _run(self) -> StressRun | None:
        """The run that was begun here, if it is the one shown."""
        runs = self.owner.runs
        run = runs.stress
        is_shown = run is not None and (run.session is None or run.session is self.session)
        return run if is_shown else None

    @property
    def _check(self) -> BoundaryChecked | None:
        """The worst check of the cell at the cursor, or the one that says nothing of it."""
        cell = self.view.cell
        if cell is None:
            return None
        try:
            event = self.session.event_at(cell.leads_to)
        except LogError:
            return None
        return event if isinstance(event, BoundaryChecked) else None

    def _inspect(self) -> None:
        self.inspector.show(stress_paragraphs(self.view.place, self.view.cell, self._check, self._grid, self.look))

    def on_line_view_moved(self, _event: LineView.Moved) -> None:
        self._moved()

    def on_stress_view_cell_moved(self, _event: StressView.CellMoved) -> None:
        self._moved()

    def _moved(self) -> None:
        self.view.rows_changed()
        if self._grid is not None and self._grid.started:
            self._inspect()
            self.draw(self.owner.frame)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action does something here."""
        run = self.owner.runs.stress
        is_alive = run is not None and run.state.alive
        if action in ("stop", "begin"):
            return is_alive == (action == "stop")
        if action == "go_on":
            return not is_alive and self._stand is not None and self._stand.can_go_on
        if action in ("drill", "finding", "rows", "rescale", "copy"):
            return self._grid is not None and bool(self._grid.started)
        return super().check_action(action, parameters)

    def action_rescale(self, step: int) -> None:
        """More lengths a column, or fewer."""
        self.view.rescale(step)

    def action_rows(self) -> None:
        """What a row stands for: as the run suggests, then mode, kind and layer, fault, subject."""
        self._rows_by = ROWS[(ROWS.index(self._rows_by) + 1) % len(ROWS)]
        self.owner.tick()

    def action_finding(self, by: int) -> None:
        """Go to the next length with a finding in any row, or to the one before."""
        rows = self.view.rows
        if rows is None:
            return
        found = rows.next_finding(self.view.place.length, self.view.cursor - HEADS, by)
        if found is None:
            self.owner.say(no_finding_words(rows.grid, by))
            return
        length, row = found
        self.view.move_to(row + HEADS, tell=False)
        self.view.go_to(length)

    def action_drill(self) -> None:
        """Open the ruler at the length of the cell."""
        check = self._check
        if check is None:
            self.owner.say("no check here")
            return
        self.session.selection.select(request="", node=0, seq=check.seq, token=-1)
        self.owner.drill("ruler")

    def action_copy(self) -> None:
        """Copy the command that reproduces the cell, else the one that began the run."""
        check, run, grid = self._check, self._run, self._grid
        if check is not None and is_stress_command(check.command):
            copy_text(self.owner, check.command)
        elif check is not None and grid is not None:
            copy_command(self.owner, cell_command(check, self.view.lengths, grid.started))
        elif run is not None:
            copy_text(self.owner, command_of(run))
        else:
            self.owner.say("no check here")

    def action_begin(self) -> None:
        """Ask what a run is to check, and begin it."""
        self.owner.action_begin_stress()

    def action_stop(self) -> None:
        """End the run; what it has checked stays on record."""
        if self.owner.runs.stress is not None:
            self.owner.runs.stress.stop()
            self.owner.tick()

    def action_go_on(self) -> None:
        """Take up the run of this record where it stopped."""
        go_on(self.owner, self.session.follower.path)

    def action_export(self) -> None:
        """Write the heat map of all lengths that were checked so far, with these rows, to a file."""
        # Loads what the first frame need not wait for.
        from shadowviz.tui.exports.diagrams import boundary_at
        from shadowviz.tui.screens.export_ask import ask_and_export

        if self._grid is None or not self._grid.started:
            self.owner.say("no stress run is on this record")
        else:
            ask_and_export(self.owner, boundary_at(self.session.timeline.at, self._rows_by))
