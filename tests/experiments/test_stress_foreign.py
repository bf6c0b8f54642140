"""Claims of other engines: functions and files, each wrong field named, the article's own sample among them."""

import json
import textwrap
from pathlib import Path

import pytest
from stress_cells import arithmetic_plan, findings, results

from shadowviz.experiments.stress.arithmetic import work_of
from shadowviz.experiments.stress.work import CellResult
from shadowviz_engine.core.errors import InputError

SAMPLE = {
    "length": 42,
    "csa_block_ids": [15, 16, 17],
    "hca_block_ids": [3],
    "swa_token_range": [26, 42],
    "tail_state_offset": 0,
    "is_loaded_on_gpu": True,
    "is_offloaded_to_cpu": False,
}

ENGINE = """
import dataclasses

from shadowviz_engine.core.derive import resume_state
from shadowviz_engine.core.presets import preset


@dataclasses.dataclass
class Descriptor:
    csa_block_ids: list
    hca_block_ids: list
    swa_token_range: tuple
    tail_state_offset: int
    csa_start_idx: int = 0
    hca_start_idx: int = 0
    swa_start_idx: int = 0
    is_loaded_on_gpu: bool = True
    is_offloaded_to_cpu: bool = False


def right(length):
    start = max(0, length - 127)
    return Descriptor(
        list(range(7, 7 + length // 4)), list(range(length // 128)), (start, length), length % 4, swa_start_idx=start
    )


def production(length):
    start = max(0, length - 128)
    return {"swa_token_range": [start, length], "swa_start_idx": start}


def ceiling(length):
    return {"csa_block_ids": list(range(-(-length // 4)))}


def wrong_at_33_and_65(length):
    return {"csa_block_ids": list(range(length // 32 - (length in (33, 65)))), "swa_token_range": (0, length)}


def rows(length):
    return resume_state(preset("v4-flash"), length)


def late_tail(length):
    return {"csa_tail_offset": length % 4, "hca_tail_offset": (length + (length > 900)) % 128}


def failing(length):
    if length == 5:
        raise ZeroDivisionError("m is \\u001b[2J 0")
    return right(length)


def leaving(length):
    raise SystemExit(f"no state at {length}")


def nothing(length):
    return {"prefix_hash": length}


def no_descriptor(length):
    return length
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of another engine in the working directory, under a name of its own for every test."""
    name = f"engine_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(ENGINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    return name


def claims_in(path: Path, *lines: object) -> str:
    """A file of claims."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def cells(source: str, subject: str = "v4-flash", *lengths: tuple[int, int]) -> list[CellResult]:
    """Results of checking claims."""
    return results(work_of(arithmetic_plan(subject, *(lengths or ((1, 1001),)), options={"claims": source})))


def test_the_articles_sample_has_four_wrong_fields_each_with_what_is_right(tmp_path: Path) -> None:
    (cell,) = cells(claims_in(tmp_path / "sample.jsonl", SAMPLE), "article")
    assert (cell.outcome, cell.length, cell.kind, cell.row) == ("differs", 42, "csa_kv", 1)
    assert cell.detail.split("; ") == [
        "csa_block_ids is 3 blocks: expected 1, entries [0,1) are closed",
        "hca_block_ids is 1 blocks: expected 0, no entry is closed and the last one here is still open",
        "swa_token_range is [26, 42]: expected [0,42)",
        "tail_state_offset is 0: expected 10, L mod 32",
    ]


def test_a_right_claim_is_the_same_and_says_what_was_not_checked(tmp_path: Path) -> None:
    right = {**SAMPLE, "csa_block_ids": [15], "hca_block_ids": [], "swa_token_range": [0, 42], "tail_state_offset": 10}
    path = claims_in(tmp_path / "right.jsonl", right, {**right, "prefix_hash": "\x1b[31mx"})
    (cell,) = cells(path, "article")
    assert cell.outcome == "same"
    assert cell.detail == "not checked: prefix_hash"


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("csa_block_ids", [4, 4, 9], "block 4 twice: expected 3 different blocks"),
        ("csa_block_ids", [4], "1 blocks: expected 3, entries [1,4) are closed"),
        ("csa_block_ids", "all", "'all': expected a list of 3, entries [1,4) are closed"),
        ("csa_block_ids", [True, 1, 2], "[True, 1, 2]: expected a list of 3, entries [1,4) are closed"),
        ("hca_block_ids", [], "0 blocks: expected 1, entries [0,1) are closed"),
        ("csa_start_idx", 2, "2: expected 1"),
        ("hca_start_idx", 1, "1: expected 0"),
        ("swa_start_idx", 34, "34: expected 33"),
        ("swa_token_range", [33, 131], "[33, 131]: expected [33,130)"),
        ("swa_token_range", [33], "[33]: expected [33,130)"),
        ("tail_offset", 1, "1: expected 2, L mod 32"),
        ("csa_tail_offset", -2, "-2: expected 2, L mod 32"),
        ("hca_tail_offset", 130, "130: expected 2, L mod 128"),
        ("is_loaded_on_gpu", 1, "1: expected true or false"),
        ("csa_kv", [0, 5], "[0, 5]: expected rows [0,4)"),
        ("hca_tail", [127, 130], "[127, 130]: expected rows [128,130)"),
        ("csa_kv", 4, "4: expected rows [0,4)"),
    ],
)
def test_each_wrong_field_of_a_span_is_named(tmp_path: Path, field: str, value: object, words: str) -> None:
    right = {
        "csa_block_ids": [4, 5, 6],
        "hca_block_ids": [9],
        "csa_start_idx": 1,
        "hca_start_idx": 0,
        "swa_start_idx": 33,
        "swa_token_range": [33, 130],
        "tail_offset": 2,
        "csa_tail_offset": 2,
        "hca_tail_offset": 2,
        "is_loaded_on_gpu": False,
        "is_offloaded_to_cpu": True,
        "csa_kv": [0, 4],
        "hca_tail": [128, 130],
    }
    good = claims_in(tmp_path / "good.jsonl", {"span": [33, 130], **right})
    assert [cell.outcome for cell in cells(good, "article")] == ["same"]
    (cell,) = cells(claims_in(tmp_path / "bad.jsonl", {"span": [33, 130], **right, field: value}), "article")
    assert cell.outcome == "differs"
    assert cell.detail == f"{field} is {words}"


def test_state_that_is_nowhere_is_wrong(tmp_path: Path) -> None:
    (cell,) = cells(claims_in(tmp_path / "c.jsonl", {**SAMPLE, "is_loaded_on_gpu": False}), "article")
    assert "expected the state to be on the GPU or the CPU" in cell.detail


def test_a_function_that_is_right_has_no_finding_at_any_length(engine: str) -> None:
    for function in ("right", "production", "rows"):
        plan = arithmetic_plan("v4-flash", (0, 1001), options={"claims": f"{engine}:{function}"})
        assert findings(plan) == []
        assert work_of(plan).subject == f"{engine}:{function} on v4-flash"


def test_a_function_is_asked_for_lengths_in_the_millions(engine: str) -> None:
    found = cells(f"{engine}:production", "v4-flash", (1, 300), (2_000_000, 2_000_200))
    assert len(found) == 499
    assert {cell.outcome for cell in found} == {"same"}


def test_ceil_for_floor_is_found_at_every_length_with_an_open_window(engine: str) -> None:
    wrong = [cell.length for cell in cells(f"{engine}:ceiling") if cell.outcome == "differs"]
    assert wrong == [length for length in range(1, 1001) if length % 4]


def test_the_two_lengths_at_which_an_engine_is_wrong_are_named(engine: str) -> None:
    wrong = [cell for cell in cells(f"{engine}:wrong_at_33_and_65", "article") if cell.outcome == "differs"]
    assert [(cell.length, cell.kind, cell.row) for cell in wrong] == [(33, "csa_kv", 0), (65, "csa_kv", 1)]


def test_a_tail_that_is_off_by_one_beyond_900_is_found(engine: str) -> None:
    wrong = [cell for cell in cells(f"{engine}:late_tail") if cell.outcome == "differs"]
    assert [cell.length for cell in wrong] == list(range(901, 1001))
    assert {cell.kind for cell in wrong} == {"hca_tail"}


def test_a_function_that_fails_is_no_success_and_its_words_do_no_harm(engine: str) -> None:
    found = {cell.length: cell for cell in cells(f"{engine}:failing", "v4-flash", (1, 9))}
    assert [length for length, cell in found.items() if cell.outcome != "same"] == [5]
    assert found[5].outcome == "refused"
    assert found[5].detail == "raised ZeroDivisionError: m is \\u001b[2J 0"
    assert cells(f"{engine}:leaving", "v4-flash", (3, 4))[0].detail == "raised SystemExit: no state at 3"
    assert {cell.outcome for cell in cells(f"{engine}:nothing", "v4-flash", (1, 9))} == {"refused"}
    assert "returned a int" in cells(f"{engine}:no_descriptor", "v4-flash", (1, 2))[0].detail


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no claims"),
        ("{", "line 1 is no JSON"),
        ('{"length": 1}\n[]', "line 2 is no claim"),
        ('{"csa_block_ids": []}', "names no tokens"),
        ('{"length": "1"}', "expected a number of tokens"),
        ('{"length": -1}', "expected a number of tokens"),
        ('{"length": true}', "expected a number of tokens"),
        ('{"span": [5, 2]}', "half-open"),
        ('{"length": 5000}', "claims lengths from 5000 to 5000"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_a_file_that_holds_no_claims_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        cells(str(path))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("no_such_file.jsonl", "are no file and no module:function"),
        ("no_such_module_at_all:f", "cannot be loaded"),
        ("json:no_such", "cannot be loaded"),
        ("json:__name__", "expected a function"),
        ("os; print:f", "are no file and no module:function"),
    ],
)
def test_a_source_that_is_none_is_refused(source: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cells(source)


def test_claims_have_one_mode(tmp_path: Path) -> None:
    plan = arithmetic_plan("article", (1, 99), modes=("derive",), options={"claims": claims_in(tmp_path / "c", SAMPLE)})
    with pytest.raises(InputError, match="does not go with claims"):
        work_of(plan)


def test_huge_values_of_a_claim_do_no_harm(tmp_path: Path) -> None:
    line = textwrap.dedent('{"length": 42, "csa_block_ids": [%s], "tail_offset": %s, "swa_token_range": "%s"}')
    path = tmp_path / "huge.jsonl"
    path.write_text(line % (", ".join(["3"] * 50_000), "9" * 19, "\u202e" * 50_000))
    (cell,) = cells(str(path), "article")
    assert cell.outcome == "differs"
    assert len(cell.detail) < 1000
    assert cell.detail.isprintable()
