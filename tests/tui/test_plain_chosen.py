"""The plain form of a chosen request or node, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
from boundary_logs import small_stress_log
from tui_logs import chat_log

from shadowviz.cli.main import main
from shadowviz.tui.session import Session

Printed = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chat_log(tmp_path_factory.mktemp("logs") / "chat.jsonl")


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Runs `shadowviz tui --plain`: exit code, what it wrote, and what it told."""

    def run(log: Path, *words: str) -> tuple[int, str, str]:
        code = main(["tui", str(log), "--plain", *words])
        written = capsys.readouterr()
        return code, written.out, written.err

    return run


@pytest.mark.parametrize("request_name", ["r2", "r4"])
def test_live_ruler_and_diff_are_of_the_request_that_is_named(log: Path, printed: Printed, request_name: str) -> None:
    code, out, _ = printed(log, "--request", request_name)
    assert code == 0
    facts = out.rpartition("\n\n")[2]
    assert facts.startswith(f"{request_name}  ")
    assert "prompt " in facts
    _, out, _ = printed(log, "--screen", "ruler", "--request", request_name)
    assert out.splitlines()[2].startswith(request_name)
    one, other = (printed(log, "--screen", "diff", "--request", name)[1] for name in (request_name, "r6"))
    assert one != other


def test_the_tree_tells_the_facts_of_the_node(log: Path, printed: Printed) -> None:
    session = Session(log)
    session.settle()
    node = max(node for node in range(1, len(session.state.nodes)) if session.state.nodes.alive[node])
    session.close()
    _, whole, _ = printed(log, "--screen", "tree")
    _, out, _ = printed(log, "--screen", "tree", "--node", str(node))
    assert out.startswith(whole.rstrip("\n"))
    facts = out.removeprefix(whole.rstrip("\n")).split("\n")
    assert facts[2].startswith(f"n{node}  ")
    assert {"path", "locks", "used", "text"} <= {line.split(" ")[0] for line in facts}
    _, out, _ = printed(log, "--screen", "tree", "--request", "r4")
    assert "\n\nn" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--request", "nobody"], "no such request at this moment: expected one such as r1, r2, r3"),
        (["--request", "r6", "--at", "3"], "no such request at this moment"),
        (["--screen", "tree", "--node", "9999"], "no such node at this moment"),
        (["--screen", "pools", "--node", "1"], "means nothing for --screen pools: it is for tree, ruler"),
        (["--screen", "events", "--request", "r1"], "means nothing for --screen events"),
        (["--request", "r1", "--node", "1"], "expected one of them"),
    ],
)
def test_what_is_not_there_or_means_nothing_is_told(log: Path, printed: Printed, words: list[str], told: str) -> None:
    code, out, err = printed(log, *words)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1


def test_the_heat_map_says_how_the_run_stands_and_what_its_marks_mean(tmp_path: Path, printed: Printed) -> None:
    _, out, _ = printed(small_stress_log(tmp_path / "stress.jsonl"), "--screen", "stress")
    lines = out.splitlines()
    assert lines[2] == "DONE: 2 findings"
    assert any(line.startswith("row 'closes'") for line in lines)
    assert "blank: not checked" in lines[-1]
    _, part, _ = printed(tmp_path / "stress.jsonl", "--screen", "stress", "--at", "9")
    assert part.splitlines()[2] == "DONE: 2 findings", "of the whole record, whatever moment is shown"
    assert "8 of 40 checks" in part
