"""`shadowviz diff-tokens`: inputs, exit codes, and what the terminal shows."""

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from cli_runs import STORY, Command

from shadowviz.cli.show import columns_of

TEXT = "Read this first.\n" + STORY * 40
SYSTEM = "Current time: 2026-06-09 15:04:20. You are a helpful assistant."
CHAT = {
    "messages": [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "What is 2+2?"},
        {"role": "assistant", "reasoning_content": "2+2 is 4.", "content": "The answer is 4."},
        {"role": "user", "content": "And 3+3?"},
    ]
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_bytes(TEXT.encode())
    (tmp_path / "b.txt").write_bytes(TEXT.replace("\n", "\r\n").encode())
    (tmp_path / "chat.json").write_text(json.dumps(CHAT))
    return tmp_path


# What it answers.


def test_it_names_the_cause_the_place_the_price_and_the_cure(command: Command) -> None:
    done = command("diff-tokens", "a.txt", "b.txt")
    assert (done.code, done.err) == (1, "")
    flat = " ".join(done.out.split())
    assert flat.startswith("A and B part at token 3 of 764 and 846: CRLF. 512 tokens more would be reused if this were")
    assert "what to change: send LF, not CR LF, at line ends" in flat
    lines = done.out.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("B 3  "))
    assert lines[place].startswith(r"B 3  Read this first.\r\nThe keeper wrote")
    assert lines[place + 1] == " " * lines[place].index("\\r") + "^^"
    assert lines[place + 2].strip() == r"tokens 16 '.' 204 '\r' 201 '\n'".replace("' ", "'  ")


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("Hello", "Hello", "A and B are the same 1 token: nothing is lost."),
        ("Hello", "Hello there", "B begins with the only token of A: nothing is lost."),
        ("Hello there", "Hello", "A begins with the only token of B: nothing is lost."),
    ],
)
def test_where_nothing_is_lost_it_says_so_and_ends_with_0(command: Command, a: str, b: str, verdict: str) -> None:
    done = command("diff-tokens", a, b)
    assert (done.code, done.out.splitlines()[0]) == (0, verdict)
    assert "what to change" not in done.out


def test_a_clock_in_the_system_prompt_is_found_in_its_message(command: Command, here: Path) -> None:
    for name, second in (("one.json", "20"), ("other.json", "21")):
        messages = [{"role": "system", "content": SYSTEM.replace("20.", f"{second}.")}, CHAT["messages"][1]]
        (here / name).write_text(json.dumps(messages))
    shown = json.loads(command("diff-tokens", "one.json", "other.json", "--json").out)
    assert (shown["common"], shown["causes"][0]["cause"]) == (16, "TIME")
    assert (shown["a"]["num_tokens"], shown["b"]["num_tokens"]) == (34, 34)
    assert ", in message 0 (system): TIME." in shown["verdict"]


def test_tool_call_arguments_are_parsed_so_their_spaces_are_no_difference(command: Command, here: Path) -> None:
    for name, arguments in (("one.json", '{"a": 1, "b": 2}'), ("other.json", '{"a":1,"b":2}')):
        call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": arguments}}
        answer = {"role": "assistant", "content": None, "tool_calls": [call]}
        messages = [*CHAT["messages"][:2], answer, {"role": "tool", "tool_call_id": "1", "content": "3"}]
        (here / name).write_text(json.dumps({"messages": messages}))
    done = command("diff-tokens", "one.json", "other.json")
    assert done.code == 0
    assert "nothing is lost" in done.out


def test_options_of_the_rendering_win_over_those_of_the_request(command: Command, here: Path) -> None:
    (here / "asked.json").write_text(json.dumps({**CHAT, "thinking": True, "effort": "max"}))
    asked = json.loads(command("diff-tokens", "asked.json", "asked.json", "--json").out)["a"]["num_tokens"]
    plain = json.loads(command("diff-tokens", "asked.json", "asked.json", "--effort", "none", "--json").out)
    assert plain["a"]["num_tokens"] < asked - 80


def test_a_doubled_beginning_shows_with_add_special(command: Command) -> None:
    shown = json.loads(command("diff-tokens", "chat.json", "chat.json", "--json").out)
    assert shown["equal"]
    told = json.loads(command("diff-tokens", "Hello", "Hello", "--add-special", "--json").out)
    assert told["equal"]


# Turns, many prompts, records.


def test_turns_tell_between_which_the_prefix_breaks(command: Command) -> None:
    done = command("diff-tokens", "chat.json", "--turns", "--thinking")
    assert done.code == 1
    flat = " ".join(done.out.split())
    assert "the prefix breaks between turn 1 and turn 2, at token 16 of 32 stored. TEMPLATE(reasoning)" in flat
    assert "128821 (message 2 (assistant): role marker) stored, 128822" in flat
    kept = json.loads(command("diff-tokens", "chat.json", "--turns", "--thinking", "--keep-thinking", "--json").out)
    assert [(turn["stored"], turn["next_prompt"], turn["common"], turn["lost"]) for turn in kept["turns"]] == [
        (32, 41, 32, 0)
    ]
    assert kept["same"]
    chat = command("diff-tokens", "chat.json", "--turns")
    assert (chat.code, chat.out.splitlines()[0]) == (
        0,
        "chat.json: the next request begins with everything that was stored: nothing is",
    )


def test_many_prompts_are_each_compared_with_the_nearest_before(command: Command, story_prompts: Path) -> None:
    done = command("diff-tokens", str(story_prompts))
    assert done.code == 1
    assert "CRLF 1 256 line-ends 256" in " ".join(done.out.split())
    shown = json.loads(command("diff-tokens", str(story_prompts), "--json").out)
    assert [(pair["request"], pair["earlier"], pair["cause"]) for pair in shown["pairs"]] == [
        ("first", "", "FIRST"),
        ("again", "first", "SAME"),
        ("line-ends", "again", "CRLF"),
        ("short", "again", "NO_LOSS"),
        ("adapter", "", "FIRST"),
        ("other", "", "FIRST"),
    ]


def test_a_record_has_the_losses_that_its_engine_saw(command: Command, story_log: Path) -> None:
    seen = json.loads(command("why", str(story_log), "--json").out)["losses"]
    told = json.loads(command("diff-tokens", str(story_log), "--json").out)
    by_cause = {f"TOKENS_DIFFER({cause['cause']})": cause["lost"] for cause in told["causes"] if cause["lost"]}
    assert by_cause == {loss["verdict"]: loss["lost"] for loss in seen if loss["verdict"].startswith("TOKENS_DIFFER")}
    assert by_cause == {"TOKENS_DIFFER(CRLF)": 256}


def test_two_requests_of_a_record_are_compared_by_their_ids(command: Command, story_log: Path) -> None:
    shown = json.loads(command("diff-tokens", f"{story_log}#first", f"{story_log}#line-ends", "--json").out)
    assert (shown["common"], shown["causes"][0]["cause"]) == (3, "CRLF")
    assert shown["a"]["source"] == f"{story_log}#first"
    assert command("diff-tokens", f"{story_log}#first", f"{story_log}#again").code == 0


def test_a_redacted_record_is_compared_by_its_ids_alone(command: Command, story_prompts: Path, here: Path) -> None:
    assert command("run", str(story_prompts), "-o", "run.jsonl", "--redact", "--max-running", "1").code == 0
    done = command("diff-tokens", "run.jsonl#first", "run.jsonl#line-ends")
    assert done.code == 1
    assert done.out.startswith("A and B part at token 3 of ")
    assert "UNKNOWN: the ids cannot be read" in done.out
    assert "keeper" not in done.out
    refused = command("diff-tokens", "run.jsonl#first", "a.txt")
    assert refused.code == 2
    assert refused.err == (
        "shadowviz: A is of a redacted record, whose ids are keyed hashes: B must be of the same one\n"
    )
    assert json.loads(command("diff-tokens", "run.jsonl", "--json").out)["causes"]


def test_ids_of_a_tokenizer_that_is_not_at_hand_are_not_read_as_another_s(command: Command, story_log: Path) -> None:
    done = command("diff-tokens", f"{story_log}#first", f"{story_log}#again", "--tokenizer", "bytes")
    assert done.code == 0
    assert "bytes" not in done.out.splitlines()[3]
    refused = command("diff-tokens", f"{story_log}#first", "a.txt", "--tokenizer", "bytes")
    assert refused.code == 2
    assert "give that one with --tokenizer" in refused.err


# Across tokenizers.


def test_two_tokenizers_are_said_out_loud(command: Command) -> None:
    done = command("diff-tokens", "Hello there", "Hello there", "--tokenizer-b", "bytes")
    assert done.code == 1
    assert "A and B are encoded by different tokenizers" in done.out
    assert "TOKENIZER_VERSION" in done.out


# What the terminal is given.


def test_nothing_of_a_prompt_can_move_the_cursor(command: Command, here: Path) -> None:
    evil = "\x1b]0;owned\x07\x9b2J\u202egnol\u202c\u200b\ufeff\r\x00[bold]\ue000"
    (here / "\x1b[2Jevil.txt").write_text(TEXT + evil)
    (here / "other.txt").write_text(TEXT + "x" + evil + evil)
    for more in ((), ("--json",)):
        done = command("diff-tokens", "\x1b[2Jevil.txt", "other.txt", *more)
        assert done.code == 1
        assert all(character.isprintable() or character == "\n" for character in done.out)
        assert not {unicodedata.category(character) for character in done.out} & {"Cf", "Co", "Cs"}


@pytest.mark.parametrize("columns", [80, 60, 40])
def test_every_line_fits_the_terminal(
    command: Command, here: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = "\u6f22\u5b57" * 200
    (here / "one.txt").write_text(wide + "one" + wide)
    (here / "other.txt").write_text(wide + "two\n\u200b" + wide)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    for pair in (("a.txt", "b.txt"), ("one.txt", "other.txt")):
        shown = command("diff-tokens", *pair).out
        lines = [line.replace("\x1b[1m", "").replace("\x1b[0m", "") for line in shown.splitlines()]
        longest = max(lines, key=columns_of)
        assert columns_of(longest) <= columns, longest


def test_a_character_that_does_not_tell_what_it_is_gets_its_name(command: Command) -> None:
    shown = command("diff-tokens", "a b", "a\u00a0b").out
    assert "\\u00a0" in shown
    assert "U+00A0 NO-BREAK SPACE" in shown


def test_an_answer_fits_one_screen(command: Command) -> None:
    assert len(command("diff-tokens", "a.txt", "b.txt").out.splitlines()) <= 23


def test_what_would_join_the_character_before_it_is_written_as_its_number(command: Command) -> None:
    assert "cafe\\u0301 menu" in command("diff-tokens", "caf\u00e9 menu", "cafe\u0301 menu").out
    assert "\U0001f44d\\U0001f3fd ok" in command("diff-tokens", "\U0001f44d ok", "\U0001f44d\U0001f3fd ok").out


def test_a_terminal_without_unicode_gets_numbers_that_the_carets_stand_under(here: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "shadowviz.cli.main", "diff-tokens", "\u6f22 one", "\u6f22 two"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    lines = done.stdout.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("A 1  "))
    assert lines[place] == "A 1  \\u6f22 one"
    assert lines[place + 1] == "            ^^^"


def test_a_pair_with_ten_thousand_differences_prints_a_page(command: Command, here: Path) -> None:
    (here / "long.txt").write_text(STORY * 2_000)
    (here / "crlf.txt").write_bytes((STORY * 2_000).replace("\n", "\r\n").encode())
    for more in ((), ("--json",)):
        assert len(command("diff-tokens", "long.txt", "crlf.txt", *more).out.splitlines()) < (60 if not more else 400)


def test_a_gigantic_single_line_is_shown_around_its_difference(command: Command, here: Path) -> None:
    (here / "one.txt").write_text("a b " * 50_000 + "one" + " c d" * 50_000)
    (here / "other.txt").write_text("a b " * 50_000 + "two" + " c d" * 50_000)
    done = command("diff-tokens", "one.txt", "other.txt")
    assert done.code == 1
    assert max(map(len, done.out.splitlines())) <= 80


def test_no_colour_is_written_where_none_is_wanted(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert "\x1b[1m" not in command("diff-tokens", "a.txt", "b.txt").out or not os.environ.get("NO_COLOR")


# What cannot be compared.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.txt", "a.txt"), "missing.txt is not there: expected a file; if it is the prompt itself, write"),
        (("a.txt",), "a.txt is one prompt: expected a second to compare it with"),
        (("a.txt", "b.txt", "chat.json"), "found 3 prompts, expected two, or one folder or file of many"),
        (("chat.json", "chat.json", "--turns"), "found 2 prompts, expected one conversation with --turns"),
        (("a.txt", "--turns"), "a.txt holds text, expected the messages of a conversation"),
        (("-", "-"), "stdin holds one prompt, and - stands for it twice"),
        (("ids:1 2", "ids:1 999999999"), "ids: token 1 has id 999999999, expected 0 to 129279"),
        (("ids:1 x", "a.txt"), "ids: token 1 is 'x', expected a whole number"),
        (("a.txt", "b.txt", "--as", "messages"), "a.txt: bad JSON"),
        (("a.txt", "b.txt", "--tokenizer", "a.txt"), "a.txt is no tokenizer"),
        (("a.txt", "b.txt", "--family", "v9"), "no geometry is called 'v9'"),
        (("a.txt", "b.txt", "--page", "100"), "page_size 100 splits a window"),
        (("chat.json", "chat.json", "--template-option", "x"), "--template-option 'x' is no KEY=VALUE"),
        (("chat.json", "chat.json", "--template", "a.txt", "--tokenizer", "bytes"), ""),
        (("chat.json", "--tokenizer-b", "bytes"), "--tokenizer-b and --template-b are of B"),
        (("empty", "--json"), "empty holds no files"),
        (("surrogate.json", "a.txt"), "surrogate.json: character"),
        (("wrong.json", "a.txt"), "wrong.json: "),
    ],
)
def test_what_cannot_be_compared_is_one_line_and_2(
    command: Command, here: Path, arguments: tuple[str, ...], message: str
) -> None:
    (here / "empty").mkdir()
    (here / "surrogate.json").write_text('[{"role": "user", "content": "\\ud800"}]')
    (here / "wrong.json").write_text('[{"role": "wizard", "content": "x"}]')
    done = command("diff-tokens", *arguments)
    if not message:
        assert done.code == 0
        return
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"shadowviz: {message}")


def test_bytes_that_are_not_utf8_are_shown_and_do_not_crash(command: Command, here: Path) -> None:
    (here / "latin.txt").write_bytes("caf\u00e9 menu".encode("latin-1"))
    (here / "utf8.txt").write_text("caf\u00e9 menu", encoding="utf-8")
    done = command("diff-tokens", "latin.txt", "utf8.txt")
    assert done.code == 1
    assert "note: latin.txt: not UTF-8 at byte 3, line 1 (\\xe9)" in done.out


def test_stdin_and_pipes_are_inputs() -> None:
    line = "printf 'one\\r\\n' | shadowviz diff-tokens - <(printf 'one\\n')"
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1, done.stderr
    assert "CRLF" in done.stdout


def test_no_torch_is_loaded(here: Path) -> None:
    script = (
        "import sys; from shadowviz.cli.main import main; code = main(['diff-tokens', 'a.txt', 'b.txt']);"
        "print(code, sorted({'torch', 'transformers', 'textual', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "1 []"
