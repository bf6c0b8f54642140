"""Text made harmless to show: whatever could move the cursor, hide or reorder characters is written out."""

import unicodedata

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def inert(text: str) -> str:
    """`text` with control, format, private and unassigned characters, and all spaces but U+0020, as escapes.

    A backslash is doubled, so that what is shown has one reading.
    """
    return printable(text.replace("\\", "\\\\"))


def printable(text: str) -> str:
    """`text` as `inert` shows it, but for backslashes: for lines that already hold escapes."""
    # Python calls the very characters printable that are shown as they are.
    return text if text.isprintable() else "".join(map(_inert_character, text))


def inert_bytes(raw: bytes) -> str:
    """UTF-8 text as `inert` shows it; a byte that is no part of a character is `\\xNN`."""
    parts: list[str] = []
    while raw:
        try:
            parts.append(inert(raw.decode()))
            break
        except UnicodeDecodeError as error:
            parts.append(inert(raw[: error.start].decode()))
            parts.extend(f"\\x{byte:02x}" for byte in raw[error.start : error.end])
            raw = raw[error.end :]
    return "".join(parts)


def _inert_character(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    category = unicodedata.category(character)
    if category not in _HIDDEN and (category != "Zs" or character == " "):
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def shorten(text: str, limit: int = 200) -> str:
    """`text` printable and at most about `limit` characters long; what was left out is counted."""
    left_out = len(text) - limit
    return printable(text) if left_out <= 0 else f"{printable(text[:limit])}... ({left_out} more characters)"


def shown_number(value: float) -> str:
    """A number for an error line; an integer of absurd length, which Python refuses to write, by its bits."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length()} bits"
    return str(value)
