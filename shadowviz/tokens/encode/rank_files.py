"""tiktoken rank files: a line for each token, its bytes in base64 and its rank."""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from shadowviz.tokens.encode import split_patterns
from shadowviz.tokens.inert import inert_bytes
from shadowviz_engine.core.errors import InputError


@dataclass(frozen=True, slots=True)
class RankRules:
    """What a rank file leaves out: how text is split, and the markers."""

    name: str
    expression: str
    added: Mapping[str, int] = field(default_factory=dict)
    offset: int = 0
    """Id of rank 0."""
    reads_markers: bool = True
    """Whether a marker written in a text becomes its id."""


def parse_ranks(raw: bytes, name: str) -> dict[bytes, int]:
    """Rank by token.

    Raises:
        InputError: a line that is no token with a rank, two of one rank, or a byte without a token.
    """
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(raw.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            written, rank = line.split()
            ranks[b64decode(written, validate=True)] = int(rank)
        except (ValueError, Base64Error):
            raise InputError(
                f"{name} line {number} is {inert_bytes(line[:40])}, expected a token in base64 and its rank"
            ) from None
    check_ranks(ranks, name)
    return ranks


def check_ranks(ranks: Mapping[bytes, int], name: str) -> None:
    """Accept ranks that every text can be encoded with.

    Raises:
        InputError: a rank that is taken twice or out of bounds, a token of no bytes, or a byte without a token.
    """
    if b"" in ranks:
        raise InputError(f"{name} has a token of no bytes, expected at least one byte for each")
    if len(set(ranks.values())) != len(ranks):
        raise InputError(f"{name} gives one rank to two tokens, expected a rank for each")
    if ranks and not 0 <= min(ranks.values()) <= max(ranks.values()) < 2**31:
        raise InputError(f"{name} has ranks {min(ranks.values())} to {max(ranks.values())}, expected 0 to {2**31 - 1}")
    missing = next((byte for byte in range(0x100) if bytes([byte]) not in ranks), None)
    if missing is not None:
        raise InputError(f"{name} has no token for byte 0x{missing:02x}, expected one for each of the 256")


def rules_of(ranks: Mapping[bytes, int]) -> RankRules | None:
    """The rules of a published vocabulary, recognised by its content; None where it is no such one."""
    lines = (b"%s %d\n" % (b64encode(token), rank) for token, rank in sorted(ranks.items(), key=lambda pair: pair[1]))
    return _PUBLISHED.get(sha256(b"".join(lines)).hexdigest()[:16])


def unknown_rules() -> RankRules:
    """The commonest way to split, for a vocabulary that is none of the published ones."""
    return RankRules("unknown vocabulary, split as cl100k_base", split_patterns.CL100K)


def _numbered(first: int, *markers: str) -> dict[str, int]:
    return {marker: first + place for place, marker in enumerate(markers)}


def _bars(names: str) -> list[str]:
    return [f"<|{name}|>" for name in names.split()]


def _reserved(name: str, count: int, first: int = 0) -> list[str]:
    return [f"<|{name}_{number}|>" for number in range(first, first + count)]


def _llama3() -> dict[str, int]:
    return _numbered(
        128_000,
        *_bars("begin_of_text end_of_text reserved_special_token_0 reserved_special_token_1 finetune_right_pad_id"),
        *_bars("step_id start_header_id end_header_id eom_id eot_id python_tag image"),
        *_reserved("reserved_special_token", 244, 2),
    )


def _llama4() -> dict[str, int]:
    reserved = "reserved_special_token"
    markers = [
        *_bars("begin_of_text end_of_text fim_prefix fim_middle fim_suffix header_start header_end eom eot step"),
        *_reserved(f"text_post_train_{reserved}", 6),
        *_bars("python_start python_end finetune_right_pad"),
        *_reserved(f"text_post_train_{reserved}", 61, 8),
        "<|image_start|>",
        "<|image_end|>",
        *_reserved(f"vision_{reserved}", 2),
        "<|tile_x_separator|>",
        "<|tile_y_separator|>",
        *_reserved(f"vision_{reserved}", 4, 2),
        "<|image|>",
        *_reserved(f"vision_{reserved}", 1, 6),
        "<|patch|>",
        *_reserved(f"vision_{reserved}", 1041, 7),
        *_reserved(f"reasoning_{reserved}", 8),
        "<|reasoning_thinking_start|>",
        "<|reasoning_thinking_end|>",
    ]
    return _numbered(200_000, *markers, *_reserved(reserved, 2048 - len(markers)))


def _qwen() -> dict[str, int]:
    return _numbered(151_643, "<|endoftext|>", "<|im_start|>", "<|im_end|>", *_reserved("extra", 205))


def _qwen3_5() -> dict[str, int]:
    return _numbered(248_044, "<|endoftext|>", "<|im_start|>", "<|im_end|>")


_CL100K_MARKERS: Final = _numbered(100_257, "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_PUBLISHED: Final = {
    "223921b76ee99bde": RankRules("cl100k_base", split_patterns.CL100K, _CL100K_MARKERS | {"<|endofprompt|>": 100_276}),
    "446a9538cb6c348e": RankRules(
        "o200k_base", split_patterns.O200K, {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
    ),
    "b2b1b8dfb5cc5f02": RankRules("Qwen", split_patterns.QWEN, _qwen()),
    "8dde380a6405e935": RankRules("Qwen 3.5", split_patterns.QWEN3_5, _qwen3_5()),
    "82e9d31979e92ab9": RankRules("Llama 3", split_patterns.CL100K, _llama3()),
    "d0bdbaf59b0762c8": RankRules("Llama 4", split_patterns.O200K, _llama4()),
}
"""By the beginning of the SHA-256 of the file in its usual form. Text is taken as it is: what puts it into NFC first,
and further markers, belong to a tokenizer.json or a configuration beside the file."""
