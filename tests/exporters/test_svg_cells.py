"""The heat map of boundary stress as SVG: findings stand out, are counted and told, and unchecked cells are empty."""

from pathlib import Path

import pytest
from golden import check_golden
from hostile import ELEMENTS, TEXTS, hostile_caption, read_svg, texts_of
from msgspec.structs import replace
from picture_samples import caption

from shadowviz.diagrams.cells import BoundaryDiagram, Cell
from shadowviz.diagrams.roles import OUTCOMES
from shadowviz.exporters.formats import Look
from shadowviz.exporters.svg_cells import FINDINGS_MOST, render

GOLDEN = Path(__file__).parent / "golden"


def heat_map(columns: int = 24, bin_tokens: int = 1) -> BoundaryDiagram:
    """Two rows, every outcome, and a gap."""
    names = tuple(OUTCOMES)
    cells = []
    for row in range(2):
        for column in range(columns):
            if (row, column) == (1, 3):
                continue
            outcome = names[(column + row) % len(names)] if column % 4 == 0 else "same"
            is_bad = outcome in ("missed", "differs")
            first = 1 + column * bin_tokens
            cells.append(
                Cell(
                    row=row,
                    first=first,
                    last=first + bin_tokens - 1,
                    checks=3,
                    findings=int(is_bad),
                    difference=0.031 if is_bad else 0.0,
                    outcome=outcome,
                    detail="first differing row 7 of csa_kv" if is_bad else "",
                    command=f"shadowviz stress --lengths {first} --seed 7" if is_bad else "",
                )
            )
    return BoundaryDiagram(
        caption=caption(47, 48, title="Boundary stress", unit="checks", verdict="9 findings in 47 checks"),
        rows=("all rows", "csa_kv layer 2"),
        lengths=(1, columns * bin_tokens),
        bin_tokens=bin_tokens,
        cells=tuple(cells),
        units=(("page", 16), ("csa ratio", 4)),
    )


@pytest.mark.parametrize("dark", [False, True])
def test_the_picture_is_the_stored_one(dark: bool) -> None:
    check_golden(GOLDEN / f"cells-{'dark' if dark else 'light'}.svg", render(heat_map(), Look(dark=dark)).data)


@pytest.mark.parametrize(("columns", "bin_tokens"), [(24, 1), (250, 1), (250, 16)])
def test_every_cell_is_told_and_every_finding_counted(columns: int, bin_tokens: int) -> None:
    diagram = heat_map(columns, bin_tokens)
    said = texts_of(read_svg(render(diagram).data, ELEMENTS))
    assert sum(", 3 checks, " in text and " length" in text for text in said) >= len(diagram.cells)
    for row in range(2):
        num = sum(cell.findings for cell in diagram.cells if cell.row == row)
        assert f"{num:,} finding{'' if num == 1 else 's'}" in said
    assert f"shadowviz stress --lengths {diagram.cells[0].first} --seed 7" in said or not diagram.cells[0].findings
    assert sum(text.startswith("shadowviz stress") for text in said) <= FINDINGS_MOST


def test_outcomes_look_different_without_colour() -> None:
    import re

    pictures = set()
    for outcome in OUTCOMES:
        diagram = heat_map()
        cells = (replace(diagram.cells[0], outcome=outcome, findings=0, detail="", command="", difference=0.0),)
        drawn = render(replace(diagram, cells=cells)).data.decode()
        drawn = drawn.split('class="l"/>')[0] + re.sub(r"<title>.*?</title>", "", drawn)
        pictures.add(re.sub(r"#[0-9a-f]{6}|<defs>.*?</defs>", "", drawn, flags=re.DOTALL))
    assert len(pictures) == len(OUTCOMES)


def test_an_outcome_of_another_version_is_drawn_as_unknown() -> None:
    diagram = heat_map()
    said = texts_of(
        read_svg(render(replace(diagram, cells=(replace(diagram.cells[0], outcome="odd"),))).data, ELEMENTS)
    )
    assert any("unknown" in text for text in said)


def test_hostile_names_and_details_stay_texts() -> None:
    diagram = heat_map()
    cells = tuple(
        replace(cell, detail=TEXTS[n % len(TEXTS)], command=TEXTS[(n + 1) % len(TEXTS)], findings=1)
        for n, cell in enumerate(diagram.cells[: len(TEXTS)])
    )
    hostile = replace(
        diagram,
        caption=hostile_caption(diagram.caption),
        rows=(TEXTS[0], TEXTS[12]),
        cells=cells,
        units=((TEXTS[1], 4), (TEXTS[12], 8)),
    )
    data = render(hostile).data
    assert any("<script>" in text for text in texts_of(read_svg(data, ELEMENTS)))
    assert len(data) < 200_000


def test_a_run_without_cells_is_a_picture_too() -> None:
    empty = replace(heat_map(), cells=(), rows=(), units=())
    assert empty.caption.title in texts_of(read_svg(render(empty).data, ELEMENTS))
