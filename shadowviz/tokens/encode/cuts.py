"""Places where a long text can be cut without any id changing.

Libraries take far more than a hundred times as long for a text of a hundred times the length, and use one core for it.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from shadowviz.tokens.encode import split_patterns as known

PART: Final = 2**15
"""Characters from which on a part ends at the next sure place."""
# No expression in `KNOWN` has a branch that goes on from a letter to a space, a line feed or one of these marks, and
# none looks back; so a token ends there, whatever stands around it, and either part is split as the whole is.
SURE: Final = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿА-Яа-я一-龥가-힣](?=[ \n，。！？、；：])")
KNOWN: Final = frozenset(
    {known.GPT2, known.CL100K, known.QWEN, known.QWEN3_5, known.O200K, known.TEKKEN, *known.DEEPSEEK_V3}
)
_COMPOSING: Final = frozenset({"NFC", "NFD", "NFKC", "NFKD"})


def parts_of(text: str) -> Iterator[str]:
    """The text in parts that end where it surely may be cut; whole where there is no such place."""
    start = 0
    while start < len(text):
        found = SURE.search(text, start + PART)
        stop = found.end() if found else len(text)
        yield text[start:stop]
        start = stop


def may_be_cut(pre_tokenizer: Any, normaliser: Any, added: Mapping[int, Any]) -> bool:
    """Whether `parts_of` holds for a tokenizer.

    Args:
        pre_tokenizer, normaliser: as in a tokenizer.json.
        added: added tokens by id, as the library gives them.
    """
    return (
        _splits_as_known(pre_tokenizer)
        and all(step.get("type") in _COMPOSING for step in _flat(normaliser, "normalizers"))
        and not any(
            token.lstrip or token.rstrip or token.single_word or SURE.search(token.content) for token in added.values()
        )
    )


def is_known(expression: str) -> bool:
    """Whether an expression is one that `SURE` was checked against."""
    return expression in KNOWN or sha256(expression.encode()).hexdigest()[:16] in known.DEEPSEEK_V2_DIGESTS


def _splits_as_known(pre_tokenizer: Any) -> bool:
    steps = list(_flat(pre_tokenizer, "pretokenizers"))
    return bool(steps) and any(_splits_words(step) for step in steps) and all(_is_known_step(step) for step in steps)


def _splits_words(step: Mapping[str, Any]) -> bool:
    """Whether a step parts a letter from what `SURE` has behind it; one of digits alone does not."""
    if step["type"] == "ByteLevel":
        return bool(step.get("use_regex", True))
    return step["type"] == "Split" and step["pattern"].get("Regex") not in known.DEEPSEEK_V3[:2]


def _is_known_step(step: Mapping[str, Any]) -> bool:
    match step.get("type"):
        case "ByteLevel":
            return not step.get("add_prefix_space", True)
        case "Digits":
            return True
        case "Split":
            expression = step["pattern"].get("Regex")
            return (
                expression is not None
                and is_known(expression)
                and step.get("behavior") == "Isolated"
                and not step.get("invert")
            )
        case _:
            return False


def _flat(state: Any, members: str) -> Iterator[Mapping[str, Any]]:
    if state is None:
        return
    if state.get("type") == "Sequence":
        for member in state[members]:
            yield from _flat(member, members)
    else:
        yield state
