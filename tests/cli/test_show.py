"""How tables and names fit a narrow terminal."""

import sys

import pytest

from shadowviz.cli import lookup_table as lookups
from shadowviz.cli.lookup_table import LookupRow, lookup_table
from shadowviz.cli.show import columns_of, shortened, table, wrapped
from shadowviz.replay.summary import summarise


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["log-1", "library-12345"], ["log-1", "libr…12345"]),
        (["library-other-reader", "library-upset-reader"], ["…er-reader", "…et-reader"]),
        (["log-follow-up-10", "log-follow-up-11"], ["log-f…up-10", "log-f…up-11"]),
    ],
)
def test_names_are_cut_where_they_stay_different(names: list[str], short: list[str]) -> None:
    assert shortened(names, max(map(len, short))) == short


def test_a_table_aligns_numbers_to_the_right() -> None:
    assert table(["name", "count"], [["a", "1"], ["longer", "1,000"]]) == (
        "name    count\na           1\nlonger  1,000"
    )


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("日本", 4), ("é", 1), ("e\u0301", 1), ("ｆ", 2), ("", 0)])
def test_a_text_has_the_columns_that_a_terminal_gives_it(text: str, columns: int) -> None:
    assert columns_of(text) == columns


def test_wide_names_align_and_are_cut_by_columns() -> None:
    lines = table(["name", "count"], [["日本語", "1"], ["ascii", "22"]]).splitlines()
    assert lines == ["name    count", "日本語      1", "ascii      22"]
    assert shortened(["日本語日本語"], 6) == ["日…語"]
    assert [columns_of(name) <= 7 for name in shortened(["日本語日本語", "日本語日本誤"], 7)] == [True, True]


def test_a_name_that_is_escaped_keeps_its_row_and_its_columns() -> None:
    lines = table(["name", "count"], [["a\nb", "1"], ["\u202e", "2"]]).splitlines()
    assert lines == ["name    count", "a\\nb        1", "\\u202e      2"]


def test_a_table_of_wide_names_fits_a_terminal_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(lookups, "width", lambda: 80)
    monkeypatch.setenv("NO_COLOR", "1")
    shown = lookup_table([row("要求の長い名前" * 4, "OTHER_NAMESPACE", "一二三四五六七八"), row("b", "COLD", "")])
    assert max(map(columns_of, shown.splitlines())) <= 80


def test_prose_stands_under_its_mark() -> None:
    lines = wrapped("word " * 30, "note: ").splitlines()
    assert lines[0].startswith("note: word")
    assert lines[1].startswith("      word")
    assert max(map(len, lines)) <= 80


def row(request: str, verdict: str, detail: str) -> LookupRow:
    return LookupRow(
        request, 1, 130_000, 129_999, 129_792, 129_792, 129_792, 208, verdict, detail, 0, "length", 12_345.6, 1234.5, 9
    )


def test_the_table_of_lookups_fits_a_terminal_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row("a-request-with-a-long-name", "TOKENS_DIFFER", "TRAILING_SPACE"), row("b", "CAPPED", "last token")]
    assert "TOKENS_DIFFER(TRAILING_SPACE)" in lookup_table(rows)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(lookups, "width", lambda: 80)
    monkeypatch.setenv("NO_COLOR", "1")
    shown = lookup_table(rows)
    assert max(map(len, shown.splitlines())) <= 80
    assert [line.split()[-1] for line in shown.splitlines()] == ["verdict", "TOKENS_DIFFER", "CAPPED(last…)"]


@pytest.mark.parametrize(
    ("columns", "times", "label"),
    [
        (97, ["ttft", "ms", "tok/s"], "TOKENS_DIFFER(CRLF)"),
        (90, ["ttft", "ms"], "TOKENS_DIFFER(CRLF)"),
        (80, [], "TOKENS_DIFFER(CRLF)"),
        (78, [], "TOKENS_DIFFER(CRLF)"),
        (77, [], "TOKENS_DIFFER"),
    ],
)
def test_times_give_way_before_the_name_and_the_detail(
    monkeypatch: pytest.MonkeyPatch, columns: int, times: list[str], label: str
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(lookups, "width", lambda: columns)
    monkeypatch.setenv("NO_COLOR", "1")
    head, line = lookup_table([row("log-line-ends-crl", "TOKENS_DIFFER", "CRLF")]).splitlines()
    assert head.split() == ["request", "common", "matched", "usable", "reused", "computed", *times, "verdict"]
    assert (line.split()[0], line.split()[-1]) == ("log-line-ends-crl", label)


def test_a_run_without_lookups_shows_no_empty_table() -> None:
    assert lookups.report([], summarise([])) == "no lookups"


def test_what_is_cut_of_a_detail_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(lookups, "width", lambda: 80)
    monkeypatch.setenv("NO_COLOR", "1")
    shown = lookup_table([row("library-other-r", "TOKENS_DIFFER", "TRAILING_SPACE")])
    assert shown.splitlines()[1].endswith(" TOKENS_DIFFER(TRAILIN…)")
