"""`shadowviz diff-tokens --view`: two prompts line by line."""

import fcntl
import json
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli_runs import Command

from shadowviz.cli.show import columns_of

LINES = [f"The keeper wrote rule {number} into the book.\n" for number in range(40)]
OTHER = [*LINES[:20], LINES[20].replace("keeper", "pilot"), *LINES[21:]]
LEGEND = "[-only in A-] {+only in B+} {%same text, other ids%} [!control token!]"
CELLS = "日本語の行がここに入ります、全角文字。\U0001f600"
BAD = "one\x1b[2J\u202e\x07 \u200d two\u2066"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_bytes("".join(LINES).encode())
    (tmp_path / "b.txt").write_bytes("".join(OTHER).encode())
    return tmp_path


def on_terminal(*arguments: str, columns: int, more: Mapping[str, str] | None = None) -> str:
    """What the command writes to a terminal of this width."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    call = [sys.executable, "-c", "from shadowviz.cli.main import main; raise SystemExit(main())", *arguments]
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "PYTHONUTF8": "1", **(more or {})}
    child = os.posix_spawn(
        sys.executable,
        call,
        environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, slave, 1), (os.POSIX_SPAWN_CLOSE, master)],
    )
    os.close(slave)
    read = bytearray()
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        read += part
    os.close(master)
    os.waitpid(child, 0)
    return read.decode().replace("\r\n", "\n")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[\d*m", "", text)


def test_unified_names_the_place_marks_the_words_and_counts_what_is_equal(command: Command) -> None:
    done = command("diff-tokens", "a.txt", "b.txt", "--view", "unified")
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("A and B part at token 201 of ")
    assert LEGEND in lines
    place = lines.index("... 17 lines, 170 tokens equal ...")
    assert lines[place + 1] == "@@ token 170 @@"
    assert lines[place + 2] == "  170  The keeper wrote rule 17 into the book."
    assert [line for line in lines[place:] if line[0] in "-+"] == [
        "- 200  The[-·keeper-] wrote rule 20 into the book.",
        "+ 200  The{+·pilot+} wrote rule 20 into the book.",
    ]
    assert lines[-1] == "... 16 lines, 160 tokens equal ..."


def test_side_by_side_puts_both_in_one_row(command: Command) -> None:
    done = command("diff-tokens", "a.txt", "b.txt", "--view", "side")
    changed = next(line for line in done.out.splitlines() if " | " in line)
    assert "The[-·keeper-] wrote" in changed.split(" | ")[0]
    assert "The{+·pilot+} wrote" in changed.split(" | ")[1]
    assert all(columns_of(line) <= 80 for line in done.out.splitlines())


def test_what_cannot_be_seen_is_written_out_where_it_differs(command: Command) -> None:
    done = command("diff-tokens", "text:a b\tc\nend", "text:a b  c\r\nend", "--view", "unified")
    changed = [line for line in done.out.splitlines() if line[:2] in ("- ", "+ ")]
    assert changed == [r"- 0  a b[-\tc-]", r"+ 0  a b{+··c\r+}"]


@pytest.mark.parametrize("view", ["unified", "side"])
def test_nothing_of_a_prompt_moves_the_cursor(view: str) -> None:
    shown = plain(on_terminal("diff-tokens", "text:x " + BAD, "text:y " + BAD, "--view", view, columns=60))
    assert all(character.isprintable() for character in shown.replace("\n", ""))
    assert r"\u001b[2J" in shown


def test_a_segment_names_its_hunk(command: Command, here: Path) -> None:
    for name, answer in (("one.json", "It is 9."), ("other.json", "It is 8.")):
        asked = {"role": "user", "content": "What is the depth?\n" * 8}
        (here / name).write_text(json.dumps([asked, {"role": "tool", "content": answer}]))
    done = command("diff-tokens", "one.json", "other.json", "--view", "unified")
    assert re.search(r"^@@ token \d+ \| message \d \(", done.out, re.MULTILINE)
    assert "[!<｜Assistant｜>!]" in done.out


def test_other_ids_of_the_same_text_have_their_own_sign_and_are_named(command: Command) -> None:
    lines = command("diff-tokens", "ids:16 201 5 6", "ids:603 5 6", "--view", "unified").out.splitlines()
    assert r"% 0  {%.\n%}" in lines
    assert "%    ids: A 16 201, B 603" in lines


@pytest.mark.parametrize("view", ["unified", "side"])
def test_changed_rows_are_bounded_and_the_rest_is_counted(command: Command, here: Path, view: str) -> None:
    (here / "a.txt").write_text("".join(f"line {n} {n * n}\n" for n in range(500)))
    (here / "b.txt").write_text("".join(f"line {n} {n * n + 1}\n" for n in range(500)))
    lines = command("diff-tokens", "a.txt", "b.txt", "--view", view).out.splitlines()
    assert lines[-1] == "... 300 more changed lines: --all shows them ..."
    whole = command("diff-tokens", "a.txt", "b.txt", "--view", view, "--all").out.splitlines()
    assert len(whole) - len(lines) == (300 if view == "side" else 600) - 1


@pytest.mark.parametrize("columns", [40, 41, 60, 80, 132])
def test_two_columns_fit_the_terminal_with_wide_characters_too(columns: int, here: Path) -> None:
    (here / "a.txt").write_text("".join([*LINES[:4], CELLS * 3, "\n"]))
    (here / "b.txt").write_text("".join([*LINES[:3], "x" * 90, "\n", CELLS * 2, "ab\n"]))
    shown = on_terminal("diff-tokens", "a.txt", "b.txt", "--view", "side", columns=columns)
    assert "\x1b[33m" in shown
    rows = plain(shown).splitlines()
    assert max(map(columns_of, rows)) <= columns
    middle = (columns - 3) // 2
    signs = {beginning(row, middle)[1][:3] for row in rows[rows.index(next(r for r in rows if r[:2] == "@@")) + 1 :]}
    assert signs <= {"", "   ", " | ", " < ", " > ", " |", " <", " >"}


def beginning(row: str, columns: int) -> tuple[str, str]:
    for place in range(len(row) + 1):
        if columns_of(row[:place]) == columns:
            return row[:place], row[place:]
    return row, ""


def test_below_forty_columns_the_sides_stand_below_each_other() -> None:
    shown = plain(on_terminal("diff-tokens", "a.txt", "b.txt", "--view", "side", columns=39))
    assert "\n- 200  The[-·keeper-] wrote" in shown


def test_no_color_leaves_the_marks_alone() -> None:
    shown = on_terminal("diff-tokens", "a.txt", "b.txt", "--view", "unified", columns=80, more={"NO_COLOR": "1"})
    assert "\x1b" not in shown
    assert "[-·keeper-]" in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("a.txt", "--turns", "--view", "side"), "expected A and B"),
        (("a.txt", "--view", "unified"), "expected A and B"),
        (("a.txt", "b.txt", "--view", "unified", "--json"), "expected one of the two"),
        (("a.txt", "b.txt", "--all"), "--all is of --view unified"),
    ],
)
def test_a_view_that_does_not_apply_is_one_clear_error(command: Command, arguments: tuple[str, ...], told: str) -> None:
    done = command("diff-tokens", *arguments)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert done.err.count("\n") == 1
