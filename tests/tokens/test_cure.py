"""What a cure is said to give is what encoding the cured prompt gives."""

import json
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import pytest
from cause_runs import side_of_chat
from chats import Chat
from labelled import Pair
from prompt_edits import EDITS, labelled_pairs

from shadowviz.cli.diff_view import report_text
from shadowviz.tokens.align.align import align
from shadowviz.tokens.align.token_diff import TokenDiff
from shadowviz.tokens.encode.byte_encoder import ByteEncoder
from shadowviz.tokens.encode.load import load_tokenizer
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.report.compare import compare, findings_of, loses_nothing
from shadowviz.tokens.report.cure import LIMIT, Cure, prove
from shadowviz.tokens.report.cure_places import cured_places
from shadowviz.tokens.report.cure_text import with_edits
from shadowviz.tokens.side import Side, side_of_ids, side_of_text
from shadowviz_engine.core.presets import preset

ENCODER = default_tokenizer()
PLANTS = [(name, pair) for name, pair in labelled_pairs(seed=17, each=4, doubles=40) if pair.ids is None]
CLOCKS = (("A", "20"), ("B", "21"))
BEHIND = " The keeper wrote the depth of the channel into the harbour book." * 20


def side(name: str, text: str) -> Side:
    return side_of_text(name, text, ENCODER)


def counted(a: list[int], b: list[int]) -> int:
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(a, b, strict=False)))


def led(a: Side, b: Side) -> tuple[TokenDiff, Finding]:
    diff = align(a, b)
    return diff, findings_of(a, b, diff)[0]


def proven(a: Side, b: Side) -> Cure:
    cure = prove(a, b, *led(a, b))
    assert cure is not None
    return cure


@pytest.mark.parametrize("name", [*EDITS, "two edits"])
def test_a_planted_cause_gains_what_its_cured_prompt_shares(name: str) -> None:
    for pair in (pair for other, pair in PLANTS if other == name):
        a, b = side("A", pair.a), side("B", pair.b)
        diff = align(a, b)
        if loses_nothing(a, b, diff):
            continue
        finding = findings_of(a, b, diff)[0]
        cure = prove(a, b, diff, finding)
        if cure is None:
            continue
        assert cure.common >= diff.common, pair.recipe
        if "encoded again with " in cure.done:
            edits = cured_places(a, b, diff, finding).edits
            cured = with_edits(pair.b, edits)
            assert cure.common == counted(list(a.ids), list(ENCODER.place(cured).ids)), pair.recipe
            assert_kept_outside(pair, cured, [(e.b.start, e.b.stop, e.a.found) for e in edits])


def assert_kept_outside(pair: Pair, cured: str, stretches: list[tuple[int, int, str]]) -> None:
    at = end = 0
    for start, stop, put in stretches:
        kept = pair.b[end:start]
        assert cured[at : at + len(kept)] == kept, pair.recipe
        at += len(kept)
        assert cured[at : at + len(put)] == put, pair.recipe
        assert put in pair.a, pair.recipe
        at, end = at + len(put), stop
    assert cured[at:] == pair.b[end:], pair.recipe


def test_a_cause_planted_alone_is_mended_whole() -> None:
    names = ("CRLF", "BOM", "QUOTE", "DASH", "UNICODE_FORM", "ZERO_WIDTH", "TIME", "UUID", "HOMOGLYPH", "TAB")
    whole = 0
    for pair in (pair for name, pair in PLANTS if name in names):
        a, b = side("A", pair.a), side("B", pair.b)
        diff = align(a, b)
        if not loses_nothing(a, b, diff) and (cure := prove(a, b, diff, findings_of(a, b, diff)[0])):
            whole += cure.common == len(a.ids)
    assert whole >= 30


def test_a_value_that_changes_is_also_moved_to_the_end() -> None:
    a, b = (side(name, f"Current time: 2026-06-09 15:04:{second}. Now{BEHIND} then") for name, second in CLOCKS)
    cure = proven(a, b)
    moved = [f"Current time: . Now{BEHIND} then\n2026-06-09 15:04:{second}" for _, second in CLOCKS]
    assert cure.moved == counted(*(list(ENCODER.place(text).ids) for text in moved))
    assert cure.common == len(a.ids)


def test_the_terminal_says_what_is_measured_and_what_is_estimated() -> None:
    a, b = (side(name, f"Current time: 2026-06-09 15:04:{second}. Now{BEHIND} then") for name, second in CLOCKS)
    shown = compare(a, b, preset("v4-flash"))
    lines = report_text(shown).splitlines()
    assert "mended, measured: B encoded again with 1 stretch as in A" in lines
    (row,) = [line for line in lines if line.startswith("moved to end ")]
    assert row.split()[3:] == [str(shown.cost.moved), "256", str(len(b.ids) - 256)]
    other = compare(side("A", "something else altogether"), side("B", "what would you like"), preset("v4-flash"))
    assert "mended: an estimate from the alignment, not measured" in report_text(other).splitlines()


def test_the_line_of_a_coding_client_is_left_out_of_both() -> None:
    head = "x-anthropic-billing-header: cc_version=2.1.3.a1b; cc_entrypoint=cli; cch="
    a, b = (side(name, f"{head}{mark};\n{BEHIND}") for name, mark in (("A", "1f3a9"), ("B", "77c0d")))
    assert led(a, b)[1].cause is Cause.ATTRIBUTION_HEADER
    assert proven(a, b) == Cure("both encoded again without the line", len(ENCODER.place(BEHIND).ids))


def test_ids_that_were_stored_are_sent_again() -> None:
    a = side_of_ids("A", [67, 201, 201, 68, 5, 6, 7, 8], ENCODER)
    b = side_of_ids("B", [67, 271, 68, 5, 6, 7, 8], ENCODER)
    assert led(a, b)[1].cause is Cause.RETOKENIZED
    assert proven(a, b) == Cure("ids of A put into B in 1 stretch", 8)


@pytest.mark.parametrize("turned", [False, True])
def test_a_text_that_goes_on_is_encoded_behind_the_ids_of_the_first(turned: bool) -> None:
    short, long = side("A", "hello wor"), side("B", f"hello world and more{BEHIND}")
    a, b = (long, short) if turned else (short, long)
    assert led(a, b)[1].cause is Cause.MERGE_ACROSS_BOUNDARY
    assert proven(a, b) == Cure("B sent as the ids of A, with the rest encoded behind", len(short.ids))


def test_marks_that_the_encoder_adds_are_added_to_the_cured_prompt_too(tmp_path: Path) -> None:
    content = json.loads(ENCODER.path.read_text("utf-8"))
    mark = {"id": "mark", "ids": [0], "tokens": [content["added_tokens"][0]["content"]]}
    content["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "mark", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {"mark": mark},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    marked = load_tokenizer(str(tmp_path / "tokenizer.json"))
    texts = (f"caf\u00e9{BEHIND}", f"cafe\u0301{BEHIND}")
    a, b = (side_of_text(name, text, marked, add_special=True) for name, text in zip("AB", texts, strict=True))
    assert (a.ids[0], a.byte_at(1)) == (0, 0)
    assert proven(a, b) == Cure("B encoded again with 1 stretch as in A", len(a.ids))


def test_two_prompts_that_have_nothing_in_common_have_an_estimate_and_no_proof() -> None:
    a, b = side("A", "something else altogether"), side("B", "what would you like for dinner")
    shown = compare(a, b, preset("v4-flash")).cost
    assert (shown.proven, shown.proof, shown.mended) == (False, "", shown.common)


def test_what_was_measured_stands_in_the_report() -> None:
    a, b = side("A", f"one\r\ntwo\r\n{BEHIND}"), side("B", f"one\ntwo\n{BEHIND}")
    shown = compare(a, b, preset("v4-flash"))
    assert shown.cost.proven
    assert shown.cost.proof == "B encoded again with 2 stretches as in A"
    assert shown.cost.mended == min(len(a.ids), len(b.ids))
    assert shown.causes[0].gain == len(a.ids) - shown.common
    assert "estimate" not in shown.verdict


def test_a_text_too_long_to_encode_again_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shadowviz.tokens.report.cure.LIMIT", 100)
    assert LIMIT > 4_000_000
    a, b = side("A", f"\ufeffone{BEHIND}"), side("B", f"one{BEHIND}")
    assert prove(a, b, *led(a, b)) is None
    shown = compare(a, b, preset("v4-flash"))
    assert (shown.cost.proven, shown.cost.mended) == (False, len(b.ids))
    assert ", by estimate." in shown.verdict


def test_generated_ids_that_encode_otherwise_get_the_stored_ids_in_their_place() -> None:
    tail = [67, 201, 201, 68, 201, 201, 67, 68]
    a, b = (side_of_ids(name, [*tail, word, *tail], ENCODER) for name, word in (("A", 397), ("B", 1602)))
    assert list(ENCODER.place(b.text).ids) != list(b.ids)
    assert proven(a, b) == Cure("ids of A put into B in 1 stretch", len(a.ids))


def test_a_text_of_another_tokenizer_is_encoded_again_by_that_of_the_stored_one() -> None:
    a, b = side("A", BEHIND), side_of_text("B", BEHIND, ByteEncoder())
    assert led(a, b)[1].cause is Cause.TOKENIZER_VERSION
    assert proven(a, b) == Cure("B encoded again by the tokenizer of A", len(a.ids))


def test_what_the_structure_shows_is_proven_where_its_rendering_is_known() -> None:
    tools = [{"type": "function", "function": {"name": name, "description": f"{name} it"}} for name in ("add", "cut")]
    message = {"role": "user", "content": BEHIND}
    chats = [Chat([message], order) for order in (tools, tools[::-1])]
    a, b = (side_of_chat(name, chat, ENCODER) for name, chat in zip("AB", chats, strict=True))
    assert led(a, b)[1].cause is Cause.REORDERED
    assert proven(a, b) == Cure("rendered and encoded again with this change undone", len(a.ids))
    other = [replace(one, text=one.text + "!", raw=one.raw + b"!") for one in (a, b)]
    assert not led(*other)[1].measured
    assert proven(*other) == Cure("B encoded again with 4 stretches as in A", len(a.ids))
