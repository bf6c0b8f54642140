"""Pages in a real browser: nothing of a record runs, a click and a key are answered, narrow and dark windows do."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, browser
from html_diagrams import boundary, changes, every_diagram, lookups, memory, page_of, ruler, small_tree
from html_pages import INJECTIONS
from picture_samples import tree

NAMES = ["tree", "derivation", "boundary", "lookups", "memory", "changes"]
TABLES = ("lookups", "changes")
PLOTTED_TEXTS = ("tree", "boundary")
"""Pages that write texts of the record into the picture, beside those of the details."""
RUNS = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
HOSTILE = [
    "<b>x</b>&lt;",
    RUNS,
    "%{label}%{customdata[0]}<extra>x</extra>",
    "<a href='javascript:document.title=1'>here</a><a href=\"https://example.org\">there</a>",
    "<i>x</i><sup>2</sup><br>",
    "$\\alpha$ &amp;lt; </style></textarea><svg onload=alert(1)>",
    *INJECTIONS,
]


@pytest.fixture(scope="module")
def chromium(require_tool: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(
        require_tool("chromedriver"), require_tool("chromium"), tmp_path_factory.mktemp("chromium")
    ) as session:
        session.size(1280, 800)
        yield session


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Callable[..., Browser]:
    def open_page(source: str) -> Browser:
        page = tmp_path / "page.html"
        page.write_text(source, encoding="utf-8")
        chromium.open(page)
        return chromium

    return open_page


def without_policy(source: str) -> str:
    changed = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", source)
    assert changed != source
    return changed


def planted(session: Browser) -> Any:
    """Elements and attributes that no page of ours has, and what a script that ran would have left."""
    return session.run(
        """const odd = [...document.querySelectorAll("img, iframe, a, object, embed, form, link, base, foreignObject")];
        const handlers = [...document.querySelectorAll("*")].flatMap(
            (one) => [...one.attributes].filter(({name}) => name.startsWith("on")).map(({name}) => name));
        const scripts = document.querySelectorAll("script").length;
        const bold = document.querySelectorAll("#plot [style*=bold], #plot [style*=italic]").length;
        const loaded = performance.getEntriesByType("resource").length;
        return [odd.map((one) => one.tagName), handlers, scripts, bold, loaded]"""
    )


@pytest.mark.parametrize("place", range(6), ids=NAMES)
def test_nothing_of_a_prompt_runs_even_where_the_policy_is_taken_away(
    opened: Callable[..., Browser], place: int
) -> None:
    text = "".join(HOSTILE)[:390]
    session = opened(without_policy(page_of(every_diagram(text)[place])))
    assert planted(session) == [[], [], 2 if NAMES[place] in TABLES else 3, 0, 0]
    assert session.run("return document.title").startswith(HOSTILE[0])
    assert RUNS in session.text("body")
    if NAMES[place] in PLOTTED_TEXTS:
        labels = session.run(
            "return [...document.querySelectorAll('#plot text, #plot tspan')].map((one) => one.textContent)"
        )
        assert any(label.strip().startswith(HOSTILE[0]) for label in labels), "shown as it was written"


def test_the_check_above_fails_where_texts_are_not_escaped(opened: Callable[..., Browser]) -> None:
    source = without_policy(page_of(lookups("the text of a prompt")))
    session = opened(source.replace("<bdi>the text of a prompt</bdi>", f"<bdi>{RUNS}</bdi>"))
    found = planted(session)
    assert found[0]
    assert found[1]
    assert session.run("return document.title") == "owned"


def test_the_policy_stops_a_script_that_got_in(opened: Callable[..., Browser]) -> None:
    source = page_of(small_tree()).replace("<main>", f"<main>{RUNS}", 1)
    titles = [opened(page).run("return document.title") for page in (source, without_policy(source))]
    assert titles == ["User: compare", "owned"]


@pytest.mark.parametrize("place", range(6), ids=NAMES)
def test_a_page_fits_wide_and_narrow_windows_and_both_grounds(opened: Callable[..., Browser], place: int) -> None:
    session = opened(page_of(every_diagram("a title of several words")[place]))
    seen = set()
    try:
        for width, ground in ((1280, "light"), (380, "dark")):
            session.size(width, 800)
            session.ground(ground)
            session.run_async("setTimeout(arguments[0], 300)")
            assert session.run("return document.documentElement.scrollWidth") <= width
            seen.add(session.run("return getComputedStyle(document.body).backgroundColor"))
            if session.run("return !!document.getElementById('plot')"):
                drawn = session.run("return [plot.querySelector('.main-svg').clientWidth, plot.layout.paper_bgcolor]")
                assert drawn[0] <= width
                seen.add(drawn[1])
                assert session.run("return Plotly.validate(plot.data, plot.layout) || []") == []
    finally:
        session.size(1280, 800)
        session.ground("light")
    assert {"rgb(255, 255, 255)", "rgb(20, 24, 29)"} <= seen
    assert place in (3, 5) or {"#ffffff", "#14181d"} <= seen


def test_a_tree_answers_the_mouse(opened: Callable[..., Browser]) -> None:
    session = opened(page_of(tree(300)))
    session.click("#whole")
    before = session.text("#facts")
    session.click("#plot", -200, -30)
    chosen = session.text("#facts")
    assert chosen != before
    assert session.text("#crumbs") == "root"
    session.click("#plot", -200, -30)
    assert session.text("#crumbs").split("\n")[-1] == chosen.split(" ")[0]
    assert session.text("#facts") == chosen
    session.hover("#plot", 0, 0)
    assert "tokens" in session.text("#tip")
    session.click("#up")
    assert session.text("#crumbs") == "root"


def test_a_tree_answers_keys_and_finds_nodes(opened: Callable[..., Browser]) -> None:
    session = opened(page_of(tree(300)))
    session.click("#whole")
    session.run("plot.focus()")
    assert session.text("#facts").startswith("root")
    session.press("right")
    first = session.text("#facts").split(" ")[0]
    assert first != "root"
    session.press("enter")
    assert session.text("#crumbs").split("\n")[-1] == first
    session.press("back")
    assert session.text("#crumbs") == "root"
    session.press("left")
    assert session.text("#facts").startswith("root")
    session.run("document.getElementById('find').focus()")
    session.press(*"n250", "enter")
    assert session.text("#facts").startswith("n250 ")
    assert session.run(
        "return plot.data[0].ids.some((id) => plot.data[0].labels[plot.data[0].ids.indexOf(id)] === 'n250')"
    )


def test_colouring_by_a_kind_changes_the_legend_and_the_boxes(opened: Callable[..., Browser]) -> None:
    session = opened(page_of(tree(300)))
    before = session.run("return JSON.stringify(plot.data[0].marker.pattern.shape)")
    session.run(
        """const mode = document.getElementById("mode");
        mode.value = [...mode.options].findIndex((one) => one.text === "rows of SWA");
        mode.dispatchEvent(new Event("change"))"""
    )
    assert session.run("return JSON.stringify(plot.data[0].marker.pattern.shape)") != before
    shown = session.run(
        "return [...document.querySelectorAll('.mode-legend')].filter((one) => !one.hidden).map((one) => one.innerText)"
    )
    assert len(shown) == 1
    assert "gone" in shown[0]
    assert "unknown" in shown[0]


def test_a_cell_tells_the_command_that_runs_it_again(opened: Callable[..., Browser]) -> None:
    diagram = boundary()
    session = opened(page_of(diagram))
    worst = min((cell for cell in diagram.cells if cell.outcome == "differs"), key=lambda cell: (cell.first, cell.row))
    assert session.text("#command-text") == worst.command
    session.run("plot.focus()")
    findings = sorted((cell.first, cell.row, cell.command) for cell in diagram.cells if cell.findings)
    after = [command for *key, command in findings if tuple(key) > (worst.first, worst.row)]
    session.press("n")
    assert session.text("#command-text") == (after or [findings[0][2]])[0]
    session.press(*["left"] * 45, *["up"] * 6)
    assert session.text("#facts").startswith("row 0, length 1\n")
    session.click("#in")
    assert "lengths 1 to 20" in session.text("#found")
    session.click("#plot", 300, -40)
    assert not session.text("#facts").startswith("row 0, length 1\n")


def test_a_ruler_answers_clicks_and_keys(opened: Callable[..., Browser]) -> None:
    session = opened(page_of(ruler()))
    session.click("#to-cut")
    assert "tokens 224 to 288" in session.text("#found")
    session.run("plot.focus()")
    session.press("right", "right", "down")
    told = session.text("#facts")
    assert "tokens [" in told
    session.press("end")
    assert session.text("#facts") != told
    session.click("#all")
    assert "tokens 0 to 300" in session.text("#found")


def test_a_treemap_zooms(opened: Callable[..., Browser]) -> None:
    session = opened(page_of(memory()))
    session.run("plot.focus()")
    session.press("right", "enter")
    assert session.text("#crumbs").split("\n")[0] == "all kinds"
    assert "SWA" in session.text("#crumbs")
    session.press("right")
    assert session.text("#facts").startswith("n")
    session.press("back")
    assert session.text("#crumbs") == "all kinds"


def test_a_table_sorts_and_filters(opened: Callable[..., Browser]) -> None:
    session = opened(page_of(lookups(num=12)))
    rows = "[...document.querySelectorAll('#rows tbody tr')].filter((row) => !row.hidden)"
    column = f"return {rows}.map((row) => row.cells[9].innerText)"
    lost = session.run(column)
    session.click("#rows th:nth-child(10) button")
    assert session.run(column) == lost[::-1]
    session.click("#rows th:nth-child(10) button")
    assert session.run(column) == lost
    session.run(
        "const box = document.getElementById('filter'); box.value = 'R3 '; box.dispatchEvent(new Event('input'))"
    )
    assert session.text("#found") == "1 of 12 rows"
    assert session.run(column) == [lost[3]]


def test_changes_are_chosen_by_what_happened(opened: Callable[..., Browser]) -> None:
    session = opened(page_of(changes()))
    session.run("const box = document.getElementById('only'); box.value = '1'; box.dispatchEvent(new Event('change'))")
    assert session.text("#found") == "1 of 3 rows"
    assert "n9" in session.text("#rows tbody")


def test_only_what_can_be_seen_is_drawn_of_a_large_tree(opened: Callable[..., Browser]) -> None:
    session = opened(page_of(tree(5_000, width=500)))
    session.click("#whole")
    for _ in range(3):
        assert 2 < session.run("return plot.querySelectorAll('.slice').length") < 1_500
        session.click("#plot", -60, -60)
