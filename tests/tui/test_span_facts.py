"""Facts of single spans, beside those that pictures of a whole tree are made with."""

import pytest
from trees import caption_of, chat_state, walked, wide_state

from shadowviz.diagrams.tree_of import tree_diagram
from shadowviz.tui.models import span_facts
from shadowviz.tui.models.span_facts import SpanFacts

STATES = [
    chat_state(),
    chat_state(match_mode="classic"),
    wide_state(300, seed=5),
    *(walked(seed)[1] for seed in range(8)),
]


@pytest.mark.parametrize("state", STATES, ids=range(len(STATES)))
def test_rows_reach_heat_and_what_leaves_next_are_those_of_the_picture(state):
    facts = SpanFacts(state, state.opened)
    boxes = tree_diagram(caption_of(state), state).boxes
    assert len(boxes) > 1
    for box in boxes:
        if box.node:
            assert facts.rows(box.node) == box.rows
            assert facts.reused(box.node) == box.reachable
            assert facts.heat(box.node) == pytest.approx(box.heat)
            # A picture marks no node where the policy is another one.
            assert ((facts.next_out == box.node) and state.opened.policy == "lru") == box.next_out


def test_heat_and_the_next_to_leave_do_not_hang_on_how_many_nodes_are_looked_at_together(monkeypatch):
    state = wide_state(2_000, seed=1)
    told = []
    for chunk in (span_facts.CHUNK, 97):
        monkeypatch.setattr(span_facts, "CHUNK", chunk)
        facts = SpanFacts(state, state.opened)
        told.append([facts.next_out, *(facts.heat(node) for node in range(1, 2_000, 7))])
    assert told[0] == told[1]
    assert len(set(told[0])) > 100
