"""The runtime's own events, as they go on record."""

from collections.abc import Sequence

from shadowviz_engine.core.events import (
    FaultInjected,
    LogClosed,
    NearTieSeen,
    RequestAborted,
    RequestFinished,
    RequestSubmitted,
    RequestWaited,
    StepDone,
)
from shadowviz_engine.core.sinks import Emitter
from shadowviz_engine.core.snapshot import pack_ids
from shadowviz_engine.runtime.injection import Injection
from shadowviz_engine.runtime.request import Request, RequestOutput
from shadowviz_engine.runtime.runner import PassItem, RequestTie


class Journal:
    """Writes events through `emitter`."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter

    def submitted(self, request: Request, prompt: Sequence[int]) -> None:
        """A prompt entered the queue."""
        seq, t_ns = self._emitter.next()
        self._emitter.emit(
            RequestSubmitted(
                seq=seq,
                t_ns=t_ns,
                request=request.id,
                tokens=pack_ids(prompt),
                namespace=request.namespace,
                max_tokens=request.max_tokens,
                text=request.text,
            )
        )

    def waited(self, name: str, pool: str, needed_pages: int, free_pages: int) -> None:
        """A request cannot start, or has to start again."""
        seq, t_ns = self._emitter.next()
        self._emitter.emit(
            RequestWaited(seq=seq, t_ns=t_ns, request=name, pool=pool, needed_pages=needed_pages, free_pages=free_pages)
        )

    def computed(self, items: Sequence[PassItem], near_ties: Sequence[RequestTie]) -> None:
        """A pass of the model is over."""
        seq, t_ns = self._emitter.next()
        self._emitter.emit(
            StepDone(
                seq=seq,
                t_ns=t_ns,
                prefill=tuple((item.request, item.start, item.stop) for item in items if not item.decoding),
                decode=tuple(item.request for item in items if item.decoding),
            )
        )
        for tie in near_ties:
            seq, t_ns = self._emitter.next()
            self._emitter.emit(
                NearTieSeen(
                    seq=seq,
                    t_ns=t_ns,
                    request=tie.request,
                    layer=tie.layer,
                    position=tie.position,
                    margin=tie.margin,
                )
            )

    def finished(self, name: str, output: RequestOutput) -> None:
        """A request has its output."""
        seq, t_ns = self._emitter.next()
        self._emitter.emit(
            RequestFinished(
                seq=seq,
                t_ns=t_ns,
                request=name,
                reason=output.reason,
                tokens=pack_ids(output.token_ids),
                ttft_ns=output.ttft_ns,
                decode_ns=output.decode_ns,
            )
        )

    def aborted(self, name: str, reason: str, computed: int) -> None:
        """A request ended before its output was whole."""
        seq, t_ns = self._emitter.next()
        self._emitter.emit(RequestAborted(seq=seq, t_ns=t_ns, request=name, reason=reason, computed=computed))

    def fault_put_in(self, fault: str) -> None:
        """A fault of the model may act from here on."""
        seq, t_ns = self._emitter.next()
        self._emitter.emit(FaultInjected(seq=seq, t_ns=t_ns, fault=fault))

    def injected(self, injections: Sequence[Injection]) -> None:
        """Faults began to act on requests."""
        for item in injections:
            seq, t_ns = self._emitter.next()
            detail = "every row has the bits that it should have" if item.layer < 0 else ""
            self._emitter.emit(
                FaultInjected(
                    seq=seq,
                    t_ns=t_ns,
                    fault=item.fault,
                    request=item.request,
                    detail=detail,
                    length=item.length,
                    kind=item.kind,
                    layer=item.layer,
                    row=item.row,
                )
            )

    def closed(self, digest: str) -> None:
        """The record ends here."""
        seq, t_ns = self._emitter.next()
        self._emitter.emit(LogClosed(seq=seq, t_ns=t_ns, count=seq, digest=digest))
