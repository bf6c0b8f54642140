"""Mistral's tekken files: ranks, the expression that splits, and markers that take the first ids."""

from base64 import b64decode
from binascii import Error as Base64Error
from typing import Any, Final

from shadowviz.tokens.encode.rank_encoder import RankEncoder
from shadowviz.tokens.encode.rank_files import RankRules, check_ranks
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InputError

# A file of an early version names no markers; these were its first, and fillers follow them.
_FIRST: Final = (
    "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CALLS] "
    "[IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]"
)


def tekken_encoder(content: dict[str, Any], name: str) -> RankEncoder:
    """The tokenizer of a parsed tekken file.

    Raises:
        InputError: a part of another type, or figures that do not fit.
    """
    try:
        config = content["config"]
        num_markers, size = int(config["default_num_special_tokens"]), int(config["default_vocab_size"])
        expression = config["pattern"]
        if not isinstance(expression, str) or not 0 <= num_markers < size < 2**31:
            raise ValueError("its config does not fit")
        ranks = {
            b64decode(token["token_bytes"], validate=True): int(token["rank"])
            for token in content["vocab"]
            if int(token["rank"]) < size - num_markers
        }
        listed = content.get("special_tokens")
        named = (
            dict(zip(_FIRST.split(), range(num_markers), strict=False))
            if listed is None
            else {str(token["token_str"]): int(token["rank"]) for token in listed}
        )
    except (KeyError, TypeError, ValueError, AttributeError, Base64Error) as error:
        raise InputError(
            f"{name} is no tekken file: {shorten(repr(error))}, expected config, vocab and special_tokens"
        ) from None
    check_ranks(ranks, name)
    taken = set(named.values())
    fillers = {f"<SPECIAL_{number}>": number for number in range(num_markers) if number not in taken}
    rules = RankRules("tekken", expression, named | fillers, offset=num_markers, reads_markers=False)
    return RankEncoder(ranks, rules, name)
