"""The text log: an init line and seven lines a lookup, each figure as the derivation says it is."""

from collections.abc import Iterator, Sequence

from shadowviz.diagrams.events import EventsDiagram
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.replay.reused import Pair, Reused, compressors_of, reused_state
from shadowviz.replay.text_log.lines import NO_RATIO, UNKNOWN_IDS
from shadowviz_engine.core.events import LogOpened, LookupDone
from shadowviz_engine.core.geometry import Compressor
from shadowviz_engine.core.replayer import Replayer

BATCH = 256
"""Lookups that are written at a time."""


def render(diagram: EventsDiagram, look: Look = LIGHT) -> Drawing:  # noqa: ARG001 (every renderer has a look)
    """The lines of every lookup, made as they are written.

    Raises:
        InputError: the run is of a model whose state this form has no words for.
    """
    opened = next((event for event in diagram.events() if isinstance(event, LogOpened)), None)
    if opened is not None:
        compressors_of(opened.geometry)
    return Drawing(b"", parts=_parts(diagram))


def _parts(diagram: EventsDiagram) -> Iterator[bytes]:
    lines: list[str] = []
    for line in _lines(diagram):
        lines.append(line)
        if len(lines) >= 8 * BATCH:
            yield "".join(lines).encode()
            lines.clear()
    yield "".join(lines).encode()


def _lines(diagram: EventsDiagram) -> Iterator[str]:
    state, pair = Replayer(), Pair(None, None)
    for event in diagram.events():
        if isinstance(event, LogOpened):
            pair = compressors_of(event.geometry)
            yield init_line(pair, event.geometry.n_win)
        elif isinstance(event, LookupDone) and state.opened is not None:
            geometry = state.opened.geometry
            yield lookup_lines(reused_state(state, geometry, pair, event), pair, geometry.n_win)
        state.apply(event)


def init_line(pair: Pair, n_win: int) -> str:
    """The line that states the geometry."""
    csa, hca = (item.ratio if item else NO_RATIO for item in (pair.csa, pair.hca))
    return f"[INFO] ShadowRadix initialized with m={csa}, m'={hca}, n_win={n_win}\n"


def lookup_lines(reused: Reused, pair: Pair, n_win: int) -> str:
    """The seven lines of one lookup."""
    length, (start, stop) = reused.length, reused.window
    span = f"[0, {length}]"
    csa, hca = (length // item.ratio if item else 0 for item in (pair.csa, pair.hca))
    lines = (
        f"Found longest prefix match for len={length}. Logical span: {span}.",
        f"Deriving physical state for {span}...",
        f"-> CSA blocks: {_blocks(reused.csa, pair.csa, csa)}",
        f"-> HCA blocks: {_blocks(reused.hca, pair.hca, hca)}",
        f"-> SWA range: [{start}, {stop}] (last {_counted(stop - start, 'token')} within window of {n_win})",
        f"-> Tail offset: {_tail(length, pair)}",
    )
    outcome = (
        f"[INFO] Cache {'hit' if length else 'miss'}! Reusing {_counted(csa, 'CSA block')}, "
        f"{_counted(hca, 'HCA block')}, and SWA state for {_counted(stop - start, 'token')}.\n"
    )
    return "".join(f"[DEBUG] ShadowRadix: {line}\n" for line in lines) + outcome


def _blocks(ids: Sequence[int] | None, compressor: Compressor | None, count: int) -> str:
    listed = UNKNOWN_IDS if ids is None else f"[{', '.join(map(str, ids))}]"
    told = [_counted(count, "block")]
    if compressor is not None:
        told.append(f"{'covers' if count == 1 else 'each covers'} {_counted(compressor.ratio, 'token')}")
    if ids is not None:
        told.append(f"sum {sum(ids)}")
    return f"{listed} ({', '.join(told)})"


def _tail(length: int, pair: Pair) -> str:
    """Tokens behind the last entry of the finer compressor, and those of each."""
    there = [(name, item.ratio) for name, item in (("CSA", pair.csa), ("HCA", pair.hca)) if item]
    if not there:
        return "0 (no tail)"
    if all(length % ratio == 0 for _, ratio in there):
        return f"0 (no tail, {length} is multiple of {' and '.join(str(ratio) for _, ratio in there)})"
    rests = ", ".join(f"{name} tail {_counted(length % ratio, 'token')}" for name, ratio in there)
    return f"{length % min(ratio for _, ratio in there)} ({rests})"


def _counted(value: int, noun: str) -> str:
    return f"{value} {noun}" if value == 1 else f"{value} {noun}s"
