"""Counts in sentences."""


def tokens(count: int) -> str:
    """A number of tokens: 1 token, 2 tokens."""
    return f"{count:,} token" if count == 1 else f"{count:,} tokens"
