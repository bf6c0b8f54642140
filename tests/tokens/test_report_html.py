"""The page of a comparison: what it says, that nothing of a prompt becomes markup, that it stays small."""

import re

import pytest
from html_pages import FLASH, INJECTIONS, check_harmless, page_of, side
from hypothesis import given
from hypothesis import strategies as st

from shadowviz.tokens.align.align import align
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.inputs.prompt import Form, Prompt
from shadowviz.tokens.inputs.side import Reading, make_side
from shadowviz.tokens.passages.passage import Fold, Line, Mark, Piece, Row
from shadowviz.tokens.report import page as report_html
from shadowviz.tokens.report.compare import compare
from shadowviz.tokens.report.many import Pair, summed
from shadowviz.tokens.report.page import many_page, pair_page, turns_page, view_of
from shadowviz.tokens.report.turns import TurnReport, TurnsReport

# What it says.


def test_the_verdict_comes_first_then_cause_cost_excerpt_and_both_prompts() -> None:
    text = "Read this first.\n" + "The keeper wrote the depth of the channel into the harbour book.\n" * 40
    a, b = side("A", text), side("B", text.replace("\n", "\r\n"))
    report = compare(a, b, FLASH, ("monday.txt", "tuesday.txt"))
    text_of = check_harmless(pair_page(report, a, b, align(a, b))).text
    parts = [report.verdict, "Cause: CRLF", report.advice, "share reused", report.cost.proof, "csa_kv"]
    parts += ["The first difference", str(report.excerpt_a.tokens[0].id), "Side by side", "Legend", "monday.txt"]
    parts += [report.a.fingerprint]
    places = [text_of.index(part) for part in parts]
    assert places == sorted(places)
    assert "first.\\r\\n" in text_of


def test_a_value_moved_to_the_end_is_priced_too() -> None:
    head, tail = "Current time: 2026-06-09 15:04:", ". You are a helpful assistant." + " The keeper wrote it down." * 80
    a, b = side("A", f"{head}20{tail}"), side("B", f"{head}21{tail}")
    report = compare(a, b, FLASH)
    assert report.cost.moved is not None
    text = "".join(check_harmless(pair_page(report, a, b, align(a, b))).text.split())
    assert f"movedtoend{report.cost.moved:,}{report.cost.reused_if_moved:,}" in text


def test_equal_prompts_have_a_page_too() -> None:
    text = check_harmless(page_of(side("A", "the same"), side("B", "the same"))).text
    assert "A and B are the same 2 tokens: nothing is lost." in text
    assert "The first difference" not in text


@pytest.mark.parametrize(("a", "b"), [("", ""), ("", "x"), ("x", ""), ("\n", "\r\n"), ("a", "\n\n\na")])
def test_empty_and_tiny_prompts_have_a_page(a: str, b: str) -> None:
    check_harmless(page_of(side("A", a), side("B", b)))


def test_ids_that_cannot_be_read_are_compared_without_text() -> None:
    sides = [
        make_side(name, Prompt(name, Form.IDS, ids=ids, vocabulary="v"), Reading(default_tokenizer()))
        for name, ids in (("A", [5, 6, 7]), ("B", [5, 9, 7]))
    ]
    text = check_harmless(page_of(*sides)).text
    assert "The ids cannot be read, so there is no text to show." in text


def test_the_same_input_gives_the_same_bytes() -> None:
    pages = {page_of(side("A", "one two three\nfour"), side("B", "one 2 three\nfour")) for _ in range(3)}
    assert len(pages) == 1


def test_a_label_stands_only_where_it_changes() -> None:
    pieces = (Piece("x", Mark.CHANGED, False),)
    rows = [Row(Line(n, label, pieces), Line(n, label, pieces)) for n, label in enumerate("ssuu")]
    shown = [row for block in view_of(rows).blocks for row in block.rows]
    assert [row.a.label for row in shown] == ["s", "", "u", ""]


def test_equal_lines_far_from_a_difference_are_folded() -> None:
    same = (Piece("x", Mark.SAME, False),)
    rows: list[Row | Fold] = [Row(Line(n, "", same), Line(n, "", same)) for n in range(20)]
    rows[10] = Row(None, Line(10, "", (Piece("y", Mark.ALONE, False),)))
    blocks = view_of([Fold(7, 70), *rows]).blocks
    assert [(len(block.rows), block.folded, block.hidden) for block in blocks] == [
        (0, False, Fold(7, 70)),
        (7, True, None),
        (7, False, None),
        (6, True, None),
    ]


# Nothing of a prompt becomes markup.


@pytest.mark.parametrize("hostile", INJECTIONS)
def test_what_a_prompt_holds_stays_text(hostile: str) -> None:
    a = side("A", f"first\n{hostile}\nlast", label=hostile)
    b = side("B", f"first\n{hostile[::-1]} {hostile}\nlast", label=hostile)
    page = check_harmless(page_of(a, b, (hostile, f"{hostile}.txt")))
    quiet = check_harmless(page_of(side("A", "first\nx\nlast", label="l"), side("B", "first\ny x\nlast", label="l")))
    assert page.elements.count("meta") == quiet.elements.count("meta")
    if "<script>" in hostile:
        assert hostile in page.text


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_makes_an_element_or_an_attribute(a: str, b: str) -> None:
    one, other = (re.sub("[\ud800-\udfff]", "", text) for text in (a, b))
    check_harmless(page_of(side("A", one), side("B", other), (a, b)))


@given(st.text(alphabet="<>&\"'/=!-script{}%# \n\t\u202e\u0301", max_size=200))
def test_no_mixture_of_markup_makes_an_element(text: str) -> None:
    check_harmless(page_of(side("A", "x " + text), side("B", text)))


def test_names_and_notes_of_turns_and_many_prompts_stay_text() -> None:
    for hostile in INJECTIONS:
        turn = TurnReport(
            1, 2, 32, 40, 45, 16, 24, 0, 40, True, hostile, 1, 2, hostile, hostile, hostile, hostile, True
        )
        check_harmless(turns_page(TurnsReport(1, False, hostile, hostile, 256, 24, (turn,), (hostile,))))
        pair = Pair(hostile, hostile, 30, 3, 0, 20, 20, hostile, hostile, hostile, hostile)
        check_harmless(many_page(summed([pair, pair], FLASH, (hostile,))))


# It stays small.


def test_a_token_of_a_megabyte_is_cut_and_counted() -> None:
    assert "998,000" in f"{1_000_000 - report_html.MAX_VALUE:,}"
    line = Line(0, "", (Piece("x" * 1_000_000, Mark.CHANGED, False),))
    assert len(view_of([Row(line, line)]).blocks) == 1
    assert report_html.shown("x" * 1_000_000) == "x" * 2000 + "... (998000 more characters)"


def test_a_long_line_and_many_lines_give_a_bounded_page_that_counts_the_rest() -> None:
    a = side("A", "<&'\"> " * 40_000)
    assert len(page_of(a, side("B", "x" + a.text)).encode()) < 4_000_000
    a = side("A", "".join(f"line {n} <&>\n" for n in range(15_000)))
    b = side("B", "".join(f"line {n} <&> {n % 7}\n" for n in range(15_000)))
    page = page_of(a, b)
    assert len(page.encode()) < 4_000_000
    left_out = re.search(r"([\d,]+) more lines, of which ([\d,]+) differ", check_harmless(page).text)
    assert left_out is not None
    assert int(left_out[1].replace(",", "")) > 1_000


def test_what_is_left_out_is_counted_exactly() -> None:
    piece = Piece("x" * 2000, Mark.CHANGED, False)
    rows = [Row(Line(n, "", (piece,)), None) for n in range(2000)]
    view = view_of([*rows, Fold(11, 100)])
    kept = sum(len(block.rows) for block in view.blocks)
    assert 0 < kept < 2000
    assert (view.left_out, view.left_out_differing) == (2000 - kept + 11, 2000 - kept)


def test_many_pairs_and_turns_are_counted_behind_the_first() -> None:
    pair = Pair("b", "a", 30, 3, 0, 20, 20, "TEXT", "", "", "")
    page = check_harmless(many_page(summed([pair] * 2000, FLASH, ())))
    assert "and 1,500 more" in page.text
