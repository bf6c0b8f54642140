"""Every command in the documentation runs, and prints what the page shows."""

import doctest
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from cli_runs import STORY, Command

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [page for page in sorted([ROOT / "README.md", *DOCS.rglob("*.md")]) if "```console" in page.read_text("utf-8")]
DEMO = "shadowviz run --demo --max-running 1 -o demo.jsonl --force"
SHELL = re.compile(r"[|<>$;&]")


class Step(NamedTuple):
    """A command of a page and the output it shows; `...` stands for anything."""

    command: str
    shown: str


def steps(page: Path) -> Iterator[Step]:
    for block in re.findall(r"^ *```console\n(.*?)^ *```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        for part in re.split(r"^ *\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield Step(command, shown)


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows this output; blanks at line ends and their number do not count."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(shown, printed, flags)


def write_prompts(folder: Path) -> None:
    """The files that pages speak of."""
    text = "Read this first.\n" + STORY * 14
    prompts = [
        {"id": "monday", "prompt": text + "What was the depth?"},
        {"id": "tuesday", "prompt": text.replace("\n", "\r\n", 1) + "Who signed the book?"},
    ]
    (folder / "prompts.jsonl").write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))
    ids = {"token_ids": [7, 11, 13, 17, 19, 23, 29, 31], "max_tokens": 2}
    (folder / "ids.jsonl").write_text(json.dumps(ids) + "\n")
    write_pairs(folder)
    write_derivation(folder)
    write_engine_log(folder)


def write_engine_log(folder: Path) -> None:
    """The log that the page on checking lookups shows."""
    page = (DOCS / "how-to" / "check-a-lookup-log.md").read_text("utf-8")
    (folder / "engine.log").write_text(re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[0])


def write_derivation(folder: Path) -> None:
    """The derivation that the page on proving every length shows, bug included."""
    page = (DOCS / "how-to" / "prove-every-length.md").read_text("utf-8")
    (folder / "my_engine.py").write_text(re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[0])


def write_pairs(folder: Path) -> None:
    """Pairs of files that the page on `diff-tokens` compares."""
    book = "Read this first.\n" + STORY * 40
    (folder / "monday.txt").write_bytes(book.encode())
    (folder / "tuesday.txt").write_bytes(book.replace("\n", "\r\n").encode())
    question = {"role": "user", "content": book + "What was the depth?"}
    for name, second in (("ask-1.json", 20), ("ask-2.json", 21)):
        system = f"Current time: 2026-06-09 15:04:{second}. You are a helpful assistant."
        (folder / name).write_text(json.dumps([{"role": "system", "content": system}, question]))
    tools = [
        {"type": "function", "function": {"name": name, "description": text, "parameters": {"type": "object"}}}
        for name, text in (("depth", "The depth of a channel on a day."), ("signer", "Who signed the book."))
    ]
    for name, order in (("tools-1.json", tools), ("tools-2.json", tools[::-1])):
        (folder / name).write_text(json.dumps({"messages": [question], "tools": order}))
    answer = {"role": "assistant", "reasoning_content": "2+2 is 4.", "content": "The answer is 4."}
    turns = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "What is 2+2?"},
        answer,
        {"role": "user", "content": "And 3+3?"},
    ]
    (folder / "chat.json").write_text(json.dumps({"messages": turns, "thinking": True}))


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The demo, run once for all pages: its record and its output."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-m", "shadowviz.cli.main", *shlex.split(DEMO)[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return folder / "demo.jsonl", done.stdout + done.stderr


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model directory."""
    from shadowviz_engine.model.presets import MODEL_PRESETS
    from shadowviz_engine.model.random_weights import random_weights
    from shadowviz_engine.model.weights import save_model

    path = tmp_path_factory.mktemp("checkpoint") / "my-checkpoint"
    path.mkdir()
    config = MODEL_PRESETS["tiny-512"]
    save_model(path, config, random_weights(config, 3))
    return path


class Terminal:
    """Runs the commands of a page in one folder."""

    def __init__(self, command: Command, demo_run: Callable[[], tuple[Path, str]]) -> None:
        self._command = command
        self._demo_run = demo_run
        self._code = 0

    def run(self, line: str) -> str:
        """What the command prints, to stdout and stderr."""
        if line == DEMO:
            record, printed = self._demo_run()
            shutil.copy(record, "demo.jsonl")
            return printed
        if line == "echo $?":
            return f"{self._code}\n"
        words = shlex.split(line)
        if words[0] == "shadowviz" and not SHELL.search(line):
            done = self._command(*words[1:])
            self._code = done.code
            return done.out + done.err
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        shell = subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
        )
        self._code = shell.returncode
        return shell.stdout + shell.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_prints_what_it_shows(
    page: Path,
    command: Command,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_prompts(tmp_path)
    if "my-checkpoint" in page.read_text("utf-8"):
        shutil.copytree(request.getfixturevalue("checkpoint"), "my-checkpoint")
    terminal = Terminal(command, lambda: request.getfixturevalue("demo_run"))
    for step in steps(page):
        printed = terminal.run(step.command)
        assert agrees(step.shown, printed), f"$ {step.command}\nshown:\n{step.shown}\nprinted:\n{printed}"


def test_an_output_that_differs_is_noticed() -> None:
    assert agrees("a  ...\nz\n", "a b\nc\nz\n")
    assert not agrees("reused 256\n", "reused 512\n")
    assert not agrees("...\nz\n", "a\n")


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_run_leaves_the_record_that_it_names_next() -> None:
    plan = subprocess.run(["make", "-n", "run"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    asked, shown, ran, told = plan.splitlines()[-4:]
    assert "-t 0" in asked
    assert "-t 1" in asked
    assert "shadowviz tui -o demo.jsonl --force; else" in shown
    assert "shadowviz run --demo -o demo.jsonl --force; fi" in ran
    assert told == 'echo "next: .venv/bin/shadowviz why demo.jsonl"'


def test_the_commands_page_is_made_from_the_help(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make_cli", DOCS / "make_cli.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setenv("COLUMNS", "80")
    assert script.TARGET.read_text(encoding="utf-8") == script.reference(), "run python docs/make_cli.py"


@pytest.mark.parametrize("page", sorted([ROOT / "README.md", *DOCS.rglob("*.md")]), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
