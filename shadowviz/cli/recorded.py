"""Recorded runs as the commands want them: replayed, checked, with what is missing said on stderr."""

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from shadowviz.cli.show import number, write_note
from shadowviz.replay.counts import counted
from shadowviz.replay.derivation import Derivation, derivation
from shadowviz.replay.explain import Explainer, Explanation
from shadowviz.replay.placement import place_request
from shadowviz.replay.probe import probe
from shadowviz.sources.logfile import LogFile
from shadowviz.tokens.inert import shorten
from shadowviz.tokens.words import words_of
from shadowviz_engine.core.errors import InputError, LogError
from shadowviz_engine.core.events import LogClosed

if TYPE_CHECKING:
    from shadowviz_engine.core.geometry import Geometry
    from shadowviz_engine.core.spans import Extent

MAX_NAMES = 8
"""Requests that an error lists, and types that a note does."""


class Recorded:
    """A log replayed to its end.

    Raises:
        LogError: the log cannot be read or contradicts itself.
    """

    def __init__(self, path: str) -> None:
        self.log = LogFile(path)
        self.words = words_of(self.log.opened)
        self.explainer = Explainer(self.words)
        self.explanations: list[Explanation] = []
        try:
            for event in self.log.events():
                explanation = self.explainer.feed(event)
                if explanation is not None:
                    self.explanations.append(explanation)
                if isinstance(event, LogClosed):
                    self.explainer.state.check_closed(event)
        except LogError as error:
            text = str(error)
            raise LogError(text if text.startswith(str(self.log.path)) else f"{self.log.path}: {text}") from error
        tell_missing(self.log)

    def probe(self, prompt: "array[int]", namespace: str, name: str) -> Explanation:
        """What a prompt would reuse at the end of the run; changes nothing."""
        explainer = self.explainer
        lookup = probe(explainer.state, prompt, namespace, explainer.departures)
        return explainer.explain(msgspec.structs.replace(lookup, request=name), prompt, self.torn)

    @property
    def torn(self) -> str:
        """What is missing at the end of the record; empty where it is whole."""
        return self.log.summary.lost or ""

    @property
    def coverage(self) -> str:
        """How many requests were looked up, where some never were."""
        return coverage(len(self.explainer.state.requests.index), self.explanations)

    @property
    def gap(self) -> str:
        """Why the record does not say how every request was looked up; empty where it does."""
        return self.torn or self.coverage or ("" if self.explanations else "the record has no lookups")

    def of_request(self, request: str) -> list[Explanation]:
        """The lookups of one request.

        Raises:
            InputError: it has none.
        """
        found = [explanation for explanation in self.explanations if explanation.request == request]
        if not found:
            raise InputError(f"{self.log.path} has no lookup of request {request!r}: {self._known()}")
        return found

    def _known(self) -> str:
        names = list(dict.fromkeys(explanation.request for explanation in self.explanations))
        if not names:
            return "it has no lookups at all"
        return f"expected one of {', '.join(names[:MAX_NAMES])}{_others(names)}"


def tell_missing(log: LogFile) -> None:
    """Say on stderr what a record lacks, and what of it this version does not know."""
    summary = log.summary
    if summary.lost:
        write_note(f"shadowviz: {log.path}: {summary.lost}")
    if summary.unknown:
        total, kinds = sum(summary.unknown.values()), list(summary.unknown)
        named = ", ".join(shorten(kind, 40) for kind in kinds[:MAX_NAMES])
        types = "unknown types" if len(kinds) > 1 else "an unknown type"
        noted = f"passed over {counted(total, 'event')} of {types}"
        write_note(f"shadowviz: {log.path}: {noted}: {named}{_others(kinds)}")


def _others(names: Sequence[str]) -> str:
    """How many more there are than are named."""
    more = len(names) - MAX_NAMES
    return f" and {counted(more, 'other')}" if more > 0 else ""


def coverage(requests: int, explanations: Iterable[Explanation]) -> str:
    """How many of this number of requests were looked up; empty where all were."""
    looked_up = len({explanation.request for explanation in explanations})
    if looked_up >= requests:
        return ""
    verb = "was" if looked_up == 1 else "were"
    return f"{number(looked_up)} of {counted(requests, 'request')} {verb} looked up"


def placed_derivation(path: str, request: str, span: "Extent") -> "tuple[Geometry, Derivation]":
    """The derivation of a span of a recorded request, with pages and slots as they are at the end of the run.

    Raises:
        LogError: the log cannot be read or contradicts itself.
        InputError: the run has no such request, or the request fewer tokens.
    """
    recorded = Recorded(path)
    geometry = recorded.log.opened.geometry
    return geometry, derivation(geometry, span, place_request(recorded.explainer.state, request, span))
