"""A small driver of the cache manager for tests: a fake clock, and a request run to its end without a model."""

from array import array
from collections.abc import Iterable

from shadowviz_engine.cache.manager import Admission, CacheManager, Shortage
from shadowviz_engine.cache.options import CacheOptions
from shadowviz_engine.core.events import Event, LookupDone, RequestAborted, RequestFinished, RequestSubmitted
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.sinks import Emitter, MemorySink
from shadowviz_engine.core.snapshot import pack_ids, state_digest


class Driver:
    """A manager with its events and a clock that tests move."""

    def __init__(self, geometry: Geometry, options: CacheOptions, faults: Iterable[str] = ()) -> None:
        self.sink = MemorySink()
        self.now_ns = 0
        self.manager = CacheManager(geometry, options, Emitter(self.sink, lambda: self.now_ns), frozenset(faults))
        self.count = 0
        self.outputs: dict[str, list[int]] = {}

    @property
    def events(self) -> tuple[Event, ...]:
        return self.sink.events

    def start(self, ids: Iterable[int], namespace: str = "", chunk: int = 0) -> tuple[str, LookupDone]:
        request, admission = self.admit(ids, namespace, chunk)
        assert isinstance(admission, Admission), admission
        return request, admission.lookup

    def admit(self, ids: Iterable[int], namespace: str = "", chunk: int = 0) -> tuple[str, Admission | Shortage]:
        self.count += 1
        request = f"r{self.count}"
        prompt = array("q", ids)
        self.outputs[request] = []
        self._emit(RequestSubmitted, request=request, tokens=pack_ids(prompt), namespace=namespace)
        return request, self.manager.admit(request, prompt, namespace, chunk)

    def register(self, ids: Iterable[int], namespace: str = "") -> LookupDone | Shortage:
        self.count += 1
        request = f"r{self.count}"
        prompt = array("q", ids)
        self._emit(RequestSubmitted, request=request, tokens=pack_ids(prompt), namespace=namespace)
        return self.manager.register(request, prompt, namespace)

    def append(self, request: str, token: int) -> None:
        self.outputs[request].append(token)
        self.manager.append(request, token)

    def finish(self, request: str) -> None:
        self._emit(RequestFinished, request=request, reason="length", tokens=pack_ids(self.outputs[request]))
        self.manager.finish(request)

    def abort(self, request: str) -> None:
        self._emit(RequestAborted, request=request, reason="client")
        self.manager.abort(request)

    def _emit(self, kind: type[Event], **fields: object) -> None:
        emitter = self.manager.state.emitter
        seq, t_ns = emitter.next()
        emitter.emit(kind(seq=seq, t_ns=t_ns, **fields))

    def prefill(self, request: str, num_prompt: int) -> None:
        assert self.manager.extend(request, num_prompt) is None
        self.manager.computed(request, num_prompt)
        self.manager.publish(request)

    def run(self, ids: Iterable[int], namespace: str = "", output: Iterable[int] = ()) -> LookupDone:
        """One request from lookup to finish; the state of the last output token is never computed."""
        ids = list(ids)
        request, lookup = self.start(ids, namespace)
        self.prefill(request, len(ids))
        for position, token in enumerate(output, len(ids)):
            self.append(request, token)
            assert not isinstance(self.manager.extend(request, position), Shortage)
            self.manager.computed(request, position)
        self.finish(request)
        self.manager.check_invariants()
        return lookup

    def digest(self) -> str:
        return state_digest(self.manager.node_states(), self.manager.holder_states())


def options(**changes: object) -> CacheOptions:
    """Roomy options, changed where a test says so."""
    values: dict[str, object] = {"num_full_pages": 400, "num_swa_pages": 400}
    return CacheOptions(**(values | changes))  # type: ignore[arg-type]
