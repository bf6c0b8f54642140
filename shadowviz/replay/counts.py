"""Counts in sentences."""


def tokens(count: int) -> str:
    """A number of tokens: 1 token, 2 tokens."""
    return f"{count:,} token" if count == 1 else f"{count:,} tokens"


def tokens_that(count: int, one: str, more: str) -> str:
    """A number of tokens with its verb: 1 token is, 2 tokens are."""
    return f"{tokens(count)} {one if count == 1 else more}"
