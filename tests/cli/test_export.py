"""`shadowviz export`: records, live runs and geometries into files, and every wish that contradicts another."""

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Command

from shadowviz.cli.main import main
from shadowviz.exporters.formats import FORMATS
from shadowviz.sources.logfile import LogFile


def document(command: Command, *arguments: str) -> dict[str, Any]:
    """The diagram that the arguments give as JSON."""
    done = command("export", *arguments, "-f", "json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_a_record_gives_the_tree_after_its_last_event(command: Command, story_log: Path) -> None:
    state = LogFile(story_log).replay()
    shown = document(command, str(story_log))
    content, caption = shown["content"], shown["content"]["caption"]
    living = [node for node in range(1, len(state.nodes)) if state.nodes.alive[node]]
    assert sorted(box["node"] for box in content["boxes"]) == [0, *living]
    assert (caption["seq"], caption["last_seq"]) == (state.seq, state.seq)
    assert caption["source"] == str(story_log)


def test_any_event_can_be_shown_by_option_or_by_name(command: Command, story_log: Path) -> None:
    last = LogFile(story_log).summary.num_events - 1
    seen = set()
    for at in (0, last // 3, last // 2, last):
        by_option = document(command, str(story_log), "--at", str(at))
        assert document(command, f"{story_log}@{at}") == by_option
        assert (by_option["content"]["caption"]["seq"], by_option["content"]["caption"]["last_seq"]) == (at, last)
        seen.add(len(by_option["content"]["boxes"]))
    assert len(seen) > 2, "the tree never grew: the events say nothing"


def test_a_file_whose_name_looks_like_an_event_is_meant_itself(
    command: Command, story_log: Path, tmp_path: Path
) -> None:
    named = tmp_path / "run.jsonl@3"
    named.write_bytes(story_log.read_bytes())
    assert document(command, str(named))["content"]["caption"]["seq"] > 3
    assert document(command, f"{named}@3")["content"]["caption"]["seq"] == 3


def test_a_request_marks_its_path_and_brings_its_verdict(command: Command, story_log: Path) -> None:
    shown = document(command, str(story_log), "--request", "again")["content"]
    why = json.loads(command("why", str(story_log), "again", "--json").out)["lookups"][0]
    assert shown["caption"]["verdict"].startswith(why["verdict"])
    assert (shown["request"], shown["reused"]) == ("again", why["lookup"]["reused"])
    assert any(box["on_path"] for box in shown["boxes"])


def test_options_of_the_tree_reach_it(command: Command, story_log: Path) -> None:
    whole = document(command, str(story_log))["content"]
    top = next(box for box in whole["boxes"] if box["depth"] == 1)
    below = document(command, str(story_log), "--root", str(top["node"]), "--depth", "0")["content"]
    assert [box["node"] for box in below["boxes"]] == [top["node"]]
    few = document(command, str(story_log), "--min-tokens", "300")["content"]
    assert 1 < len(few["boxes"]) < len(whole["boxes"])
    assert sum(stub["nodes"] for stub in few["stubs"]) == len(whole["boxes"]) - len(few["boxes"])


def test_the_ruler_of_a_request_shows_the_moment_of_its_lookup(command: Command, story_log: Path) -> None:
    why = json.loads(command("why", str(story_log), "line-ends", "--json").out)["lookups"][0]
    shown = document(command, str(story_log), "--diagram", "derivation", "--request", "line-ends")["content"]
    assert (shown["caption"]["seq"], shown["cut"]) == (why["seq"], why["lookup"]["reused"])
    bars = [bar for lane in shown["lanes"] for bar in lane["bars"]]
    assert any(bar["resident"] is False for bar in bars), "nothing was stored of the differing tokens"
    later = document(
        command, str(story_log), "--diagram", "derivation", "--request", "line-ends",
        "--at", str(shown["caption"]["last_seq"]), "--span", "0:8",
    )["content"]  # fmt: skip
    assert {bar["resident"] for lane in later["lanes"] for bar in lane["bars"]} == {True}
    assert len(later["text"]) == 8


def test_a_span_needs_no_run(command: Command) -> None:
    shown = document(command, "--span", "256:1000", "--geometry", "v4-pro", "--cut", "512")
    assert (shown["diagram"], shown["content"]["span"], shown["content"]["cut"]) == ("derivation", [256, 1000], 512)


def test_lookups_are_those_of_why(command: Command, story_log: Path) -> None:
    shown = document(command, str(story_log), "--diagram", "lookups")["content"]
    summary = json.loads(command("why", str(story_log), "--json").out)
    assert [shown["prompt_tokens"], shown["reused_tokens"]] == [summary["prompt_tokens"], summary["reused_tokens"]]
    assert [loss["verdict"] for loss in shown["losses"]] == [loss["verdict"] for loss in summary["losses"]]
    one = document(command, str(story_log), "--diagram", "lookups", "--request", "short")["content"]
    assert [line["request"] for line in one["lines"]] == ["short"]


def test_memory_weighs_the_nodes_that_the_tree_shows(command: Command, story_log: Path) -> None:
    shown = document(command, str(story_log), "--diagram", "memory")
    tree = document(command, str(story_log))["content"]
    assert shown["diagram"] == "memory"
    assert shown["content"]["caption"]["total"] == tree["caption"]["total"]
    other = document(command, str(story_log), "--diagram", "memory", "--row-format", "fp8")["content"]
    assert (shown["content"]["row_format"], other["row_format"]) == ("bf16", "fp8")
    assert other["total_bytes"] < shown["content"]["total_bytes"]


def test_prompts_run_here_and_options_reach_the_engine(command: Command, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.jsonl"
    lines = [{"id": name, "prompt": "A harbour book, signed twice. " * 12, "max_tokens": 1} for name in ("one", "two")]
    prompts.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    options = ["--engine", "model=tiny", "--engine", "max-running=1", "--engine", "resume=any"]
    shown = document(command, str(prompts), *options, "--request", "two")["content"]
    assert shown["caption"]["geometry"].startswith("tiny: ")
    assert shown["reused"] == shown["num_prompt"] - 1
    off = document(command, str(prompts), "--engine", "cache=false")["content"]
    assert [box["node"] for box in off["boxes"]] == [0]


def test_a_file_is_written_whole_and_not_replaced_unasked(command: Command, story_log: Path, tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    done = command("export", str(story_log), "-o", str(path))
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"{path}: ")
    assert " nodes shown, after event " in done.err
    before = path.read_bytes()
    again = command("export", str(story_log), "-o", str(path))
    assert (again.code, path.read_bytes()) == (2, before)
    assert "--force" in again.err
    assert command("export", str(story_log), "-o", str(path), "--force").code == 0
    assert path.read_bytes() == before


def test_a_record_that_is_torn_is_drawn_and_says_so(command: Command, story_log: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(story_log.read_bytes()[:-100])
    done = command("export", str(torn), "-f", "json")
    assert done.code == 0
    assert "lost" in done.err
    assert any("not whole" in note for note in json.loads(done.out)["content"]["caption"]["notes"])


def test_two_moments_of_a_run_are_compared(command: Command, story_log: Path) -> None:
    last = LogFile(story_log).summary.num_events - 1
    shown = document(command, "--compare", f"{story_log}@{last // 2}", str(story_log))
    content = shown["content"]
    assert (shown["diagram"], content["before"]["seq"], content["caption"]["seq"]) == ("changes", last // 2, last)
    assert {change["what"] for change in content["changes"]} == {"appeared"}
    back = document(command, "--compare", str(story_log), f"{story_log}@{last // 2}")["content"]
    assert {change["what"] for change in back["changes"]} == {"went"}
    same = document(command, "--compare", str(story_log), str(story_log))["content"]
    assert same["changes"] == []


@pytest.mark.parametrize("form", ["svg", "text", "html"])
@pytest.mark.parametrize("shown", [("--compare", "RUN@40", "RUN"), ("RUN", "--diagram", "lookups")])
def test_tables_come_as_pictures_pages_and_text(
    command: Command, story_log: Path, form: str, shown: tuple[str, ...]
) -> None:
    done = command("export", *(word.replace("RUN", str(story_log)) for word in shown), "-f", form)
    assert done.code == 0, done.err
    assert ("appeared" if "--compare" in shown else "FULL_HIT") in done.out


@pytest.fixture(scope="session")
def stress_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two subjects, a few lengths."""
    path = tmp_path_factory.mktemp("stress") / "stress.jsonl"
    wanted = ("tiny", "recall", "--level", "arithmetic", "--lengths", "1:20", "--jobs", "1", "-o", str(path))
    assert main(["stress", *wanted]) == 0
    return path


def test_a_part_of_a_stress_run_can_be_shown(command: Command, stress_log: Path) -> None:
    whole, part, by_mode = (
        document(command, str(stress_log), "--diagram", "boundary", *options)["content"]
        for options in ((), ("--subject", "recall"), ("--rows", "mode", "--level", "arithmetic"))
    )
    assert whole["rows"] == ["tiny", "recall"]
    assert 0 < part["caption"]["total"] < whole["caption"]["total"]
    assert "tiny" not in part["caption"]["title"]
    assert len(by_mode["rows"]) > len(whole["rows"])
    assert by_mode["caption"]["total"] == whole["caption"]["total"]


def test_the_list_names_every_format(command: Command) -> None:
    shown = command("export", "--list").out.splitlines()
    assert [line.split()[0] for line in shown[1:]] == [form.name for form in FORMATS]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "the format is not known"),
        (("-f", "json"), "expected one source"),
        (("RUN", "--demo", "-f", "json"), "expected one source"),
        (("RUN", "-f", "gif"), "'gif' is not known"),
        (("RUN", "-o", "picture.gif"), "tells no format"),
        (("nowhere.jsonl", "-f", "json"), "nowhere.jsonl"),
        (("RUN", "-f", "json", "--diagram", "song"), "'song' is not known"),
        (("RUN", "-f", "json", "--diagram", "events"), "shows no events"),
        (("RUN", "-f", "json", "--span", "10", "--diagram", "tree"), "--span means nothing for --diagram tree"),
        (("RUN", "-f", "json", "--depth", "1", "--diagram", "lookups"), "--depth means nothing for --diagram lookups"),
        (("RUN", "-f", "json", "--span", "10"), "expected --request"),
        (("RUN", "-f", "json", "--span", "ten", "--request", "first"), "is no span"),
        (("RUN", "-f", "json", "--span", "9000", "--request", "first"), "not within the prompt"),
        (("RUN", "-f", "json", "--request", "nobody"), "nobody"),
        (("RUN", "-f", "json", "--root", "99999"), "no node 99999"),
        (("RUN", "-f", "json", "--at", "99999"), "no event 99999"),
        (("RUN", "-f", "json", "--at", "-1"), "'--at'"),
        (("RUN@5", "-f", "json", "--at", "6"), "two events"),
        (("RUN", "-f", "json", "--geometry", "tiny", "--span", "10"), "has its own"),
        (("RUN", "-f", "json", "--engine", "page-size=64"), "is a record"),
        (("--span", "10", "-f", "json", "--engine", "page-size=64"), "--engine sets how prompts run"),
        (("--span", "10", "-f", "json", "--request", "first"), "expected a source"),
        (("--diagram", "derivation", "-f", "json"), "expected a source, or --span"),
        (("--demo", "-f", "json", "--engine", "colour=red"), "engine option 'colour' is not known"),
        (("--demo", "-f", "json", "--engine", "page-size"), "expected an option of run"),
        (("--demo", "-f", "json", "--engine", "sidecar=x"), "expected an option of run"),
        (("RUN", "-f", "json", "--dark"), "--dark changes nothing about format json"),
        (("RUN", "-f", "json", "--renderer", "dot"), "--renderer changes nothing about format json"),
        (("RUN", "-f", "json", "--force"), "--force replaces a file"),
        (("RUN", "-f", "json", "-o", "RUN", "--force"), "one of the inputs"),
        (("RUN@5", "-f", "json", "-o", "RUN", "--force"), "one of the inputs"),
        (("--compare", "RUN@5", "RUN@9", "-f", "json", "-o", "RUN", "--force"), "one of the inputs"),
        (("RUN@-1", "-f", "json"), "no event is before the first"),
        (("RUN", "-f", "json", "--level", "oracle"), "no stress run"),
        (("RUN", "-f", "json", "--rows", "kind", "--diagram", "tree"), "--rows means nothing for --diagram tree"),
        (("RUN", "-f", "json", "-o", "no/such/folder/x.json"), "cannot be written"),
        (("RUN", "-f", "json", "--diagram", "boundary"), "no stress run"),
        (("RUN", "-f", "json", "--compare", "RUN", "RUN@5"), "--compare names both runs"),
        (("RUN", "-f", "json", "--diagram", "changes"), "go together"),
        (("RUN", "-f", "json", "--diagram", "memory", "--row-format", "stone"), "stone"),
        (("RUN", "-f", "json", "--row-format", "stone"), "--row-format means nothing for --diagram tree"),
        (("RUN", "-f", "svg", "--renderer", "own", "--diagram", "derivation", "--request", "again"), "lays out trees"),
        (("--compare", "RUN", "RUN@99999", "-f", "json"), "no event 99999"),
        (("--compare", "RUN", "RUN@5", "-f", "json", "--at", "4"), "--at means nothing for --diagram changes"),
    ],
)
def test_a_wish_that_cannot_be_met_is_one_line_and_2(
    command: Command, story_log: Path, arguments: tuple[str, ...], told: str
) -> None:
    given = [argument.replace("RUN", str(story_log)) if "RUN" in argument else argument for argument in arguments]
    done = command("export", *given)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert told in done.err


def test_a_stress_record_shows_its_map_unasked(command: Command, stress_log: Path) -> None:
    named, unnamed = (
        command("export", str(stress_log), "-f", "json", *more) for more in (["--diagram", "boundary"], [])
    )
    assert named == unnamed
    assert json.loads(named.out)["diagram"] == "boundary"
    refused = command("export", str(stress_log), "-f", "dot")
    assert (refused.code, refused.out) == (2, "")
    assert "format dot shows no boundary" in refused.err


def test_a_run_as_text_is_its_lookups(command: Command, story_log: Path) -> None:
    done = command("export", str(story_log), "-f", "text")
    assert (done.code, done.out.splitlines()[0]) == (0, "Lookups")


def test_a_file_that_ends_as_another_format_is_told(command: Command, story_log: Path, tmp_path: Path) -> None:
    odd = command("export", str(story_log), "-f", "json", "-o", str(tmp_path / "tree.svg"))
    assert odd.code == 0
    assert "tree.svg ends as svg does and holds json" in odd.err
    for name in ("tree.json", "tree", "tree.of.mine"):
        assert "ends as" not in command("export", str(story_log), "-f", "json", "-o", str(tmp_path / name)).err


def test_a_pipe_is_refused_and_not_taken_for_a_prompt(command: Command, story_log: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, story_log.read_bytes()[:4096])
    os.close(writer)
    done = command("export", f"/dev/fd/{reader}", "-f", "json")
    os.close(reader)
    assert (done.code, done.out) == (2, "")
    assert "is a pipe, which gives its bytes once: expected a file, or - for prompts from stdin" in done.err


def test_a_record_that_contradicts_itself_is_told_with_its_name(
    command: Command, story_log: Path, tmp_path: Path
) -> None:
    lines = story_log.read_bytes().splitlines(keepends=True)
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"".join([*lines[:-1], lines[-1].replace(b'"digest":"', b'"digest":"0')]))
    done = command("export", str(broken), "-f", "json")
    assert (done.code, done.out) == (2, "")
    assert f"{broken}: the live state had digest" in done.err


def press_when_prompts_run() -> None:
    """Ctrl-C once a handler of the run's own has stayed for a while: imports have one for a moment, too."""
    before, stayed = signal.default_int_handler, 0
    while stayed < 20:
        now = signal.getsignal(signal.SIGINT)
        stayed = stayed + 1 if now is before is not signal.default_int_handler else 0
        before = now
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_while_prompts_run_shows_what_was_done_until_then(command: Command, tmp_path: Path) -> None:
    importlib.import_module("shadowviz.sources.embedded")
    prompts, shown = tmp_path / "prompts.jsonl", tmp_path / "tree.json"
    lines = [
        {"id": "now", "prompt": "A harbour book. " * 20, "max_tokens": 1},
        {"id": "in-a-year", "prompt": "Another book. " * 20, "at_s": 31_536_000, "max_tokens": 1},
    ]
    prompts.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    presser = threading.Thread(target=press_when_prompts_run)
    presser.start()
    done = command("export", str(prompts), "-o", str(shown))
    presser.join()
    assert done.code == 130
    content = json.loads(shown.read_bytes())["content"]
    assert len(content["boxes"]) > 1
    assert "The run was interrupted: 1 of 2 requests had finished." in content["caption"]["notes"]


def test_a_reader_that_goes_away_ends_the_command_quietly(story_log: Path) -> None:
    line = f"{sys.executable} -m shadowviz.cli.main export {story_log} -f json | head -c 10"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:1]) == (0, "{")
    assert "Traceback" not in done.stderr
