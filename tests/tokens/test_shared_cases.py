"""The shared cases: ids, first difference and cause of known pairs, and the worked cases 1 to 6 to the last figure."""

import json
from pathlib import Path
from typing import Any

import pytest
from cause_runs import findings_of, side_of_chat
from chats import Chat
from vocabularies import LABELS, encoder_of

from shadowviz.tokens.align.align import align
from shadowviz.tokens.encode.encoder import Encoder
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.side import Side, side_of_ids, side_of_text

V4 = default_tokenizer()
PROMPT = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "What is 2+2?"},
]
ANSWER = {"role": "assistant", "content": "The answer is 4.", "reasoning": "2+2 is 4."}
FOLLOWED = [*PROMPT, ANSWER, {"role": "user", "content": "And 3+3?"}]


def rows(shared_dir: Path, name: str) -> list[dict[str, Any]]:
    """The lines of a file of cases."""
    # Not splitlines: the texts hold U+0085 and U+2028 as they are.
    return [json.loads(line) for line in (shared_dir / "cases" / name).read_bytes().strip().split(b"\n")]


def chat(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None, **options: Any) -> Side:
    """A conversation as DeepSeek-V4 renders it."""
    return side_of_chat("A", Chat(messages, tools or [], options), V4)


def breaking(a: Side, b: Side) -> list[Finding]:
    """The findings that end a common prefix."""
    return [finding for finding in findings_of(a, b) if finding.breaks]


def wrong(row: dict[str, Any], encoder: Encoder) -> list[str]:
    """What comes out otherwise than the case says."""
    a, b = side_of_text("A", row["a"], encoder), side_of_text("B", row["b"], encoder)
    diff, findings = align(a, b), findings_of(a, b)
    said = findings[0].cause.value if findings else "NONE"
    found = []
    for name, side in (("ids_a", a), ("ids_b", b)):
        if list(side.ids) != [int(token_id) for token_id in row[name].split()]:
            found.append(f"{name} {list(side.ids)}, expected {row[name]}")
    if (None if diff.equal else diff.common) != row["first_divergence"]:
        found.append(f"first difference {diff.common}, expected {row['first_divergence']}")
    if said not in row["class"].split("|"):
        found.append(f"cause {said}, expected {row['class']}: {row['a']!a} / {row['b']!a}")
    return [f"{row['id']}: {each}" for each in found]


@pytest.mark.parametrize("label", LABELS)
def test_pairs_have_their_ids_first_difference_and_cause(label: str, shared_dir: Path) -> None:
    encoder = encoder_of(label)
    cases = [row for row in rows(shared_dir, "pairs.jsonl") if row["tokenizer"] == label]
    assert len(cases) == 40
    assert [each for row in cases for each in wrong(row, encoder)] == []


@pytest.mark.parametrize("label", LABELS)
def test_generated_ids_that_another_encoding_replaces_are_told(label: str, shared_dir: Path) -> None:
    encoder = encoder_of(label)
    for row in rows(shared_dir, "retokenize.jsonl"):
        if row["tokenizer"] != label:
            continue
        a = side_of_ids("A", row["generated_ids"], encoder)
        b = side_of_text("B", row["decoded"], encoder)
        assert list(b.ids) == row["reencoded"]
        assert [finding.cause for finding in findings_of(a, b)] == (
            [] if row["first_divergence"] is None else [Cause.RETOKENIZED]
        )
        assert align(a, b).common == (len(a.ids) if row["first_divergence"] is None else row["first_divergence"])


VERSIONS = {"v2(0.1.2)": "dsv2", "v3(0.2.0)": "dsv3", "v4(0.3.0)": "dsv4"}


@pytest.mark.parametrize("old", ["v2(0.1.2)", "v3(0.2.0)"])
def test_drift_between_versions_of_a_tokenizer_is_told_where_it_shows(old: str, shared_dir: Path) -> None:
    before, now = encoder_of(VERSIONS[old]), encoder_of("dsv4")
    for row in rows(shared_dir, "version_drift.jsonl"):
        a, b = side_of_text("A", row["text"], before), side_of_text("B", row["text"], now)
        assert [list(a.ids), list(b.ids)] == [row["ids"][old], row["ids"]["v4(0.3.0)"]]
        expected = [] if a.ids == b.ids else [Cause.TOKENIZER_VERSION]
        assert [finding.cause for finding in findings_of(a, b)][:1] == expected
        if old == "v3(0.2.0)":
            assert (None if a.ids == b.ids else align(a, b).common) == row["v3_vs_v4"]


def test_reasoning_left_out_of_the_next_turn_is_the_template() -> None:
    asked = chat(PROMPT, thinking=True)
    stored = chat([*PROMPT, ANSWER], thinking=True)
    following = chat(FOLLOWED, thinking=True)
    assert [len(side.ids) for side in (asked, stored, following)] == [17, 32, 33]
    assert asked.ids[-1] == 128821
    assert align(stored, following).common == 16
    assert [stored.ids[16], following.ids[16]] == [128821, 128822]
    assert findings_of(stored, following)[0].cause is Cause.TEMPLATE


@pytest.mark.parametrize(
    ("options", "num_stored", "num_following"),
    [({"thinking": True, "drop_thinking": False}, 32, 41), ({}, 24, 33)],
)
def test_a_next_turn_that_keeps_everything_has_no_finding(
    options: dict[str, Any], num_stored: int, num_following: int
) -> None:
    stored, following = chat([*PROMPT, ANSWER], **options), chat(FOLLOWED, **options)
    assert [len(stored.ids), len(following.ids)] == [num_stored, num_following]
    assert align(stored, following).common == num_stored
    assert breaking(stored, following) == []


def test_an_effort_with_text_stands_before_everything_else() -> None:
    efforts = ("none", "low", "high", "max")
    none, low, high, most = (chat(PROMPT, thinking=True, effort=effort) for effort in efforts)
    assert [len(side.ids) for side in (none, low, high, most)] == [17, 17, 96, 109]
    assert none.ids == low.ids
    assert findings_of(none, low) == ()
    assert align(none, high).common == 1
    assert findings_of(none, high)[0].cause is Cause.EFFORT_PREFIX
    assert findings_of(high, most)[0].cause is Cause.EFFORT_PREFIX


def test_a_clock_says_what_stands_behind_it() -> None:
    a, b = (
        chat(
            [
                {"role": "system", "content": f"Current time: 2026-06-09 15:04:{second}. You are a helpful assistant."},
                PROMPT[1],
            ]
        )
        for second in (20, 21)
    )
    assert [len(a.ids), len(b.ids), align(a, b).common] == [34, 34, 16]
    (found,) = findings_of(a, b)
    assert found.cause is Cause.TIME
    assert [found.a.start, found.b.start] == [16, 16]
    # Without the difference all 34 tokens are common; all but the clock's own one stand behind it.
    assert found.gain == 18


def tool(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """A definition in OpenAI form."""
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}
WEATHER, ADD = tool("get_weather", "Get weather", CITY), tool("add", "Add numbers", NUMBERS)


def test_tools_and_keys_in_another_order_are_told_apart() -> None:
    usual, swapped = chat(PROMPT, [WEATHER, ADD]), chat(PROMPT, [ADD, WEATHER])
    assert [len(usual.ids), len(swapped.ids), align(usual, swapped).common] == [336, 336, 214]
    found = findings_of(usual, swapped)[0]
    assert [found.cause, found.subject] == [Cause.REORDERED, "tools"]
    moved = {key: CITY[key] for key in ("properties", "type", "required")}
    turned = chat(PROMPT, [tool("get_weather", "Get weather", moved), ADD])
    assert [len(turned.ids), align(usual, turned).common] == [336, 229]
    found = findings_of(usual, turned)[0]
    assert [found.cause, found.subject] == [Cause.REORDERED, "keys"]


def test_blanks_in_the_arguments_of_a_call_are_no_difference() -> None:
    sides = []
    for arguments in ('{"a": 1, "b": 2}', '{"a":1,"b":2}'):
        call = {"id": "c", "type": "function", "function": {"name": "add", "arguments": arguments}}
        sides.append(chat([*PROMPT, {"role": "assistant", "tool_calls": [call]}], [WEATHER, ADD]))
    assert sides[0].ids == sides[1].ids
    assert findings_of(*sides) == ()


@pytest.mark.parametrize(
    ("written", "other", "cause"),
    [
        ([201, 201], [271], Cause.RETOKENIZED),
        ([736, 21], [6895], Cause.RETOKENIZED),
        ([16, 201], [603], Cause.RETOKENIZED),
        ([1718, 37947, 32], [128822], Cause.SPECIAL_VS_TEXT),
    ],
)
def test_the_same_text_as_other_ids_is_told(written: list[int], other: list[int], cause: Cause) -> None:
    for before, behind in (([], []), ([19923], [34]), ([69, 2797], [])):
        a, b = (side_of_ids("AB"[at], [*before, *ids, *behind], V4) for at, ids in enumerate((written, other)))
        assert a.raw == b.raw
        for first, second in ((a, b), (b, a)):
            assert [finding.cause for finding in findings_of(first, second)] == [cause]


@pytest.mark.parametrize(("text", "ids"), [("Hanzi", [59847, 6030]), ("1234", [6895, 22])])
def test_ids_that_survive_the_round_trip_are_not_told(text: str, ids: list[int]) -> None:
    assert findings_of(side_of_ids("A", ids, V4), side_of_text("B", text, V4)) == ()


@pytest.mark.parametrize(
    ("texts", "ids_a", "ids_b", "common", "cause"),
    [
        (
            ("line one\r\nline two", "line one\nline two"),
            "1836 834 204 201 1836 1234",
            "1836 834 201 1836 1234",
            2,
            "CRLF",
        ),
        (("caf\u00e9 menu", "cafe\u0301 menu"), "69 2797 619 15451", "69 15702 17793 15451", 1, "UNICODE_FORM"),
        (("a b", "a\u00a0b"), "67 291", "67 2162 68", 1, "SPACE_KIND"),
        (("\ufeffHello", "Hello"), "15251 19923", "19923", 0, "BOM"),
        (("You are helpful.\n", "You are helpful."), "3476 477 11502 603", "3476 477 11502 16", 3, "TRAILING_NEWLINE"),
    ],
)
def test_invisible_differences_are_named(
    texts: tuple[str, str], ids_a: str, ids_b: str, common: int, cause: str
) -> None:
    a, b = (side_of_text(name, text, V4) for name, text in zip("AB", texts, strict=True))
    assert [list(a.ids), list(b.ids)] == [list(map(int, ids.split())) for ids in (ids_a, ids_b)]
    assert align(a, b).common == common
    assert [finding.cause for finding in findings_of(a, b)] == [cause]
