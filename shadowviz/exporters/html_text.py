"""Texts and columns as the script of a page takes them: harmless, each once, small numbers as bytes."""

import base64
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shadowviz.tokens.inert import shorten

MAX_TEXT: Final = 400
"""Characters of one text."""


def harmless(text: str) -> str:
    """Printable and of bounded length. The script sets it as text, or escapes it for Plotly."""
    return text if len(text) <= MAX_TEXT and text.isprintable() else shorten(text, MAX_TEXT)


class Pool:
    """Texts by number: many nodes say the same."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.texts: list[str] = []

    def number(self, text: str) -> int:
        """Of a text; the pool keeps it harmless."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.texts)
            self.texts.append(harmless(text))
        return number

    def numbers(self, texts: Iterable[str]) -> list[int]:
        """Of several."""
        return [self.number(text) for text in texts]


def octets(values: Iterable[int] | NDArray[np.uint8]) -> str:
    """Numbers below 256, one byte each, as base64: a twentieth of what they take as a list."""
    raw = values.tobytes() if isinstance(values, np.ndarray) else bytes(values)
    return base64.b64encode(raw).decode()
