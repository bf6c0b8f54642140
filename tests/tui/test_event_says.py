"""What an event says in words: every kind, hostile ones too, and the verdict of a lookup."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from tui_logs import chat_log
from tui_runs import press, run_app, same_twice

from shadowviz.replay.explain import Explanation
from shadowviz.tokens.words import IdWords
from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.models.event_says import MOST_RUNS, event_says
from shadowviz.tui.models.event_words import meaning
from shadowviz.tui.themed import AppOptions
from shadowviz_engine.core.events import LookupDone, RequestSubmitted, SlotRun, SlotsTaken
from shadowviz_engine.core.reuse import KindLength
from shadowviz_engine.core.snapshot import pack_ids

LOOKUP = LookupDone(
    seq=3, t_ns=0, request="b", num_prompt=1_300, common=700, cap=1_299, unit=256, matched=512, usable=256, reused=256,
    kinds=(KindLength("swa_kv\x1b[31m", 256, 0),), near=7,
)  # fmt: skip


def test_a_lookup_tells_its_tokens_and_its_rules() -> None:
    says = dict(event_says(LOOKUP, None))
    assert says["tokens"] == "of 1,300 asked 700 are common, 512 matched, 256 usable, 256 reused; 1,044 computed"
    assert says["rules"] == "at most 1,299 (last token), a multiple of 256"
    assert says["parts"] == "from the nearest stored path in node n7"
    assert says["kind"].endswith("is there for 256 tokens, not for 512")
    assert all(text.isprintable() for text in says.values())


def test_slots_are_told_with_both_ends_and_many_stretches_are_counted() -> None:
    runs = (SlotRun(440, 512, 696), SlotRun(512, 513, 900), *(SlotRun(600 + n, 601 + n, 2 * n) for n in range(9)))
    says = dict(event_says(SlotsTaken(seq=1, t_ns=0, request="a", pool="full", runs=runs), None))
    assert says["slots"].startswith("tokens 440 to 511 in slots 696 to 767; token 512 in slot 900; ")
    assert says["slots"].endswith(f"; {len(runs) - MOST_RUNS} stretches more")


def test_tokens_are_spelled_where_they_can_be_read_and_a_long_text_is_counted() -> None:
    event = RequestSubmitted(seq=1, t_ns=0, request="a", tokens=pack_ids(range(1_000)))
    assert "text" not in dict(event_says(event, None))
    text = dict(event_says(event, IdWords()))["text"]
    assert text.startswith(IdWords().text([0, 1, 2])[:4])
    assert text.endswith("(and 800 tokens more)")
    assert len(text) < 1_000


def test_no_meaning_sends_to_something_that_is_not_there() -> None:
    assert meaning(LOOKUP) == "One lookup with the length of every rule; all in tokens."


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_the_inspector_leads_with_the_verdict_of_a_lookup(tmp_path: Path, size: tuple[int, int]) -> None:
    async def keys(app: ShadowvizApp, pilot: Pilot) -> None:
        await press(app, pilot, "slash", *"lookupdone", "enter", "G")
        while app.screen.is_working:
            await press(app, pilot)
        await same_twice(app, pilot)
        known = app.session.timeline.explained(app.screen._seq)
        verdict = known.verdict if isinstance(known, Explanation) else app.session.verdict(event_of(app)).finding
        lines = app.screen.inspector.text.splitlines()
        assert any(line.startswith("verdict") and verdict.label.split("(")[0] in line for line in lines)
        told = [line.split()[0] for line in lines if line.strip()]
        assert told.index("verdict") < told.index("tokens") < told.index("as") < told.index("num_prompt")

    def event_of(app: ShadowvizApp) -> LookupDone:
        event = app.session.event_at(app.screen._seq)
        assert isinstance(event, LookupDone)
        return event

    run_app(chat_log(tmp_path / "chat.jsonl"), keys, size, AppOptions(screen="events"))
