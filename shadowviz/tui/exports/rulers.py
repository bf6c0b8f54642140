"""The stretch of the ruler that is seen: of a request, of the path of a node, or of a length by arithmetic."""

import msgspec

from shadowviz.diagrams.derivation_of import View, length_diagram, path_diagram, request_diagram
from shadowviz.diagrams.lanes import DerivationDiagram
from shadowviz.exporters.formats import DiagramName, Format
from shadowviz.replay.moment import moment_at, of_request, state_at
from shadowviz.sources.logfile import LogFile
from shadowviz.tokens.words import words_of
from shadowviz.tui.exporting import Exportable
from shadowviz.tui.exports.diagrams import Build, drawn, noted
from shadowviz_engine.core.geometry import Geometry

WHAT = "the ruler as far as it is seen"


class Layer(msgspec.Struct, frozen=True):
    """One layer alone, and the kinds that it owns or reads."""

    number: int
    kinds: frozenset[str]


def request_ruler(seq: int, request: str, view: View, layer: Layer | None) -> Exportable:
    """Of the prompt of a request, with rows as they are after an event."""

    def build(log: LogFile, _form: Format) -> DerivationDiagram:
        words = words_of(log.opened)
        moment = moment_at(log.events(), words, seq, of_request(request))
        return request_diagram(moment, str(log.path), request, words, view)

    return _drawn(build, layer)


def path_ruler(seq: int, node: int, view: View, layer: Layer | None) -> Exportable:
    """Of the tokens from the root to the end of a node, with rows as they are after an event."""

    def build(log: LogFile, _form: Format) -> DerivationDiagram:
        moment = state_at(log.events(), seq)
        return path_diagram(moment, str(log.path), node, words_of(log.opened), view)

    return _drawn(build, layer)


def length_ruler(geometry: Geometry, view: View, layer: Layer | None) -> Exportable:
    """Of a length under a geometry, as if every row were there."""

    def build(_log: LogFile, _form: Format) -> DerivationDiagram:
        assert view.span is not None, "what is seen of a length is always a stretch"
        return length_diagram(geometry, view.span, view.cut)

    return _drawn(build, layer)


def _drawn(build: Build, layer: Layer | None) -> Exportable:
    def of_layer(log: LogFile, form: Format) -> DerivationDiagram:
        diagram = build(log, form)
        assert isinstance(diagram, DerivationDiagram), "made above"
        if layer is None:
            return diagram
        return msgspec.structs.replace(
            diagram,
            caption=noted(diagram.caption, f"Only what layer {layer.number} owns or reads."),
            lanes=tuple(lane for lane in diagram.lanes if lane.kind in layer.kinds),
        )

    return drawn(WHAT, DiagramName.DERIVATION, of_layer)
