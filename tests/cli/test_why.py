"""`shadowviz why` and `shadowviz probe`: reasons from a recorded run."""

import json
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runs import STORY, Command

from shadowviz_engine.core.log import FileSink
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.options import EngineOptions
from shadowviz_engine.runtime.request import Request


def test_why_names_the_cause_the_token_and_the_price(command: Command, story_log: Path) -> None:
    done = command("why", str(story_log), "line-ends")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "line-ends: TOKENS_DIFFER(CRLF), 256 tokens lost"
    flat = " ".join(done.out.split())
    # The last of the 15 line ends runs into another question, so it is no difference of that kind alone.
    assert "stored '.\\n', prompt '.\\r\\n'." in flat
    assert "14 stretches differ in the same way (CRLF)" in flat
    assert "256 tokens more would be reused if the differing text were as stored." in flat


def test_why_ends_with_what_to_change_where_something_can_be(command: Command, story_log: Path) -> None:
    done = command("why", str(story_log), "line-ends")
    assert done.out.endswith("\nwhat to change: send LF, not CR LF, at line ends\n")
    (lookup,) = json.loads(command("why", str(story_log), "line-ends", "--json").out)["lookups"]
    assert lookup["change"] == "send LF, not CR LF, at line ends"
    assert "what to change" not in command("why", str(story_log), "again").out


def test_every_fact_says_how_it_is_known(command: Command, story_log: Path) -> None:
    shown = json.loads(command("why", str(story_log), "adapter", "--json").out)
    (lookup,) = shown["lookups"]
    assert (lookup["verdict"], lookup["lost"]) == ("OTHER_NAMESPACE", 256)
    assert {fact["origin"] for fact in lookup["facts"]} == {"observed", "assumed"}


def test_a_run_is_summed_by_verdict_with_the_worst_first(command: Command, story_log: Path) -> None:
    summary = json.loads(command("why", str(story_log), "--json").out)
    assert [(loss["verdict"], loss["lost"], loss["example"]) for loss in summary["losses"]] == [
        ("TOKENS_DIFFER(CRLF)", 256, "line-ends"),
        ("OTHER_NAMESPACE", 256, "adapter"),
        ("TOO_SHORT(256)", 116, "short"),
        ("COLD", 0, "first"),
        ("FULL_HIT", 0, "again"),
    ]
    assert summary["best_change"] == "send LF, not CR LF, at line ends"
    assert "would win most (256 tokens): send LF, not CR LF, at line ends" in command("why", str(story_log)).out


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (("TOKENS_DIFFER",), 1),
        (("too-short",), 1),
        (("EVICTED",), 0),
        (("EVICTED", "COLD"), 1),
        (("TOKENS_DIFFER(CRLF)",), 1),
        (("tokens-differ(crlf)",), 1),
        (("TOKENS_DIFFER(CASE)",), 0),
        (("TOKENS_DIFFER(CLRF)",), 2),
        (("TOKENS_DIFFER(CRLF",), 2),
        (("COLD()",), 2),
    ],
)
def test_fail_on_a_verdict_ends_with_1_when_it_is_there(
    command: Command, story_log: Path, verdicts: tuple[str, ...], code: int
) -> None:
    options = [option for verdict in verdicts for option in ("--fail-on", verdict)]
    assert command("why", str(story_log), *options).code == code


def kept(log: Path, path: Path, wanted: Callable[[str], bool]) -> str:
    """A record of those lines of a log only, numbered anew."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if wanted(line)]
    path.write_text("".join(json.dumps({**line, "seq": n}) + "\n" for n, line in enumerate(lines)), encoding="utf-8")
    return str(path)


def test_fail_on_is_not_green_where_the_record_cannot_say(command: Command, story_log: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(story_log.read_bytes()[:-200])
    for arguments in ((str(torn),), (str(torn), "first")):
        done = command("why", *arguments, "--fail-on", "EVICTED")
        assert done.code == 2
        assert "--fail-on EVICTED cannot be answered: " in done.err.splitlines()[-1]
    assert command("why", str(torn), "--fail-on", "COLD").code == 1


def test_a_record_without_lookups_says_so_and_passes_no_gate(command: Command, story_log: Path, tmp_path: Path) -> None:
    empty = kept(story_log, tmp_path / "empty.jsonl", lambda line: '"LogOpened"' in line)
    done = command("why", empty)
    assert (done.code, done.out) == (0, "no lookups\n")
    assert command("why", empty, "--fail-on", "COLD").code == 2


def test_requests_that_were_never_looked_up_are_counted(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    engine = Engine(EngineOptions(max_running=1), FileSink(path))
    for name in ("looked-up", "waiting"):
        engine.submit(Request(id=name, token_ids=array("q", [5, 6, 7]), max_tokens=9))
    engine.step()
    for name in ("looked-up", "waiting"):
        engine.abort(name, "interrupted")
    engine.close()
    done = command("why", str(path), "--fail-on", "EVICTED")
    assert done.code == 2
    assert done.out.splitlines()[1] == "1 of 2 requests was looked up"
    assert done.err == "shadowviz: --fail-on EVICTED cannot be answered: 1 of 2 requests was looked up\n"
    assert command("why", str(path), "looked-up", "--fail-on", "EVICTED").code == 0


def test_fail_on_looks_at_the_request_that_was_asked_for(command: Command, story_log: Path) -> None:
    assert command("why", str(story_log), "again", "--fail-on", "TOKENS_DIFFER").code == 0


@pytest.mark.parametrize(
    "arguments", [("{log}", "nobody"), ("{log}", "--fail-on", "RAINY"), ("/no/such/file",), ("{prompts}",)]
)
def test_what_cannot_be_answered_is_one_line_and_2(
    command: Command, story_log: Path, story_prompts: Path, arguments: tuple[str, ...]
) -> None:
    done = command("why", *(part.format(log=story_log, prompts=story_prompts) for part in arguments))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_a_torn_record_is_read_as_far_as_it_goes(command: Command, story_log: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(story_log.read_bytes()[:-200])
    done = command("why", str(torn), "first")
    assert done.code == 0
    assert done.err.startswith("shadowviz: ")
    assert "lost" in done.err


def test_prompt_text_is_shown_inert(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    prompts = tmp_path / "prompts.jsonl"
    evil = "\x1b]0;owned\x07\u202egnol\u202c [bold]text[/bold] "
    prompts.write_text(
        json.dumps({"id": "plain", "prompt": "Begin. " + STORY * 14, "max_tokens": 1})
        + "\n"
        + json.dumps({"id": "evil", "prompt": "Begin. " + evil + STORY * 14, "max_tokens": 1})
        + "\n"
    )
    assert command("run", str(prompts), "-o", str(path), "--max-running", "1").code == 0
    shown = command("why", str(path), "evil").out
    assert "\\u001b]0;owned" in shown
    assert not set(shown) & {"\x1b", "\x07", "\u202e", "\u202c"}


def test_a_probe_says_what_a_prompt_would_reuse_and_changes_nothing(command: Command, story_log: Path) -> None:
    before = story_log.read_bytes()
    text = "Read this first.\n" + STORY * 14 + "And who came after?"
    shown = json.loads(command("probe", "--log", str(story_log), "--text", text, "--json").out)
    (lookup,) = shown["lookups"]
    assert (lookup["verdict"], lookup["lookup"]["reused"]) == ("FULL_HIT", 256)
    assert command("probe", "--log", str(story_log), "--text", text).out.startswith("text: FULL_HIT\n")
    assert story_log.read_bytes() == before


def test_a_probe_without_a_prompt_names_its_own_sources(command: Command, story_log: Path) -> None:
    done = command("probe", "--log", str(story_log))
    assert done.code == 2
    assert done.err == "shadowviz: no sources of prompts: expected one of a file, - for stdin, or --text\n"


def test_a_probe_of_a_record_that_ends_early_cannot_say_cold(command: Command, story_log: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(story_log.read_bytes()[:-200])
    asked = ("--text", "Nobody has ever asked this.")
    assert command("probe", "--log", str(story_log), *asked).out.startswith("text: COLD\n")
    done = command("probe", "--log", str(torn), *asked)
    assert done.out.startswith("text: UNKNOWN(the record ends early)\n")
    assert "The record is not whole" in done.out


def test_names_of_a_hostile_record_are_shown_inert(command: Command, story_log: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    evil = "\x1b[2J\x9b\u202e"
    path.write_text(story_log.read_text().replace('"again"', json.dumps(evil)))
    for arguments in (("why",), ("why", evil), ("why", "--json"), ("why", "nobody")):
        done = command(arguments[0], str(path), *arguments[1:])
        assert not set(done.out + done.err) & set(evil[0] + evil[4:])
    shown = json.loads(command("why", str(path), evil, "--json").out)
    assert shown["lookups"][0]["request"] == evil


def test_events_of_unknown_types_are_told_in_one_line(command: Command, story_log: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    lines = story_log.read_text(encoding="utf-8").splitlines()
    unknown = [json.dumps({"type": f"New{n}", "seq": len(lines) - 1 + n}) for n in range(20)]
    path.write_text("\n".join([*lines[:-1], *unknown, ""]), encoding="utf-8")
    done = command("why", str(path))
    assert done.code == 0
    notes = [line for line in done.err.splitlines() if "passed over" in line]
    assert len(notes) == 1
    assert notes[0].endswith(
        "passed over 20 events of unknown types: " + ", ".join(f"New{n}" for n in range(8)) + " and 12 others"
    )
