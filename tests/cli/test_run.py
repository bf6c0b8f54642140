"""`shadowviz run`: its table, its JSON, its record, and how it ends when something is wrong."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_runs import Command, story_requests

from shadowviz.sources.logfile import LogFile
from shadowviz_engine.cache.options import MATCH_MODES
from shadowviz_engine.cache.policies import POLICIES
from shadowviz_engine.core.events import LogClosed, RequestAborted, RequestSubmitted
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.runtime.options import Record


def small(tmp_path: Path, *requests: dict[str, object]) -> str:
    path = tmp_path / "prompts.jsonl"
    path.write_text("".join(json.dumps(request) + "\n" for request in requests), encoding="utf-8")
    return str(path)


def test_the_record_of_a_run_replays_to_the_state_of_the_engine(story_log: Path) -> None:
    log = LogFile(story_log)
    log.replay()
    assert log.summary.complete
    assert log.opened.model == "tiny"
    assert [e.request for e in log.events() if isinstance(e, RequestSubmitted)] == [
        request["id"] for request in story_requests()
    ]


def test_a_run_prints_one_row_a_lookup_and_the_worst_loss(command: Command, tmp_path: Path) -> None:
    prompts = small(tmp_path, {"id": "one", "prompt": "A short prompt.", "max_tokens": 2})
    done = command("run", prompts)
    assert (done.code, done.err) == (0, "")
    head, row, _, rate, loss = done.out.splitlines()
    assert head.split()[:6] == ["request", "common", "matched", "usable", "reused", "computed"]
    assert row.split()[:6] == ["one", "0", "0", "0", "0", "4"]
    assert row.split()[-1] == "COLD"
    assert rate == "hit rate 0.0%: 0 of 4 prompt tokens reused, 4 computed"
    assert loss == "nothing worth naming was lost"


def test_the_json_of_a_run_has_the_documented_fields(command: Command, tmp_path: Path) -> None:
    prompts = small(tmp_path, {"prompt": "A short prompt.", "max_tokens": 2})
    shown = json.loads(command("run", prompts, "--json").out)
    assert shown.keys() == {"lookups", "summary", "log", "interrupted", "prompt_logprobs"}
    (row,) = shown["lookups"]
    assert (row["request"], row["num_prompt"], row["verdict"], row["num_output"]) == ("line-1", 4, "COLD", 2)
    assert row["ttft_ms"] > 0
    assert (shown["log"], shown["interrupted"], shown["prompt_logprobs"]) == (None, False, {})


def test_a_line_may_ask_for_the_probabilities_of_its_prompt(command: Command, tmp_path: Path) -> None:
    ids = list(range(5, 605))
    asks = {"token_ids": ids, "id": "asks", "logprob_start": 597}
    shown = json.loads(command("run", small(tmp_path, {"token_ids": ids}, asks), "--max-running", "1", "--json").out)
    first, second = shown["lookups"]
    assert (first["reused"], second["reused"]) == (0, 512)
    assert [value < 0 for value in shown["prompt_logprobs"].pop("asks")] == [True, True]
    assert shown["prompt_logprobs"] == {}
    early = json.loads(
        command(
            "run", small(tmp_path, {"token_ids": ids}, asks | {"logprob_start": 0}), "--max-running", "1", "--json"
        ).out
    )
    assert (early["lookups"][1]["reused"], early["lookups"][1]["verdict"], early["lookups"][1]["detail"]) == (
        0,
        "CAPPED",
        "logprobs",
    )


def test_prompts_come_from_stdin_and_from_the_command_line(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Path(small(tmp_path, {"token_ids": [5, 6, 7], "max_tokens": 1})).open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert json.loads(command("run", "-", "--json").out)["lookups"][0]["num_prompt"] == 3
    assert json.loads(command("run", "--text", "hello", "--json").out)["lookups"][0]["request"] == "text"


def test_without_the_cache_every_verdict_says_so(command: Command, tmp_path: Path) -> None:
    prompts = small(tmp_path, {"prompt": "hello there", "max_tokens": 1})
    shown = json.loads(command("run", prompts, "--no-cache", "--json").out)
    assert (shown["lookups"][0]["verdict"], shown["lookups"][0]["detail"]) == ("NOT_STORED", "off")
    path = tmp_path / "run.jsonl"
    off = "\nthe cache is off (--no-cache): nothing can be reused\n"
    assert command("run", prompts, "--no-cache", "-o", str(path)).out.endswith(off)
    assert command("why", str(path)).out.endswith(off)


def test_a_redacted_record_has_neither_ids_nor_text(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    prompts = small(tmp_path, {"id": "a", "token_ids": [70001, 70002, 70001], "max_tokens": 1})
    assert command("run", prompts, "-o", str(path), "--redact").code == 0
    log = LogFile(path)
    (submitted,) = (event for event in log.events() if isinstance(event, RequestSubmitted))
    ids = memoryview(submitted.tokens).cast("i").tolist()
    assert log.opened.redacted
    assert ids[0] == ids[2] != ids[1]
    assert not {70001, 70002} & set(ids)
    assert command("why", str(path)).code == 0
    refused = command("probe", "--log", str(path), "--text", "hello")
    assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_texts_are_on_record_when_asked_for_only(command: Command, tmp_path: Path, story_log: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert command("run", "--text", "hello", "-o", str(path), "--record-text").code == 0
    texts = [event.text for event in LogFile(path).events() if isinstance(event, RequestSubmitted)]
    assert texts == ["hello"]
    assert all(event.text is None for event in LogFile(story_log).events() if isinstance(event, RequestSubmitted))


def test_a_full_record_has_a_file_of_selected_entries(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert command("run", "--text", "hello there, once more", "-o", str(path), "--record", "full").code == 0
    assert LogFile(path).opened.sidecar == "run.jsonl.topk"
    assert (tmp_path / "run.jsonl.topk").stat().st_size


@pytest.mark.parametrize(
    ("request_line", "options", "code"),
    [
        ({"prompt": ""}, (), 2),
        ({"token_ids": [999_999]}, (), 2),
        ({"token_ids": [5], "id": "x", "max_tokens": 0}, (), 2),
        ({"prompt": "hi"}, ("--model", "no-such-model"), 2),
        ({"prompt": "hi"}, ("--page-size", "200"), 2),
        ({"prompt": "hi"}, ("--resume", "sometimes"), 2),
        ({"prompt": "hi"}, ("--retention", "most"), 2),
        ({"prompt": "hi"}, ("--numerics", "rough"), 2),
        ({"prompt": "hi"}, ("--device", "abacus"), 2),
        ({"prompt": "hi"}, ("--pool-bytes", "1000"), 3),
        ({"token_ids": [5] * 70_000}, (), 2),
        ({"prompt": "hi", "max_tokens": 40_000}, ("--pool-bytes", "3000000"), 3),
    ],
)
def test_bad_input_is_one_line_with_its_code_and_leaves_no_record(
    command: Command, tmp_path: Path, request_line: dict[str, object], options: tuple[str, ...], code: int
) -> None:
    path = tmp_path / "run.jsonl"
    done = command("run", small(tmp_path, request_line), "-o", str(path), *options)
    assert (done.code, done.out) == (code, ""), done.err
    assert done.err.startswith("shadowviz: ")
    assert done.err.count("\n") == 1
    assert not path.exists()


@pytest.mark.parametrize(
    ("option", "choices"),
    [
        ("--resume", list(ResumeRule)),
        ("--numerics", list(Numerics)),
        ("--record", list(Record)),
        ("--policy", list(POLICIES)),
        ("--match-mode", list(MATCH_MODES)),
    ],
)
def test_a_choice_that_there_is_not_names_the_option_and_its_choices(
    command: Command, option: str, choices: list[str]
) -> None:
    done = command("run", "--text", "hi", option, "page2")
    listed = ", ".join(repr(str(choice)) for choice in choices)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"shadowviz: Invalid value for '{option}': 'page2' is not one of {listed}. (see: shadowviz run --help)\n"
    )


def test_a_record_is_not_overwritten_unasked(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("something else\n")
    done = command("run", "--text", "hello", "-o", str(path))
    assert (done.code, path.read_text()) == (2, "something else\n")
    assert done.err == f"shadowviz: {path} is not empty: choose another RUN, or replace it with --force\n"
    assert command("run", "--text", "hello", "-o", str(path), "--force").code == 0
    assert LogFile(path).summary.complete


def test_a_record_survives_a_run_that_never_begins(command: Command, tmp_path: Path) -> None:
    path, sidecar = tmp_path / "run.jsonl", tmp_path / "run.jsonl.topk"
    path.write_text("an earlier run\n")
    sidecar.write_text("its selections\n")
    for request, options in (
        ({"prompt": "hi"}, ("--model", "no-such-model")),
        ({"token_ids": [5] * 70_000}, ()),
        ({"prompt": "hi", "max_tokens": 40_000}, ("--pool-bytes", "3000000")),
    ):
        done = command("run", small(tmp_path, request), "-o", str(path), "--force", "--record", "full", *options)
        assert done.code != 0
        assert (path.read_text(), sidecar.read_text()) == ("an earlier run\n", "its selections\n")
    path.unlink()
    refused = command("run", "--text", "hello", "-o", str(path), "--record", "full")
    assert (refused.code, path.exists(), sidecar.read_text()) == (2, False, "its selections\n")


def test_a_record_never_replaces_its_own_prompts(command: Command, tmp_path: Path) -> None:
    prompts = small(tmp_path, {"prompt": "hi"})
    before = Path(prompts).read_bytes()
    link = tmp_path / "link.jsonl"
    link.symlink_to(prompts)
    for name in (prompts, str(link)):
        done = command("run", prompts, "-o", name, "--force")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert Path(prompts).read_bytes() == before


def test_two_sources_of_prompts_are_refused(command: Command) -> None:
    done = command("run", "--demo", "--text", "hello")
    sources = "expected one of a file, - for stdin, --text or --demo"
    assert (done.code, done.err) == (2, f"shadowviz: 2 sources of prompts: {sources}\n")
    done = command("run")
    assert (done.code, done.err) == (2, f"shadowviz: no sources of prompts: {sources}\n")


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_prompts_piped_into_a_terminal_do_not_start_the_demo() -> None:
    ours, terminal = os.openpty()
    shell = [sys.executable, "-m", "shadowviz.cli.main", "run"]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=terminal, stderr=subprocess.PIPE, text=True) as process:
        os.close(terminal)
        _, err = process.communicate('{"prompt": "hello"}\n')
    os.close(ours)
    assert process.returncode == 2
    assert "- for stdin" in err


def test_an_interrupted_run_ends_with_130_and_a_whole_record(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    prompts = small(tmp_path, {"id": "long", "prompt": "hello", "max_tokens": 60_000}, {"prompt": "later", "at_s": 1e6})
    process = subprocess.Popen(
        [sys.executable, "-m", "shadowviz.cli.main", "run", prompts, "-o", str(path), "--pool-bytes", "900000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    while process.poll() is None and not (path.exists() and b"StepDone" in path.read_bytes()):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert out.splitlines()[1].startswith("long ")
    assert "interrupted: 1 of 2 requests was looked up" in err
    events = list(LogFile(path).events())
    assert isinstance(events[-1], LogClosed)
    assert [event.reason for event in events if isinstance(event, RequestAborted)] == ["interrupted"]
    LogFile(path).replay()
