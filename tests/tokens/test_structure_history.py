"""What became of the messages of a conversation, and of its system message."""

from dataclasses import replace

import pytest

from shadowviz.tokens.align.align import align
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.side import Conversation, Side, side_of_text
from shadowviz.tokens.structure.find import structural
from shadowviz.tokens.structure.mended import render_v4
from shadowviz.tokens.structure.system import grown_by
from shadowviz_engine.core.errors import InputError

SYSTEM = {"role": "system", "content": "You are a coding agent. Follow the rules.\nBe brief."}


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def answer(text: str, reasoning: str | None = None) -> dict:
    return {"role": "assistant", "content": text, **({"reasoning_content": reasoning} if reasoning else {})}


TURNS = [
    message
    for number in range(6)
    for message in (
        user(f"Please do step number {number} of the plan for the garden project"),
        answer(f"Step {number} is done, the garden now has bed {number}.", f"What does bed {number} need?"),
    )
]
HISTORY = [SYSTEM, *TURNS]


def side(name: str, messages: list[dict], **options: object) -> Side:
    conversation = Conversation(tuple(messages), (), dict(options))
    rendered = render_v4(conversation)
    return side_of_text(name, rendered.text, default_tokenizer(), segments=rendered.segments, conversation=conversation)


def found(a: list[dict], b: list[dict], **options: object) -> list[tuple[Cause, str]]:
    return [(finding.cause, finding.subject) for finding in findings(a, b, **options)]


def findings(a: list[dict], b: list[dict], **options: object) -> tuple[Finding, ...]:
    one, other = side("A", a, **options), side("B", b, **options)
    return structural(one, other, align(one, other))


def test_a_sliding_window_leaves_out_the_head() -> None:
    newer = [SYSTEM, *TURNS[4:], user("next?"), answer("ok"), user("more?")]
    [finding] = findings([*HISTORY, user("next?")], newer)
    assert finding.cause is Cause.HISTORY_TRUNCATED
    assert finding.detail == "B lacks messages 1 to 4 of A"


def test_a_summary_in_the_place_of_turns_truncates_the_history() -> None:
    told = user("This session is continued from a previous conversation: steps of the plan for the garden project.")
    for tail in ([user("next?")], [user("Now write the tests"), answer("Done"), user("Thanks")]):
        assert found([*HISTORY, user("next?")], [SYSTEM, told, *tail]) == [(Cause.HISTORY_TRUNCATED, "")]


def test_another_conversation_with_the_same_system_message_is_no_history() -> None:
    other = [SYSTEM, user("Tell me a joke on cats"), answer("No."), user("Please")]
    assert found([SYSTEM, user("What is the weather in Oslo?")], other) == []
    assert found([*HISTORY, user("next?")], other) == []


def test_another_last_message_is_left_to_the_text() -> None:
    assert found([*HISTORY, user("next?")], [*HISTORY, user("Good bye")]) == []


def test_a_request_whose_last_message_is_sent_otherwise_later_was_edited() -> None:
    asked = "please run the tests now"
    older = [*HISTORY, user(f"{asked}\n<note>the list is empty</note>")]
    [finding] = findings(older, [*HISTORY, user(asked), answer("ran"), user("good")])
    assert (finding.cause, finding.subject) == (Cause.HISTORY_EDITED, "message 13 (user)")
    assert "'\\n<note>the list is empty</note>' in A, nothing in B" in finding.detail


def test_each_edited_message_is_named_and_the_first_leads() -> None:
    newer = list(HISTORY)
    newer[2], newer[6] = answer("Rewritten wholly"), answer("Step 2 is cleared")
    first, second = findings([*HISTORY, user("q")], [*newer, user("q")])
    assert (first.subject, second.subject) == ("message 2 (assistant)", "message 6 (assistant)")
    assert first.gain > 0
    assert second.gain == 0


def test_an_answer_that_came_back_otherwise_was_edited() -> None:
    older, newer = [*HISTORY, user("q"), answer("It is.\n")], [*HISTORY, user("q"), answer("It is."), user("more")]
    assert found(older, newer) == [(Cause.HISTORY_EDITED, "message 14 (assistant)")]


def test_a_template_that_drops_the_reasoning_leads_over_an_edit_of_the_same_answer() -> None:
    older = [SYSTEM, user("q"), answer("It is.\n", "Is it?")]
    newer = [SYSTEM, user("q"), answer("It is.", "Is it?"), user("more")]
    assert found(older, newer, thinking=True) == [
        (Cause.TEMPLATE, "reasoning"),
        (Cause.HISTORY_EDITED, "message 2 (assistant)"),
    ]


def test_a_note_between_earlier_messages_edits_the_history() -> None:
    note = {"role": "system", "content": "Note: today is Monday"}
    newer = [*HISTORY[:3], note, *HISTORY[3:], user("q")]
    assert found([*HISTORY, user("q")], newer) == [(Cause.HISTORY_EDITED, "message 3 (system)")]


def test_turns_that_only_the_other_side_has_are_missing_in_the_first() -> None:
    [finding] = findings([SYSTEM, *TURNS[4:], user("q")], [*HISTORY, user("q")])
    assert (finding.cause, finding.detail) == (Cause.HISTORY_TRUNCATED, "A lacks messages 1 to 4 of B")


def test_keys_of_json_in_a_result_can_be_in_another_order() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    sides = [
        [SYSTEM, user("q"), {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": text}, user("r")]
        for text in ('{"found": 1, "left": [2]}', '{"left": [2], "found": 1}')
    ]
    assert found(*sides) == [(Cause.REORDERED, "keys")]


def test_calls_of_one_answer_can_be_in_another_order() -> None:
    calls = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("look", "read")
    ]
    sides = [
        [SYSTEM, user("q"), {"role": "assistant", "tool_calls": order}, user("r")] for order in (calls, calls[::-1])
    ]
    assert found(*sides) == [(Cause.REORDERED, "tool calls")]


def test_a_system_message_on_one_side_only_is_more_or_less_of_it() -> None:
    assert found(HISTORY[1:], HISTORY) == [(Cause.SYSTEM_GREW, "system")]
    [finding] = findings(HISTORY, HISTORY[1:])
    assert (finding.cause, finding.detail) == (Cause.HISTORY_TRUNCATED, "B lacks message 0 (system) of A")


@pytest.mark.parametrize(
    ("old", "new", "added"),
    [
        ("Be brief.", "Be brief. Be kind.", " Be kind."),
        ("Be brief.", "Today is Monday.\nBe brief.", "Today is Monday.\n"),
        ("Be brief.\nBe kind.", "Be brief.\nBe quick.\nBe kind.\nBe true.", "Be quick.\nBe true."),
        ("", "Be brief.", "Be brief."),
        ("Be brief.", "Be brief.\n", None),
        ("Be brief", "Be briefly", None),
        ("Be brief.", "Be very brief.", None),
        ("Turn 1", "Turn 12", None),
        ("Be brief.", "Be kind.", None),
        ("Be brief.", "Be brief.", None),
    ],
)
def test_a_text_grows_by_what_stands_behind_before_or_between_its_lines(old: str, new: str, added: str | None) -> None:
    assert grown_by(old, new) == added


def test_messages_that_are_no_objects_of_the_format_are_compared_all_the_same() -> None:
    rendered = side("A", [SYSTEM, user("q")])
    odd = Conversation(({"role": "user", "content": 7}, "text", {"content": [{"type": "image"}, None]}), ("tool",))  # type: ignore[arg-type]
    other = Conversation(({"role": "user", "content": {"a": 1}}, {"role": "tool", "tool_calls": [3]}), ({"name": 1},))
    a, b = (
        side_of_text(name, text, rendered.encoder, segments=rendered.segments[:1], conversation=conversation)
        for name, text, conversation in (("A", rendered.text, odd), ("B", rendered.text[5:], other))
    )
    assert all(finding.detail.isprintable() for finding in structural(a, b, align(a, b)))


def test_a_message_that_was_edited_in_a_turn_that_moved_is_edited_not_lost() -> None:
    edited = answer("Step 0 is done at last, the garden now has bed 0.", "What does bed 0 need?")
    newer = [SYSTEM, *TURNS[2:4], TURNS[0], edited, *TURNS[4:], user("q")]
    assert found([*HISTORY, user("q")], newer) == [
        (Cause.REORDERED, "messages"),
        (Cause.HISTORY_EDITED, "message 4 (assistant)"),
    ]


def test_an_answer_opened_in_another_way_is_the_templates_doing_though_it_was_edited() -> None:
    older = [SYSTEM, user("q"), answer("It is.\n")]
    assert found(older, [SYSTEM, user("q"), answer("It is."), user("more")], thinking=True) == [
        (Cause.TEMPLATE, ""),
        (Cause.HISTORY_EDITED, "message 2 (assistant)"),
    ]


def test_a_last_message_on_both_sides_is_not_history_however_alike_it_is() -> None:
    asked = "please run all of the tests now"
    assert found([*HISTORY, user(asked)], [*HISTORY, user(f"{asked} again")]) == []


def test_an_option_accounts_for_no_edit_of_the_system_message() -> None:
    a = side("A", [{**SYSTEM, "content": "It is 10:20. Be brief."}, *TURNS, user("q")])
    b = side("B", [{**SYSTEM, "content": "It is 10:21. Be brief."}, *TURNS, user("q")], thinking=True)
    diff = align(a, b)
    [finding] = structural(a, b, diff)
    assert (finding.cause, finding.subject) == (Cause.TEMPLATE, "thinking")
    assert finding.a.start > diff.common


def test_an_answer_that_is_gone_on_with_loses_nothing() -> None:
    opened = {"role": "assistant", "content": "The sum", "wo_eos": True}
    assert found([SYSTEM, user("q"), opened], [SYSTEM, user("q"), answer("The sum is 4."), user("r")]) == []


def test_an_option_left_out_means_what_the_format_takes_it_for() -> None:
    a = side("A", [SYSTEM, user("q")])
    b = side("B", [user("r")], thinking=False, effort="none", drop_thinking=True)

    def unknown(told: Conversation) -> str:
        raise InputError(f"no template for {len(told.messages)} messages")

    assert [finding.cause for finding in structural(replace(a, write=unknown), b, align(a, b))] == [
        Cause.HISTORY_TRUNCATED
    ]


def test_a_window_that_slid_is_no_reordering_where_a_later_turn_repeats_a_dropped_one() -> None:
    old = [SYSTEM, user("go on"), answer("Sure."), user("Read a.txt"), answer("Done."), user("why?")]
    newer = [SYSTEM, *old[3:], answer("I see."), user("go on")]
    assert found(old, newer)[0] == (Cause.HISTORY_TRUNCATED, "")
    assert found(newer, old)[0] == (Cause.HISTORY_TRUNCATED, "")
