"""Which turns of a conversation lose what was stored, and why."""

import pytest

from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Cause
from shadowviz.tokens.side import Conversation
from shadowviz.tokens.structure.conversation import TurnBreak, turn_breaks
from shadowviz_engine.core.spans import Extent

SYSTEM = {"role": "system", "content": "You are a helpful assistant."}
QUESTION = {"role": "user", "content": "What is 2+2?"}
ANSWER = {"role": "assistant", "reasoning_content": "2+2 is 4.", "content": "The answer is 4."}
NEXT = {"role": "user", "content": "And 3+3?"}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
THINK_START, THINK_STOP = 128821, 128822


def breaks_of(*messages: dict, tools: tuple[dict, ...] = (), **options: object) -> tuple[TurnBreak, ...]:
    return turn_breaks(Conversation(messages, tools, dict(options)), default_tokenizer())


def sizes(found: TurnBreak) -> tuple[int, int, int, int]:
    return found.num_prompt, len(found.stored.ids), len(found.following.ids), found.common


def test_chat_loses_nothing_between_turns() -> None:
    [found] = breaks_of(SYSTEM, QUESTION, ANSWER, NEXT)
    assert sizes(found) == (17, 24, 33, 24)
    assert found.findings == ()
    assert not found.breaks
    assert found.segments == ("", "message 3 (user): role marker")


def test_thinking_breaks_where_the_history_is_rendered_without_its_reasoning() -> None:
    [found] = breaks_of(SYSTEM, QUESTION, ANSWER, NEXT, thinking=True)
    assert sizes(found) == (17, 32, 33, 16)
    assert found.first_ids == (THINK_START, THINK_STOP)
    assert (found.lost, found.findings[0].cause, found.findings[0].gain) == (16, Cause.TEMPLATE, 16)
    assert found.segments == ("message 2 (assistant): role marker",) * 2


def test_kept_reasoning_leaves_the_stored_path_whole() -> None:
    [found] = breaks_of(SYSTEM, QUESTION, ANSWER, NEXT, thinking=True, drop_thinking=False)
    assert sizes(found) == (17, 32, 41, 32)
    assert found.findings == ()


def test_tools_keep_the_reasoning_whatever_is_asked_for() -> None:
    messages = (
        SYSTEM,
        QUESTION,
        {"role": "assistant", "reasoning_content": "I ask.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        {"role": "assistant", "reasoning_content": "It rains.", "content": "Rain."},
        NEXT,
    )
    for drop in (True, False):
        found = breaks_of(*messages, tools=(WEATHER,), thinking=True, drop_thinking=drop)
        assert [(turn.turn, turn.answer, turn.lost, turn.findings) for turn in found] == [(1, 2, 0, ()), (2, 4, 0, ())]


def test_without_tools_each_turn_breaks_at_its_own_answer() -> None:
    more = {"role": "assistant", "reasoning_content": "3+3 is 6.", "content": "6"}
    first, second = breaks_of(SYSTEM, QUESTION, ANSWER, NEXT, more, NEXT, thinking=True)
    assert first.segments[1] == "message 2 (assistant): role marker"
    assert second.segments[1] == "message 4 (assistant): role marker"
    assert [turn.findings[0].cause for turn in (first, second)] == [Cause.TEMPLATE] * 2
    assert second.common == second.num_prompt - 1
    assert [turn.common + turn.findings[0].gain for turn in (first, second)] == [
        len(turn.stored.ids) for turn in (first, second)
    ]


@pytest.mark.parametrize("drop", [True, False])
def test_an_answer_without_the_reasoning_that_was_asked_for_is_said_to_lack_it(drop: bool) -> None:
    bare = {"role": "assistant", "content": "The answer is 4."}
    [found] = breaks_of(SYSTEM, QUESTION, bare, NEXT, thinking=True, drop_thinking=drop)
    assert not found.told
    assert found.breaks
    assert len(found.stored.ids) == found.num_prompt == 17
    assert [finding.cause for finding in found.findings] == [Cause.REASONING_MISSING]


def test_an_answer_that_nothing_follows_is_no_turn() -> None:
    assert breaks_of(SYSTEM, QUESTION, ANSWER) == ()
    assert breaks_of(SYSTEM, QUESTION) == ()


def test_the_next_request_has_all_that_stands_before_the_next_answer() -> None:
    [found] = breaks_of(SYSTEM, QUESTION, ANSWER, NEXT, {"role": "user", "content": "Or 4+4?"})
    assert found.following.text.endswith("And 3+3?\n\nOr 4+4?<｜Assistant｜></think>")


def test_two_answers_in_a_row_are_one_turn_that_the_next_request_follows() -> None:
    more = {"role": "assistant", "content": "Or so."}
    [found] = breaks_of(SYSTEM, QUESTION, ANSWER, more, NEXT)
    assert found.answer == 2
    assert found.following.text.endswith("And 3+3?<｜Assistant｜></think>")


def test_stored_ids_are_those_of_the_prompt_and_of_the_output() -> None:
    [found] = breaks_of(SYSTEM, QUESTION, ANSWER, NEXT, thinking=True)
    output = "2+2 is 4.</think>The answer is 4.<｜end▁of▁sentence｜>"
    assert list(found.stored.ids[17:]) == default_tokenizer().encode(output)
    assert found.stored.bytes_of(Extent(17, 32)).decode() == output
    assert found.stored.segments[-1].stop == len(found.stored.text)
