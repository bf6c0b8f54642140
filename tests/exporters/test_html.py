"""Pages: one file without network, the same every time, in which no text of a record is anything but text."""

import base64
import hashlib
import json
import re
from typing import Any

import numpy as np
import pytest
from html_diagrams import boundary, changes, every_diagram, lookups, memory, page_of, ruler, small_tree
from html_pages import INJECTIONS, Page
from hypothesis import given, settings
from hypothesis import strategies as st
from picture_samples import chain, tree

from shadowviz.diagrams.cells import BoundaryDiagram
from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.exporters.formats import DiagramName, format_named
from shadowviz.exporters.html_cells import MAX_COLUMNS, grid_of, outcome_values
from shadowviz.exporters.html_page import as_data
from shadowviz.exporters.html_text import MAX_TEXT

# fmt: off
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "p", "bdi", "code", "div",
    "section", "nav", "span", "button", "label", "select", "option", "input", "output", "ul", "li", "svg", "defs",
    "pattern", "rect", "path", "text", "g", "table", "thead", "tbody", "tr", "th", "td", "small", "details", "summary",
    "script", "noscript",
}
# fmt: on
NAMES = ["tree", "derivation", "boundary", "lookups", "memory", "changes"]
FUZZED = st.one_of(
    st.sampled_from(INJECTIONS), st.text(max_size=40), st.text("<>&\"'`%{}$\\/ab;:=#\u202e\u2028", max_size=40)
)


def data_of(source: str) -> dict[str, Any]:
    """What the page's own script reads."""
    written = source.partition('<script type="application/json" id="data">')[2].partition("</script>")[0]
    values: dict[str, Any] = json.loads(written)
    return values


def texts_in(values: object) -> list[str]:
    if isinstance(values, str):
        return [values]
    if isinstance(values, dict):
        return [text for value in values.values() for text in texts_in(value)]
    return [text for value in values for text in texts_in(value)] if isinstance(values, list) else []


class Seen(Page):
    """A page that may hold fields to fill in, which have no end tag."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        if tag == "input":
            self.open.pop()


def scripts_of(source: str) -> list[str]:
    return [part.partition("</script>")[0] for part in source.split("<script>")[1:]]


def own_part(source: str) -> str:
    """The page without Plotly."""
    plotly = scripts_of(source)[0]
    return source if "plotly.js" not in plotly[:200] else source.replace(plotly, "")


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_the_same_diagram_gives_the_same_bytes(place: int) -> None:
    one, other = (page_of(every_diagram("some text")[place]) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_a_page_loads_nothing_and_lets_its_own_scripts_run_alone(place: int) -> None:
    source = page_of(every_diagram("some text")[place])
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', source)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].replace("&#39;", "'").split(";"))
    hashes = {
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts_of(source)
    }
    assert set(rules["script-src"].split()) == hashes
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert source.index("Content-Security-Policy") < source.index("<style>") < source.index("<script")
    assert re.search(r"https?:|url\((?!#)|@import|javascript:|<link|\bsrc=", own_part(source)) is None


def test_only_pages_with_a_plot_carry_plotly() -> None:
    sizes = {name: len(page_of(diagram)) for name, diagram in zip(NAMES, every_diagram("x"), strict=True)}
    assert all((size > 4_000_000) == (name not in ("lookups", "changes")) for name, size in sizes.items())


@given(FUZZED, st.integers(0, len(NAMES) - 1))
@settings(max_examples=60)
def test_no_text_becomes_markup_or_a_script(text: str, place: int) -> None:
    source = page_of(every_diagram(text or " ")[place])
    without = own_part(source)
    for script in scripts_of(without):
        without = without.replace(script, "")
    shown = Seen(without)
    assert set(shown.elements) <= ELEMENTS
    assert shown.elements.count("script") == source.count("<script")
    assert shown.elements.count("title") == shown.elements.count("main") == shown.elements.count("style") == 1
    assert not shown.other
    assert not [name for _, name, _ in shown.attributes if name.startswith("on") or name in ("href", "src", "srcdoc")]
    assert all(line.isprintable() for line in without.split("\n"))
    assert all(text.isprintable() for text in texts_in(data_of(source)))


@pytest.mark.parametrize(
    "hostile", ["</script><script>alert(1)</script>", "<!--<script>", "a&b<c>d", "\u2028\u2029\ud800"]
)
def test_data_ends_no_script_and_is_read_back_as_it_was(hostile: str) -> None:
    written = as_data({"text": hostile})
    assert written.isascii()
    assert not set("<>&") & set(written)
    assert json.loads(written) == {"text": hostile}


def test_a_token_of_a_megabyte_is_cut_and_counted() -> None:
    for diagram in every_diagram("x" * 1_000_000):
        source = own_part(page_of(diagram))
        assert len(source) < 400_000
        assert "x" * (5 * MAX_TEXT + 1) not in source
        assert "more characters" in source


def test_a_tree_tells_everything_of_every_box() -> None:
    diagram = tree(300)
    data = data_of(page_of(diagram))
    assert [data["pool"][lines[0]].split(" ")[0] for lines in data["full"]] == [
        f"n{box.node}" if box.node else "root" for box in diagram.boxes
    ]
    assert data["own"] == [box.num_tokens for box in diagram.boxes]
    parents = [diagram.boxes[parent].node for parent in data["parent"][1:]]
    assert parents == [box.parent for box in diagram.boxes[1:]]
    assert data["stubs"] == [[0, 1204, 88_000]]
    assert [diagram.boxes[place].node for place in data["path"]] == [box.node for box in diagram.boxes if box.on_path]
    assert all(len(base64.b64decode(mode["codes"])) == len(diagram.boxes) for mode in data["modes"])


def looks_of(diagram: TreeDiagram, name: str) -> list[dict[str, Any]]:
    """The look of each box when it is coloured by `name`."""
    source = page_of(diagram)
    data = data_of(source)
    names = re.findall(r'<option value="\d+">(.*?)</option>', source)
    mode = data["modes"][names.index(name)]
    return [data["styles"][mode["styles"][code]] for code in base64.b64decode(mode["codes"])]


def test_rows_that_are_not_known_look_unlike_rows_that_are_gone() -> None:
    diagram = tree(300)
    looks = looks_of(diagram, "rows of SWA")
    seen: dict[str, set[tuple[object, ...]]] = {}
    for box, look in zip(diagram.boxes, looks, strict=True):
        row = next((row for row in box.rows if row.kind == "swa_kv"), None)
        if row is None or not row.owned:
            assert look["word"] == "owns no row"
            continue
        state = {None: "unknown", 0: "gone", row.owned: "resident"}.get(row.resident, "in part")
        assert look["word"] == state
        seen.setdefault(state, set()).add((look["glyph"], look["shape"], look["empty"]))
    assert set(seen) == {"unknown", "gone", "resident", "in part"}
    assert sum(map(len, seen.values())) == len(set().union(*seen.values())), "patterns and glyphs alone tell them apart"


def test_a_freed_node_is_a_tombstone_before_anything_else() -> None:
    diagram = tree(300)
    for box, look in zip(diagram.boxes, looks_of(diagram, "state of all kinds"), strict=True):
        assert (look["word"] == "tombstone") == box.tombstone
        if not box.tombstone and any(row.resident is None and row.owned for row in box.rows):
            assert look["word"] == "unknown"


def test_the_path_of_a_request_says_how_far_it_was_reused() -> None:
    diagram = tree(60)
    for box, look in zip(diagram.boxes, looks_of(diagram, f"path of {diagram.request}"), strict=True):
        assert (look["word"] == "beside the path") == (not box.on_path)
        if box.on_path and box.node:
            assert (look["word"] == "reused") == (box.stop <= diagram.reused)
            assert (look["word"] == "computed") == (box.start >= max(diagram.common, diagram.reused))


@pytest.mark.parametrize("place", range(len(NAMES)), ids=NAMES)
def test_a_page_carries_its_caption(place: int) -> None:
    diagram = every_diagram("the title")[place]
    text = Seen(own_part(page_of(diagram)).partition("<script")[0]).text
    assert "the title" in text
    assert "after event 1,042 of 9,981" in text
    assert "v4-flash: page 256" in text
    caption = diagram.caption
    assert (f"{caption.shown:,} of {caption.total:,} {caption.unit} shown" in text) == (caption.shown < caption.total)


@given(st.integers(1, 9_000), st.integers(1, 3), st.integers(0, 50))
@settings(max_examples=25)
def test_joining_columns_loses_no_check_and_no_finding(columns: int, rows: int, seed: int) -> None:
    diagram = boundary(columns, rows, seed=seed)
    grid = grid_of(diagram)
    assert grid.columns <= MAX_COLUMNS
    assert grid.columns * grid.bin_tokens >= columns > (grid.columns - 1) * grid.bin_tokens
    for row in range(rows):
        shown = [cell for (at, _), cell in grid.cells.items() if at == row]
        whole = [cell for cell in diagram.cells if cell.row == row]
        assert sum(cell.checks for cell in shown) == sum(cell.checks for cell in whole)
        assert sum(cell.findings for cell in shown) == sum(cell.findings for cell in whole)
    assert all(bool(cell.command) == bool(cell.findings) for cell in grid.cells.values())
    assert (outcome_values(diagram, grid) > 0).sum() == len(grid.cells)


def test_cells_that_nobody_checked_are_no_result() -> None:
    diagram = boundary(40, 5)
    values = outcome_values(diagram, grid_of(diagram))
    checked = {(cell.row, cell.first - 1) for cell in diagram.cells}
    assert {(row, column) for row, column in np.argwhere(values > 0).tolist()} == checked
    assert len(checked) < values.size


def test_an_empty_heat_map_is_a_page_too() -> None:
    assert "no checks" in page_of(
        BoundaryDiagram(caption=boundary().caption, rows=(), lengths=(0, 0), bin_tokens=1, cells=())
    )


def test_outcomes_are_bytes_row_by_row() -> None:
    diagram = boundary(40, 5)
    data = data_of(page_of(diagram))
    values = np.frombuffer(base64.b64decode(data["outcome"]), dtype=np.uint8).reshape(
        len(data["rows"]), data["columns"]
    )
    assert np.array_equal(values, outcome_values(diagram, grid_of(diagram)))


def test_areas_of_memory_add_up_to_the_bytes_of_their_kind() -> None:
    diagram = memory()
    data = data_of(page_of(diagram))
    sizes = list(data["own"])
    for place in range(len(sizes) - 1, 0, -1):
        assert data["parent"][place] < place
        sizes[data["parent"][place]] += sizes[place]
    kinds = [size for parent, size in zip(data["parent"], sizes, strict=True) if parent == 0]
    assert kinds == [kind.num_bytes for kind in diagram.kinds if kind.num_bytes is not None]
    assert sizes[0] == diagram.total_bytes
    assert "not drawn, for their rows are not known: delta" in page_of(diagram)


def test_bars_of_a_ruler_tell_what_is_there_gone_never_was_and_what_nobody_knows() -> None:
    diagram = ruler()
    data = data_of(page_of(diagram))
    states = {None: "unknown: ", False: "gone: ", True: "resident", "never": "never there: "}
    seen: set[object] = set()
    for lane, shown in zip(diagram.lanes, data["lanes"], strict=True):
        for bar, (start, stop, *_, facts) in zip(lane.bars, shown["bars"], strict=True):
            assert (start, stop) == (bar.tokens.start, bar.tokens.stop)
            told = [data["pool"][number] for number in facts]
            state = bar.resident if bar.resident is not False or bar.once else "never"
            seen.add(state)
            assert any(line.startswith("open: " if bar.open else states[state]) for line in told)
            assert any(line.startswith("made from") for line in told) == (bar.reads != bar.tokens)
    assert seen == set(states)


def test_a_chain_of_any_depth_becomes_a_page() -> None:
    assert len(data_of(page_of(chain(20_000)))["own"]) == 20_000


def test_tables_hold_every_lookup_and_every_change_without_a_script() -> None:
    text = Seen(page_of(lookups("send LF", num=50)).partition("<script")[0]).text
    assert all(f"r{number} send LF" in text for number in range(50))
    assert "TOKENS_DIFFER(send LF)" in text
    assert "follows (derived)" in text
    text = Seen(page_of(changes("User:")).partition("<script")[0]).text
    assert "10 to not known of 10" in text
    assert "SWA 8 to 0 of 8" in text


def test_html_shows_every_diagram_but_events() -> None:
    assert set(format_named("html").diagrams) == set(DiagramName) - {DiagramName.EVENTS}


def test_a_small_tree_is_small_beside_plotly() -> None:
    assert len(own_part(page_of(small_tree()))) < 60_000
