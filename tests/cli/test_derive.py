"""`shadowviz derive` and `shadowviz memory`."""

import json
from pathlib import Path

import pytest
from cli_runs import Command


def test_derive_keeps_complete_allocated_and_tail_apart(command: Command) -> None:
    out = command("derive", "42", "--geometry", "article").out
    assert "csa_kv      [0,1)   [0,32)            1          2    10       2" in out.splitlines()
    shown = json.loads(command("derive", "42", "--geometry", "article", "--json").out)
    figures = {figure["kind"]: (figure["complete"], figure["allocated"], figure["tail"]) for figure in shown["figures"]}
    assert figures == {"csa_kv": (1, 2, 10), "index_k": (1, 2, 10), "hca_kv": (0, 1, 42)}


def test_one_is_told_as_one(command: Command) -> None:
    out = command("derive", "1").out
    assert "span [0,1): 1 token; its end" in out
    assert "Of 1 stored token a longer" in out
    assert command("derive", "0").out.splitlines()[1].startswith("span [0,0): 0 tokens;")
    assert command("memory", "1").out.splitlines()[0] == "v4-flash: one sequence of 1 token"


def test_a_span_at_a_million_tokens_fits_80_columns(command: Command) -> None:
    out = command("derive", "900000:1048575", "--geometry", "v4-pro").out
    assert "[225000,262143)" in out
    assert max(map(len, out.splitlines())) <= 80


def test_derive_takes_another_family_and_a_geometry_of_ones_own(command: Command) -> None:
    assert "delta_state" in command("derive", "1000", "--family", "qwen3.5").out
    own = json.loads(command("derive", "1000", "--ratios", "30,127", "--n-win", "100", "--json").out)
    assert own["page_size"] == 3810
    assert any("3810" in note for note in own["notes"])


def test_derive_with_a_run_adds_slots_that_the_request_really_has(command: Command, story_log: Path) -> None:
    shown = json.loads(command("derive", "256", "--log", str(story_log), "--request", "first", "--json").out)
    owned = {descriptor["kind"]: descriptor for descriptor in shown["owned"]}
    assert len(owned["csa_kv"]["slots"]) == 64
    assert owned["csa_kv"]["origin"] == "observed"
    # A page is contiguous: entry i of a page lies i rows behind its first.
    first = owned["csa_kv"]["slots"][0]
    assert owned["csa_kv"]["slots"] == list(range(first, first + 64))
    assert owned["csa_kv"]["pages"] == [first * 4 // 256]


@pytest.mark.parametrize(
    "arguments",
    [
        ("derive", "minus"),
        ("derive", "10", "--geometry", "nothing"),
        ("derive", "10", "--ratios", "4,x"),
        ("derive", "10", "--ratios", "4,4"),
        ("derive", "10", "--ratios", "4,128", "--overlap", "8"),
        ("derive", "10", "--ratios", "4,128", "--page-size", "200"),
        ("derive", "10", "--log", "run.jsonl"),
        ("derive", "10", "--log", "run.jsonl", "--request", "a", "--ratios", "4"),
        ("derive", "10", "--geometry", "v4-pro", "--ratios", "4"),
        ("derive", "10", "--page-size", "512"),
        ("derive", "9" * 5000),
        ("derive", "10", "--ratios", "9" * 5000),
        ("memory", "-5"),
        ("memory", "--geometry", "article-like"),
        ("derive", "10", "--unheard-of"),
        ("unheard-of",),
    ],
)
def test_wrong_figures_are_one_line_and_2(command: Command, arguments: tuple[str, ...]) -> None:
    done = command(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("shadowviz: ")
    assert done.err.count("\n") == 1


def test_memory_gives_the_totals_of_both_models(command: Command) -> None:
    out = command("memory").out
    totals = [line.split()[1:] for line in out.splitlines() if line.startswith("total")]
    assert totals == [
        ["6.72", "GiB", "3.76", "GiB", "3.44", "GiB"],
        ["9.63", "GiB", "5.39", "GiB", "4.92", "GiB"],
    ]
    assert "296,960 bytes a token beside 44,032" in " ".join(out.split())


def test_memory_at_any_length_as_json(command: Command) -> None:
    shown = json.loads(command("memory", "1000", "--geometry", "v4-flash", "--json").out)
    assert shown["length"] == 1000
    assert {table["row_format"] for table in shown["tables"]} == {"bf16", "fp8", "fp8-fp4"}
    assert shown["resume_prices"][0]["tail_bytes"] == 296_960
