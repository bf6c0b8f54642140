"""Small logs of boundary stress for tests."""

from pathlib import Path

from walked_logs import write_log

from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted, LogOpened
from shadowviz_engine.core.presets import preset


def small_stress_log(path: Path) -> Path:
    """Twenty lengths in two modes, of which two lengths differ in one."""
    geometry = preset("tiny")
    events = [
        LogOpened(seq=0, t_ns=0, schema=1, geometry=geometry),
        BoundaryStressStarted(
            seq=1, t_ns=0, level="numeric", subject="tiny", geometry=geometry, seed=7, modes=("cut", "chunk"),
            lengths=((120, 140),), cells=40,
        ),
    ]  # fmt: skip
    for length in range(120, 140):
        for mode in ("cut", "chunk"):
            wrong = mode == "cut" and length in (128, 132)
            events.append(
                BoundaryChecked(
                    seq=len(events), t_ns=0, level="numeric", subject="tiny", mode=mode, length=length,
                    outcome="differs" if wrong else "same", kind="hca_kv" if wrong else "", layer=3 if wrong else -1,
                    difference=0.031 if wrong else 0.0,
                    command=f"shadowviz stress tiny --lengths {length}" if wrong else "",
                )
            )  # fmt: skip
    return write_log(path, events)
