"""Switches of the prefix cache."""

import msgspec

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.reuse import ResumeRule

MATCH_MODES = ("partial", "classic")


class CacheOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How the cache matches, keeps and evicts.

    Raises:
        InputError: a switch that is out of range.
    """

    num_full_pages: int
    """Pages of the full pool; compressed pools are its arithmetic shadows."""
    num_swa_pages: int
    """Pages of the window's pool, which also holds the tails."""
    cache_on: bool = True
    resume: ResumeRule = ResumeRule.PAGE
    match_mode: str = "partial"
    retention: str = "window"
    policy: str = "lru"
    idle_ttl_s: float = 0.0
    """Seconds without a lookup after which a leaf leaves; 0 = never."""
    unit: int = 0
    """Tokens that a reused length is a multiple of, where an engine uses more than the page; 0 = the geometry's."""
    ghost_entries: int = 65_536
    """Prefixes remembered after they left."""

    def __post_init__(self) -> None:
        for name in ("num_full_pages", "num_swa_pages"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} {getattr(self, name)} must be at least 1")
        for name in ("idle_ttl_s", "unit", "ghost_entries"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} {getattr(self, name)} must not be negative")
        if self.match_mode not in MATCH_MODES:
            raise InputError(f"match mode {self.match_mode!r} is unknown: expected {' or '.join(MATCH_MODES)}")
