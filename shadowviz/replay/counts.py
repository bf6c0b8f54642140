"""Counts in sentences."""


def counted(count: int, noun: str) -> str:
    """A number of things: 1 lookup, 2 lookups."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def tokens(count: int) -> str:
    """A number of tokens: 1 token, 2 tokens."""
    return counted(count, "token")


def tokens_that(count: int, one: str, more: str) -> str:
    """A number of tokens with its verb: 1 token is, 2 tokens are."""
    return f"{tokens(count)} {one if count == 1 else more}"
