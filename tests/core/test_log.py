"""Logs in a file: written whole, read as far as they go, refused in one line."""

import json
import os
import threading
from io import BytesIO
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowviz_engine.core import log_lines, log_reader
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import Event, LogClosed, LogOpened, PathEnded
from shadowviz_engine.core.log import FileSink
from shadowviz_engine.core.log_lines import UnknownEvent, decode_block, decode_line
from shadowviz_engine.core.log_reader import read_log
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.sinks import Emitter

STORED = Path(__file__).parents[2] / "fixtures" / "logs" / "schema-1.jsonl"
OPENED = LogOpened(seq=0, t_ns=0, schema=1, geometry=preset("recall"))


def ended(seq: int, node: int = 1) -> PathEnded:
    return PathEnded(seq=seq, t_ns=seq, node=node)


def written(path: Path, *events: Event) -> Path:
    sink = FileSink(path, overwrite=True)
    for event in events:
        sink.emit(event)
    sink.close()
    return path


def log_of(tmp_path: Path, *lines: str | bytes) -> Path:
    """A log whose first line is sound, then `lines` as they are."""
    path = tmp_path / "log.jsonl"
    encoded = [line if isinstance(line, bytes) else line.encode() + b"\n" for line in lines]
    path.write_bytes(b"".join([msgspec.json.encode(OPENED), b"\n", *encoded]))
    return path


def test_what_was_written_is_read_again_however_often_it_was_flushed(tmp_path: Path) -> None:
    events = [OPENED, *(ended(seq, seq + 5) for seq in range(1, 9)), LogClosed(seq=9, t_ns=9, count=9, digest="x")]
    for every in (1, 3, 100):
        path = tmp_path / f"{every}.jsonl"
        sink = FileSink(path)
        for event in events:
            sink.emit(event)
            if event.seq % every == 0:
                sink.flush()
        sink.close()
        sink.close()
        reader = read_log(path)
        assert list(reader) == events
        assert (reader.summary.complete, reader.summary.lost, reader.summary.num_events) == (True, None, 10)
        assert reader.summary.closed == events[-1]


def test_events_are_in_the_file_after_a_flush_and_when_an_emitter_has_passed_many(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "log.jsonl")
    sink.emit(OPENED)
    assert sink.path.read_bytes() == b""
    sink.flush()
    assert sink.path.read_bytes().count(b"\n") == 1
    sink.close()
    path = tmp_path / "many.jsonl"
    emitter = Emitter(FileSink(path), lambda: 0)
    emitter.next()
    emitter.emit(OPENED)
    for _ in range(10_000):
        seq, _ = emitter.next()
        emitter.emit(ended(seq))
    assert 10_000 - 4_096 <= path.read_bytes().count(b"\n") < 10_000
    emitter.close()
    assert path.read_bytes().count(b"\n") == 10_001


def test_a_log_that_is_not_empty_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", OPENED, ended(1))
    before = path.read_bytes()
    with pytest.raises(LogError, match="is not empty: choose another file, or ask to overwrite it"):
        FileSink(path)
    assert path.read_bytes() == before
    written(path, OPENED)
    assert [e.seq for e in read_log(path)] == [0]


def test_what_was_in_the_file_stays_until_the_first_line_is_written(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", OPENED, ended(1))
    before = path.read_bytes()
    sink = FileSink(path, overwrite=True)
    sink.emit(OPENED)
    assert path.read_bytes() == before
    sink.flush()
    assert path.read_bytes() == before[: before.index(b"\n") + 1]
    sink.close()


def test_a_discarded_sink_leaves_the_file_as_it_found_it(tmp_path: Path) -> None:
    path = written(tmp_path / "log.jsonl", OPENED, ended(1))
    before = path.read_bytes()
    for place in (path, tmp_path / "other.jsonl"):
        sink = FileSink(place, overwrite=True)
        sink.emit(OPENED)
        sink.discard()
        sink.close()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_two_runs_never_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    sink = FileSink(path)
    with pytest.raises(LogError, match="is being written by another run"):
        FileSink(path, overwrite=True)
    sink.emit(OPENED)
    sink.close()
    assert [e.seq for e in read_log(path)] == [0]
    FileSink(path, overwrite=True).close()


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with pytest.raises(LogError, match=r"cannot write .*: Illegal seek"):
        FileSink(f"/dev/fd/{writer}")
    os.close(reader)
    os.close(writer)


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"cannot write .*none/log.jsonl: No such file"):
        FileSink(tmp_path / "none" / "log.jsonl")


def test_a_name_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(LogError, match="names no file"):
        read_log("a\0b")
    with pytest.raises(LogError, match="cannot write"):
        FileSink("a\0b")


def test_an_event_after_closing_is_refused(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "log.jsonl")
    sink.emit(OPENED)
    sink.close()
    sink.emit(ended(1))
    with pytest.raises(LogError, match="is closed: event 1 comes too late"):
        sink.flush()
    sink.close()


def test_a_missing_event_ends_the_file_before_the_hole(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    sink = FileSink(path)
    for event in (OPENED, ended(1), ended(3)):
        sink.emit(event)
    with pytest.raises(LogError, match="ends at seq 1: event 3 came next"):
        sink.close()
    assert [e.seq for e in read_log(path)] == [0, 1]


class Interrupting:
    """A file that lets half of a write through and is interrupted then, once."""

    def __init__(self, file: object, where: str) -> None:
        self.file, self.where = file, where

    def __getattr__(self, name: str) -> object:
        return getattr(self.file, name)

    def write(self, data: memoryview) -> int:
        if self.where == "before":
            self.where = ""
            raise KeyboardInterrupt
        if self.where == "within":
            self.where = "before"
            return self.file.write(data[: len(data) // 2])
        if self.where == "after":
            self.where = ""
            self.file.write(data)
            raise KeyboardInterrupt
        return self.file.write(data)


@pytest.mark.parametrize("where", ["before", "within", "after"])
def test_an_interrupt_while_writing_leaves_whole_lines_and_the_next_flush_goes_on(tmp_path: Path, where: str) -> None:
    path = tmp_path / "log.jsonl"
    sink = FileSink(path)
    sink.emit(OPENED)
    sink.flush()
    sink._file = Interrupting(sink._file, where)
    sink.emit(ended(1))
    sink.emit(ended(2))
    with pytest.raises(KeyboardInterrupt):
        sink.flush()
    assert [e.seq for e in read_log(path)] == [0]
    sink.emit(ended(3))
    sink.close()
    assert [e.seq for e in read_log(path)] == [0, 1, 2, 3]


def test_an_interrupt_before_written_events_are_forgotten_does_not_write_them_twice(tmp_path: Path) -> None:
    sink = FileSink(tmp_path / "log.jsonl")
    events = [OPENED, ended(1)]
    for event in events:
        sink.emit(event)
    sink.flush()
    sink._pending[:] = events
    sink.emit(ended(2))
    sink.close()
    assert [e.seq for e in read_log(sink.path)] == [0, 1, 2]


def test_a_full_disk_is_one_line_and_keeps_whole_lines(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    path = tmp_path / "log.jsonl"
    sink = FileSink(path)
    sink.emit(OPENED)
    sink.flush()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, limits[1]))
    try:
        sink.emit(ended(1))
        with pytest.raises(LogError, match=r"cannot write .*log.jsonl: File too large"):
            sink.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert [e.seq for e in read_log(path)] == [0]


@given(cut=st.integers(0, STORED.stat().st_size))
def test_a_log_cut_at_any_byte_opens_and_says_what_is_lost(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    data = STORED.read_bytes()
    path = tmp_path_factory.getbasetemp() / "cut.jsonl"
    path.write_bytes(data[:cut])
    whole = list(read_log(STORED))
    first_line = data.index(b"\n")
    if cut < first_line:
        with pytest.raises(LogError, match=r"is empty: expected a log|ends inside line 1: nothing of it can be read"):
            read_log(path)
        return
    reader = read_log(path)
    events = list(reader)
    # A line is whole when only its line feed is missing.
    num_whole = data[:cut].count(b"\n") + (data[cut : cut + 1] == b"\n")
    assert events == whole[:num_whole]
    if num_whole == len(whole):
        assert reader.summary.complete
        assert reader.summary.lost is None
    else:
        assert not reader.summary.complete
        torn = data[:cut].rpartition(b"\n")[2] != b"" and data[cut : cut + 1] != b"\n"
        expected = f"inside line {num_whole + 1}: the event with seq {num_whole}" if torn else f"seq {num_whole - 1}"
        assert expected in (reader.summary.lost or "")


def test_an_unknown_type_is_kept_with_its_line_and_counted(tmp_path: Path) -> None:
    line = '{"type":"PageMoved","seq":1,"t_ns":5,"page":3}'
    path = log_of(tmp_path, line, '{"type":"PathEnded","seq":2,"t_ns":6,"node":1}')
    reader = read_log(path)
    assert reader.summary.unknown == {"PageMoved": 1}
    assert list(reader)[1] == UnknownEvent(seq=1, t_ns=5, kind="PageMoved", raw=line.encode())


def test_a_field_that_this_version_does_not_know_is_passed_over(tmp_path: Path) -> None:
    path = log_of(tmp_path, '{"type":"PathEnded","seq":1,"t_ns":6,"node":1,"colour":"red"}')
    assert list(read_log(path))[1] == PathEnded(seq=1, t_ns=6, node=1)


DEEP = "[" * 100_000
PATH_ENDED = '{"type":"PathEnded","seq":%s,"t_ns":1,"node":1}'


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([PATH_ENDED % 2], "line 2: seq 2 where 1 was expected"),
        ([PATH_ENDED % 1, PATH_ENDED % 1], "line 3: seq 1 where 2 was expected"),
        (['{"type":"LogClosed","seq":1,"t_ns":1,"count":3,"digest":""}'], "line 2: LogClosed counts 3 events"),
        (['{"type":"LogClosed","seq":1,"t_ns":1,"count":1,"digest":""}', PATH_ENDED % 2], "line 3: something follows"),
        ([msgspec.json.encode(msgspec.structs.replace(OPENED, seq=1)).decode()], "line 2: a second LogOpened"),
        ([PATH_ENDED % '"1"'], "line 2: no event: Expected `int`, got `str`"),
        (['{"type":"PathEnded","seq":1,"t_ns":1}'], "line 2: no event: .*missing required field `node`"),
        (['{"type":"RequestSubmitted","seq":1,"t_ns":1,"request":"a","tokens":"%%"}'], "line 2: no event"),
        (['{"seq":1,"t_ns":1}'], "line 2: no event: .*missing required field `type`"),
        ([""], "line 2: no event"),
        (["[1,2]"], "line 2: no event: Expected `object`, got `array`"),
        (["hello"], "line 2: no event: JSON is malformed"),
        ([b"hello"], "line 2: no event: JSON is malformed"),
        ([b'{"type":"Path\xff"}\n'], "line 2: no event"),
        ([b"\x00\x01\x02\n"], "line 2: no event"),
        (['{"type":"Deep","seq":1,"t_ns":1,"x":' + DEEP], "line 2: no event"),
        ([PATH_ENDED % ("9" * 5000)], "line 2: "),
    ],
)
def test_a_line_that_is_no_event_is_one_error_that_names_it(tmp_path: Path, lines: list[str], found: str) -> None:
    path = log_of(tmp_path, *lines)
    with pytest.raises(LogError, match=found) as error:
        list(read_log(path))
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "is empty: expected a log"),
        (b"\n", "line 1 is not a JSON object with a type"),
        (b"hello", "line 1 is not a JSON object with a type"),
        (b"\x7fELF\x02\x01" + bytes(range(256)) * 20, "line 1 is not a JSON object with a type"),
        (DEEP.encode(), "line 1 is not a JSON object with a type"),
        (b'{"type":' + DEEP.encode() + b"\n", "line 1 is not a JSON object with a type"),
        (b'{"name":"other"}\n', "line 1 is not a JSON object with a type"),
        (b'{"type":"PathEnded","seq":0,"t_ns":1,"node":1}\n', "begins with 'PathEnded', expected LogOpened"),
        (b'{"type":"LogOpened","seq":0,"t_ns":0,"schema":0}\n', "has schema 0, this version reads 1 to 1"),
        (
            b'{"type":"LogOpened","seq":0,"t_ns":0,"schema":1}\n',
            "line 1: no event: .*missing required field",
        ),
        (b'{"type":"LogOpened","seq":0,"t_ns":0,"sche', "ends inside line 1: nothing of it can be read"),
    ],
)
def test_a_file_that_is_no_log_is_one_error(tmp_path: Path, data: bytes, found: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(data)
    with pytest.raises(LogError, match=found) as error:
        read_log(path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_a_geometry_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    fields = json.loads(msgspec.json.encode(OPENED))
    fields["geometry"]["page_size"] = 10
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(fields) + "\n")
    with pytest.raises(LogError, match="line 1: no event: page_size 10 splits a window"):
        read_log(path)


def test_a_line_longer_than_any_event_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log_of(tmp_path, '{"type":"PathEnded","seq":1' + " " * 5000)
    monkeypatch.setattr(log_lines, "MAX_LINE_BYTES", 4096)
    with pytest.raises(LogError, match="line 2: longer than 4096 bytes"):
        list(read_log(path))


LINES = STORED.read_bytes().splitlines(keepends=True)[1:40]
pieces = st.one_of(
    st.sampled_from(LINES),
    st.sampled_from([line[:-1] for line in LINES]),
    st.sampled_from([line[: len(line) // 2] for line in LINES] + [line.replace(b",", b",\n", 1) for line in LINES]),
    st.sampled_from(
        [b"\n", b" ", b"\r\n", b"\r", b"{}\n", b"}\n{", b"null\n", b"\0", b'{"type":"New","seq":1,"t_ns":1}\n']
    ),
)


@given(st.lists(pieces, max_size=8).map(b"".join))
def test_a_block_is_decoded_only_into_what_its_lines_give_alone(block: bytes) -> None:
    events = decode_block(block)
    alone = []
    try:
        for number, line in enumerate(BytesIO(block), 1):
            alone.append(decode_line(Path("x"), number, line))
    except LogError:
        alone = None
    if events is not None:
        assert events == alone
    elif alone and block.endswith(b"}\n"):
        # What is refused as a block is read line by line: nothing but spaces, unknown types and the like may be.
        assert b"\r" in block or b" " in block or any(type(event) is UnknownEvent for event in alone)


def test_lines_longer_than_a_block_and_events_in_any_block_are_read(tmp_path: Path) -> None:
    long = b'{"type":"PathEnded","seq":%d,"t_ns":1,"node":1,"note":"' + b"x" * 3 * log_lines.BLOCK_BYTES + b'"}\n'
    lines = [(PATH_ENDED % seq).encode() + b"\n" if seq % 1000 else long % seq for seq in range(1, 3001)]
    lines[1500] = lines[1500].replace(b"PathEnded", b"PathBegun")
    lines[1700] = lines[1700].replace(b"}", b" } ")
    events = list(read_log(log_of(tmp_path, *lines)))
    assert [event.seq for event in events] == list(range(3001))
    assert [event.seq for event in events if type(event) is UnknownEvent] == [1501]
    lines[2500] = lines[2501]
    reader = iter(read_log(log_of(tmp_path, *lines)))
    assert [next(reader).seq for _ in range(2501)] == list(range(2501))
    with pytest.raises(LogError, match="line 2502: seq 2502 where 2501 was expected"):
        next(reader)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"cannot read .*none.jsonl: No such file or directory"):
        read_log(tmp_path / "none.jsonl")
    with pytest.raises(LogError, match="is not a regular file: expected a log"):
        read_log(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    errors: list[LogError] = []

    def read() -> None:
        try:
            read_log(tmp_path / "pipe")
        except LogError as error:
            errors.append(error)

    # Opening a pipe for reading would wait for ever, so a thread that is left behind shows it.
    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    reading.join(timeout=30)
    assert [str(error) for error in errors] == [f"{tmp_path / 'pipe'} is not a regular file: expected a log"]


def test_an_event_is_found_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = [OPENED, *(ended(seq, seq + 5) for seq in range(1, 40)), LogClosed(seq=40, t_ns=9, count=40, digest="x")]
    path = written(tmp_path / "log.jsonl", *events)
    for block_bytes in (1, 100, 700, 32 * 1024):
        monkeypatch.setattr(log_reader, "INDEXED_BYTES", block_bytes)
        reader = read_log(path)
        assert [reader.event_at(seq) for seq in range(41)] == events
    path.write_bytes(path.read_bytes().replace(b'"seq":30,', b'"seq":31,'))
    with pytest.raises(LogError, match="line 31: the event with seq 30 is not there any more"):
        reader.event_at(30)
    written(path, OPENED)
    with pytest.raises(LogError, match="line 31: "):
        reader.event_at(30)
