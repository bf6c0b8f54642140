"""A recorded run that the tests of the command line share, and commands run as in a shell."""

import json
from pathlib import Path

import pytest
from cli_runs import Command, Done, story_requests

from shadowviz.cli.main import main


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `shadowviz` with these arguments, in this process."""

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        code = main(arguments)
        shown = capsys.readouterr()
        return Done(code, shown.out, shown.err)

    return run


@pytest.fixture(scope="session")
def story_prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prompts as a file."""
    path = tmp_path_factory.mktemp("story") / "prompts.jsonl"
    path.write_text("".join(json.dumps(request) + "\n" for request in story_requests()), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def story_log(story_prompts: Path) -> Path:
    """The same, run one after the other and recorded."""
    path = story_prompts.with_name("run.jsonl")
    assert main(["run", str(story_prompts), "-o", str(path), "--max-running", "1"]) == 0
    return path
