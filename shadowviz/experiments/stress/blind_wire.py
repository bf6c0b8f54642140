"""What a blind run sends over a pipe: lines of JSON, and behind some of them the bytes of arrays."""

from __future__ import annotations

from typing import IO, TypeAlias

import msgspec
import numpy as np
import torch
from torch import Tensor

from shadowviz_engine.model.step import Ints
from shadowviz_engine.model.trace import Stage, Traced

MAX_LINE = 1 << 16
MAX_BYTES = 1 << 31
"""Bytes of one array."""


class Go(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Asks for one run; answered by `Rows` and `Logits`, then `Done`."""

    subject: str
    seed: int
    mode: str
    length: int


class Rows(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What one layer did; sequence rows, columns if there are any, and float32 values follow as bytes."""

    stage: str
    kind: str
    layer: int
    columns: int
    """-1 = none."""
    shape: tuple[int, ...]


class Logits(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Logits from a position on; they follow as bytes."""

    start: int
    shape: tuple[int, int]


class Done(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The run is over, and a verdict is waited for."""

    reused: int
    stop: int
    error: str = ""
    books: str = ""
    """What the cache's invariants say of a scene, where they do not hold."""
    refused: str = ""
    """Why the engine would not go on with a scene, where it would not."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What the checker says; answered by `Truth` of `fault_verdicts`, which nobody learns before."""

    differs: bool
    kind: str
    layer: int
    row: int


Message: TypeAlias = Go | Rows | Logits | Done | Verdict

_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


def send(stream: IO[bytes], message: msgspec.Struct) -> None:
    """One line."""
    stream.write(_ENCODER.encode(message) + b"\n")


def send_rows(stream: IO[bytes], traced: Traced) -> None:
    """What a layer did, with its numbers."""
    columns = -1 if traced.columns is None else traced.columns.shape[1]
    shape = tuple(traced.values.shape)
    send(stream, Rows(stage=traced.stage, kind=traced.kind, layer=traced.layer, columns=columns, shape=shape))
    _send_ints(stream, traced.rows)
    if traced.columns is not None:
        _send_ints(stream, traced.columns)
    _send_floats(stream, traced.values)


def send_logits(stream: IO[bytes], start: int, logits: Tensor) -> None:
    """Logits, with their numbers."""
    send(stream, Logits(start=start, shape=(logits.shape[0], logits.shape[1])))
    _send_floats(stream, logits)


def receive(stream: IO[bytes]) -> Message | None:
    """The next message; None where the other process has ended.

    Raises:
        msgspec.DecodeError: a line that is no message.
    """
    line = stream.readline(MAX_LINE)
    return _DECODER.decode(line) if line else None


def receive_rows(stream: IO[bytes], head: Rows) -> Traced:
    """What follows `head`."""
    rows = _ints(stream, (head.shape[0],))
    columns = None if head.columns < 0 else _ints(stream, (head.shape[0], head.columns))
    values = receive_floats(stream, head.shape)
    return Traced(Stage(head.stage), head.kind, head.layer, np.zeros(len(rows), np.int64), rows, columns, values)


def receive_floats(stream: IO[bytes], shape: tuple[int, ...]) -> Tensor:
    """Float32 numbers of a shape."""
    return (
        torch.frombuffer(_bytes(stream, shape, 4), dtype=torch.float32).view(shape)
        if 0 not in shape
        else (torch.zeros(shape))
    )


def _send_ints(stream: IO[bytes], values: Ints) -> None:
    stream.write(np.ascontiguousarray(values, np.int64).tobytes())


def _send_floats(stream: IO[bytes], values: Tensor) -> None:
    stream.write(values.detach().float().cpu().contiguous().numpy().tobytes())


def _ints(stream: IO[bytes], shape: tuple[int, ...]) -> Ints:
    return np.frombuffer(_bytes(stream, shape, 8), np.int64).reshape(shape)


def _bytes(stream: IO[bytes], shape: tuple[int, ...], size: int) -> bytearray:
    count = size
    for length in shape:
        count *= length
    if not 0 <= count <= MAX_BYTES:
        raise msgspec.ValidationError(f"an array of shape {shape} is larger than {MAX_BYTES} bytes")
    found = bytearray(count)
    view = memoryview(found)
    while view:
        read = stream.readinto(view)  # type: ignore[attr-defined]
        if not read:
            raise msgspec.ValidationError("the other process ended in the middle of an array")
        view = view[read:]
    return found
