"""Words of token ids that are there when the tokenizer is: until then ids are numbers, and nobody waits."""

from collections.abc import Sequence
from threading import Thread

from shadowviz.replay.nearest import Words
from shadowviz_engine.core.events import LogOpened


class LateWords:
    """Reads the ids of a log; the tokenizer loads beside the interface, since the first frame may not wait for it."""

    def __init__(self, opened: LogOpened) -> None:
        self._words: Words | None = None
        self.readable = False
        """Whether the ids have a text; not before it is loaded."""
        self._opened = opened
        self._thread = Thread(target=self._load, daemon=True)
        self._thread.start()

    def _load(self) -> None:
        from shadowviz.tokens.words import words_of

        words = words_of(self._opened)
        self.readable = words.readable
        self._words = words

    @property
    def loaded(self) -> bool:
        """Whether the ids can be read, or it is known that they cannot."""
        return self._words is not None

    def wait(self) -> None:
        """Until it is loaded."""
        self._thread.join()

    def text(self, ids: Sequence[int]) -> str:
        """What the ids stand for, safe to show; the ids themselves as long as no more is known."""
        return " ".join(map(str, ids)) if self._words is None else self._words.text(ids)

    def cause(self, prompt: Sequence[int], stored: Sequence[int]) -> str:
        """Why two stretches differ."""
        return "UNKNOWN" if self._words is None else self._words.cause(prompt, stored)
