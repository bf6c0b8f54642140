"""What the ruler copies and exports: the stretch that is seen, with the state of the moment shown."""

from typing import TYPE_CHECKING

import msgspec

from shadowviz.tui.models.ruler_model import RulerModel
from shadowviz.tui.models.ruler_place import RulerPlace
from shadowviz.tui.models.ruler_subject import Subject
from shadowviz.tui.screens.copying import copy_command, copy_log_command
from shadowviz_engine.core.errors import GeometryError
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.spans import Extent

if TYPE_CHECKING:
    from shadowviz.tui.app import ShadowvizApp
    from shadowviz.tui.exporting import Exportable


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens on the screen, and what they are of."""

    subject: Subject
    model: RulerModel
    """At the cut that is shown; of one token or more."""
    place: RulerPlace
    width: int
    """Columns that tokens have."""
    at: int
    """Event after which the state is shown."""
    node: int
    """Of which it is the path, where it is no request."""

    @property
    def span(self) -> Extent:
        """The tokens; the last one where the cursor is alone behind it."""
        place, length = self.place, self.model.length
        stop = place.first + place.num_cells(self.width) * place.per_cell
        return Extent(min(place.first, length - 1), min(stop, length))


def copy_seen(app: "ShadowvizApp", seen: Seen) -> None:
    """Copy a command that draws it."""
    span, subject, model = seen.span, seen.subject, seen.model
    drawn = ["--span", f"{span.start}:{span.stop}", "--cut", str(model.cut), "-o", "ruler.svg"]
    head = ["shadowviz", "export", "--diagram", "derivation"]
    if subject.tokens is None:
        if _is_preset(model.geometry):
            copy_command(app, [*head, "--geometry", model.geometry.name, *drawn])
        else:
            app.say("no command names this geometry: e writes the ruler to a file")
        return
    of = f"--request={subject.request}" if subject.request else f"--root={seen.node}"
    copy_log_command(app, lambda log: ["shadowviz", "export", f"{log}@{seen.at}", *head[2:], of, *drawn])


def export_seen(app: "ShadowvizApp", seen: Seen) -> None:
    """Ask for a file and write it there; of one layer alone, if that is what is shown."""
    # Loads what the first frame need not wait for.
    from shadowviz.tui.screens.export_ask import ask_and_export

    ask_and_export(app, _exportable(seen))


def _exportable(seen: Seen) -> "Exportable":
    from shadowviz.diagrams.derivation_of import View
    from shadowviz.tui.exports.rulers import Layer, length_ruler, path_ruler, request_ruler

    number, model, subject = seen.place.layer, seen.model, seen.subject
    view = View(seen.span, model.cut)
    layer = Layer(number, frozenset(lane.kind.label for lane in model.lanes_of(number))) if number >= 0 else None
    if subject.tokens is None:
        return length_ruler(model.geometry, view, layer)
    if subject.request:
        return request_ruler(seen.at, subject.request, view, layer)
    return path_ruler(seen.at, seen.node, view, layer)


def _is_preset(geometry: Geometry) -> bool:
    try:
        return preset(geometry.name) == geometry
    except GeometryError:
        return False
