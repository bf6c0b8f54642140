"""The command that reproduces one result alone."""

import shlex

from shadowviz.experiments.stress.work import CellResult, Plan


def command_for(plan: Plan, cell: CellResult) -> str:
    """One line that checks this cell alone, and comes to the same result."""
    words = ["shadowviz", "stress", plan.subject, "--level", plan.level, "--mode", cell.mode]
    words += ["--lengths", str(cell.length), "--seed", str(plan.seed)]
    for name, value in sorted(plan.options.items()):
        words += [f"--{name}", value]
    return shlex.join(words)
