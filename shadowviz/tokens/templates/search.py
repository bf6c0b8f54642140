"""The search for what each stretch of a rendering came from, by rendering again with marks and without messages."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from time import monotonic
from typing import Any, Final

from shadowviz.tokens.templates.marks import PRIVATE, Alphabet, MarkError, Stretch, free_alphabet
from shadowviz.tokens.templates.process import template_process
from shadowviz.tokens.templates.segments import Found
from shadowviz.tokens.templates.sources import (
    Marker,
    find_sources,
    hidden_texts,
    marked_variables,
    piece_marker,
    unmarked,
    whole_marker,
)
from shadowviz_engine.core.errors import InputError

RENDER_S: Final = 5.0
"""How long a template may take for the text, and again for all that tells about it."""
MAX_PREFIXES: Final = 32
"""Longest conversation that is rendered message by message where nothing else tells where each begins."""


class Rendering:
    """The renderings of one conversation with one template: the true one, and those that tell about it.

    A marked rendering counts only where it is the true one but for its marks: templates test, trim and cut texts.

    Raises:
        InputError: the template cannot render the conversation.
    """

    def __init__(self, source: str, variables: Mapping[str, Any], now: datetime) -> None:
        self._request = {"source": source, "now": now.isoformat()}
        self._variables = variables
        self._process = template_process()
        answer = self._process.ask({**self._request, "variables": variables}, RENDER_S)
        self.text: Final[str] = answer["text"]
        self._literals: list[str] = answer["literals"]
        self._left = RENDER_S
        self._sources = find_sources(variables["messages"], variables["tools"] or ())

    def found(self) -> Found:
        """The text, and what can be known of it; where a further rendering fails, it tells nothing."""
        found = Found(self.text, self._sources, (), self._body_start(), self._prompt_start())
        alphabet = self._alphabet()
        if alphabet is not None:
            marks = next(self._marks(alphabet), None)
            if marks is not None:
                mark, stretches = marks
                found = replace(found, stretches=stretches, hidden=hidden_texts(self._sources, mark, alphabet))
        if any(self._sources[stretch.number].is_message for stretch in found.stretches):
            return found
        return self._with_prefixes(found)

    def _alphabet(self) -> Alphabet | None:
        texts = [self.text, self._request["source"], *(source.text or "" for source in self._sources)]
        return free_alphabet(texts, secrets.randbelow(len(PRIVATE)))

    def _marks(self, alphabet: Alphabet) -> Iterator[tuple[Marker, list[Stretch]]]:
        """Markers that leave the text as it is, from what tells most to what disturbs a template least."""
        whole, pieces = whole_marker(alphabet), piece_marker(alphabet, self._literals)
        for mark, marked in (
            (whole, "loops and json"),
            (pieces, "loops and json"),
            (whole, "loops"),
            (pieces, "loops"),
            (unmarked, "loops"),
            (pieces, "nothing"),
        ):
            if (stretches := self._stretches(alphabet, mark, marked)) is not None:
                yield mark, stretches

    def _stretches(self, alphabet: Alphabet, mark: Marker, marked: str) -> list[Stretch] | None:
        """The stretches of a marked rendering; None unless it is the true one but for its marks."""
        if self._left <= 0:
            return None
        variables = marked_variables(self._variables, self._sources, mark)
        objects = [[source.path, number] for number, source in enumerate(self._sources) if source.text is None]
        text = self._try(variables, {"letters": alphabet.letters, "objects": objects, "marked": marked})
        if text is None:
            return None
        try:
            text, stretches = alphabet.read(text)
        except MarkError:
            return None
        return stretches if text == self.text else None

    def _body_start(self) -> int:
        bos = self._variables.get("bos_token")
        return len(bos) if isinstance(bos, str) and self.text.startswith(bos) else 0

    def _prompt_start(self) -> int | None:
        if not self._variables["add_generation_prompt"]:
            return len(self.text)
        without = self._try({**self._variables, "add_generation_prompt": False})
        return len(without) if without is not None and self.text.startswith(without) else None

    def _with_prefixes(self, found: Found) -> Found:
        """With the messages between two places up to which a rendering of the first few is a prefix of the true one."""
        messages = self._variables["messages"]
        if len(messages) > MAX_PREFIXES:
            return found
        numbers = {source.message: number for number, source in enumerate(self._sources) if source.is_message}
        ends = [self._prefix(messages[:count]) for count in range(len(messages) + 1)]
        stretches = list(found.stretches)
        for index, (start, stop) in enumerate(pairwise(ends)):
            if start is not None and stop is not None and start < stop:
                stretches.append(Stretch(max(start, found.body_start), stop, numbers[index]))
        crosses = any(
            inner.start < outer.start < inner.stop or inner.start < outer.stop < inner.stop
            for outer in stretches[len(found.stretches) :]
            for inner in found.stretches
        )
        return found if crosses else replace(found, stretches=stretches)

    def _prefix(self, messages: Sequence[Any]) -> int | None:
        text = self._try({**self._variables, "messages": messages, "add_generation_prompt": False})
        return len(text) if text is not None and self.text.startswith(text) else None

    def _try(self, variables: Mapping[str, Any], marks: Mapping[str, Any] | None = None) -> str | None:
        """A further rendering; None where it fails, which with other values it may, or there is no time for it."""
        if self._left <= 0:
            return None
        start = monotonic()
        try:
            answer = self._process.ask({**self._request, "variables": variables, "marks": marks}, self._left)
        except InputError:
            return None
        finally:
            self._left -= monotonic() - start
        return str(answer["text"])
