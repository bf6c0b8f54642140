"""A request inside the cache: its tokens, the slots it holds beside the tree's, and its lock."""

from array import array
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from shadowviz_engine.cache.radix import TOKEN_BYTES, Node
from shadowviz_engine.core.events import SlotRun


class Shortage(msgspec.Struct, frozen=True):
    """A pool that cannot give what a request needs at this moment."""

    pool: str
    needed_pages: int
    free_pages: int


class Sequence:
    """Tokens of a running request and where their state lies."""

    def __init__(self, request: str, namespace: str, ids: "array[int]") -> None:
        self.request = request
        self.namespace = namespace
        self.prompt_key = ids.tobytes()
        self.num_prompt = len(ids)
        self._output = bytearray()
        self.reused = 0
        self.computed = 0
        self.stored = 0
        """Tokens of this request's path that lie in the tree."""
        self.reserved = 0
        """Tokens that have a slot, whether computed or not."""
        self.forks: tuple[int, ...] = ()
        """Lengths at which its path forks, as far as the policy keeps window rows for them."""
        self.lock_node: Node | None = None
        self.full: list[SlotRun] = []
        """Runs of the full pool that the request itself owns."""
        self.swa: list[SlotRun] = []
        self._slots: npt.NDArray[np.int64] = _NONE
        self._placed: list[SlotRun] = []

    def key(self, stop: int) -> bytes:
        """Key of the first `stop` tokens, prompt and output."""
        if stop == self.num_prompt:
            return self.prompt_key
        return (self.prompt_key + bytes(self._output))[: stop * TOKEN_BYTES]

    @property
    def slots(self) -> npt.NDArray[np.int64]:
        """Full slot of every token that has one, `[reserved]`."""
        if self._placed:
            if self.reserved > len(self._slots):
                grown = np.zeros(max(self.reserved, 2 * len(self._slots)), dtype=np.int64)
                grown[: len(self._slots)] = self._slots
                self._slots = grown
            for run in self._placed:
                self._slots[run.start : run.stop] = np.arange(run.slot, run.slot + run.stop - run.start)
            self._placed.clear()
        return self._slots[: self.reserved]

    def append(self, token: int) -> None:
        """A generated token joins the sequence."""
        self._output += token.to_bytes(TOKEN_BYTES, _NATIVE, signed=True)

    def place(self, runs: list[SlotRun]) -> None:
        """Note the full slots of the tokens in sorted `runs`; later ones win."""
        if runs:
            self._placed += runs
            self.reserved = max(self.reserved, runs[-1].stop)


_NONE: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
_NATIVE: Literal["little", "big"] = "little" if array("H", [1]).tobytes() == b"\x01\x00" else "big"
