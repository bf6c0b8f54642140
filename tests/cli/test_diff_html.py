"""`shadowviz diff-tokens --html`: where the page goes, and what it never writes over."""

import json
import os
from pathlib import Path

import pytest
from cli_runs import Command
from html_pages import check_harmless

CHAT = [
    {"role": "user", "content": "What is 2+2?"},
    {"role": "assistant", "reasoning_content": "2+2 is 4.", "content": "The answer is 4."},
    {"role": "user", "content": "And 3+3?"},
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("one two three\nfour\n")
    (tmp_path / "b.txt").write_text("one 2 three\nfour\n")
    (tmp_path / "chat.json").write_text(json.dumps(CHAT))
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_page_is_written_and_named_behind_the_same_answer(command: Command, here: Path) -> None:
    plain = command("diff-tokens", "a.txt", "b.txt")
    done = command("diff-tokens", "a.txt", "b.txt", "--html", "page.html")
    assert (done.code, done.err) == (plain.code, "") == (1, "")
    assert done.out == f"{plain.out}page: page.html\n"
    assert " ".join(plain.out.split("\n\n")[0].split()) in check_harmless((here / "page.html").read_text("utf-8")).text
    assert names(here) == {"a.txt", "b.txt", "chat.json", "page.html"}


def test_nothing_lost_ends_with_0_and_has_a_page(command: Command, here: Path) -> None:
    assert command("diff-tokens", "a.txt", "a.txt", "--html", "page.html").code == 0
    assert "nothing is lost" in (here / "page.html").read_text("utf-8")


def test_json_stays_json(command: Command) -> None:
    done = command("diff-tokens", "a.txt", "b.txt", "--html", "page.html", "--json")
    assert json.loads(done.out)["common"] == 1
    assert done.err == "page: page.html\n"


def test_turns_and_many_prompts_have_pages(command: Command, here: Path) -> None:
    done = command("diff-tokens", "chat.json", "--turns", "--thinking", "--html", "turns.html")
    assert done.code == 1
    assert "between turn 1 and turn 2" in check_harmless((here / "turns.html").read_text("utf-8")).text
    lines = [{"id": f"<b>{n}", "prompt": f"{n} is a number, as is well known. " * 30} for n in range(3)]
    (here / "many.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command("diff-tokens", "many.jsonl", "--html", "many.html")
    page = check_harmless((here / "many.html").read_text("utf-8"))
    assert page.text.count("<b>2") >= 1


def test_a_file_that_holds_something_is_replaced_only_with_force(command: Command, here: Path) -> None:
    (here / "page.html").write_text("mine")
    done = command("diff-tokens", "a.txt", "b.txt", "--html", "page.html")
    assert (done.code, done.out) == (2, "")
    assert done.err == "shadowviz: page.html is not empty: choose another file for --html, or replace it with --force\n"
    assert (here / "page.html").read_text() == "mine"
    assert command("diff-tokens", "a.txt", "b.txt", "--html", "page.html", "--force").code == 1
    assert "mine" not in (here / "page.html").read_text("utf-8")


@pytest.mark.parametrize("argument", ["a.txt", "file:a.txt", "./a.txt"])
def test_an_input_is_never_replaced(command: Command, here: Path, argument: str) -> None:
    before = (here / "a.txt").read_bytes()
    done = command("diff-tokens", argument, "b.txt", "--html", "a.txt", "--force")
    assert done.code == 2
    assert "is one of the inputs" in done.err
    assert (here / "a.txt").read_bytes() == before


@pytest.mark.parametrize("path", ["", "-", ".", "no/page.html", "a.txt/page.html", "x\0y", "n" * 300])
def test_a_place_where_no_file_can_be_is_an_error_line(command: Command, here: Path, path: str) -> None:
    before = names(here)
    done = command("diff-tokens", "a.txt", "b.txt", "--html", path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("shadowviz: ")
    assert done.err.count("\n") == 1
    assert names(here) == before


def test_bad_input_leaves_the_old_page(command: Command, here: Path) -> None:
    (here / "page.html").write_text("old")
    done = command("diff-tokens", "a.txt", "no/such/file", "--html", "page.html", "--force")
    assert done.code == 2
    assert (here / "page.html").read_text() == "old"
    assert names(here) == {"a.txt", "b.txt", "chat.json", "page.html"}


def test_what_is_no_regular_file_is_written_and_stays_what_it_is(command: Command, here: Path) -> None:
    # A pipe, never a device: a test that fails would replace the device of the machine.
    pipe = here / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert command("diff-tokens", "a.txt", "b.txt", "--html", "pipe").code == 1
        assert pipe.is_fifo()
        assert os.read(reader, 15) == b"<!DOCTYPE html>"
    finally:
        os.close(reader)


def test_a_link_leads_to_the_page_and_stays_a_link(command: Command, here: Path) -> None:
    (here / "link.html").symlink_to("page.html")
    assert command("diff-tokens", "a.txt", "b.txt", "--html", "link.html").code == 1
    assert (here / "link.html").is_symlink()
    assert (here / "page.html").read_text("utf-8").startswith("<!DOCTYPE html>")
