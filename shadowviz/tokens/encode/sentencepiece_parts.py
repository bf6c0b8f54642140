"""Where a long text can be cut for a sentencepiece model without any id changing."""

import re
from collections.abc import Sequence
from typing import Any, Final

from shadowviz.tokens.encode.cuts import PART
from shadowviz.tokens.encode.token_spelling import SPACE_MARK

_WORD_ENDS: Final = re.compile(r"[A-Za-z,.](?= \S)")
_CROSSES: Final = re.compile(f"[A-Za-z,.]{SPACE_MARK}")


def parts_for(text: str, model: Any) -> Sequence[str]:
    """The text in parts that have its ids together; none where this model does not allow that.

    A part begins behind a space, which the model puts before every text again. That is the whole text's ids where no
    piece goes on from a letter to a space, so that none can be made across the cut.
    """
    if model.normalize("b") != f"{SPACE_MARK}b" or model.normalize(" b  a ") != SPACE_MARK.join(
        ["", "", "b", "", "a", ""]
    ):
        return ()
    if any(_CROSSES.search(model.id_to_piece(token_id)) for token_id in range(model.get_piece_size())):
        return ()
    parts: list[str] = []
    start = 0
    while found := _WORD_ENDS.search(text, start + PART):
        parts.append(text[start : found.end()])
        start = found.end() + 1
    parts.append(text[start:])
    return parts
