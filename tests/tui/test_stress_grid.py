"""The heat map in the terminal, beside the exported one."""

from hypothesis import given, settings
from hypothesis import strategies as st

from shadowviz.diagrams.boundary import BoundaryOptions, boundary_diagram
from shadowviz.diagrams.boundary_rows import RowsBy
from shadowviz.replay.stress import OUTCOMES
from shadowviz.tui.models.stress_grid import StressGrid
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted
from shadowviz_engine.core.presets import preset

CHECKS = st.lists(
    st.tuples(
        st.sampled_from(("cut", "chunk 2", "chunk 16")),
        st.integers(1, 60),
        st.sampled_from(("same", "near_tie", "refused", "missed", "differs")),
        st.sampled_from((("csa_kv", 2), ("hca_kv", 3), ("", -1))),
        st.floats(0, 1),
    ),
    max_size=60,
)


def run_of(checks):
    started = BoundaryStressStarted(
        seq=0, t_ns=0, level="numeric", subject="tiny", geometry=preset("tiny"), seed=0,
        modes=("cut", "chunk 2", "chunk 16"), lengths=((1, 61),), cells=len(checks),
    )  # fmt: skip
    events = [
        BoundaryChecked(
            seq=seq, t_ns=0, level="numeric", subject="tiny", mode=mode, length=length, outcome=outcome,
            kind=kind, layer=layer, difference=difference,
        )
        for seq, (mode, length, outcome, (kind, layer), difference) in enumerate(checks, 1)
    ]  # fmt: skip
    return started, events


@given(checks=CHECKS, bin_size=st.sampled_from((1, 4, 15)))
@settings(max_examples=120, deadline=None)
def test_cells_are_those_of_the_exported_heat_map(checks, bin_size):
    started, events = run_of(checks)
    grid = StressGrid([started], RowsBy.MODE)
    for event in events:
        grid.add(event)
    options = BoundaryOptions(rows=RowsBy.MODE, columns=-(-60 // bin_size))
    drawn = boundary_diagram(lambda: [started, *events], "run", options)
    assert [row.name for row in grid.rows] == list(drawn.rows)
    assert grid.lengths == drawn.lengths
    assert drawn.bin_tokens == bin_size
    expected = {(cell.row, cell.first): cell for cell in drawn.cells}
    for at, row in enumerate(grid.rows):
        for first in range(1, 61, bin_size):
            found, cell = row.cell(first, first + bin_size), expected.pop((at, first), None)
            assert (found is None) == (cell is None)
            if found is not None and cell is not None:
                assert (found.checks, found.findings, found.difference) == (cell.checks, cell.findings, cell.difference)
                assert OUTCOMES[found.outcome] == cell.outcome
                assert events[found.seq - 1].length in range(first, first + bin_size)
    assert not expected
    assert grid.num_findings == sum(row.cell(1, 61).findings for row in grid.rows if row.cell(1, 61))


def test_a_cell_leads_to_its_worst_check():
    started, events = run_of([("cut", 7, "same", ("", -1), 0), ("cut", 7, "differs", ("csa_kv", 2), 0.5)])
    grid = StressGrid([started])
    for event in events:
        grid.add(event)
    cell = grid.rows[0].cell(7, 8)
    assert cell is not None
    assert cell.seq == 2
    assert grid.rows[0].findings() == [7]
