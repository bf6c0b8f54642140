"""The cursor on the ruler: how it moves over tokens, layers and zooms, and the cut that is supposed."""

from shadowviz.tui.models.ruler_model import RulerModel
from shadowviz.tui.models.ruler_subject import Subject
from shadowviz.tui.screens.base import PaneScreen
from shadowviz.tui.widgets.ruler_view import RulerView

NUM_HEADS = 2
"""Rows over the lanes where tokens have no ids."""


class RulerCursor(PaneScreen):
    """A screen with a ruler of some subject. A subclass finds it, and draws it anew when the cursor has moved."""

    def __init__(self) -> None:
        super().__init__()
        self._subject: Subject | None = None
        self._cut_model: RulerModel | None = None
        """With the user's own cut; None = there is none."""
        self._drawn_for: tuple[object, ...] = ()
        self._is_centred = False
        """Whether the view has had a width since its subject came."""

    def _moved(self) -> None:
        """Draw what is seen from another place."""
        raise NotImplementedError

    def _start_at(self, subject: Subject, token: int) -> None:
        """Where the cursor is at first: at a token that was chosen, at what a check has found, or at the cut."""
        place, model, finding = self.view.place, subject.model, subject.finding
        place.own_cut, place.layer = None, -1
        self.view.cursor, self._is_centred = NUM_HEADS + (subject.tokens is not None), False
        place.token = token if token >= 0 else model.cut
        if finding is None:
            return
        place.layer = finding.layer
        kinds = [lane.kind.label for lane in model.lanes_of(finding.layer)]
        self.view.cursor += kinds.index(finding.kind) if finding.kind else 0
        if token < 0 and finding.tokens:
            place.token = finding.tokens.start

    @property
    def view(self) -> RulerView:
        """The ruler."""
        return self.query_one("#list", RulerView)

    @property
    def _model(self) -> RulerModel:
        assert self._subject is not None, "asked only where there is something to show"
        return self._cut_model or self._subject.model

    def _cut_anew(self) -> None:
        place, subject = self.view.place, self._subject
        self._cut_model = None
        if subject is not None and place.own_cut is not None:
            self._cut_model = subject.model.with_cut(place.own_cut)
        self._drawn_for = ()

    def _stay(self) -> None:
        """Keep the cursor seen on a screen of another size."""
        if self._subject is None:
            return
        self._centre()
        self.view.go_to_token(self.view.place.token)

    def _centre(self) -> None:
        """Show what lies on both sides of where a subject begins, as soon as there is room."""
        view = self.view
        if self._subject is not None and not self._is_centred:
            self._is_centred = view.size.width > 0
            view.place.centre(view.place.token, self._subject.model.length, view.ruler_width)

    def action_boundary(self, step: int) -> None:
        """Go to the next entry, page or mark, or to the one before."""
        view = self.view
        if self._subject is not None and view.rows is not None:
            marks = [position for position, _ in self._subject.marks]
            lane = view.rows.lane_at(view.cursor)
            view.go_to_token(self._model.boundary(view.place.token, step, lane, marks))

    def action_rescale(self, step: int) -> None:
        """More tokens a cell, or fewer."""
        self.view.action_rescale(step)

    def action_layer(self, step: int) -> None:
        """The lanes of one layer alone; past the last one all layers again."""
        if self._subject is None:
            return
        layers = (-1, *self._model.layers)
        place = self.view.place
        place.layer = layers[(layers.index(place.layer) + step) % len(layers)]
        self._moved()

    def action_mark(self) -> None:
        """Suppose a cut at the cursor; there already: the cut of the lookup again."""
        place = self.view.place
        place.own_cut = None if place.own_cut == place.token else place.token
        self._cut_anew()
        self._moved()

    def action_cut(self) -> None:
        """Go to the cut; from there on to what the lookup used, matched and had in common, where that is elsewhere."""
        if self._subject is not None:
            others = [position for position, _ in self._subject.marks if position != self._model.cut]
            stops, token = [self._model.cut, *others], self.view.place.token
            self.view.go_to_token(stops[(stops.index(token) + 1) % len(stops) if token in stops else 0])
