"""Names of files that nothing has yet."""

from pathlib import Path

from shadowviz.sources.names import free_name, name_beside


def test_a_free_name_is_one_that_is_not_there(tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    assert free_name(run) == run
    assert name_beside(run) == tmp_path / "run-2.jsonl"
    run.touch()
    # A link that leads nowhere takes its name, too.
    (tmp_path / "run-2.jsonl").symlink_to(tmp_path / "none")
    assert free_name(run) == name_beside(run) == tmp_path / "run-3.jsonl"
