"""What a comparison of two prompts tells: the values behind the terminal view and `--json`."""

import msgspec

from shadowviz.tokens.align.token_diff import Op
from shadowviz.tokens.finding import Cause
from shadowviz_engine.core.spans import Extent

REPORT_VERSION = 1
"""Raised when a field is renamed or changes its meaning; new fields may come without."""


class SideReport(msgspec.Struct, frozen=True):
    """One of the two prompts."""

    name: str
    source: str
    """Where it came from: a path, `text`, `stdin`, `run.jsonl#request-3`."""
    num_tokens: int
    num_bytes: int
    tokenizer: str
    fingerprint: str
    readable: bool
    """Whether the ids have a text; if not, only they are compared."""
    notes: tuple[str, ...] = ()


class Place(msgspec.Struct, frozen=True):
    """Where something is in one prompt."""

    token: int
    byte: int
    line: int
    """From 1, by line feeds."""
    column: int
    """From 1, in characters."""
    segment: str = ""
    """What stands there, such as `message 3 (tool result)`; empty where the prompt was not rendered, or has ended."""


class TokenReport(msgspec.Struct, frozen=True):
    """One token; `text` is safe to show."""

    id: int
    text: str
    control: bool


class Excerpt(msgspec.Struct, frozen=True):
    """The first difference in one prompt, with what stands around it; as sent, so not safe to show."""

    place: Place
    before: str
    differing: str
    """The stretch without the characters at its ends that both sides have; at most `MAX_DIFFERING` characters."""
    after: str
    num_characters: int
    """Of the whole differing stretch."""
    tokens: tuple[TokenReport, ...]
    """The first tokens of the stretch."""
    num_tokens: int
    """Of the whole stretch."""


class CauseReport(msgspec.Struct, frozen=True):
    """One cause; `a` and `b` are the tokens that differ through it."""

    cause: Cause
    subject: str
    a: Extent
    b: Extent
    segment: str
    detail: str
    advice: str
    gain: int
    """Tokens that would join the common prefix if this cause alone were mended."""
    breaks: bool
    """Whether it ends the common prefix."""

    @property
    def label(self) -> str:
        """The cause with its subject."""
        return f"{self.cause}({self.subject})" if self.subject else str(self.cause)


class KindRows(msgspec.Struct, frozen=True):
    """Compressed rows of one kind that are computed anew, in each of its layers."""

    kind: str
    rows: int
    layers: int


class Cost(msgspec.Struct, frozen=True):
    """What a cache that has stored A reuses of B; in tokens."""

    geometry: str
    page: int
    """Tokens that a reused length is a multiple of."""
    num_prompt: int
    common: int
    reused: int
    mended: int
    """Common if the leading cause alone were mended."""
    reused_if_mended: int
    reused_if_all_mended: int
    lost: int
    """Tokens that are computed because of the leading cause."""
    rows: tuple[KindRows, ...] = ()
    """Of these tokens."""
    proven: bool = False
    """Whether `mended` was measured on a prompt with the cure applied; else it is estimated from the alignment."""
    proof: str = ""
    """One printable line: what was encoded again; empty where nothing was."""
    moved: int | None = None
    """Common, measured, if a value that changes stood at the end of both prompts; null where it does not apply."""
    reused_if_moved: int | None = None


class OpCount(msgspec.Struct, frozen=True):
    """How often something happened, and to how many tokens."""

    op: Op
    runs: int
    a: int
    b: int


class Run(msgspec.Struct, frozen=True):
    """A stretch of A and what stands in its place in B."""

    op: Op
    a: Extent
    b: Extent


class Alignment(msgspec.Struct, frozen=True):
    """The whole token diff, summed up."""

    counts: tuple[OpCount, ...]
    """Those that occur."""
    runs: tuple[Run, ...]
    """The largest stretches that differ, at most `MAX_RUNS`, in their order."""
    num_runs: int
    """Stretches that differ."""
    realigned: int
    """Tokens that agree again behind the first difference."""
    strip: str
    """A drawn to scale: `=` equal, `:` partly, `~` replaced, `-` deleted, `+` inserted, `%` same text, other ids."""


class Report(msgspec.Struct, frozen=True):
    """Where two prompts part, why, what it costs and what to change."""

    version: int
    same: bool
    """Whether nothing is lost: all ids of one begin the other."""
    equal: bool
    """Whether the ids are the same."""
    verdict: str
    """One sentence or two."""
    a: SideReport
    b: SideReport
    common: int
    """Length of the common prefix in tokens."""
    excerpt_a: Excerpt | None
    """None where no token differs."""
    excerpt_b: Excerpt | None
    causes: tuple[CauseReport, ...]
    """The one that leads first."""
    cost: Cost
    advice: str
    """What to change; empty where nothing is lost."""
    alignment: Alignment
    notes: tuple[str, ...] = ()
    """What else is to be known, such as what moved between two tokenizers."""
