"""The letters that byte-level vocabularies write bytes with."""

from collections.abc import Mapping
from functools import cache


@cache
def byte_of_letter() -> Mapping[str, int]:
    """The byte behind each letter of a byte-level vocabulary: itself if printable, the others from U+0100 on."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in shown}
    hidden = (byte for byte in range(0x100) if byte not in set(shown))
    return table | {chr(0x100 + place): byte for place, byte in enumerate(hidden)}


@cache
def _letter_of_byte() -> str:
    table = {byte: letter for letter, byte in byte_of_letter().items()}
    return "".join(table[byte] for byte in range(0x100))


def in_letters(raw: bytes) -> str:
    """Bytes as a byte-level vocabulary writes them."""
    letters = _letter_of_byte()
    return "".join(letters[byte] for byte in raw)


def from_letters(written: str) -> bytes:
    """The bytes that letters stand for; text with any other character stands for its own UTF-8."""
    table = byte_of_letter()
    try:
        return bytes(table[letter] for letter in written)
    except KeyError:
        return written.encode(errors="surrogatepass")
