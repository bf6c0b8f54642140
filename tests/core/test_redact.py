"""Redacted logs: hashes for ids, no texts, the same tree."""

from pathlib import Path

import pytest

from shadowviz_engine.core import redact
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import Event, LogClosed, LogOpened, RequestFinished, RequestSubmitted
from shadowviz_engine.core.log import FileSink
from shadowviz_engine.core.log_reader import read_log
from shadowviz_engine.core.redact import RedactingSink
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.sinks import MemorySink
from shadowviz_engine.core.snapshot import pack_ids, unpack_ids

STORED = Path(__file__).parents[2] / "fixtures" / "logs" / "schema-1.jsonl"


def submitted(seq: int, ids: list[int]) -> RequestSubmitted:
    return RequestSubmitted(seq=seq, t_ns=0, request=f"r{seq}", tokens=pack_ids(ids), text="secret")


def redacted(key: bytes, *events: Event) -> tuple[Event, ...]:
    memory = MemorySink()
    sink = RedactingSink(memory, key)
    for event in events:
        sink.emit(event)
    return memory.events


def ids_of(event: Event) -> list[int]:
    assert isinstance(event, RequestSubmitted | RequestFinished)
    return list(unpack_ids(event.tokens))


def test_equal_ids_stay_equal_and_different_ids_stay_different() -> None:
    finished = RequestFinished(seq=1, t_ns=0, request="r0", reason="stop", tokens=pack_ids([9, 5]))
    first, second = redacted(b"key", submitted(0, [5, 6, 5, -1]), finished)
    five, six, again, minus = ids_of(first)
    assert five == again
    assert len({five, six, minus}) == 3
    assert ids_of(second)[1] == five
    assert all(0 <= id_ < 2**31 for id_ in (five, six, minus))
    assert {five, six, minus}.isdisjoint({5, 6, -1})


def test_another_key_gives_other_hashes_and_the_same_key_the_same() -> None:
    one, same, other = (redacted(key, submitted(0, [5, 6]))[0] for key in (b"key", b"key", b"other"))
    assert ids_of(one) == ids_of(same)
    assert ids_of(one) != ids_of(other)


def test_ids_whose_hashes_collide_stay_different(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redact, "keyed_hash", lambda key, token, attempt: token % 2 + 2 * attempt)
    (event,) = redacted(b"key", submitted(0, [10, 12, 14, 11, 10, 14]))
    assert ids_of(event) == [0, 2, 4, 1, 0, 4]


def test_text_is_left_out_and_the_log_says_that_it_is_redacted() -> None:
    stored = list(read_log(STORED))
    events = redacted(b"key", *stored)
    assert [type(e) for e in events] == [type(e) for e in stored]
    assert [e.text for e in events if isinstance(e, RequestSubmitted)] == [None, None, None]
    assert isinstance(events[0], LogOpened)
    assert events[0].redacted
    assert isinstance(events[-1], LogClosed)
    assert events[-1].digest == ""


def test_a_redacted_log_replays_to_the_same_tree_with_hashes_for_ids(tmp_path: Path) -> None:
    path = tmp_path / "redacted.jsonl"
    sink = RedactingSink(FileSink(path), b"key")
    plain, hidden = Replayer(), Replayer()
    for event in read_log(STORED):
        plain.apply(event)
        sink.emit(event)
        sink.flush()
    sink.close()
    reader = read_log(path)
    for event in reader:
        hidden.apply(event)
    assert reader.summary.redacted
    assert isinstance(event, LogClosed)
    hidden.check_closed(event)
    shown = [(n.node, n.parent, n.start, n.stop, n.locks, n.full, n.swa) for n in plain.node_states()]
    assert [(n.node, n.parent, n.start, n.stop, n.locks, n.full, n.swa) for n in hidden.node_states()] == shown
    for left, right in zip(plain.node_states(), hidden.node_states(), strict=True):
        assert left.tokens != right.tokens
        assert len(left.tokens) == len(right.tokens)
    assert list(hidden.holder_states()) == list(plain.holder_states())


@pytest.mark.parametrize("key", [b"", b"x" * 65])
def test_a_key_that_hashes_cannot_use_is_refused(key: bytes) -> None:
    with pytest.raises(InputError, match=f"has {len(key)} bytes: expected 1 to 64"):
        RedactingSink(MemorySink(), key)
