"""Events of boundary stress: what a run checks, and what each check found."""

from shadowviz_engine.core.event import Event
from shadowviz_engine.core.geometry import Geometry


class BoundaryStressStarted(Event, frozen=True, kw_only=True):
    """A stress run of one subject began, or was taken up again; its `BoundaryChecked` events follow."""

    volatile = True
    level: str
    """arithmetic, numeric, oracle or faults."""
    subject: str
    """Name of the geometry, model or foreign derivation under test."""
    geometry: Geometry
    seed: int
    modes: tuple[str, ...]
    """As asked for; empty = those that the level runs by default."""
    lengths: tuple[tuple[int, int], ...]
    """Half-open ranges of tokens, ascending."""
    cells: int
    """`BoundaryChecked` events that the whole run gives."""
    asked: str = ""
    """What names the subject to a command where that is not `subject`: a folder, a seed, a foreign derivation."""
    options: tuple[tuple[str, str], ...] = ()
    """What only the level knows, by name, ascending."""
    left_out: tuple[str, ...] = ()
    """What was asked for and is not checked, each with the reason, in words."""


class BoundaryChecked(Event, frozen=True, kw_only=True):
    """One cell of a stress run: going on at `length` was compared with an independent definition or a cold run."""

    volatile = True
    level: str
    subject: str
    mode: str
    """How the length was reached and gone on from."""
    length: int
    outcome: str = "same"
    """same, differs, near_tie, refused (the engine would not run it) or missed (a fault that was not seen)."""
    stage: str = ""
    """Where the first difference lies: state, read, logits, answer, lookup or cache."""
    kind: str = ""
    """Kind of the first row that differs; `length` where another length was reused, `books` where the cache's own
    invariants do not hold."""
    layer: int = -1
    row: int = -1
    offset: int = -1
    """Tokens behind `length` of the first logits that differ; 0 is the next token, -1 none."""
    difference: float = 0.0
    """Largest difference of a logit."""
    noise: float = 0.0
    """Largest difference of cold against cold in the same run; 0 under exact numerics."""
    fault: str = ""
    """What had been put in, told after the verdict; empty = nothing."""
    fault_kind: str = ""
    fault_layer: int = -1
    fault_row: int = -1
    predicted: int = -1
    """Offset at which the arithmetic says that the fault shows first; -1 = not within the run."""
    answers: tuple[tuple[int, float, float], ...] = ()
    """For needles so many tokens before `length`: share of right answers from whole state, and from this state."""
    detail: str = ""
    command: str = ""
    """Reproduces this cell alone; empty where nothing was found."""
