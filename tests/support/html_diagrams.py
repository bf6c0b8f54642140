"""Diagrams of every sort that becomes a page, with any text, for tests of pages."""

import random
from collections.abc import Callable
from typing import Any

from picture_samples import caption, tree

from shadowviz.diagrams.cells import BoundaryDiagram, Cell
from shadowviz.diagrams.changes import Change, ChangesDiagram, ChangeSum, RowChange
from shadowviz.diagrams.derivation_of import length_diagram
from shadowviz.diagrams.lanes import DerivationDiagram
from shadowviz.diagrams.lookups import LookupLine, LookupsDiagram
from shadowviz.diagrams.memory import KindBytes, MemoryDiagram, Tile
from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.exporters import html_cells, html_changes, html_lookups, html_memory, html_ruler, html_tree
from shadowviz.exporters.formats import Drawing
from shadowviz.replay.sentences import Fact
from shadowviz.replay.summary import Loss
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.spans import Extent

RENDERERS: dict[type, Callable[[Any], Drawing]] = {
    TreeDiagram: html_tree.render,
    DerivationDiagram: html_ruler.render,
    BoundaryDiagram: html_cells.render,
    LookupsDiagram: html_lookups.render,
    MemoryDiagram: html_memory.render,
    ChangesDiagram: html_changes.render,
}


def page_of(diagram: Any) -> str:
    """The page of a diagram."""
    return RENDERERS[type(diagram)](diagram).data.decode()


def small_tree(text: str = "User: compare") -> TreeDiagram:
    """A tree with every mark, in which all texts are `text`."""
    from msgspec.structs import replace

    diagram = tree(12, texts=(text,))
    boxes = tuple(replace(box, namespace=text) for box in diagram.boxes)
    kinds = (text, *diagram.kinds[1:])
    told = caption(12, 1216, title=text, source=text, verdict=text, notes=(text,), counts=((text, text),))
    renamed = (
        replace(box, rows=tuple(replace(row, kind=text) if row.kind == diagram.kinds[0] else row for row in box.rows))
        for box in boxes
    )
    return replace(diagram, boxes=tuple(renamed), kinds=kinds, request=text, caption=told)


def ruler(text: str = "word") -> DerivationDiagram:
    """A ruler of a run: rows that are there, gone, never were, and not known."""
    from msgspec.structs import replace

    diagram = length_diagram(preset("tiny"), Extent(0, 300))
    lanes = []
    for number, lane in enumerate(diagram.lanes):
        bars = tuple(
            replace(bar, resident=(True, False, None)[(place + number) % 3], once=place % 2 == 0)
            for place, bar in enumerate(lane.bars)
        )
        lanes.append(replace(lane, bars=bars, kind=text if not number else lane.kind))
    told = caption(300, 300, title=text, unit="tokens", verdict=text)
    return replace(
        diagram, lanes=tuple(lanes), caption=told, text=(text,) * 300, marks=((10, text), (12, text), *diagram.marks)
    )


def boundary(columns: int = 40, rows: int = 5, text: str = "row", seed: int = 0) -> BoundaryDiagram:
    """Results of a stress run, with every outcome somewhere, and lengths that nobody checked."""
    rng = random.Random(seed)
    outcomes = ("same",) * 30 + ("near_tie", "found", "refused", "missed", "differs")
    cells = []
    for row in range(rows):
        for length in range(1, columns + 1):
            if row > 2 and length % 7 == 3:
                continue
            outcome = rng.choice(outcomes)
            found = outcome in ("refused", "missed", "differs")
            cells.append(
                Cell(
                    row=row,
                    first=length,
                    last=length,
                    checks=3,
                    findings=int(found),
                    difference=0.031 if found else 0.0,
                    outcome=outcome,
                    detail=f"{text} differs" if found else "",
                    command=f"shadowviz stress --length {length} --row {row}" if found else "",
                )
            )
    told = caption(len(cells), len(cells) + 20, unit="checks", title=text, verdict=text)
    names = tuple(f"{text} {row}" for row in range(rows))
    return BoundaryDiagram(
        caption=told,
        rows=names,
        lengths=(1, columns),
        bin_tokens=1,
        cells=tuple(cells),
        units=((text, 4), ("page", 16)),
    )


def lookups(text: str = "send LF", num: int = 5) -> LookupsDiagram:
    """Lookups of which the last is a hit and the others lost, the first most."""
    lines = tuple(
        LookupLine(
            request=f"r{number} {text}",
            seq=10 * number,
            num_prompt=1_000,
            common=900,
            matched=768,
            usable=100 * number,
            reused=100 * number,
            computed=1_000 - 100 * number,
            verdict="FULL_HIT" if number == num - 1 else "TOKENS_DIFFER",
            detail="" if number == num - 1 else text,
            lost=100 * (num - 1 - number),
            change=text,
            facts=(Fact(text, Origin.OBSERVED), Fact("follows", Origin.DERIVED)),
        )
        for number in range(num)
    )
    told = caption(num, num, unit="lookups", title=text)
    return LookupsDiagram(
        caption=told,
        lines=lines,
        losses=(Loss(text, 4, 1_000, text, 0, 400, text), Loss("FULL_HIT", 1, 0, "r4", 40, 0, "")),
        prompt_tokens=1_000 * num,
        reused_tokens=1_000,
        hit_rate=0.2,
        best_change=text,
        best_change_wins=1_000,
    )


def memory(text: str = "User:", num: int = 30) -> MemoryDiagram:
    """Bytes of a kind called `text` and of another over a chain of nodes with leaves, and one kind that is unknown."""
    tiles = []
    for kind, size in ((text, 100), ("swa_kv", 300)):
        tiles.append(Tile(kind, 0, 0, 0, 0))
        tiles.append(Tile(kind, 0, 0, 7, 7 * size, 0, request=True))
        for node in range(1, num + 1):
            parent = 0 if node < 3 else node - 2
            tiles.append(Tile(kind, node, parent, num - node, (num - node) * size))
        tiles.append(Tile(kind, num, num, 5, 5 * size, 3, gathered=True))
    rows = 7 + sum(range(num)) + 5
    kinds = (
        KindBytes(kind=text, layers=2, row_bytes=50, rows=rows, num_bytes=100 * rows, allocated_bytes=10**6),
        KindBytes(kind="swa_kv", layers=2, row_bytes=150, rows=rows, num_bytes=300 * rows),
        KindBytes(kind="delta_state", layers=2, row_bytes=1, rows=None, num_bytes=None),
    )
    return MemoryDiagram(
        caption=caption(num, num, title=text),
        row_format="bf16",
        format_origin=Origin.ASSUMED,
        kinds=kinds,
        tiles=tuple(tiles),
        labels=tuple((node, text) for node in range(1, num + 1)),
        total_bytes=400 * rows,
    )


def changes(text: str = "User:") -> ChangesDiagram:
    """One change of each sort."""
    rows = (RowChange(text, 10, 10, None), RowChange("swa_kv", 8, 8, 0))
    found = (
        Change(what="appeared", before=0, after=4, start=0, stop=10, label=text, namespace=text, nodes=2, tokens=20),
        Change(what="went", before=9, after=0, start=0, stop=30, label=text, tokens=30),
        Change(what="residency", before=2, after=3, start=0, stop=40, label=text, tokens=40, rows=rows),
    )
    sums = tuple(ChangeSum(change.what, 1, change.nodes, change.tokens) for change in found)
    told = caption(3, 3, unit="changes", title=text)
    return ChangesDiagram(
        caption=told, before=told, kinds=(text, "swa_kv"), changes=found, sums=sums, same_tokens=90, num_nodes=(5, 6)
    )


def every_diagram(text: str) -> list[Any]:
    """One of each sort, all texts `text`."""
    return [small_tree(text), ruler(text), boundary(text=text), lookups(text), memory(text), changes(text)]
