"""The switches of an engine."""

from enum import StrEnum

import msgspec

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.model.numerics import Numerics

MAX_COUNT = 2**31 - 1
"""Most tokens, pages, requests and entries that an option may ask for."""
MAX_TTL_S = 1e9
MAX_THREADS = 1024
"""More than any machine gains from, and few enough that the system gives them."""


class Record(StrEnum):
    """How much goes on record."""

    LOOKUPS = "lookups"
    FULL = "full"
    """Also the entries that the indexer selected for every query, in a file beside the log."""


class EngineOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Model, pools, scheduler and cache of an engine; choices may be given by their names.

    Raises:
        InputError: a value out of its range.
    """

    model: str = "tiny"
    """A preset's name, or a directory that holds a DeepseekV4ForCausalLM."""
    seed: int = 0
    """Of a preset's random weights."""
    device: str = "cpu"
    threads: int = 1
    """Threads of torch in a pass on the CPU; the tensors of small models are not worth sharing out."""
    numerics: Numerics = Numerics.FAST
    page_size: int = 0
    """Tokens; 0 = the geometry's."""
    pool_bytes: int = 0
    """Bytes of all pools together; 0 = `mem_fraction` decides, or the default."""
    mem_fraction: float = 0.0
    """Share of the device's free memory that the pools take."""
    num_full_pages: int = 0
    """Pages of the full pool; 0 = worked out from the bytes."""
    num_swa_pages: int = 0
    max_running: int = 16
    """Requests in one pass."""
    chunk_tokens: int = 512
    """Prompt tokens in one pass, over all requests."""
    cache_on: bool = True
    resume: ResumeRule = ResumeRule.PAGE
    match_mode: str = "partial"
    retention: str = "all"
    policy: str = "lru"
    idle_ttl_s: float = 0.0
    unit: int = 0
    """Tokens that a reused length is a multiple of; 0 = the geometry's."""
    ghost_entries: int = 65536
    """Paths that the cache remembers after they left."""
    faults: tuple[str, ...] = ()
    """Named faults that are put in on purpose: of the cache (`cache.faults`), of the model (`model.faults`)."""
    record: Record = Record.LOOKUPS
    sidecar: str = ""
    """File that takes the selected entries when `record` is full."""
    tokenizer_fingerprint: str = ""

    def __post_init__(self) -> None:
        for name, kind in (("numerics", Numerics), ("resume", ResumeRule), ("record", Record)):
            msgspec.structs.force_setattr(self, name, _member(name, kind, getattr(self, name)))
        for name in ("page_size", "num_full_pages", "num_swa_pages", "unit", "ghost_entries"):
            _check_range(name, getattr(self, name), 0, MAX_COUNT)
        _check_range("threads", self.threads, 1, MAX_THREADS)
        for name in ("max_running", "chunk_tokens"):
            _check_range(name, getattr(self, name), 1, MAX_COUNT)
        if self.pool_bytes < 0:
            raise InputError(f"pool_bytes {self.pool_bytes} must be at least 0")
        if not 0.0 <= self.mem_fraction < 1.0:
            raise InputError(f"mem_fraction {self.mem_fraction} must be at least 0 and below 1")
        if self.pool_bytes and self.mem_fraction:
            raise InputError(f"pool_bytes {self.pool_bytes} and mem_fraction {self.mem_fraction}: give one of the two")
        if not 0.0 <= self.idle_ttl_s <= MAX_TTL_S:
            raise InputError(f"idle_ttl_s {self.idle_ttl_s} must be at least 0 and at most {MAX_TTL_S:.0f}")
        if (self.record == Record.FULL) != bool(self.sidecar):
            raise InputError(
                f"record is {self.record} and sidecar {self.sidecar!r}: record 'full' needs a file for the selected "
                "entries, 'lookups' has none"
            )


def _member(name: str, kind: type[StrEnum], value: str) -> StrEnum:
    """The member of `kind` that `value` is or spells."""
    if value not in list(kind):
        raise InputError(f"{name} {value!r} is unknown: expected {' or '.join(kind)}")
    return kind(value)


def _check_range(name: str, value: int, least: int, most: int) -> None:
    if value < least:
        raise InputError(f"{name} {value} must be at least {least}")
    if value > most:
        raise InputError(f"{name} {value} must be at most {most}")
