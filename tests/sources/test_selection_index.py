"""The entries of a query, looked up in a sidecar that may still grow."""

from pathlib import Path

import msgspec

from shadowviz.sources.selection_index import SelectionIndex
from shadowviz_engine.core.selections import FORMAT, VERSION, SelectionHeader, SelectionRow

HEAD = msgspec.json.encode(SelectionHeader(FORMAT, VERSION, 2)) + b"\n"


def line(request: str, layer: int, start: int, *entries: tuple[int, ...]) -> bytes:
    return msgspec.json.encode(SelectionRow(request, layer, start, entries)) + b"\n"


def test_the_last_row_of_a_position_counts_and_rows_come_while_the_file_grows(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.topk"
    path.write_bytes(HEAD + line("a", 2, 3, (0,), (0, 1)) + line("a", 4, 3, (9,)) + line("b", 2, 0, (5,)))
    index = SelectionIndex(tmp_path / "run.jsonl", "run.jsonl.topk")
    assert index.sync(10.0)
    assert index.layers("a") == (2, 4)
    assert [index.selected("a", 2, position) for position in range(2, 6)] == [None, (0,), (0, 1), None]
    with path.open("ab") as file:
        file.write(line("a", 2, 4, (7,)) + line("a", 2, 5, (8,))[:9])
    index.sync(10.0)
    assert [index.selected("a", 2, position) for position in range(3, 6)] == [(0,), (7,), None]
    assert not index.fault
    index.close()


def test_only_what_lies_beside_the_record_is_read(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "secret.topk").write_bytes(HEAD + line("a", 2, 0, (1,)))
    index = SelectionIndex(tmp_path / "logs/run.jsonl", "../secret.topk")
    index.sync(1.0)
    assert index.layers("a") == ()
    assert "secret.topk cannot be read" in index.fault


def test_a_file_of_another_kind_is_told_and_not_raised(tmp_path: Path) -> None:
    (tmp_path / "x.topk").write_bytes(b'{"format":"other","version":1,"index_topk":2}\n')
    index = SelectionIndex(tmp_path / "run.jsonl", "x.topk")
    index.sync(1.0)
    assert "expected shadowviz-topk" in index.fault
    index.close()
