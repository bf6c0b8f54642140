"""What the ruler says first, where its keys lead, and what a check of a stress run marks on it."""

import re
from pathlib import Path

import msgspec
import pytest
from boundary_logs import small_stress_log
from tui_logs import chat_log
from tui_runs import press, run_app, same_twice, screen_text, settled
from walked_logs import write_log

from shadowviz.tui.frame import Mode
from shadowviz.tui.screens.ruler import RulerScreen
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted, LogOpened
from shadowviz_engine.core.presets import preset

SIZES = [(80, 24), (120, 40)]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


def said(app) -> list[str]:
    return app.screen.inspector.text.splitlines()


def cut_row(app) -> str:
    return next(line for line in screen_text(app).splitlines() if line[2:].startswith("cut "))[13:]


@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_cut_at_which_nothing_can_go_on_is_none(log: Path, ascii_only: bool) -> None:
    async def look(app, pilot):
        app.session.selection.select(request="r3")
        await press(app, pilot, "3", "a")
        model = app.screen._model
        bad = next(cut for cut in range(model.length, 0, -1) if not model.with_cut(cut).is_possible)
        app.screen.view.go_to_token(bad)
        await press(app, pilot, "m")
        cross = "X" if ascii_only else "✗"
        assert said(app)[0].startswith(f"{cross} your cut {bad:,}  could not be gone on from here: ")
        assert said(app)[0].endswith("are missing (derived)")
        assert f"no cut at {bad:,}" in screen_text(app).splitlines()[2]
        assert not set(cut_row(app)) & {"━", "="}
        assert set(cut_row(app).split(cross)[0]) == {"!" if ascii_only else "╱"}
        answers = [line for line in said(app) if "  NO: " in line or "  yes: " in line]
        assert [*sorted(answers, key=lambda line: "  yes: " in line)] == answers
        assert any("  NO: of rows [" in line for line in answers)
        await press(app, pilot, "left")
        assert any(line.startswith("token") and "not reused" in line for line in said(app))
        good = next(cut for cut in range(model.length) if cut and model.with_cut(cut).is_possible)
        app.screen.view.go_to_token(good)
        await press(app, pilot, "m")
        assert "your cut" in screen_text(app).splitlines()[2]
        assert said(app)[0].startswith("token")

    run_app(log, look, options=AppOptions(ascii=ascii_only))


def test_where_the_lookup_matched_and_could_not_go_on_is_said_first(log: Path) -> None:
    async def look(app, pilot):
        state = app.session.state
        cut_short = None
        for row, name in enumerate(state.requests.names):
            lookup = app.session.request(row).lookup
            if lookup is not None and lookup.reused < lookup.matched:
                cut_short = name, lookup
        assert cut_short is not None
        name, lookup = cut_short
        app.session.selection.select(request=name)
        await press(app, pilot, "3", "a")
        await same_twice(app, pilot)
        assert said(app)[0].startswith(f"✗ {lookup.matched:,}  matched, but could not be gone on from there: ")
        cut = next(line for line in said(app) if line.startswith("▲ cut"))
        assert f"{lookup.matched:,} matched" in cut or f"{lookup.matched:,} in common and matched" in cut
        assert not re.search(r"; (reused|usable|matched|common)", cut)

    run_app(log, look)


@pytest.mark.parametrize("size", SIZES)
def test_rows_of_another_moment_than_that_of_the_lookup_are_told_first_with_the_key(log, size) -> None:
    async def look(app, pilot):
        app.session.selection.select(request="r3")
        shown = await press(app, pilot, "3")
        seq = app.screen._subject.lookup.seq
        assert said(app)[0] == f"rows   as they are at e{app.frame.at:,}, not at its lookup, e{seq:,}: a goes there"
        assert "a at lookup" in shown.splitlines()[-1]
        await press(app, pilot, "a")
        assert app.frame.at == seq
        assert not any(line.startswith("rows") for line in said(app))
        # The next event is the request's lock, which changes no row.
        app.session.go_to(seq + 1)
        await settled(app, pilot)
        assert not any(line.startswith("rows") for line in said(app))

    run_app(log, look, size)


def test_the_key_that_is_told_is_the_user_s_own(log: Path) -> None:
    async def look(app, pilot):
        app.session.selection.select(request="r3")
        await press(app, pilot, "3")
        assert said(app)[0].endswith(": v goes there")
        assert "(f5 spells)" in screen_text(app)

    run_app(log, look, options=AppOptions(keymap={"ruler.lookup": "v", "ruler.zoom-in": "f5"}))


@pytest.mark.parametrize("before", ["live", "paused", "at an event"])
def test_backspace_gives_the_moment_back_before_it_leads_out(tmp_path: Path, before: str) -> None:
    async def look(app, pilot):
        await press(app, pilot, "j", "j", "j", "enter")
        assert app.screen.name_of_screen == "ruler"
        if before == "at an event":
            app.session.go_to(70)
            await settled(app, pilot)
        elif before == "paused":
            await press(app, pilot, "p")
        mode, at = app.frame.mode, app.frame.at
        assert mode is {"live": Mode.LIVE, "paused": Mode.PAUSED}.get(before, Mode.REPLAY)
        shown = await press(app, pilot, "a")
        assert app.frame.mode is Mode.REPLAY
        assert app.frame.at < at
        assert "backspace back" in shown.splitlines()[-1]
        assert "backspace gives the moment back that was shown before" in said(app)
        shown = await press(app, pilot, "backspace")
        assert (app.frame.mode, app.frame.at) == (mode, at)
        assert app.screen.name_of_screen == "ruler"
        assert "backspace back" not in shown.splitlines()[-1]
        await press(app, pilot, "backspace")
        assert app.screen.name_of_screen == "live"
        assert (app.frame.mode, app.frame.at) == (mode, at)

    run_app(chat_log(tmp_path / "chat.jsonl", closed=False), look)


def test_once_the_user_has_gone_elsewhere_backspace_leaves_the_moment_as_it_is(log: Path) -> None:
    async def look(app, pilot):
        await press(app, pilot, "j", "j", "j", "enter", "a")
        app.session.go_to(80)
        await settled(app, pilot)
        await press(app, pilot, "backspace")
        assert (app.frame.at, app.screen.name_of_screen) == (80, "live")

    run_app(log, look)


def test_c_goes_round_the_cut_and_the_other_lengths_of_the_lookup(log: Path) -> None:
    async def look(app, pilot):
        app.session.selection.select(request="r3")
        await press(app, pilot, "3", "a", "home")
        lookup = app.screen._subject.lookup
        lengths = {lookup.reused, lookup.usable, lookup.matched, lookup.common}
        assert len(lengths) > 1
        seen = []
        for _ in range(len(lengths) + 1):
            await press(app, pilot, "c")
            seen.append(app.screen.view.place.token)
        assert seen[0] == seen[-1] == lookup.reused
        assert set(seen) == lengths
        await press(app, pilot, "c")
        assert any(line.startswith("token") and line.endswith("here: common") for line in said(app))

    run_app(log, look)


def test_the_title_tells_how_to_spell_tokens_while_each_has_one_letter(log: Path) -> None:
    async def look(app, pilot):
        app.session.selection.select(request="r3")
        assert "1 cell = 1 token (+ spells)" in await press(app, pilot, "3")
        assert "spells" not in await press(app, pilot, "plus")
        assert "spells" not in await press(app, pilot, "minus", "minus")

    run_app(log, look)


def test_a_long_name_leaves_the_cut_in_the_title(tmp_path: Path) -> None:
    path = chat_log(tmp_path / "chat.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"r3"', b'"chatcmpl-' + b"0123456789" * 6 + b'"'))

    async def look(app, pilot):
        await press(app, pilot, "j", "j", "j")
        title = (await press(app, pilot, "enter")).splitlines()[2]
        assert "chatcmpl-" in title
        assert "cut 1,536 of 1,924" in title

    run_app(path, look)


def stress_log(path: Path, **found: object) -> Path:
    """One check, at a length of 120."""
    geometry = preset("tiny")
    return write_log(
        path,
        [
            LogOpened(seq=0, t_ns=0, schema=1, geometry=geometry),
            BoundaryStressStarted(
                seq=1, t_ns=0, level="numeric", subject="tiny", geometry=geometry, seed=7, modes=("cut",),
                lengths=((120, 121),), cells=1,
            ),
            msgspec.structs.replace(
                BoundaryChecked(seq=2, t_ns=0, level="numeric", subject="tiny", mode="cut", length=120), **found
            ),
        ],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "layer", "row"), [("csa_tail", 2, 116), ("csa_kv", 2, 7), ("hca_kv", 3, 0), ("swa_kv", 0, 100)]
)
def test_a_cell_opens_the_ruler_at_the_layer_the_kind_and_the_row_of_its_finding(tmp_path, kind, layer, row) -> None:
    async def look(app, pilot):
        shown = await press(app, pilot, "n", "enter")
        screen = app.screen
        assert isinstance(screen, RulerScreen)
        lane = screen.view.rows.lane_at(screen.view.cursor)
        assert lane is not None
        assert (screen.view.place.layer, lane.kind.label) == (layer, kind)
        own = lane.own(row)
        assert screen.view.place.token == own.start
        assert said(app)[0].startswith("◆ found  differs first in ")
        assert said(app)[0].endswith(f"layer {layer}, row {row}")
        marks = next(line for line in shown.splitlines() if line[2:].startswith("finding"))[13:]
        first = screen.view.place.first
        seen = [first + cell for cell, mark in enumerate(marks) if mark == "◆"]
        assert seen == [*range(own.start, min(own.stop, 120, first + screen.view.ruler_width))]

    path = stress_log(tmp_path / "stress.jsonl", outcome="differs", kind=kind, layer=layer, row=row)
    run_app(path, look, options=AppOptions(screen="stress"))


def test_a_finding_in_no_row_is_told_without_a_mark(tmp_path: Path) -> None:
    async def look(app, pilot):
        shown = await press(app, pilot, "n", "enter")
        assert said(app)[0] == "◆ found  differs first in books, layer 99; put in: slot\\u202eleaked"
        assert not any(line[2:].startswith("finding") for line in shown.splitlines())
        assert app.screen.view.place.layer == -1

    path = stress_log(tmp_path / "stress.jsonl", outcome="differs", kind="books", fault="slot\u202eleaked", layer=99)
    run_app(path, look, options=AppOptions(screen="stress"))


def test_a_cell_without_a_finding_opens_the_ruler_at_its_end(tmp_path: Path) -> None:
    async def look(app, pilot):
        await press(app, pilot, "end", "enter")
        assert app.screen.view.place.token == app.screen._model.length == 139
        assert not any("found" in line for line in said(app))

    run_app(small_stress_log(tmp_path / "stress.jsonl"), look, options=AppOptions(screen="stress"))


@pytest.mark.parametrize("screen", ["2", "3"])
def test_a_range_always_says_which_of_its_ends_is_in_it(log: Path, screen: str) -> None:
    async def look(app, pilot):
        app.session.selection.select(request="r3")
        await press(app, pilot, screen)
        for key in ("down", "down", "down"):
            await press(app, pilot, key)
            ranges = re.findall(r"\S*\d\.\.\d\S*", app.screen.inspector.text)
            assert ranges
            assert all(re.fullmatch(r"\[[\d,]+\.\.[\d,]+\)[:,;]?", one) for one in ranges), ranges

    run_app(log, look)
