"""`stress --fault list`: the faults that can be put into the running engine."""

from collections.abc import Sequence
from typing import Any

from shadowviz.cli.show import beginning, columns_of, table, width


def fault_table(faults: Sequence[dict[str, Any]]) -> str:
    """A line a fault."""
    room = width() - max(columns_of(one["fault"]) for one in faults) - 3
    return table(["fault", "what"], [[one["fault"], beginning(one["what"], room)] for one in faults], (0, 1))
