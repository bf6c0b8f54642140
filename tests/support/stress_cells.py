"""Plans of boundary stress for tests, and the cells that they give."""

from shadowviz.experiments.stress.arithmetic import work_of
from shadowviz.experiments.stress.work import CellResult, Plan, Work


def arithmetic_plan(subject: str, *lengths: tuple[int, int], **changes: object) -> Plan:
    """A plan of the level `arithmetic`."""
    return Plan(level="arithmetic", subject=subject, lengths=lengths, **changes)  # type: ignore[arg-type]


def results(work: Work) -> list[CellResult]:
    """Every cell of a work."""
    return [cell for group in work.groups() for cell in work.check(group)]


def findings(plan: Plan) -> list[CellResult]:
    """Cells of an arithmetic plan that are not as they should be."""
    return [cell for cell in results(work_of(plan)) if cell.outcome != "same"]
