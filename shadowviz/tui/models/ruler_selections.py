"""The entries that the query at the cursor of the ruler selected, from the sidecar of the log."""

from shadowviz.sources.selection_index import SelectionIndex
from shadowviz.tui.frame import Frame
from shadowviz.tui.models.ruler_model import RulerLane, RulerModel
from shadowviz.tui.session import Session
from shadowviz_engine.core.kinds import Shape

Chosen = tuple[int, tuple[int, ...]]


class RulerSelections:
    """Follows the sidecar of whatever log the session has."""

    def __init__(self) -> None:
        self._index: SelectionIndex | None = None
        self._index_of: object = None

    def sync(self, session: Session, frame: Frame, budget_s: float) -> None:
        """Take in what was written since, for about so long."""
        opened = frame.opened
        if self._index_of is not session.timeline:
            self._index_of = session.timeline
            self.close()
            if opened is not None and opened.sidecar:
                self._index = SelectionIndex(session.follower.path, opened.sidecar)
            elif opened is None:
                self._index_of = None
        if self._index is not None:
            self._index.sync(budget_s)

    def chosen(self, request: str, layer: int, token: int) -> Chosen | None:
        """Layer, and the entries that the query at a token selected in it; None = nothing is on record.

        Without a layer (-1) it is the first one that selects.
        """
        index = self._index
        if index is None or not request:
            return None
        layers = index.layers(request)
        layer = layer if layer >= 0 else next(iter(layers), -1)
        return (layer, index.selected(request, layer, token) or ()) if layer in layers else None

    def close(self) -> None:
        """Let go of the sidecar."""
        if self._index is not None:
            self._index.close()
            self._index = None


def indexed_lane(model: RulerModel, layer: int) -> RulerLane | None:
    """The lane whose entries a layer's indexer selects from: of its compressed kinds the finest."""
    lanes = [lane for lane in model.lanes_of(layer) if lane.kind.shape is Shape.RANGE]
    return min(lanes, key=lambda lane: lane.unit, default=None)
