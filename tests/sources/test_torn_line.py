"""The end of a long line is looked for once in every byte, and found wherever it comes."""

import os
from pathlib import Path

import pytest
from tui_logs import chat_log

from shadowviz.sources.follow import Follower
from shadowviz.sources.log_file_view import LogFileView
from shadowviz.sources.states import LogState
from shadowviz.sources.torn_line import CHUNK_BYTES, TornLine
from shadowviz_engine.core.errors import LogError

LONG = 3 * CHUNK_BYTES


class Counting(LogFileView):
    """Counts the bytes that are read."""

    num_read = 0

    def read(self, start: int, length: int) -> bytes:
        data = super().read(start, length)
        self.num_read += len(data)
        return data


def test_no_byte_of_a_line_without_an_end_is_read_twice(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"x" * LONG)
    file, torn = Counting(path), TornLine()
    assert torn.may_end(file, 0, LONG), "nothing is known yet"
    torn.note(0, CHUNK_BYTES)
    for size in range(2 * CHUNK_BYTES, LONG + 1, CHUNK_BYTES // 4):
        assert not torn.may_end(file, 0, size)
    assert file.num_read == LONG - CHUNK_BYTES
    with path.open("ab") as more:
        more.write(b"y\n")
    assert torn.may_end(file, 0, LONG + 2)
    assert torn.may_end(file, 0, LONG - 1), "the file has become shorter"
    assert torn.may_end(file, 7, LONG + 2), "another line"
    file.close()


def test_a_long_last_line_that_comes_in_pieces_is_taken_once_it_is_whole(
    tmp_path: Path, demo_lines: list[bytes]
) -> None:
    path = tmp_path / "run.jsonl"
    *before, last = demo_lines
    long = last.rstrip(b"\n")[:-1] + b',"more":"' + b"z" * LONG + b'"}\n'
    path.write_bytes(b"".join(before))
    follower = Follower(path)
    head = follower.head
    for start in range(0, len(long), CHUNK_BYTES // 2):
        assert follower.poll().state is not LogState.BROKEN
        assert follower.head == head
        with path.open("ab") as file:
            file.write(long[start : start + CHUNK_BYTES // 2])
    follower.poll()
    assert follower.head == head + 1
    follower.close()


@pytest.fixture
def demo_lines(tmp_path: Path) -> list[bytes]:
    return chat_log(tmp_path / "chat.jsonl").read_bytes().splitlines(keepends=True)[:-1]


def test_a_file_that_the_system_cannot_read_any_more_is_told_and_ends_nothing(
    tmp_path: Path, demo_lines: list[bytes]
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(demo_lines))
    follower = Follower(path)
    assert follower._file is not None
    # A folder under the number of the file: reading it fails, as of a disk that does not answer.
    folder = os.open(tmp_path, os.O_RDONLY)
    os.dup2(folder, follower._file._file.fileno())
    os.close(folder)
    with pytest.raises(LogError, match=r"cannot read .*run\.jsonl: "):
        follower.event_at(1)
    follower.close()
