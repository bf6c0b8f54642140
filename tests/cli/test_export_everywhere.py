"""The whole table of formats: each diagram that each takes, from a live engine and from its log, at any event."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace
from walked_logs import write_log

from shadowviz.cli.export_diagrams import Ask, changes_of, diagram_of
from shadowviz.cli.export_source import Recording, open_source
from shadowviz.cli.main import main
from shadowviz.exporters.formats import FORMATS, Diagram, DiagramName, Format, Look, format_named

TABLE = [(form.name, diagram) for form in FORMATS for diagram in form.diagrams]
DRAWN_ONCE = ("png", "pdf")
"""Formats made of the svg by a typesetter that takes its time: one event is enough."""


class Sides(NamedTuple):
    """One run, as it came from the engine and as its log has it."""

    live: Recording
    log: Recording
    first_lookup: int
    last: int


@pytest.fixture(scope="module")
def sides(story_prompts: Path) -> Sides:
    live = open_source(str(story_prompts), False, ("max-running=1",))
    events = list(live.events())
    log = open_source(str(write_log(story_prompts.with_name("same-run.jsonl"), events)), False, ())
    lookup = next(event.seq for event in events if type(event).__name__ == "LookupDone")
    # A picture names its source; apart from that nothing may tell the two apart.
    return Sides(replace(live, name="one run"), replace(log, name="one run"), lookup, events[-1].seq)


def shown_of(run: Recording, diagram: DiagramName, at: int) -> Diagram:
    if diagram is DiagramName.CHANGES:
        return changes_of(replace(run, at=0), replace(run, at=at))
    request = "first" if diagram is DiagramName.DERIVATION else ""
    return diagram_of(diagram, run, Ask(at=at, request=request))


def drawn(form: Format, diagram: DiagramName, shown: Diagram) -> bytes:
    drawing = form.renderer(diagram)(shown, Look())
    return b"".join((drawing.data, *drawing.parts))


@pytest.mark.parametrize(("form", "diagram"), [row for row in TABLE if row[1] is not DiagramName.BOUNDARY])
def test_a_format_shows_a_live_engine_and_its_log_alike_at_any_event(
    sides: Sides, form: str, diagram: DiagramName
) -> None:
    # The ruler of a prompt begins with its request.
    first = sides.first_lookup if diagram is DiagramName.DERIVATION else 0
    ats = [sides.last] if form in DRAWN_ONCE else [first, (first + sides.last) // 2, sides.last]
    pictures = []
    for at in ats:
        live, log = (shown_of(run, diagram, at) for run in (sides.live, sides.log))
        assert (live.caption, live.caption.seq) == (log.caption, at)
        made = drawn(format_named(form), diagram, live)
        assert form in DRAWN_ONCE or made == drawn(format_named(form), diagram, log)
        pictures.append(made)
    assert all(pictures)
    assert len(set(pictures)) == len(ats), "another event shows the same"


@pytest.mark.parametrize("form", [name for name, diagram in TABLE if diagram is DiagramName.BOUNDARY])
def test_a_format_shows_a_stress_run_whole_and_cut_off(stress_log: Path, tmp_path: Path, form: str) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(stress_log.read_bytes()[: stress_log.stat().st_size * 2 // 3])
    whole, part = (
        diagram_of(DiagramName.BOUNDARY, open_source(str(path), False, ()), Ask()) for path in (stress_log, torn)
    )
    assert 0 < part.caption.shown < whole.caption.shown == whole.caption.total == part.caption.total
    made = {drawn(format_named(form), DiagramName.BOUNDARY, shown) for shown in (whole, part)}
    assert len(made) == 2


@pytest.fixture(scope="module")
def stress_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stress") / "stress.jsonl"
    assert main(["stress", "tiny", "--level", "arithmetic", "--lengths", "1:9", "--jobs", "1", "-o", str(path)]) == 0
    return path


HOSTILE = '<script>alert(7)</script>\x1b[31m\u202egnp.exe\u2066]]>"`${x}%%{init}%%{a|b}\\N'


@pytest.fixture(scope="module")
def hostile(story_log: Path) -> Recording:
    """A record whose first request and whose namespace have a name that no format may act on."""
    path = story_log.with_name("hostile.jsonl")
    name = json.dumps(HOSTILE).encode()
    lines = story_log.read_bytes().splitlines(keepends=True)[:-1]
    path.write_bytes(b"".join(lines).replace(b'"first"', name).replace(b'"lora-7"', name))
    assert path.read_bytes().count(name) > 5
    return open_source(str(path), False, ())


@pytest.mark.parametrize(
    ("form", "diagram"),
    [row for row in TABLE if row[0] not in DRAWN_ONCE and row[1] not in (DiagramName.BOUNDARY, DiagramName.CHANGES)],
)
def test_names_of_a_record_are_texts_in_every_format(hostile: Recording, form: str, diagram: DiagramName) -> None:
    named = HOSTILE if diagram in (DiagramName.TREE, DiagramName.DERIVATION) else ""
    last = 40 if diagram is DiagramName.DERIVATION else None
    made = drawn(format_named(form), diagram, diagram_of(diagram, hostile, Ask(at=last, request=named)))
    if form == "perfetto":
        assert b"\x1b[31m" not in made
        return
    told = made.decode()
    # Plotly itself speaks of control characters, but of none of these.
    assert not any(mark in told for mark in ("\x1b[31m", "\u202e", "\u2066"))
    if form not in ("json", "text", "text-log"):
        assert "<script>alert" not in told
        assert "alert" in told or not named
