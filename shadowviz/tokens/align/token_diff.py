"""What differs between two prompts, token by token."""

from dataclasses import dataclass
from enum import StrEnum

from shadowviz_engine.core.spans import Extent


class Op(StrEnum):
    """What became of a stretch of A in B."""

    EQUAL = "equal"
    """The same ids."""
    INSERT = "insert"
    """Only in B."""
    DELETE = "delete"
    """Only in A."""
    REPLACE = "replace"
    """Other text."""
    RETOKENIZED = "retokenized"
    """The same bytes as other ids."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """A stretch of tokens of A and the one of B that stands in its place."""

    op: Op
    a: Extent
    b: Extent


@dataclass(frozen=True, slots=True)
class TokenDiff:
    """Hunks that follow each other and cover both sides without a gap; no two EQUAL ones in a row."""

    hunks: tuple[Hunk, ...]
    common: int
    """Length of the common prefix in tokens."""

    @property
    def equal(self) -> bool:
        """Whether both sides have the same ids."""
        return all(hunk.op is Op.EQUAL for hunk in self.hunks)

    @property
    def realigned(self) -> int:
        """Tokens that agree again behind the first difference: reusable, had the prefix held."""
        return sum(hunk.a.size for hunk in self.hunks if hunk.op is Op.EQUAL) - self.common

    @property
    def first(self) -> Hunk | None:
        """The first stretch that differs."""
        return next((hunk for hunk in self.hunks if hunk.op is not Op.EQUAL), None)
