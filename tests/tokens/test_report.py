"""A comparison as values: place, excerpt, cost and alignment add up."""

from array import array
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz.tokens.align.align import align
from shadowviz.tokens.align.token_diff import Hunk, Op, TokenDiff
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Cause
from shadowviz.tokens.inputs.prompt import Form, Prompt
from shadowviz.tokens.inputs.side import IdsOnly, Reading, make_side, prepared, reading_of
from shadowviz.tokens.rendering.render import Segment
from shadowviz.tokens.report.compare import compare
from shadowviz.tokens.report.cost import alignment_of, cost_of, geometry_of, reused_length
from shadowviz.tokens.report.excerpt import excerpts
from shadowviz.tokens.report.report import Report
from shadowviz.tokens.side import Conversation, Side, side_of_text
from shadowviz_engine.core.errors import GeometryError, InputError
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.spans import Extent

FLASH = preset("v4-flash")


def side(name: str, text: str) -> Side:
    return side_of_text(name, text, default_tokenizer())


def report_of(a: str, b: str) -> Report:
    return compare(side("A", a), side("B", b), FLASH)


def hidden(name: str, ids: list[int], vocabulary: str = "v") -> Side:
    prompt = Prompt(name, Form.IDS, ids=array("q", ids), vocabulary=vocabulary)
    return make_side(name, prompt, Reading(default_tokenizer()))


# Where and why.


def test_the_place_is_counted_in_tokens_bytes_lines_and_characters() -> None:
    head = "caf\u00e9\nsecond line with words and "
    shown = report_of(head + "one more", head + "two more")
    cut = shown.excerpt_b
    assert cut is not None
    assert (cut.place.token, cut.place.line, cut.place.column) == (
        shown.common,
        2,
        len("second line with words and ") + 1,
    )
    assert cut.place.byte == len(head.encode())
    assert (cut.differing, cut.after, cut.before) == ("two", " more", head)
    assert [token.text for token in cut.tokens] == [" two"]


def test_the_excerpt_is_cut_between_characters() -> None:
    shown = report_of("a\u00e9b", "a\u00e8b")
    assert shown.excerpt_a is not None
    assert shown.excerpt_b is not None
    assert (shown.excerpt_a.differing, shown.excerpt_b.differing) == ("\u00e9", "\u00e8")
    # Two characters whose last byte is the same.
    shown = report_of("a\u00e9b", "a\u0129b")
    assert shown.excerpt_a is not None
    assert shown.excerpt_b is not None
    assert (shown.excerpt_a.differing, shown.excerpt_b.differing) == ("\u00e9", "\u0129")


def test_the_same_text_as_other_ids_is_shown_whole() -> None:
    a, b = (
        make_side(n, Prompt(n, Form.IDS, ids=array("q", ids)), Reading(default_tokenizer()))
        for n, ids in (("A", [67, 201, 201, 68]), ("B", [67, 271, 68]))
    )
    shown = compare(a, b, FLASH)
    assert (shown.common, shown.causes[0].cause, shown.same) == (1, Cause.RETOKENIZED, False)
    assert shown.excerpt_a is not None
    assert shown.excerpt_a.differing == "\n\n"
    assert [token.id for token in shown.excerpt_a.tokens] == [201, 201]


def test_a_control_token_is_told_from_the_same_letters() -> None:
    a, b = (
        make_side(n, Prompt(n, Form.IDS, ids=array("q", ids)), Reading(default_tokenizer()))
        for n, ids in (("A", [128822]), ("B", [1718, 37947, 32]))
    )
    shown = compare(a, b, FLASH)
    assert shown.excerpt_a is not None
    assert shown.excerpt_b is not None
    assert [token.control for token in shown.excerpt_a.tokens] == [True]
    assert not any(token.control for token in shown.excerpt_b.tokens)


def test_an_alignment_that_is_known_is_taken_as_it_is() -> None:
    a, b = side("A", "one and the same"), side("B", "one or the same")
    assert compare(a, b, FLASH, diff=align(a, b)) == compare(a, b, FLASH)
    other = align(a, side("B", "one or two"))
    assert compare(a, b, FLASH, diff=other).alignment == alignment_of(other)


def test_a_difference_has_the_name_of_its_stretch() -> None:
    text = "first part, second apple"
    parts = (Segment("message 0 (system)", 0, 11), Segment("message 1 (user)", 11, len(text)))
    a = side_of_text("A", text, default_tokenizer(), segments=parts)
    b = side_of_text("B", text.replace("apple", "river"), default_tokenizer(), segments=parts)
    shown = compare(a, b, FLASH)
    assert ", in message 1 (user): TEXT." in shown.verdict
    assert shown.causes[0].segment == "message 1 (user)"


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("", "", "A and B are the same 0 tokens: nothing is lost."),
        ("", "x", "A has no tokens: nothing is lost."),
        ("x", "x", "A and B are the same 1 token: nothing is lost."),
        ("x", "x y", "B begins with the only token of A: nothing is lost."),
        ("x y", "x y z", "B begins with all 2 tokens of A: nothing is lost."),
    ],
)
def test_where_nothing_is_lost_there_is_nothing_to_change(a: str, b: str, verdict: str) -> None:
    shown = report_of(a, b)
    assert (shown.verdict, shown.advice, shown.same, shown.cost.lost) == (verdict, "", True, 0)
    assert not any(cause.breaks for cause in shown.causes)


def test_an_unspecific_cause_gains_only_up_to_the_next_difference() -> None:
    words = "The keeper wrote the depth of the channel into the book. " * 60
    a = words + "apple" + words + "river" + words
    b = words + "garden" + words + "window" + words
    shown = report_of(a, b)
    assert shown.causes[0].cause is Cause.TEXT
    once, all_of = shown.cost.reused_if_mended, shown.cost.reused_if_all_mended
    assert shown.cost.reused < once < all_of


# What cannot be read.


def test_ids_that_cannot_be_read_are_compared_by_number() -> None:
    shown = compare(hidden("A", [1, 2, 3, 4, 5]), hidden("B", [1, 2, 9, 4, 5]), FLASH)
    assert (shown.common, shown.causes[0].cause, shown.causes[0].gain) == (2, Cause.UNKNOWN, 3)
    assert not shown.a.readable
    assert shown.excerpt_a is not None
    assert [(token.id, token.text) for token in shown.excerpt_a.tokens] == [(3, "")]
    assert shown.excerpt_a.before == shown.excerpt_a.differing == ""
    assert compare(hidden("A", [1, 2]), hidden("B", [1, 2, 3]), FLASH).same


def test_numbers_of_two_vocabularies_are_not_compared() -> None:
    with pytest.raises(InputError, match="give that one with --tokenizer"):
        compare(hidden("A", [1, 2]), hidden("B", [1, 2], "w"), FLASH)
    with pytest.raises(InputError, match="give that one with --tokenizer"):
        compare(side("A", "x"), hidden("B", [1, 2]), FLASH)
    with pytest.raises(InputError, match="encodes no text"):
        IdsOnly("redacted", "r").place("x")


def test_equal_texts_of_other_bytes_are_said_to_be_so() -> None:
    a = replace(side("A", "caf\ufffd"), given=b"caf\xff")
    assert "though bytes that are not UTF-8 differ" in compare(a, side("B", "caf\ufffd"), FLASH).verdict
    assert "UTF-8" not in compare(a, a, FLASH).verdict


# The rendering.


def test_fields_that_answers_carry_along_are_left_out() -> None:
    call = {"index": 0, "id": "1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    answer = {"role": "assistant", "content": None, "refusal": None, "annotations": [], "tool_calls": [call]}
    prompt = Prompt("x", Form.MESSAGES, conversation=Conversation(({"role": "user", "content": "Hi"}, answer)))
    conversation, _ = prepared(prompt, Reading(default_tokenizer()))
    assert conversation.messages[1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{key: value for key, value in call.items() if key != "index"}],
    }


def test_an_option_has_one_name_and_an_unknown_one_is_said() -> None:
    conversation = Conversation(({"role": "user", "content": "Hi"},), (), {"enable_thinking": True, "colour": "red"})
    prompt = Prompt("x", Form.MESSAGES, conversation=conversation)
    known, notes = prepared(prompt, Reading(default_tokenizer(), options={"effort": "max"}))
    assert known.options == {"thinking": True, "effort": "max"}
    assert notes == ("no options of DeepSeek-V4's encoding, so left out: colour",)
    with pytest.raises(InputError, match="x: effort: found 'medium', expected one of none, low, high, max"):
        make_side("A", prompt, Reading(default_tokenizer(), options={"effort": "medium"}))


def test_a_template_finds_an_option_under_its_usual_name_and_the_command_line_wins(tmp_path: Path) -> None:
    (tmp_path / "t.jinja").write_text("{{ messages[0].content }} {{ enable_thinking }} {{ reasoning_effort }}")
    asked = Conversation(({"role": "user", "content": "Hi"},), (), {"enable_thinking": False, "effort": "high"})
    prompt = Prompt("x", Form.MESSAGES, conversation=asked)
    template = str(tmp_path / "t.jinja")
    assert make_side("A", prompt, reading_of("bytes", template)).text == "Hi False high"
    assert make_side("A", prompt, reading_of("bytes", template, {"thinking": True})).text == "Hi True high"


def test_a_change_under_a_template_is_undone_and_measured(tmp_path: Path) -> None:
    source = "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{% endfor %}"
    (tmp_path / "t.jinja").write_text(source)
    reading = reading_of("deepseek-v4", str(tmp_path / "t.jinja"))
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello, what is it?"}]
    edited = [turns[0], {**turns[1], "content": "Good day, what is it?"}]
    a, b = (
        make_side(name, Prompt(name, Form.MESSAGES, conversation=Conversation((*told, turns[0]))), reading)
        for name, told in (("A", turns), ("B", edited))
    )
    shown = compare(a, b, FLASH)
    assert shown.causes[0].cause is Cause.HISTORY_EDITED
    assert shown.cost.proof == "rendered and encoded again with this change undone"
    assert shown.cost.mended == len(a.ids)


def test_a_folder_of_a_model_brings_its_template(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").symlink_to(default_tokenizer().path)
    prompt = Prompt("x", Form.MESSAGES, conversation=Conversation(({"role": "user", "content": "Hi"},)))
    bare = make_side("A", prompt, reading_of(str(tmp_path)))
    assert "messages are rendered as DeepSeek-V4 renders them" in bare.notes[0]
    (tmp_path / "chat_template.jinja").write_text("[{{ messages[0].content }}]")
    own = make_side("A", prompt, reading_of(str(tmp_path)))
    assert (own.text, own.notes) == ("[Hi]", ())


# The cost.


@pytest.mark.parametrize(
    ("num_prompt", "reused"), [(255, 0), (256, 0), (257, 256), (512, 256), (513, 512), (16_007, 15_872)]
)
def test_a_prompt_sent_again_reuses_whole_pages_but_not_its_last_token(num_prompt: int, reused: int) -> None:
    assert reused_length(FLASH, num_prompt, num_prompt) == reused


def test_the_cost_of_a_line_end_at_token_5_of_8000() -> None:
    cost = cost_of(FLASH, 8_000, 5, 7_995, 7_995)
    assert (cost.reused, cost.mended, cost.reused_if_mended, cost.lost) == (0, 8_000, 7_936, 7_936)
    assert [(rows.kind, rows.rows, rows.layers) for rows in cost.rows] == [
        ("csa_kv", 1_984, 21),
        ("index_k", 1_984, 21),
        ("hca_kv", 62, 20),
    ]


def test_a_page_must_fit_its_geometry() -> None:
    assert geometry_of("v4-flash", 128).page_size == 128
    with pytest.raises(GeometryError, match="page_size 100 splits a window"):
        geometry_of("v4-flash", 100)


# The alignment.

SIZES = st.lists(st.tuples(st.sampled_from(list(Op)), st.integers(1, 400), st.integers(1, 400)), max_size=30)


@given(SIZES)
def test_the_alignment_adds_up(sizes: list[tuple[Op, int, int]]) -> None:
    hunks: list[Hunk] = []
    a = b = 0
    for op, one, other in sizes:
        size_a = 0 if op is Op.INSERT else one
        size_b = 0 if op is Op.DELETE else one if op is Op.EQUAL else other
        hunks.append(Hunk(op, Extent(a, a + size_a), Extent(b, b + size_b)))
        a, b = a + size_a, b + size_b
    common = hunks[0].a.size if hunks and hunks[0].op is Op.EQUAL else 0
    shown = alignment_of(TokenDiff(tuple(hunks), common))
    assert (sum(count.a for count in shown.counts), sum(count.b for count in shown.counts)) == (a, b)
    assert shown.num_runs == sum(hunk.op is not Op.EQUAL for hunk in hunks)
    assert len(shown.strip) <= 60
    assert (set(shown.strip) <= {"="}) == all(hunk.op is Op.EQUAL for hunk in hunks)


def test_a_strip_is_drawn_to_scale() -> None:
    hunks = (
        Hunk(Op.EQUAL, Extent(0, 30), Extent(0, 30)),
        Hunk(Op.DELETE, Extent(30, 60), Extent(30, 30)),
        Hunk(Op.EQUAL, Extent(60, 119), Extent(30, 89)),
        Hunk(Op.REPLACE, Extent(119, 120), Extent(89, 90)),
    )
    assert alignment_of(TokenDiff(hunks, 30)).strip == "=" * 15 + "-" * 15 + "=" * 29 + "~"
    more = (*hunks[:3], Hunk(Op.REPLACE, Extent(119, 180), Extent(89, 90)))
    assert alignment_of(TokenDiff(more, 30)).strip == "=" * 10 + "-" * 10 + "=" * 19 + ":" + "~" * 20


def test_the_excerpt_of_a_hunk_that_is_all_of_a_long_text_is_short() -> None:
    a, b = side("A", "x " * 5_000), side("B", "y " * 5_000)
    one, other = excerpts(a, b, Hunk(Op.REPLACE, Extent(0, len(a.ids)), Extent(0, len(b.ids))))
    assert len(one.differing) == len(other.differing) == 400
    assert one.num_characters > 9_000
    assert len(one.tokens) == 8


# The JSON.


def test_a_report_survives_json() -> None:
    shown = report_of("a\r\nb", "a\nb")
    assert msgspec.json.decode(msgspec.json.encode(shown), type=Report) == shown
