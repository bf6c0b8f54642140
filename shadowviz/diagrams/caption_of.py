"""The lines that all captions have in common, worked out from a state."""

from shadowviz.diagrams.caption import Caption
from shadowviz.tokens.inert import printable, shorten
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.replay_state import ReplayState

MAX_SOURCE = 80
"""Characters of a source's name that a picture shows."""


def state_caption(title: str, source: str, state: ReplayState, last_seq: int) -> Caption:
    """A caption of `state` as it is, of a run whose newest event is `last_seq`; counts are the caller's."""
    opened = state.opened
    geometry = geometry_line(opened.geometry) if opened is not None else "not known: nothing was opened yet"
    return Caption(
        title=printable(title),
        source=shorten(source, MAX_SOURCE),
        seq=state.seq,
        last_seq=last_seq,
        geometry=geometry,
        shown=0,
        total=0,
    )


def geometry_line(geometry: Geometry) -> str:
    """Name and figures of a geometry, such as `tiny: page 256, n_win 128, csa ratio 4 with overlap, hca ratio 128`."""
    parts = [f"page {geometry.page_size:,}"]
    parts += [f"n_win {geometry.n_win:,}"] if geometry.n_win else []
    for compressor in geometry.compressors:
        overlap = " with overlap" if compressor.overlap else ""
        parts.append(f"{compressor.name} ratio {compressor.ratio:,}{overlap}")
    parts += [f"top {geometry.index_topk:,}"] if geometry.index_topk else []
    return printable(f"{geometry.name}: {', '.join(parts)}")
