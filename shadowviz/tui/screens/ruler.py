"""Screen 3: what of a prompt's state is there, in columns of tokens, and what a resume at the cut reads of it."""

import time
from typing import ClassVar
from weakref import ref

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from shadowviz.diagrams.kind_styles import kind_style
from shadowviz.tui.frame import Frame
from shadowviz.tui.models.cells import clip
from shadowviz.tui.models.ruler_selections import Chosen, RulerSelections, indexed_lane
from shadowviz.tui.models.ruler_subject import subject_of
from shadowviz.tui.screens.ruler_cursor import RulerCursor
from shadowviz.tui.screens.ruler_files import Seen, copy_seen, export_seen
from shadowviz.tui.screens.ruler_first_words import RulerKeys
from shadowviz.tui.screens.ruler_inspector import ruler_paragraphs
from shadowviz.tui.screens.ruler_moment import LeftMoment
from shadowviz.tui.widgets.lines import LineView
from shadowviz.tui.widgets.ruler_rows import RulerRows, RulerShown
from shadowviz.tui.widgets.ruler_view import RulerView
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz_engine.core.kinds import Shape

MIN_NAME = 12
"""Cells of the name in the title, however little room there is."""
REST = 20
"""The state is looked up anew after this many times as long as looking it up took."""
INDEX_S = 0.01
"""Work of one frame on the sidecar."""


class RulerScreen(RulerCursor):
    """The ruler of what is selected: a request, a node, or a length that was checked."""

    name_of_screen = "ruler"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "lookup", "at lookup", id="ruler.lookup"),
        Binding("backspace", "moment_back", "back", id="app.back"),
        Binding(
            "left_square_bracket",
            "boundary(-1)",
            "boundary before",
            show=False,
            id="ruler.previous-boundary",
            key_display="[",
        ),
        Binding("right_square_bracket", "boundary(1)", "boundary", id="ruler.next-boundary", key_display="[ ]"),
        Binding("c", "cut", "next mark", id="ruler.cut"),
        Binding("m", "mark", "cut here", id="ruler.mark"),
        Binding("plus,equals_sign", "rescale(-1)", "zoom in", show=False, id="ruler.zoom-in"),
        Binding("minus", "rescale(1)", "zoom", id="ruler.zoom-out", key_display="+ -"),
        Binding("K", "layer(-1)", "layer before", show=False, id="ruler.layer-before"),
        Binding("J", "layer(1)", "layer", id="ruler.layer", key_display="J K"),
        Binding("t", "tree", "tree", show=False, id="ruler.tree"),
        Binding("y", "copy", "copy a command that draws this", show=False, id="ruler.copy"),
        Binding("e", "export", "export what is seen", show=False, id="ruler.export"),
        Binding("p", "app.pause", "pause", show=False, id="time.pause"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._subject_for: tuple[object, ...] = ()
        self._due = 0.0
        self._about: tuple[object, ...] = ()
        self._selections = RulerSelections()
        self._known_keys: dict[tuple[bool, bool], RulerKeys] = {}
        self._left: LeftMoment | None = None
        """The moment that was shown before that of the lookup."""

    def compose_main(self) -> ComposeResult:
        view = RulerView(id="list")
        view.told_token = self._select
        yield view

    def title_segments(self, width: int) -> list[Segment]:
        look, place, subject = self.look, self.view.place, self._subject
        if subject is None:
            return [Segment(" Ruler", look.muted)]
        layer = "all layers" if place.layer < 0 else f"layer {place.layer} ({self._kinds(place.layer)})"
        zoom = place.zoom_words
        if place.shows_letters and subject.tokens is not None and (key := self._keys().zoom_in):
            zoom += f" ({key} spells)"
        words = f"  {self._cut_title()} of {self._model.length:,}  {layer}  {zoom}"
        name = clip(look.shown(subject.name), max(MIN_NAME, width - 1 - cell_len(words)), look.pick("…", "~"))
        return [Segment(f" {name}{words}", look.strong if width > 0 else look.muted)]

    def _cut_title(self) -> str:
        if self.view.place.own_cut is None:
            return f"cut {self._model.cut:,}"
        return f"{'your cut' if self._model.is_possible else 'no cut at'} {self._model.cut:,}"

    def _keys(self) -> RulerKeys:
        """Keys that do something now; which they are is looked up once, since that takes as long as drawing."""
        works = (self._subject is not None and bool(self._subject.request), self._moment_left is not None)
        if works not in self._known_keys:
            found = {one.binding.id: one.binding for one in reversed(self.active_bindings.values())}
            names = ("ruler.lookup", "ruler.zoom-in", "app.back" if works[1] else "")
            words = (self.owner.key_words(found[name]) if name in found else "" for name in names)
            self._known_keys[works] = RulerKeys(*words)
        return self._known_keys[works]

    def _kinds(self, layer: int) -> str:
        kinds = (lane.kind for lane in self._model.lanes_of(layer) if lane.kind.shape is not Shape.OPEN)
        return "+".join(self.look.shown(kind_style(kind.label).word) for kind in kinds)

    def show(self, frame: Frame) -> None:
        self._find_subject(frame)
        if self._subject is None:
            self.view.rows = None
            self.view.rows_changed()
            words = "Nothing with tokens is selected: choose a request on screen 1, a node on 2, or a cell on 5."
            self.inspector.show([Paragraph(words, self.look.muted)])
            return
        self._selections.sync(self.session, frame, INDEX_S)
        self._redraw()

    def _find_subject(self, frame: Frame) -> None:
        chosen = self.selection
        about = (chosen.request, chosen.node, chosen.seq, ref(self.session))
        wanted = (frame.version, about, ref(self.session.timeline))
        now = time.monotonic()
        if wanted == self._subject_for or (about == self._about and (now < self._due or not frame.arrival.settled)):
            return
        before, self._subject = self._subject, subject_of(self.session, chosen)
        self._subject_for = wanted
        self._due = time.monotonic() + REST * (time.monotonic() - now)
        if self._subject is None:
            return
        if about != self._about or before is None:
            self._about = about
            self._start_at(self._subject, chosen.token)
        self._centre()
        self._cut_anew()

    def _chosen(self) -> Chosen | None:
        subject, place = self._subject, self.view.place
        return self._selections.chosen(subject.request, place.layer, place.token) if subject is not None else None

    def _redraw(self) -> None:
        subject, view = self._subject, self.view
        assert subject is not None, "checked by the callers"
        place, chosen = view.place, self._chosen()
        words = self.owner.words if self.owner.frame is not None and self.owner.frame.opened is not None else None
        drawn_for = (
            self._subject_for, place.token, place.first, place.zoom, place.layer, place.own_cut, view.cursor,
            view.ruler_width, chosen, self.owner.words_version, self.look, self._moment_left,
        )  # fmt: skip
        if drawn_for == self._drawn_for:
            return
        self._drawn_for = drawn_for
        layer, entries = chosen if chosen is not None else (-1, None)
        shown = RulerShown(
            subject=subject,
            model=self._model,
            place=place,
            words=words,
            chosen=entries,
            chosen_layer=layer,
            chosen_lane=indexed_lane(self._model, layer) if chosen is not None else None,
        )
        view.rows = RulerRows(shown, self.look, view.cursor)
        view.rows_changed()
        self.inspector.show(ruler_paragraphs(view.rows, self.look, self._keys()))

    def on_line_view_moved(self, _event: LineView.Moved) -> None:
        self._moved()

    def on_ruler_view_token_moved(self, _event: RulerView.TokenMoved) -> None:
        self._moved()

    def _select(self, token: int) -> None:
        if self.selection.token != token:
            self.session.selection.select(token=token)

    def on_unmount(self) -> None:
        self._selections.close()

    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self._stay)

    def _moved(self) -> None:
        if self._subject is not None:
            self._redraw()
            self.draw(self.owner.frame)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action does something here."""
        if action == "lookup":
            return self._subject is not None and bool(self._subject.request) and self._moment_left is None
        if action == "moment_back":
            return self._moment_left is not None
        return super().check_action(action, parameters)

    def action_lookup(self) -> None:
        """Show the moment of the lookup, with what it met; the whole interface goes there."""
        lookup = self._subject.lookup if self._subject is not None else None
        if lookup is None or not self._subject or not self._subject.request or not lookup.request:
            self.owner.say("nothing was looked up here")
            return
        timeline = self.session.timeline
        if self.owner.frame is not None and (timeline.follows or timeline.target != lookup.seq):
            self._left = LeftMoment(self.session, self.owner.frame.mode, lookup.seq)
        self.session.go_to(lookup.seq)
        self.owner.tick()

    def action_moment_back(self) -> None:
        """Show the moment again that was shown before that of the lookup; live, if it was."""
        left, self._left = self._moment_left, None
        if left is not None:
            left.return_to(self.session)
            self.owner.tick()

    @property
    def _moment_left(self) -> LeftMoment | None:
        """Where the way back leads; None = the moment shown is not one that this screen has sent the session to."""
        return self._left if self._left is not None and self._left.leads_from(self.session) else None

    def action_tree(self) -> None:
        """Show where it lies in the tree."""
        if self._subject is not None and self._subject.tokens is None:
            self.owner.say("a length that was checked lies in no tree")
        else:
            self.owner.drill("tree")

    def _seen(self) -> Seen | None:
        """The stretch that is seen; None, and the user is told, where there is none."""
        subject, view = self._subject, self.view
        if subject is None or not self._model.length:
            self.owner.say("there is nothing to draw")
            return None
        at, node = self.session.timeline.at, self.selection.node
        return Seen(subject=subject, model=self._model, place=view.place, width=view.ruler_width, at=at, node=node)

    def action_copy(self) -> None:
        """Copy a command that draws the stretch that is seen, with the state of this moment."""
        seen = self._seen()
        if seen is not None:
            copy_seen(self.owner, seen)

    def action_export(self) -> None:
        """Write the stretch that is seen to a file, with the state of this moment."""
        seen = self._seen()
        if seen is not None:
            export_seen(self.owner, seen)
