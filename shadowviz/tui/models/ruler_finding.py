"""The row in which a check of a stress run has found something, as a place on the ruler."""

import msgspec

from shadowviz.diagrams.kind_styles import kind_style
from shadowviz.tokens.inert import shorten
from shadowviz.tui.models.ruler_model import RulerModel
from shadowviz_engine.core.events import BoundaryChecked
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.spans import Extent

MAX_NAME = 40
"""Characters of a name out of the log that are shown."""


class Finding(msgspec.Struct, frozen=True):
    """What was found, and where."""

    words: str
    """Inert."""
    layer: int = -1
    """-1 = in no single one."""
    kind: str = ""
    """Of the geometry; empty = it lies in no row of a kind."""
    tokens: Extent = Extent(0, 0)
    """Those that the row stands for."""


def finding_of(check: BoundaryChecked, model: RulerModel) -> Finding | None:
    """The first row that differs, else the one that a fault was put in; None = the check has found nothing."""
    if check.kind or check.row >= 0:
        what, at = "differs first in", (check.kind, check.layer, check.row)
    elif check.fault_kind or check.fault_row >= 0:
        what, at = "a fault was put into", (check.fault_kind, check.fault_layer, check.fault_row)
    else:
        return None
    told = f"; put in: {shorten(check.fault, MAX_NAME)}" if check.fault else ""
    return _placed(what, at, told, model)


def _placed(what: str, at: tuple[str, int, int], told: str, model: RulerModel) -> Finding:
    kind, layer, row = at
    lane = next((lane for lane in model.lanes if lane.kind.label == kind), None)
    parts = [shorten(kind_style(kind).word if lane is not None else kind, MAX_NAME)]
    parts += [f"layer {layer:,}"] if layer >= 0 else []
    parts += [f"row {row:,}"] if row >= 0 else []
    words = f"{what} {', '.join(part for part in parts if part)}{told}"
    layer = layer if layer in model.layers else -1
    if lane is None or lane not in model.lanes_of(layer):
        return Finding(words, layer)
    if row < 0 or lane.kind.shape in (Shape.POINT, Shape.KEY):
        return Finding(words, layer, kind)
    return Finding(words, layer, kind, lane.own(row).intersect(Extent(0, model.length)))
