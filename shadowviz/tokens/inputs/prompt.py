"""A prompt as it was given: text, messages or ready ids, from wherever it came, before it is encoded."""

from array import array
from dataclasses import dataclass, field, replace
from enum import StrEnum

from shadowviz.tokens.side import Conversation


class Form(StrEnum):
    """What the content of an input is."""

    TEXT = "text"
    MESSAGES = "messages"
    IDS = "ids"


@dataclass(frozen=True)
class Prompt:
    """One prompt and where it came from; of `text`, `ids` and `conversation` the one that `form` names is given."""

    source: str
    """Where it came from, printable: `a.txt`, `stdin`, `run.jsonl#request-3`."""
    form: Form
    text: str = ""
    ids: "array[int]" = field(default_factory=lambda: array("q"))
    """Type code `q`."""
    conversation: Conversation | None = None
    vocabulary: str = ""
    """Fingerprint of the tokenizer that recorded ids are of; empty where nobody says."""
    redacted: str = ""
    """Record whose keyed hashes stand in place of the ids; empty where the ids are plain."""
    namespace: str = ""
    """Prompts of two namespaces share nothing in a cache."""
    given: bytes = b""
    """What was given, where that is not UTF-8 and so not `text`."""
    notes: tuple[str, ...] = ()
    """What reading it brought up, one printable line each."""

    def noting(self, *notes: str) -> "Prompt":
        """The same with more notes."""
        return replace(self, notes=(*self.notes, *notes))
