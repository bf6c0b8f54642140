"""Which byte each character of a decoded text begins at."""

import sys
from typing import Any, Final

import numpy as np

LONGEST: Final = 4
"""Bytes of the longest character."""
REPLACED: Final = 0xFFFD


def character_starts(text: str, raw: bytes) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Byte of `raw` at which each character of `text` begins.

    `text` is `raw` decoded as UTF-8, with U+FFFD for each longest stretch of bytes that could begin a character.
    """
    if len(text) == len(raw):
        return np.arange(len(text), dtype=np.int64)
    order = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
    points = np.frombuffer(text.encode(order), np.uint32)
    sizes = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    if int(sizes.sum()) != len(raw):
        sizes = _with_replaced(sizes, np.flatnonzero(points == REPLACED), raw)
    starts: np.ndarray[Any, np.dtype[np.int64]] = np.cumsum(sizes) - sizes
    return starts


def _with_replaced(sizes: Any, places: Any, raw: bytes) -> Any:
    """The sizes, where those of replaced characters are what they stand for."""
    sizes = sizes.copy()
    starts = (np.cumsum(sizes) - sizes)[places].tolist()
    moved = 0
    for place, start in zip(places.tolist(), starts, strict=True):
        size = _replaced_size(raw[start + moved : start + moved + LONGEST])
        moved += size - int(sizes[place])
        sizes[place] = size
    return sizes


def _replaced_size(piece: bytes) -> int:
    """Bytes that the first character of a piece takes when it is decoded to U+FFFD."""
    try:
        piece.decode()
    except UnicodeDecodeError as error:
        if error.start == 0:
            return error.end
    return len(chr(REPLACED).encode())
