"""Regular expressions that split text before byte-pair encoding: facts of the vocabularies that were made with them."""

from typing import Final

_CONTRACTIONS: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES: Final = r"\s*[\r\n]+|\s+(?!\S)|\s+"


def _letters_and_digits(digits: str) -> str:
    return _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|" + _SPACES


def _by_case(contractions: str, digits: str) -> str:
    return (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + contractions + "|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + contractions + "|"
        "" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + _SPACES
    )


GPT2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K: Final = _letters_and_digits(r"\p{N}{1,3}")
"""cl100k_base and Llama 3."""
QWEN: Final = _letters_and_digits(r"\p{N}")
"""Qwen up to 3."""
QWEN3_5: Final = _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + _SPACES
"""Qwen 3.5 and 3.6."""
O200K: Final = _by_case(_CONTRACTIONS + "?", r"\p{N}{1,3}")
"""o200k_base and Llama 4."""
TEKKEN: Final = _by_case("", r"\p{N}")
DEEPSEEK_V3: Final = (
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
)
"""DeepSeek V3 and V4, one after the other."""
DEEPSEEK_V2_DIGESTS: Final = frozenset(
    {"5cada29124805d8e", "38fd0b5eb7e66ecf", "ae6bc1cffa8363b9", "16f72e393af534b9", "a9e31f463e1bd653"}
)
"""Beginning of the SHA-256 of DeepSeek V2's expressions, which list their letters one by one."""
