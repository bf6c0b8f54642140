"""The benchmark produces every figure on small sizes, judges by the bar, and names what it could not measure."""

import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from shadowviz.experiments import bench
from shadowviz.experiments.bench_export import ExportSizes, export_part
from shadowviz.experiments.bench_export_log import write_log
from shadowviz.experiments.bench_log import LogSizes, log_part, quiet_s, repeated
from shadowviz.experiments.bench_model import ModelSizes, model_part
from shadowviz.experiments.bench_report import AtLeast, AtMost, Figure, Part, Ratio, to_markdown, to_text, to_values
from shadowviz.experiments.bench_reuse import ReuseSizes, reuse_part
from shadowviz.experiments.bench_runs import median_ratio
from shadowviz.experiments.bench_tree_peers import TreeSizes, tree_part
from shadowviz.experiments.bench_tui import TuiSizes, tui_part
from shadowviz_engine.core.events import SpanSplit
from shadowviz_engine.core.log_reader import read_log
from shadowviz_engine.core.replayer import Replayer

MODEL_SIZES = ModelSizes(context=48, decoded=3, prefill=96, rounds=1)


def require_all_positive(part: Part) -> None:
    values = [item.value for item in (*part.ratios, *part.figures)]
    assert values
    assert all(math.isfinite(value) and value > 0 for value in values)


def names(items: Sequence[Ratio | Figure]) -> set[str]:
    return {item.name for item in items}


def say_nothing(line: str) -> None:
    assert line


@pytest.fixture
def no_packages_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.mark.usefixtures("no_packages_to_be_had")
def test_without_peers_the_trees_own_figures_stand_beside_what_is_missing(tmp_path: Path) -> None:
    part = tree_part(TreeSizes(nseq=20, length=1100, rounds=2), tmp_path, say_nothing)
    require_all_positive(part)
    assert part.ratios == ()
    assert {name.partition(", ")[2] for name in names(part.figures)} == {"shadowviz"}
    assert any("sglang==0.5.23" in line for line in part.missing)
    assert all("\n" not in line for line in part.missing)


@pytest.mark.peers
def test_beside_both_cores_every_bar_of_the_tree_has_its_ratio(peers_dir: Path) -> None:
    part = tree_part(TreeSizes(nseq=20, length=1100, rounds=1), peers_dir, say_nothing)
    require_all_positive(part)
    assert part.missing == ()
    assert {item.name: item.bar for item in part.ratios if item.bar} == {
        "full match p50, shadowviz / SGLang's rust core": AtMost(0.5),
        "full match p50, shadowviz / SGLang's python core": AtMost(0.1),
        "insert p50, shadowviz / SGLang's rust core": AtMost(0.25),
        "evicting, shadowviz / SGLang's rust core": AtLeast(1.0),
    }


def test_the_model_is_timed_beside_transformers_in_both_numeric_modes() -> None:
    part = model_part(MODEL_SIZES, say_nothing)
    require_all_positive(part)
    assert part.missing == ()
    assert sorted(item.bar.bound for item in part.ratios if item.bar) == [1.5, 3, 4, 15]
    assert len(part.ratios) == 7
    assert len(part.figures) == 8


def test_without_transformers_the_engines_own_ratio_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    part = model_part(MODEL_SIZES, say_nothing)
    require_all_positive(part)
    assert [item.bar for item in part.ratios] == [AtLeast(4)]
    assert len(part.missing) == 1
    assert part.missing[0].startswith("transformers")


def test_recording_is_timed_beside_no_recording_and_beside_the_encoder() -> None:
    part = log_part(LogSizes(requests=2, prompt=32, decoded=3, rounds=1, events=2_000, writes=2), say_nothing)
    require_all_positive(part)
    assert [item.bar for item in part.ratios] == [AtMost(1.03), None, AtLeast(0.8), None, None]


def test_events_for_writing_are_numbered_densely() -> None:
    events = repeated([SpanSplit(seq=7, t_ns=1, node=2, at=16, upper=3)] * 3, 10)
    assert [event.seq for event in events] == list(range(10))


def test_a_quiet_run_takes_each_pass_from_the_run_that_was_fastest_in_it() -> None:
    assert quiet_s([[1.0, 5.0, 2.0], [3.0, 4.0, 2.5]]) == 7.0


def test_rounds_are_compared_one_by_one_before_the_median_is_taken() -> None:
    assert median_ratio([1.0, 100.0, 3.0], [2.0, 100.0, 1.0]) == 1.0


def test_the_fall_of_ttft_is_given_for_each_length_and_mode() -> None:
    part = reuse_part(ReuseSizes(lengths=(2_560,), rounds=1), say_nothing)
    require_all_positive(part)
    assert [item.bar for item in part.ratios] == [AtLeast(0.8)] * 2
    assert len(part.figures) == 4


REPORT = [
    Part(
        "tree",
        "prompts",
        (Ratio("fast enough", 0.5, AtMost(0.5)), Ratio("too slow", 0.9, AtLeast(1.0)), Ratio("as it is", 2.0, None)),
        (Figure("match", 12.3456, "us"),),
        ("sglang: no network",),
    )
]


def test_the_report_gives_each_ratio_its_bar_and_says_whether_it_is_met() -> None:
    assert to_text({"system": "Linux"}, REPORT).splitlines() == [
        "system  Linux",
        "",
        "tree: prompts",
        "  fast enough  0.500  at most 0.5  met",
        "  too slow     0.900  at least 1   NOT MET",
        "  as it is     2.000",
        "  match  12.35  us",
        "  missing: sglang: no network",
    ]


def test_markdown_has_a_section_and_two_tables_for_a_part() -> None:
    lines = to_markdown({"system": "Linux"}, REPORT).splitlines()
    assert "## tree" in lines
    assert "| too slow | 0.900 | at least 1 | NOT MET |" in lines
    assert "| match | 12.35 us |" in lines
    assert "Missing: sglang: no network" in lines


def test_json_keeps_values_as_measured() -> None:
    part = json.loads(json.dumps(to_values({"system": "Linux"}, REPORT)))["parts"][0]
    assert [(item["value"], item["met"]) for item in part["ratios"]] == [(0.5, True), (0.9, False), (2.0, None)]
    assert part["figures"] == [{"name": "match", "value": 12.3456, "unit": "us"}]


def test_the_command_prints_the_parts_that_are_asked_for_and_names_no_machine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = bench.Sizes(
        TreeSizes(20, 1100, 1),
        MODEL_SIZES,
        LogSizes(2, 32, 3, 1, 2_000, 2),
        ReuseSizes(lengths=(2_560,), rounds=1),
        TuiSizes(nodes=640, keys=2),
        ExportSizes(requests=40, copies=2, traced=100, rounds=1),
    )
    monkeypatch.setattr(bench, "QUICK", small)
    assert bench.main(["--quick", "--json", "--part", "recording"]) == 0
    out = capsys.readouterr().out
    shown = json.loads(out)
    assert [part["name"] for part in shown["parts"]] == ["recording"]
    assert shown["facts"]["sizes"].startswith("quick")
    assert os.uname().nodename not in out


def test_keys_and_frames_of_the_terminal_are_measured_in_a_real_one() -> None:
    part = tui_part(TuiSizes(nodes=640, keys=3), say_nothing)
    values = {figure.name: figure.value for figure in part.figures}
    assert len(values) == 13
    assert all(value > 0 for value in values.values())


def test_pictures_of_a_log_are_measured_beside_their_bars() -> None:
    part = export_part(ExportSizes(requests=60, copies=3, traced=200, rounds=1), say_nothing)
    require_all_positive(part)
    assert sorted(item.bar.bound for item in part.ratios if item.bar) == [1, 1, 1, 1]
    assert {figure.name: figure.value for figure in part.figures}["nodes"] > 180


def test_copies_of_a_log_stand_beside_each_other_and_contradict_nothing(tmp_path: Path) -> None:
    num_nodes = write_log(tmp_path / "log.jsonl", 40, 3)
    state = Replayer()
    state.advance(read_log(tmp_path / "log.jsonl"))
    assert (len(state.nodes), len(state.requests)) == (num_nodes + 1, 120)
    assert state.namespaces.names == ["", "n1", "n2"]
    spans = [sorted(zip(starts, stops, strict=True)) for starts, stops in map(_spans, [state] * 3, range(3))]
    assert spans[0] == spans[1] == spans[2]
    assert state.held == {"full": {}, "swa": {}}


def _spans(state: Replayer, namespace: int) -> tuple[list[int], list[int]]:
    nodes = state.nodes
    mine = [node for node in range(1, len(nodes)) if nodes.namespace[node] == namespace]
    return [nodes.start[node] for node in mine], [nodes.stop[node] for node in mine]
