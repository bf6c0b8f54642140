"""The screens key by key at two sizes, and as text beside stored files."""

import re
from pathlib import Path

import pytest
from boundary_logs import small_stress_log
from golden import check_golden
from rich.cells import cell_len
from tui_logs import chat_log, family_log, long_log
from tui_runs import press, run_app, same_twice, screen_text

from shadowviz.tui.frame import Mode
from shadowviz.tui.models.request_rows import SORTS
from shadowviz.tui.themed import AppOptions

GOLDEN = Path(__file__).parent / "golden"
SIZES = ((80, 24), (120, 40))


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


@pytest.fixture(scope="module")
def stress(tmp_path_factory):
    return small_stress_log(tmp_path_factory.mktemp("logs") / "stress.jsonl")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 16)])
@pytest.mark.parametrize(
    ("screen", "keys"),
    [
        ("live", ()),
        ("tree", ("2", "g")),
        ("ruler", ("j", "j", "j", "enter", "a")),
        ("diff", ("j", "j", "d")),
        ("stress", ("5", "n")),
        ("pools", ("6", "b")),
        ("events", ("7", "k", "enter")),
    ],
)
def test_a_screen_is_the_stored_one(log, stress, screen, keys, size):
    async def look(app, pilot):
        await press(app, pilot, *keys)
        await same_twice(app, pilot)
        name = f"{screen}-{size[0]}x{size[1]}.txt"
        # Which screens there are, and the keys between them, is told by the lines left out.
        status, _, *body, _ = screen_text(app).splitlines()
        check_golden(GOLDEN / name, "\n".join([status, *body, ""]).encode())

    run_app(stress if screen == "stress" else log, look, size)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 16)])
@pytest.mark.parametrize("screen", ["live", "tree", "ruler", "diff", "stress", "pools", "events"])
def test_every_key_in_the_foot_is_in_the_help_and_no_line_is_wider_than_the_terminal(log, stress, screen, size):
    async def look(app, pilot):
        shown = (await press(app, pilot)).splitlines()
        assert len(shown) <= size[1]
        assert all(cell_len(line) <= size[0] for line in shown)
        foot = [binding.description for binding in app.screen.shown_bindings()]
        assert foot
        await press(app, pilot, "question_mark")
        helped = app.screen.query_one("#help").text
        assert all(words in helped for words in foot)
        assert all(words in helped for words in ("quit", "copy", "export"))

    run_app(stress if screen == "stress" else log, look, size, AppOptions(screen=screen))


@pytest.mark.parametrize(
    "name", ["deepseek-v4.1", "deepseek-v3.2", "kimi-linear", "qwen3.5", "llama4", "gemma3", "gpt-oss", "redacted"]
)
def test_every_screen_opens_on_a_record_of_any_family_and_on_one_without_ids(tmp_path, name):
    redacted = name == "redacted"
    log = family_log(tmp_path / "run.jsonl", "v4-flash" if redacted else name, redacted=redacted)

    async def look(app, pilot):
        said = ("r3", "root", "cut", "A r", "No stress run", "next to leave", "LogClosed")
        for key, words in zip("1234567", said, strict=True):
            shown = await press(app, pilot, key)
            assert words in shown + app.screen.inspector.text, key

    run_app(log, look)


def test_a_prompt_of_a_million_tokens_is_listed_and_ruled(tmp_path):
    log = long_log(tmp_path / "run.jsonl")

    async def look(app, pilot):
        shown = await press(app, pilot, "G")
        assert re.search(r"^> long .* 1000000 ", shown, re.MULTILINE)
        await press(app, pilot, "enter", *("minus",) * 4, "end")
        ruler = app.screen
        assert ruler.view.place.token == 1_000_000
        assert "1 cell = 1,024 tokens" in await press(app, pilot, "left")
        assert "998,400 of 1,000,000" in ruler.inspector.text
        for key in "24567":
            await press(app, pilot, key)

    run_app(log, look)


@pytest.mark.parametrize("size", SIZES)
def test_three_keys_lead_from_the_list_to_the_reason_and_the_span_and_back(log, size):
    async def keys(app, pilot):
        shown = await press(app, pilot, "G")
        assert re.search(r"^> r1 .* COLD", shown, re.MULTILINE)
        assert "r1  M COLD. Nothing like it was ever stored." in app.screen.inspector.text
        shown = await press(app, pilot, "k", "t")
        assert "[2 Tree]" in shown
        assert [(crumb.screen, crumb.selection.request) for crumb in app.frame.trail] == [("live", "r2")]
        assert app.session.selection.current.selection.request == "r2"
        assert "a request that leaves here reuses" in app.screen.inspector.text
        shown = await press(app, pilot, "backspace")
        assert "[1 Live]" in shown
        assert re.search(r"^> r2 ", shown, re.MULTILINE)

    run_app(log, keys, size)


@pytest.mark.parametrize("size", SIZES)
def test_the_status_line_tells_mode_hit_rate_in_tokens_and_fill_of_every_pool(log, size):
    async def keys(app, pilot):
        for key in ("1", "2"):
            first = (await press(app, pilot, key)).splitlines()[0]
            assert re.search(r"REPLAY e\d+ of \d+", first)
            assert re.search(r"hit \d+\.\d% \([\d,]+/[\d,]+ tok\)", first)
            assert re.search(r"full \d+%", first)
            assert re.search(r"swa \d+%", first)

    run_app(log, keys, size)


def test_a_log_that_grows_is_live_until_it_is_paused_and_counts_what_arrives(tmp_path):
    whole = chat_log(tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    growing = tmp_path / "growing.jsonl"
    growing.write_bytes(b"".join(whole[:30]))

    async def keys(app, pilot):
        assert "LIVE e29" in screen_text(app)
        await press(app, pilot, "p")
        assert app.frame.mode is Mode.PAUSED
        with growing.open("ab") as file:
            file.write(b"".join(whole[30:40]))
        assert "PAUSED e29 (+10 events)" in await press(app, pilot, "j")
        assert "LIVE e39" in await press(app, pilot, "p")

    run_app(growing, keys)


@pytest.mark.parametrize("size", SIZES)
def test_the_filter_leaves_requests_out_and_escape_brings_them_back(log, size):
    async def keys(app, pilot):
        await press(app, pilot, "slash")
        for letter in "tenant":
            await pilot.press(letter)
        shown = await press(app, pilot, "enter")
        assert re.findall(r"^[ >] (r\d+) ", shown, re.MULTILINE) == ["r5"]
        shown = await press(app, pilot, "escape")
        assert len(re.findall(r"^[ >] (r\d+) ", shown, re.MULTILINE)) == 6

    run_app(log, keys, size)


def test_sorting_goes_through_its_orders(log):
    async def keys(app, pilot):
        orders = {}
        for _ in SORTS:
            await press(app, pilot, "s")
            app.screen.finish()
            shown = await press(app, pilot)
            orders[app.screen._rows.sort] = re.findall(r"^[ >] (r\d+) ", shown, re.MULTILINE)
        every = [f"r{number}" for number in range(1, 7)]
        assert orders["oldest"] == every
        assert orders["newest"] == every[::-1]
        assert orders["longest prompt"] == ["r3", "r6", "r4", "r2", "r1", "r5"]
        assert orders["running first"][0] == "r6"
        lookups = [app.session.request(int(name[1:]) - 1).lookup for name in orders["most lost"]]
        losses = [app.session.explain(lookup.seq).lost for lookup in lookups]
        assert losses == sorted(losses, reverse=True)
        assert len(set(losses)) > 1

    run_app(log, keys)


@pytest.mark.parametrize("size", SIZES)
def test_folding_hoisting_and_finding_keep_the_cursor_on_its_node(log, size):
    async def keys(app, pilot):
        await press(app, pilot, "2", "g", "minus")
        view = app.screen.view
        assert view.num_rows() == 1 + len(list(app.session.state.nodes.children(0)))
        await press(app, pilot, "plus")
        every = view.num_rows()
        await press(app, pilot, "j", "space")
        folded = view.num_rows()
        assert folded < every
        node = view.shown.index.node_at(view.cursor)
        await press(app, pilot, "space")
        assert (view.num_rows(), view.shown.index.node_at(view.cursor)) == (every, node)
        shown = await press(app, pilot, "z")
        assert f"(n{node} alone)" in shown
        assert view.cursor == 0
        await press(app, pilot, "z")
        assert view.num_rows() == every
        await press(app, pilot, "slash")
        await pilot.press("n", "2")
        await press(app, pilot, "enter")
        assert view.shown.index.node_at(view.cursor) == 2
        assert app.session.selection.current.selection.node == 2

    run_app(log, keys, size)


def test_text_is_found_where_it_stands_and_n_goes_on(log):
    async def keys(app, pilot):
        await press(app, pilot, "2", "slash")
        await pilot.press(*"9010")
        await press(app, pilot, "enter")
        view, state = app.screen.view, app.session.state
        found = []
        for _ in range(3):
            node = view.shown.index.node_at(view.cursor)
            assert 9010 in state.node_tokens(node)
            found.append(node)
            await press(app, pilot, "n")
        assert len(set(found)) == 3

    run_app(log, keys)


def test_help_names_every_key_by_the_id_that_a_keymap_changes(log):
    async def keys(app, pilot):
        await press(app, pilot, "question_mark")
        helped = app.screen.query_one("#help").text
        for key, words, name in (("Q", "quit", "app.quit"), ("/", "filter", "live.filter"), ("j", "down", "row.down")):
            assert re.search(rf"{key}\S*\s+{words}\s+{name}", helped), helped
        await press(app, pilot, "escape", "Q")
        assert app._exit

    run_app(log, keys, options=AppOptions(keymap={"app.quit": "Q"}))


def test_ascii_draws_with_ascii_alone(log):
    async def keys(app, pilot):
        for key in ("1", "2"):
            assert (await press(app, pilot, key)).isascii()

    run_app(log, keys, options=AppOptions(ascii=True))


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light", "high-contrast", "textual-light", "nord"])
@pytest.mark.parametrize("no_colour", [False, True])
def test_no_theme_shows_text_in_the_colour_of_its_ground(log, monkeypatch, theme, no_colour):
    if no_colour:
        monkeypatch.setenv("NO_COLOR", "1")

    async def keys(app, pilot):
        await press(app, pilot, "j", "2", "j")
        assert not (no_colour and app.current_theme.ansi)
        for line in app.screen._compositor.render_strips():
            for text, style, _ in line:
                if text.strip() and style.color is not None and style.bgcolor is not None:
                    same = style.color == style.bgcolor and not style.color.is_default
                    assert not same, (text, style)

    run_app(log, keys, options=AppOptions(theme=theme))


def test_a_part_fills_the_screen_and_gives_its_place_back(log):
    async def keys(app, pilot):
        await press(app, pilot, "tab", "z")
        assert app.screen.maximized is app.screen.inspector
        await press(app, pilot, "z")
        assert app.screen.maximized is None

    run_app(log, keys)
