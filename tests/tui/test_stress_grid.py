"""The heat map in the terminal, beside the exported one."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowviz.diagrams.boundary import BoundaryOptions, boundary_diagram
from shadowviz.diagrams.boundary_rows import RowsBy
from shadowviz.replay.stress import FINDINGS, OUTCOMES
from shadowviz.tui.models.stress_grid import StressGrid
from shadowviz.tui.stress_title import no_finding_words, title_words
from shadowviz.tui.stress_words import MOST_RUNS, lengths_word
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


@given(st.lists(st.integers(1, 60), min_size=1, unique=True).map(sorted))
def test_a_command_names_the_checked_lengths_and_no_others_while_their_stretches_are_few(lengths):
    found = {
        length
        for word in lengths_word(lengths).split(",")
        for start, _, stop in (word.partition(":"),)
        for length in range(int(start), int(stop or int(start) + 1))
    }
    stretches = sum(length - 1 not in lengths for length in lengths)
    assert found == (set(lengths) if stretches <= MOST_RUNS else set(range(lengths[0], lengths[-1] + 1)))


def test_sizes_that_coincide_share_a_number_and_the_coarsest_is_shown():
    started, _ = run_of([])
    closing = StressGrid([started]).closing
    assert ("hca and n_win", 128) in closing
    assert [size for _, size in closing] == sorted({size for _, size in StressGrid([started]).units})


@pytest.mark.parametrize("width", range(40, 121, 4))
def test_the_title_keeps_what_matters_however_narrow_it_is(width):
    started, _ = run_of([])
    grid = StressGrid([msgspec.structs.replace(started, cells=123_456)])
    words = title_words(grid, RowsBy.SUBJECT, "a-subject-of-some-length", 16_384, width)
    assert len(words) <= max(width, 60)
    assert words.endswith("0 findings  1 column = 16,384")


@pytest.mark.parametrize(
    ("level", "outcome", "words"),
    [
        ("faults", "differs", "no finding in 1 check; a fault that was put in and found is none"),
        ("numeric", "same", "no finding in 1 check"),
        ("numeric", "differs", "no finding behind this cell"),
    ],
)
def test_where_there_is_nothing_to_go_to_the_reason_is_told(level, outcome, words):
    started, (event,) = run_of([("cut", 7, outcome, ("", -1), 0)])
    fault = {"level": level, "fault": "swa_oldest_zeroed"} if level == "faults" else {}
    grid = StressGrid([msgspec.structs.replace(started, level=level)])
    grid.add(msgspec.structs.replace(event, **fault))
    assert no_finding_words(grid, 1) == words


@given(checks=CHECKS, bin_size=st.sampled_from((1, 4, 15)))
@settings(max_examples=120, deadline=None)
def test_by_kind_every_part_is_equal_found_or_not_told_of_by_each_check(checks, bin_size):
    started, events = run_of(checks)
    grid = StressGrid([started], RowsBy.KIND)
    for event in events:
        grid.add(event)
    parts = {(kind.label, layer) for kind in started.geometry.kinds for layer in kind.owners}
    rows = {row.name: row for row in grid.rows}
    assert {f"{label} layer {layer}" for label, layer in parts} <= rows.keys() or not events
    for label, layer in parts if events else ():
        for first in range(1, 61, bin_size):
            here = [event for event in events if first <= event.length < first + bin_size]
            equal = [event for event in here if event.outcome == "same"]
            own = [event for event in here if event.outcome != "same" and (event.kind, event.layer) == (label, layer)]
            cell = rows[f"{label} layer {layer}"].cell(first, first + bin_size)
            if not here:
                assert cell is None
                continue
            assert cell is not None
            assert (cell.checks, cell.silent) == (len(equal) + len(own), len(here) - len(equal) - len(own))
            assert cell.findings == sum(event.outcome in FINDINGS for event in own)
            assert cell.is_silent == (cell.silent > 0 and not own)
            led = events[cell.leads_to - 1]
            assert led in here
            assert led.outcome == (
                "same" if not own and not cell.silent else OUTCOMES[cell.outcome] if own else led.outcome
            )


def test_a_check_that_finds_a_difference_says_nothing_of_other_layers():
    started, events = run_of([("cut", 7, "same", ("", -1), 0), ("cut", 8, "differs", ("csa_kv", 2), 0.5)])
    grid = StressGrid([started], RowsBy.KIND)
    for event in events:
        grid.add(event)
    rows = {row.name: row for row in grid.rows}
    assert rows["csa_kv layer 2"].findings() == [8]
    assert not rows["csa_kv layer 4"].cell(7, 8).is_silent
    assert rows["csa_kv layer 4"].cell(8, 9).is_silent
    assert rows["csa_kv layer 4"].findings() == []
    assert list(rows["csa_kv layer 4"].lengths(1, 61)) == [7, 8]


def test_formulas_are_compared_by_kind_and_slots_and_answers_by_no_row_of_their_own():
    started, (event, other) = run_of([("derive", 7, "same", ("", -1), 0), ("slots", 8, "same", ("", -1), 0)])
    grid = StressGrid([msgspec.structs.replace(started, level="arithmetic")], RowsBy.KIND)
    grid.add(msgspec.structs.replace(event, level="arithmetic"))
    grid.add(msgspec.structs.replace(other, level="arithmetic"))
    rows = {row.name: row for row in grid.rows}
    assert rows.keys() == {"all rows"} | {kind.label for kind in started.geometry.kinds}
    assert rows["hca_kv"].cell(7, 8).checks == 1
    assert rows["hca_kv"].cell(8, 9) is None
    assert rows["all rows"].cell(8, 9).checks == 1
