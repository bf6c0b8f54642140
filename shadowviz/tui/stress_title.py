"""The title of the heat map as it fits, and what is said where there is no finding to go to."""

from shadowviz.diagrams.boundary_rows import RowsBy
from shadowviz.replay.counts import counted
from shadowviz.replay.stress import FAULTS
from shadowviz.tui.models.cells import clip
from shadowviz.tui.models.stress_grid import StressGrid


def title_words(grid: StressGrid, rows_by: RowsBy | None, named: str, zoom: int, width: int) -> str:
    """What was checked, how far it is, what was found, and the scale; what matters least goes where room is short.

    Args:
        named: The subject, harmless to show.
    """
    by = f"  by {rows_by}" if rows_by else ""
    done, total = f"{grid.num_checks:,}", f" of {grid.total:,}"
    percent = f" ({grid.num_checks / grid.total if grid.total else 1.0:.0%})"
    found = f"  {counted(grid.num_findings, 'finding')}"
    scale = f"  1 column = {zoom:,}"
    forms = (
        f" {named}{by}  seed {grid.started[0].seed}  {done}{total} checks{percent}{found}{scale}",
        f" {named}{by}  {done}{total} checks{percent}{found}{scale}",
        f" {named}{by}  {done}{total} checks{found}{scale}",
        f" {named}{by}  {done}{total}{found}{scale}",
        f" {named}{by}{percent}{found}{scale}",
    )
    short = f"{by}{percent}{found}{scale}"
    fitting = next((form for form in forms if len(form) <= width), None)
    return fitting if fitting is not None else clip(f" {named}", max(0, width - len(short))) + short


def no_finding_words(grid: StressGrid, by: int) -> str:
    """Why there is no next finding (`by` 1), or none before (-1)."""
    if grid.num_findings:
        return f"no finding {'behind' if by > 0 else 'before'} this cell"
    levels = {event.level for event in grid.started}
    about = "; a fault that was put in and found is none" if FAULTS in levels else ""
    return f"no finding in {counted(grid.num_checks, 'check')}{about}"
