"""The bar that stands at the head while the state is on its way."""

from pathlib import Path

import pytest
from textual.theme import BUILTIN_THEMES
from tui_logs import chat_log

from shadowviz.tui.frame import Arrival, Frame
from shadowviz.tui.session import Session
from shadowviz.tui.widgets.head import progress_bar, tab_segments
from shadowviz.tui.widgets.look import look_of

LOOKS = {is_ascii: look_of(BUILTIN_THEMES["textual-dark"], is_ascii) for is_ascii in (False, True)}


@pytest.mark.parametrize("is_ascii", [False, True])
def test_the_bar_grows_with_the_way_and_is_whole_only_at_its_end(is_ascii: bool) -> None:
    full = progress_bar(Arrival(0, 0, 0), 20, LOOKS[is_ascii])[0]
    cells = [
        progress_bar(Arrival(100 + at, 1_100, 100), 20, LOOKS[is_ascii]).count(full) for at in (0, 1, 250, 500, 999)
    ]
    assert cells == [0, 1, 5, 10, 19]


def test_the_way_back_has_a_bar_as_well_and_the_rate_stands_where_there_is_room() -> None:
    arrival = Arrival(at=750, target=0, begun=1_000, events_per_s=123_456.7)
    wide, narrow = (progress_bar(arrival, width, LOOKS[True]) for width in (40, 20))
    assert wide.endswith(" 123,457 events/s")
    assert len(wide) == 40
    assert "events" not in narrow
    assert len(narrow) == 20
    assert narrow.count(narrow[0]) == 5


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_bar_takes_the_place_of_the_way_to_the_screen_while_there_is_one(width: int) -> None:
    tabs = [(str(at), title, at == 1) for at, title in enumerate(["Live", "Tree", "Ruler", "Diff", "Stress"], 1)]

    def line(arrival: Arrival) -> str:
        return "".join(
            segment.text for segment in tab_segments(tabs, "Live r1 > Ruler r1", LOOKS[True], width, arrival)
        )

    assert "r1" in line(Arrival(7, 7, 0))
    shown = line(Arrival(500, 1_000, 0))
    assert "r1" not in shown
    assert "#####" in shown
    assert len(shown) <= width


def test_a_log_that_is_read_has_a_bar_that_grows_until_its_newest_event(tmp_path: Path) -> None:
    session = Session(chat_log(tmp_path / "chat.jsonl"))
    frames = list[Frame]()
    while not frames or not frames[-1].arrival.settled:
        frames.append(session.tick(0.0005))
    session.close()
    bars = [progress_bar(frame.arrival, 1_000, LOOKS[True]).count("#") for frame in frames[:-1]]
    assert bars == sorted(bars)
    assert frames[-1].at == frames[-1].head
