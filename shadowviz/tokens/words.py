"""Token ids as text and causes, for the views that read events and know no tokenizer."""

from collections.abc import Sequence

from shadowviz.tokens.causes.windows import cause_of_windows
from shadowviz.tokens.encode.tokenizer import Tokenizer, default_tokenizer
from shadowviz.tokens.finding import Cause
from shadowviz.tokens.inert import inert
from shadowviz_engine.core.events import LogOpened


class TokenWords:
    """Reads the ids of a tokenizer's vocabulary."""

    readable = True

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def text(self, ids: Sequence[int]) -> str:
        """Text of the ids, safe to show."""
        if len(ids) == 1:
            # Alone a token may be part of a character, which only its bytes can show.
            return self._tokenizer.token_text(ids[0])
        return inert(self._tokenizer.decode(ids))

    def cause(self, prompt: Sequence[int], stored: Sequence[int]) -> str:
        """Why two stretches differ."""
        return cause_of_windows(self._tokenizer, prompt, stored)


class IdWords:
    """Cannot read the ids: they are redacted, or of a vocabulary that is not known here."""

    readable = False

    def text(self, ids: Sequence[int]) -> str:
        """The ids as they are."""
        return " ".join(map(str, ids))

    def cause(self, prompt: Sequence[int], stored: Sequence[int]) -> str:  # noqa: ARG002
        """Never known."""
        return Cause.UNKNOWN


def words_of(opened: LogOpened) -> TokenWords | IdWords:
    """A reader of the ids of a log: as text only when they are of the tokenizer at hand."""
    if opened.redacted or not opened.tokenizer_fingerprint:
        return IdWords()
    tokenizer = default_tokenizer()
    return TokenWords(tokenizer) if tokenizer.fingerprint == opened.tokenizer_fingerprint else IdWords()
