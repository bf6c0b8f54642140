"""`shadowviz diff-tokens` with bad and hostile input: one clear line, exit code 2, nothing left over."""

import json
import os
import signal
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from cli_runs import Command

BOS = "<｜begin▁of▁sentence｜>"
HOSTILE = "\x1b[31m\u202e\x07[bold]x"
"""Colours, turns the line around, rings, and looks like markup."""
WORD_PIECE = {
    "added_tokens": [
        {"id": place, "content": text, "single_word": False, "lstrip": False, "rstrip": False}
        | {"normalized": False, "special": True}
        for place, text in enumerate(("[UNK]", "[CLS]", "[SEP]"))
    ],
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    | {"max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "hello": 3, "there": 4}},
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "word_piece.json").write_text(json.dumps({"version": "1.0", "truncation": None, **WORD_PIECE}))
    return tmp_path


# What special marks are added.


def test_a_tokenizer_that_adds_no_marks_says_so(command: Command) -> None:
    shown = json.loads(command("diff-tokens", "hello", "there", "--add-special", "--json").out)
    note = "--add-special adds nothing: the configuration of deepseek-v4 says so"
    assert shown["a"]["notes"] == shown["b"]["notes"] == [note]
    assert command("diff-tokens", "hello", "there", "--add-special").out.count("note: --add-special adds nothing") == 1
    plain = json.loads(command("diff-tokens", "hello", "there", "--json").out)
    assert plain["a"]["notes"] == []
    for arguments, told in (
        (("hello", "there", "--tokenizer", "bytes"), "--add-special adds nothing: bytes has no marks of its own"),
        (("ids:1 2", "ids:1 3"), "--add-special adds nothing to ready ids"),
    ):
        shown = json.loads(command("diff-tokens", *arguments, "--add-special", "--json").out)
        assert shown["a"]["notes"] == [told]


def test_a_beginning_that_the_text_has_already_shows_as_doubled(command: Command) -> None:
    arguments = ("diff-tokens", "hello there", "[CLS]hello there", "--tokenizer", "word_piece.json", "--add-special")
    shown = json.loads(command(*arguments, "--json").out)
    assert shown["causes"][0]["cause"] == "BOS_DOUBLED"
    assert shown["a"]["notes"] == []


# What is written to a terminal.


@pytest.mark.parametrize("columns", ["20", "80"])
def test_hostile_names_move_no_cursor(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "dumb")
    name = f"{HOSTILE}.jsonl"
    tool = {"type": "function", "function": {"name": HOSTILE, "parameters": {HOSTILE: 1}}}
    lines = [
        {"id": HOSTILE + ending, "messages": [{"role": "user", "content": HOSTILE + ending}], "tools": [tool]}
        for ending in "ab"
    ]
    (here / name).write_text("\n".join(map(json.dumps, lines)))
    (here / "role.json").write_text(json.dumps([{"role": HOSTILE, "content": "x"}]))
    (here / "loud.jinja").write_text("{{ raise_exception(date) }}")
    (here / "echo.jinja").write_text("{{ date }}{{ messages[0].content }}{{ tools }}")
    (here / HOSTILE).mkdir()
    option = ("--template-option", f"date={HOSTILE}")
    pair = (f"{name}#{HOSTILE}a", f"{name}#{HOSTILE}b")
    for arguments in (
        pair,
        (*pair, "--template", "echo.jinja", *option),
        (*pair, "--template", "loud.jinja", *option),
        (name,),
        (HOSTILE,),
        (HOSTILE, "x"),
        (f"{name}#{HOSTILE}", "x"),
        ("role.json", "x"),
        ("x", "y", "--tokenizer", HOSTILE),
        ("x", "y", "--tokenizer", name),
        ("x", "y", "--template", HOSTILE),
        ("x", "y", "--geometry", HOSTILE),
        ("x", "y", "--template-option", HOSTILE),
    ):
        done = command("diff-tokens", *arguments)
        assert done.code in (0, 1, 2)
        assert (done.code == 2) == (done.out == "")
        shown = (done.out + done.err).replace("\n", "")
        assert not {unicodedata.category(character) for character in shown} & {"Cc", "Cf", "Cs"}, arguments


# How it ends.


def test_bytes_of_any_kind_end_with_a_line_or_an_answer(command: Command, here: Path) -> None:
    (here / "utf-16.txt").write_bytes("hello".encode("utf-16"))
    (here / "nul.txt").write_bytes(b"hel\0lo")
    (here / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (here / "deep.json").write_text("[" * 100_000)
    (here / "deep-part.json").write_text('[{"role": "user", "content": ' + "[" * 100_000 + "]" * 100_000 + "}]")
    for name in ("utf-16.txt", "nul.txt", "picture.png", "deep.json", "deep-part.json"):
        done = command("diff-tokens", name, "hello")
        assert (done.code, done.err) == (1, ""), name
        assert command("diff-tokens", name, name).code == 0


def test_a_template_that_is_not_there_is_said_not_to_be(command: Command) -> None:
    done = command("diff-tokens", "x", "y", "--template", "missing.jinja")
    assert (done.code, done.out) == (2, "")
    assert done.err == "shadowviz: missing.jinja is not there, expected a chat template's file or folder\n"


def test_a_closed_output_is_no_failure() -> None:
    script = "import sys; from shadowviz.cli.main import main; sys.exit(main(['diff-tokens', 'hello', 'there']))"
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=writing, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def start(*arguments: str) -> "subprocess.Popen[bytes]":
    script = "import sys; from shadowviz.cli.main import main; sys.exit(main(['diff-tokens', *sys.argv[1:]]))"
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_an_interrupt_while_it_reads_ends_with_130_and_leaves_nothing(here: Path) -> None:
    os.mkfifo(here / "pipe")
    process = start("pipe", "x", "--html", "x.html")
    with (here / "pipe").open("wb"):
        # Open for writing only once it is read from.
        process.send_signal(signal.SIGINT)
        assert (*process.communicate(), process.returncode) == (b"", b"", 130)
    assert not (here / "x.html").exists()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list the children of a process")
def test_an_interrupt_of_a_template_ends_its_process_too(here: Path) -> None:
    (here / "loop.jinja").write_text("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")
    (here / "chat.json").write_text('[{"role": "user", "content": "x"}]')
    process = start("chat.json", "chat.json", "--template", "loop.jinja", "--html", "x.html")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (found := children.read_text().split()):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert (*process.communicate(), process.returncode) == (b"", b"", 130)
    assert not (here / "x.html").exists()
    for _ in range(1000):
        # One that was interrupted while it started ends by itself, when nobody asks it any more.
        if not Path(f"/proc/{found[0]}").exists():
            break
        time.sleep(0.01)
    else:
        pytest.fail("the process that renders templates is still there")
