"""The kinds of a sentencepiece model's pieces, which its library tells only in part."""

from collections.abc import Iterator
from typing import Final

UNKNOWN: Final = 2
CONTROL: Final = 3
USER_DEFINED: Final = 4
BYTE: Final = 6
_NORMAL: Final = 1
_BPE: Final = 2


def kinds_of(model: bytes) -> list[int]:
    """The kind of every piece, by id.

    Raises:
        ValueError: bytes that are no such message.

    Source: sentencepiece_model.proto: field 1 of a model repeats its pieces, and field 3 of a piece is its kind.
    """
    return [
        next((kind for number, kind in _fields(piece) if number == 3 and isinstance(kind, int)), _NORMAL)
        for number, piece in _fields(model)
        if number == 1 and isinstance(piece, bytes)
    ]


def merges_pairs(model: bytes) -> bool:
    """Whether the model is byte-pair encoding.

    Source: sentencepiece_model.proto: field 2 of a model says how it was trained, and field 3 of that the model's type.
    """
    return any(
        field == (3, _BPE)
        for number, training in _fields(model)
        if number == 2 and isinstance(training, bytes)
        for field in _fields(training)
    )


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Numbers and values of the fields of a protocol buffer, in order."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        match tag & 7:
            case 0:
                value, at = _varint(message, at)
                yield tag >> 3, value
                continue
            case 1:
                stop = at + 8
            case 2:
                length, at = _varint(message, at)
                stop = at + length
            case 5:
                stop = at + 4
            case other:
                raise ValueError(f"a field of wire type {other} at byte {at}")
        if stop > len(message):
            raise ValueError(f"a field that ends at byte {stop} of {len(message)}")
        yield tag >> 3, message[at:stop]
        at = stop


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(message[at : at + 10]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError(f"a number without an end at byte {at}")
