"""`stress --fault list`: the faults that can be put into the running engine."""

import textwrap
from collections.abc import Sequence
from typing import Any

from shadowviz.cli.show import columns_of, table, width

GAP = 2
LEAST_WORDS = 20
"""Columns for words that a narrow terminal leaves at least."""


def fault_table(faults: Sequence[dict[str, Any]]) -> str:
    """A row a fault; what does not fit goes on in the next line."""
    names = max(columns_of(one["fault"]) for one in faults)
    room = max(LEAST_WORDS, width() - names - GAP)
    rows = []
    for one in faults:
        first, *more = textwrap.wrap(one["what"], room)
        rows += [[one["fault"], first], *(["", line] for line in more)]
    return table(["fault", "what"], rows, (0, 1), GAP)
