"""The ruler of a length and of a request."""

from array import array

import msgspec
import pytest
from lookup_runs import ByNumber, ExplainedRun

from shadowviz.diagrams.derivation_of import MAX_TEXT, View, length_diagram, path_diagram, request_diagram
from shadowviz.diagrams.lanes import DerivationDiagram
from shadowviz.replay.moment import Moment
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import RequestSubmitted
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.core.snapshot import pack_ids
from shadowviz_engine.core.spans import Extent


def moment(run: ExplainedRun, *explanations: object) -> Moment:
    return Moment(run.explainer.state, run.explainer.state.seq, tuple(explanations))  # type: ignore[arg-type]


def cut_run() -> tuple[ExplainedRun, Moment]:
    """A prompt of 1,700 tokens that leaves a stored path at 800, where the window rows are gone."""
    run = ExplainedRun(num_full_pages=40, num_swa_pages=9, retention="window")
    run.run(range(1_600), output=[7])
    found = run.run([*range(800), *range(5_000, 5_900)])
    assert found.lookup.reused < found.lookup.matched
    return run, moment(run, found)


def test_a_length_has_no_state_and_says_so() -> None:
    diagram = length_diagram(preset("v4-flash"), Extent(0, 1_000))
    assert (diagram.cut, diagram.marks) == (768, ((768, "page rule"), (1_000, "any length")))
    assert all(bar.resident is None for lane in diagram.lanes for bar in lane.bars)
    assert any("not known" in note for note in diagram.caption.notes)
    assert (diagram.caption.seq, diagram.caption.shown, diagram.caption.total) == (-1, 1_000, 1_000)


def test_a_span_shows_its_own_tokens_and_any_cut_can_be_asked_for() -> None:
    diagram = length_diagram(preset("v4-flash"), Extent(900, 1_000), 960)
    assert (diagram.span, diagram.cut) == (Extent(900, 1_000), 960)
    assert diagram.marks == ((1_000, "any length"),)
    with pytest.raises(InputError, match="cut 1,001 is outside the 1,000 tokens"):
        length_diagram(preset("v4-flash"), Extent(0, 1_000), 1_001)


def test_a_request_shows_the_lengths_of_its_lookup_and_its_verdict() -> None:
    _, at = cut_run()
    diagram = request_diagram(at, "run.jsonl", "r2", ByNumber())
    lookup = at.explanations[0].lookup
    assert diagram.cut == lookup.reused
    named = {name: position for position, names in diagram.marks for name in names.split(", ")}
    assert named["common"] == lookup.common
    assert named["matched"] == lookup.matched
    assert diagram.caption.verdict.startswith(at.explanations[0].verdict.label)
    assert (diagram.caption.shown, diagram.caption.total, diagram.caption.unit) == (1_700, 1_700, "tokens")
    assert "end of n2" in named


def test_window_rows_that_are_gone_are_drawn_as_gone_and_entries_as_there() -> None:
    run = ExplainedRun(num_full_pages=40, num_swa_pages=9, retention="window")
    run.run(range(1_600), output=[7])
    request, lookup = run.driver.start([*range(800), *range(5_000, 5_900)])
    assert lookup.reused < lookup.matched
    explained = run.catch_up()
    diagram = request_diagram(moment(run, *explained), "run.jsonl", request, ByNumber())
    lanes = {lane.kind: lane for lane in diagram.lanes}
    swa = [bar for bar in lanes["swa_kv"].bars if bar.tokens.start < lookup.matched]
    assert {bar.resident for bar in swa} == {False}
    csa = [bar for bar in lanes["csa_kv"].bars if bar.tokens.stop <= 800]
    assert {bar.resident for bar in csa} == {True}


def missing_of(diagram: DerivationDiagram) -> set[tuple[str, int, bool]]:
    """Kind, last token and past of every row that is not there."""
    return {
        (lane.kind, (row + 1) * lane.unit, bar.once)
        for lane in diagram.lanes
        for bar in lane.bars
        if bar.resident is False
        for row in range(*bar.rows)
    }


def test_rows_that_went_and_rows_that_never_were_are_told_apart() -> None:
    run = ExplainedRun(num_full_pages=40, num_swa_pages=9, retention="window")
    run.run(range(1_600), output=[7])
    request, lookup = run.driver.start([*range(800), *range(5_000, 5_900)])
    diagram = request_diagram(moment(run, *run.catch_up()), "run.jsonl", request, ByNumber())
    missing = missing_of(diagram)
    assert {once for _, stop, once in missing if stop <= lookup.common} == {True}
    assert {once for _, stop, once in missing if stop > lookup.common} == {False}
    # Each lane has every row once, whatever it was cut into.
    for lane in diagram.lanes:
        rows = [row for bar in lane.bars for row in range(*bar.rows)]
        assert rows == sorted(set(rows))


def test_rows_of_an_evicted_path_are_gone_and_those_a_request_has_computed_were_there() -> None:
    run = ExplainedRun(num_full_pages=6, num_swa_pages=6)
    run.run(range(1_000))
    run.run(range(3_000, 4_200))
    request, lookup = run.driver.start(range(1_100))
    found = run.catch_up()
    assert (lookup.reused, lookup.left is not None) == (0, True)
    evicted = missing_of(request_diagram(moment(run, *found), "run", request, ByNumber()))
    kept = lookup.left.length if lookup.left else 0
    assert 256 <= kept <= 1_000
    assert {once for _, stop, once in evicted if stop <= kept} == {True}
    assert {once for _, stop, once in evicted if stop > kept} == {False}
    run.driver.prefill(request, 1_100)
    later = run.catch_up()
    computed = missing_of(request_diagram(moment(run, *later), "run", request, ByNumber()))
    assert {once for *_, once in computed} == {True}, "the window has moved on, and nothing else is missing"


def test_a_request_before_its_lookup_shows_what_a_lookup_would_give() -> None:
    run = ExplainedRun()
    run.run(range(600))
    state = run.explainer.state
    run.explainer.follow(
        RequestSubmitted(seq=state.seq + 1, t_ns=0, request="next", tokens=pack_ids(array("i", range(700))))
    )
    diagram = request_diagram(moment(run), "run.jsonl", "next", ByNumber())
    assert (diagram.cut, diagram.caption.verdict) == (512, "")
    assert any("not looked up by this event" in note for note in diagram.caption.notes)


def test_tokens_are_shown_where_there_is_room_and_never_long_or_redacted() -> None:
    class Long(ByNumber):
        def text(self, ids: object) -> str:
            return "<\x1b[2J\u202e" + "x" * 1_000_000

    run = ExplainedRun()
    found = run.run(range(1_000))
    at = moment(run, found)
    assert request_diagram(at, "run", "r1", ByNumber()).text == ()
    view = View(span=Extent(10, 14))
    assert request_diagram(at, "run", "r1", ByNumber(), view).text == ("10", "11", "12", "13")
    shown = request_diagram(at, "run", "r1", Long(), view).text
    assert all(len(text) <= MAX_TEXT and text.isprintable() for text in shown)
    run.explainer.state.opened = msgspec.structs.replace(run.explainer.state.opened, redacted=True)
    assert request_diagram(at, "run", "r1", ByNumber(), view).text == ()


@pytest.mark.parametrize(
    ("request_name", "view", "told"),
    [
        ("nobody", View(), "'nobody' is not there"),
        ("r1", View(span=Extent(0, 701)), "not within the prompt of 'r1'"),
        ("r1", View(span=Extent(7, 7)), "not within"),
        ("r1", View(cut=701), "cut 701 is outside"),
    ],
)
def test_what_cannot_be_shown_is_told(request_name: str, view: View, told: str) -> None:
    run = ExplainedRun()
    found = run.run(range(700))
    with pytest.raises(InputError, match=told):
        request_diagram(moment(run, found), "run", request_name, ByNumber(), view)


def test_the_ruler_of_an_answer_shows_its_own_path_where_another_prompt_came_between() -> None:
    run = ExplainedRun(preset("recall"), num_full_pages=40, num_swa_pages=40, resume=ResumeRule.ANY)
    driver = run.driver
    request, _ = driver.start(range(20))
    driver.start(range(100, 150))
    driver.prefill(request, 20)
    for position, token in enumerate((7, 8, 9), 20):
        driver.append(request, token)
        assert driver.manager.extend(request, position) is None
        driver.manager.computed(request, position)
    driver.finish(request)
    run.catch_up()
    node = next(node.node for node in run.explainer.state.node_states() if node.start == 20)
    diagram = path_diagram(moment(run), "run.jsonl", node, ByNumber())
    assert diagram.text == tuple(map(str, (*range(20), 7, 8)))
    assert diagram.cut == 21
