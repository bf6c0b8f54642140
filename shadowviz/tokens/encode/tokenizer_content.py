"""The parts of a tokenizer.json that decide ids, in one form whatever the file's bytes."""

from collections.abc import Mapping
from typing import Any, Final

from shadowviz.tokens.encode.encoder import ADDED_SETTINGS, Content

FINGERPRINTED: Final = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
_STEPS: Final = {
    "normalizer": "normaliser",
    "pre_tokenizer": "pre-tokenizer",
    "post_processor": "post-processor",
    "decoder": "decoder",
}
KNOWN_FINGERPRINTS: Final = {
    "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf": (
        "da683150b18d2358e9d9f90d0e6a77dac52c9f07e1624751c23579728579b089"
    ),
}
"""By SHA-256 of a file: of the default vocabulary, whose content takes longer to parse than an answer may."""


def canonical_content(content: dict[str, Any]) -> dict[str, Any]:
    """Pairs for merges, added tokens by id, no empty settings; without version, truncation and padding."""
    model = {key: value for key, value in content["model"].items() if value not in (None, False)}
    model["merges"] = [pair.split(" ") if isinstance(pair, str) else pair for pair in model.get("merges", ())]
    added = sorted(content.get("added_tokens") or (), key=lambda token: int(token["id"]))
    return {"model": model, "added_tokens": added, **{key: content.get(key) for key in FINGERPRINTED}}


def content_of(canonical: Mapping[str, Any]) -> Content:
    """The canonical content as what two tokenizers are compared by."""
    model = canonical["model"]
    added = {str(token["content"]): int(token["id"]) for token in canonical["added_tokens"]}
    vocabulary = _vocabulary(model["vocab"])
    settings = {key: value for key, value in model.items() if key not in ("type", "vocab", "merges")}
    return Content(
        str(model.get("type", "BPE")),
        {written: token_id for written, token_id in vocabulary.items() if written not in added},
        [" ".join(pair) for pair in model["merges"]],
        added,
        {shown: canonical[key] for key, shown in _STEPS.items()}
        | {ADDED_SETTINGS: {token["content"]: _settings(token) for token in canonical["added_tokens"]}}
        | {f"model setting {key}": value for key, value in settings.items()},
    )


def _settings(token: Mapping[str, Any]) -> list[str]:
    """Names of what is on for an added token, such as `special`."""
    return sorted(key for key, value in token.items() if value is True)


def _vocabulary(written: Any) -> dict[str, int]:
    """Id by token; of a unigram model, whose tokens stand in order with their scores, too."""
    if isinstance(written, dict):
        return written
    return {str(token): token_id for token_id, (token, _) in enumerate(written)}
