"""The heat map of a stress run: nothing is lost in it, and it does not depend on the order of results."""

from collections.abc import Iterator, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz.diagrams.boundary import BoundaryOptions, boundary_diagram
from shadowviz.diagrams.boundary_rows import RowsBy
from shadowviz.diagrams.cells import BoundaryDiagram
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted, Event
from shadowviz_engine.core.presets import preset


def started(**fields: object) -> BoundaryStressStarted:
    values: dict[str, object] = {
        "level": "numeric",
        "subject": "tiny",
        "geometry": preset("tiny"),
        "seed": 3,
        "modes": (),
        "lengths": ((1, 101),),
        "cells": 4,
    }
    return BoundaryStressStarted(seq=1, t_ns=0, **values | fields)


def check(length: int, mode: str = "cold", **fields: object) -> BoundaryChecked:
    return msgspec.structs.replace(
        BoundaryChecked(seq=2, t_ns=0, level="numeric", subject="tiny", mode=mode, length=length), **fields
    )


def drawn(events: Sequence[Event], **options: object) -> BoundaryDiagram:
    return boundary_diagram(lambda: events, "run.jsonl", BoundaryOptions(**options))


def differing(length: int, **fields: object) -> BoundaryChecked:
    found = {"outcome": "differs", "kind": "csa_kv", "layer": 2, "detail": f"at {length}", "command": f"again {length}"}
    return check(length, **found | fields)


CHECKS = st.lists(
    st.builds(
        check,
        st.integers(1, 100),
        st.sampled_from(("cold", "chunk 2", "chunk 16")),
        outcome=st.sampled_from(("same", "near_tie", "differs", "refused", "missed")),
        kind=st.sampled_from(("", "csa_kv", "swa_kv")),
        layer=st.integers(-1, 5),
        difference=st.floats(0, 10),
    ),
    max_size=60,
)


@given(CHECKS, st.integers(1, 150), st.sampled_from(RowsBy), st.randoms(use_true_random=False))
def test_every_check_is_counted_in_one_cell_whatever_the_rows_and_the_order(
    checks: list[BoundaryChecked], columns: int, rows: RowsBy, chance: "object"
) -> None:
    diagram = drawn([started(), *checks], columns=columns, rows=rows)
    counted = [cell for cell in diagram.cells if rows is not RowsBy.KIND or diagram.rows[cell.row] == "all rows"]
    assert sum(cell.checks for cell in counted) == len(checks)
    findings = sum(one.outcome in ("differs", "refused", "missed") for one in checks)
    assert sum(cell.findings for cell in counted) == findings
    assert max((cell.difference for cell in diagram.cells), default=0) == max((c.difference for c in checks), default=0)
    assert len({cell.first for cell in diagram.cells}) <= columns
    shuffled = list(checks)
    chance.shuffle(shuffled)
    assert drawn([started(), *shuffled], columns=columns, rows=rows) == diagram


@given(CHECKS, st.integers(1, 150))
def test_a_cell_covers_exactly_the_lengths_of_its_column(checks: list[BoundaryChecked], columns: int) -> None:
    diagram = drawn([started(), *checks], columns=columns)
    first, last = diagram.lengths
    assert (first, last) == (1, 100)
    for cell in diagram.cells:
        assert (cell.first - first) % diagram.bin_tokens == 0
        assert cell.last == min(cell.first + diagram.bin_tokens - 1, last)
        mode = diagram.rows[cell.row]
        assert cell.checks == sum(one.mode == mode and cell.first <= one.length <= cell.last for one in checks)


def test_the_first_finding_of_a_cell_is_the_one_that_is_reproduced() -> None:
    diagram = drawn([started(), check(10), differing(13), differing(11), check(12)], columns=1)
    (cell,) = diagram.cells
    assert (cell.checks, cell.findings, cell.outcome) == (4, 2, "differs")
    assert (cell.detail, cell.command) == ("at 11", "again 11")


def test_rows_by_kind_tell_in_which_layer_something_differs_first() -> None:
    events = [started(), check(10), differing(11), differing(12, kind="hca_kv", layer=3), differing(13, layer=10)]
    diagram = drawn(events, rows=RowsBy.KIND)
    assert diagram.rows == ("all rows", "csa_kv layer 2", "hca_kv layer 3", "csa_kv layer 10")
    row = [(cell.first, cell.checks, cell.findings) for cell in diagram.cells if cell.row == 1]
    assert row == [(10, 1, 0), (11, 1, 1)], "the check at 10 compared every row, those at 12 and 13 stopped elsewhere"


def test_modes_stand_in_the_order_of_the_run_and_else_as_people_count() -> None:
    checks = [check(5, mode) for mode in ("chunk 16", "cold", "chunk 2")]
    assert drawn([started(), *checks]).rows == ("chunk 2", "chunk 16", "cold")
    assert drawn([started(modes=("cold", "chunk 16", "chunk 2")), *checks]).rows == ("cold", "chunk 16", "chunk 2")


def test_a_fault_that_was_put_in_and_seen_is_no_finding() -> None:
    fault = {"level": "faults", "fault": "csa_tail_lost"}
    events = [
        started(level="faults"),
        differing(9, **fault),
        check(10, **fault | {"outcome": "missed"}),
        check(11, level="faults"),
    ]
    diagram = drawn(events)
    assert diagram.rows == ("no fault", "csa_tail_lost")
    shown = [(cell.row, cell.first, cell.outcome, cell.findings) for cell in diagram.cells]
    assert shown == [(0, 11, "same", 0), (1, 9, "found", 0), (1, 10, "missed", 1)]
    assert diagram.caption.verdict == "1 of 3 checks is a finding"


def test_several_subjects_have_a_row_each_and_one_can_be_chosen() -> None:
    other = started(subject="recall", geometry=preset("recall"), cells=1)
    events = [started(), other, check(3), check(4, subject="recall"), check(5)]
    diagram = drawn(events)
    assert diagram.rows == ("tiny", "recall")
    assert (diagram.caption.geometry, diagram.units) == ("several geometries", ())
    one = drawn(events, subject="recall")
    assert (one.rows, one.caption.shown, one.caption.total) == (("cold",), 1, 1)
    assert one.units == (("csa", 4), ("n_win", 8), ("hca", 16), ("page", 16))


def test_what_is_not_on_record_is_said() -> None:
    caption = drawn([started(), started(), check(3)]).caption
    assert caption.notes == ("3 of 4 checks are not on record.",)
    assert (caption.shown, caption.total, caption.unit) == (1, 4, "checks")


def test_a_record_without_such_a_run_is_refused() -> None:
    with pytest.raises(InputError, match="the record has no stress run: expected one"):
        drawn([])
    with pytest.raises(InputError, match="no stress run with oracle of any subject: expected one of numeric of tiny"):
        drawn([started()], level="oracle")


def test_hostile_names_are_harmless_in_a_picture() -> None:
    events: list[Event] = [started(), differing(5, mode="\x1b[31m", detail="\u202e", command="\n")]
    diagram = drawn(events)
    shown = [*diagram.rows, *(text for cell in diagram.cells for text in (cell.detail, cell.command))]
    assert all(text.isprintable() for text in shown)


def test_events_are_read_from_the_first_each_time() -> None:
    events = [started(), check(3)]

    def read() -> Iterator[Event]:
        yield from events

    assert boundary_diagram(read, "run.jsonl") == drawn(events)
