"""Texts and columns as the script of a page takes them: harmless, each once, numbers in typed arrays."""

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


def typed(values: NDArray[np.generic]) -> dict[str, str]:
    """A typed array as Plotly reads it: base64, little endian, with its shape."""
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    spec = {"dtype": little.dtype.str[1:], "bdata": base64.b64encode(little.tobytes()).decode()}
    return spec if values.ndim == 1 else {**spec, "shape": ", ".join(map(str, values.shape))}


def octets(values: Iterable[int]) -> str:
    """Small numbers, one byte each, as base64."""
    return base64.b64encode(bytes(values)).decode()
