"""Pixels of a PNG with eight bits a channel, read without any other package."""

import struct
import zlib


def read_png(data: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height, and the rows as RGBA or RGB bytes."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    assert (depth, interlaced) == (8, 0)
    at, packed = 8, b""
    while at < len(data):
        length = struct.unpack(">I", data[at : at + 4])[0]
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += length + 12
    size = {2: 3, 6: 4}[colours]
    raw, stride = zlib.decompress(packed), width * size
    rows: list[bytes] = []
    before = bytes(stride)
    for row in range(height):
        start = row * (stride + 1)
        before = _unfiltered(raw[start], raw[start + 1 : start + 1 + stride], before, size)
        rows.append(before)
    return width, height, rows


def _unfiltered(kind: int, line: bytes, above: bytes, size: int) -> bytes:
    done = bytearray(line)
    for place in range(len(line)):
        left = done[place - size] if place >= size else 0
        corner = above[place - size] if place >= size else 0
        up = above[place]
        guess = left + up - corner
        nearest = min((abs(guess - value), order, value) for order, value in enumerate((left, up, corner)))[2]
        done[place] = (done[place] + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
    return bytes(done)
