"""The sidecar of a full record."""

import pytest

from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.selections import SelectionRow, read_selections
from shadowviz_engine.model.step import Selection
from shadowviz_engine.runtime.request import Request
from shadowviz_engine.runtime.selections import SelectionWriter


def chosen_by_query(path) -> dict[tuple[str, int, int], tuple[int, ...]]:
    """Entries by (request, layer, position); later rows replace earlier ones."""
    chosen = {}
    for row in read_selections(path):
        for offset, entries in enumerate(row.entries):
            chosen[row.request, row.layer, row.start + offset] = entries
    return chosen


def test_rows_come_back_as_they_were_observed_joined_by_request_and_layer(tmp_path):
    path = tmp_path / "run.topk"
    writer = SelectionWriter(path, index_topk=2)
    for sequence, position, entries in ((1, 5, (0,)), (0, 9, (0, 2)), (1, 6, (0, 1)), (0, 10, (1, 2))):
        writer.observe(Selection(layer=2, sequence=sequence, position=position, entries=entries))
    writer.end_pass(["a", "b"])
    writer.end_pass(["a"])
    writer.close()
    assert list(read_selections(path)) == [
        SelectionRow("a", 2, 9, ((0, 2), (1, 2))),
        SelectionRow("b", 2, 5, ((0,), (0, 1))),
    ]


def test_a_full_record_holds_the_entries_of_every_computed_query(make_engine, tmp_path):
    path = tmp_path / "run.topk"
    engine, sink = make_engine(record="full", sidecar=str(path), chunk_tokens=24)
    with engine:
        for name, start in (("a", 0), ("b", 200)):
            engine.submit(Request(id=name, token_ids=tuple(range(start, start + 40)), max_tokens=3))
        engine.run()
    assert isinstance(sink.events[0], LogOpened)
    assert (sink.events[0].record, sink.events[0].sidecar) == ("full", "run.topk")
    chosen = chosen_by_query(path)
    # Three tokens out means two computed beyond the prompt; an entry is closed by its fourth token.
    assert {key for key in chosen if chosen[key]} == {(name, 1, at) for name in "ab" for at in range(3, 42)}
    for (_, _, position), entries in chosen.items():
        assert len(entries) == min(2, (position + 1) // 4)
        assert list(entries) == sorted(set(entries))
        assert all(entry < (position + 1) // 4 for entry in entries)


def test_a_record_of_lookups_leaves_the_model_unobserved(make_engine):
    engine, sink = make_engine()
    engine.submit(Request(id="a", token_ids=(1, 2, 3), max_tokens=1))
    engine.run()
    assert engine.model.transformer.observer is None
    assert sink.events[0].sidecar == ""


def test_an_engine_that_never_ran_leaves_no_sidecar(make_engine, tmp_path):
    path = tmp_path / "run.topk"
    engine, _ = make_engine(record="full", sidecar=str(path))
    assert path.exists()
    engine.close()
    assert not path.exists()
    path.write_bytes(b"of an earlier run\n")
    make_engine(record="full", sidecar=str(path))[0].close()
    assert path.read_bytes() == b"of an earlier run\n"


def test_a_new_run_replaces_the_sidecar_of_an_earlier_one(tmp_path):
    path = tmp_path / "run.topk"
    path.write_bytes(b"of an earlier run\n" * 99)
    writer = SelectionWriter(path, index_topk=2)
    writer.observe(Selection(layer=2, sequence=0, position=5, entries=(0,)))
    writer.end_pass(["a"])
    writer.close()
    assert list(read_selections(path)) == [SelectionRow("a", 2, 5, ((0,),))]


def test_a_torn_last_line_is_left_out(tmp_path):
    path = tmp_path / "run.topk"
    writer = SelectionWriter(path, index_topk=2)
    writer.observe(Selection(layer=2, sequence=0, position=5, entries=(0,)))
    writer.end_pass(["a"])
    writer.observe(Selection(layer=2, sequence=0, position=6, entries=(0,)))
    writer.end_pass(["a"])
    writer.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    assert [row.start for row in read_selections(path)] == [5]


def test_another_file_a_newer_version_and_a_broken_line_are_refused(tmp_path):
    path = tmp_path / "run.topk"
    for content, words in (
        (b"", "does not begin"),
        (b"hello\n", "does not begin"),
        (b'{"format":"shadowviz-topk","version":2,"index_topk":2}\n', "version 2: expected shadowviz-topk up to 1"),
        (b'{"format":"shadowviz-topk","version":1,"index_topk":2}\n{"request":3}\n', "line 2 is no selection"),
    ):
        path.write_bytes(content)
        with pytest.raises(LogError, match=words):
            list(read_selections(path))


def test_a_sidecar_that_cannot_be_made_is_refused_before_anything_is_on_record(make_engine, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        make_engine(record="full", sidecar=str(tmp_path / "no" / "run.topk"))
