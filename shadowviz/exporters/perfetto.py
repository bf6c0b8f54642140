"""A run as a Perfetto trace, for ui.perfetto.dev or a trace processor: packets are written as events are read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from shadowviz.diagrams.events import EventsDiagram
from shadowviz.diagrams.trace import Args, Begin, Count, End, Instant, Mark, Track
from shadowviz.diagrams.trace_of import trace_marks
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.tokens.words import IdWords, words_of
from shadowviz_engine.core.events import LogOpened

if TYPE_CHECKING:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

BATCH: Final = 1024
"""Packets that are written at a time."""
SEQUENCE: Final = 1
STATE_CLEARED: Final = 1
"""`SEQ_INCREMENTAL_STATE_CLEARED`: the sequence begins here."""
UUID: Final = 0x5AD0_0000_0000
"""Added to the numbers of tracks, so that they stay apart from those of a trace that this one is joined with."""
ROOT: Final = UUID


def render(diagram: EventsDiagram, look: Look = LIGHT) -> Drawing:  # noqa: ARG001 (every renderer has a look)
    """The trace of a run of any length, made as it is written."""
    return Drawing(b"", parts=_parts(diagram))


def _parts(diagram: EventsDiagram) -> Iterator[bytes]:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    trace = Trace()
    _first(trace.packet.add(), diagram)
    opened = next((event for event in diagram.events() if isinstance(event, LogOpened)), None)
    for mark in trace_marks(diagram.events(), words_of(opened) if opened else IdWords()):
        _fill(trace.packet.add(), mark)
        if len(trace.packet) >= BATCH:
            # One message after the other is one trace: its only field is repeated.
            yield trace.SerializeToString(deterministic=True)
            # A message that is cleared keeps its memory.
            trace = Trace()
    yield trace.SerializeToString(deterministic=True)


def _first(packet: "TracePacket", diagram: EventsDiagram) -> None:
    """What the trace is of, as the track that all others stand under."""
    caption = diagram.caption
    packet.trusted_packet_sequence_id = SEQUENCE
    packet.sequence_flags = STATE_CLEARED
    descriptor = packet.track_descriptor
    descriptor.uuid = ROOT
    descriptor.name = f"shadowviz: {caption.source}"
    lines = (f"{caption.shown:,} of {caption.total:,} events", caption.geometry, *caption.notes)
    descriptor.description = "\n".join(filter(None, lines))
    descriptor.child_ordering = descriptor.EXPLICIT


def _fill(packet: "TracePacket", mark: Mark) -> None:
    packet.trusted_packet_sequence_id = SEQUENCE
    if isinstance(mark, Track):
        _describe(packet, mark)
        return
    packet.timestamp = mark.t_ns
    event = packet.track_event
    event.track_uuid = UUID + mark.track
    match mark:
        case Begin():
            event.type = event.TYPE_SLICE_BEGIN
            event.name = mark.name
            _annotate(packet, mark.args)
        case End():
            event.type = event.TYPE_SLICE_END
            _annotate(packet, mark.args)
        case Instant():
            event.type = event.TYPE_INSTANT
            event.name = mark.name
            _annotate(packet, mark.args)
        case Count():
            event.type = event.TYPE_COUNTER
            event.counter_value = mark.value


def _describe(packet: "TracePacket", track: Track) -> None:
    descriptor = packet.track_descriptor
    descriptor.uuid = UUID + track.track
    descriptor.parent_uuid = UUID + track.parent if track.parent else ROOT
    descriptor.name = track.name
    descriptor.sibling_order_rank = track.track
    # Requests may share a name only by mistake; each keeps its own line.
    descriptor.sibling_merge_behavior = descriptor.SIBLING_MERGE_BEHAVIOR_NONE
    if track.unit:
        descriptor.counter.unit_name = track.unit
    else:
        descriptor.child_ordering = descriptor.EXPLICIT


def _annotate(packet: "TracePacket", args: Args) -> None:
    for name, value in args.items():
        annotation = packet.track_event.debug_annotations.add()
        annotation.name = name
        if isinstance(value, str):
            annotation.string_value = value
        elif isinstance(value, int):
            annotation.int_value = value
        else:
            annotation.double_value = value
