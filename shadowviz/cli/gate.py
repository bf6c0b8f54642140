"""`--fail-on`: a build stops where a lookup has an unwanted verdict, or where none can be ruled out."""

from collections.abc import Sequence
from typing import NamedTuple

from shadowviz.cli.show import number, write_note
from shadowviz.replay.counts import counted
from shadowviz.replay.explain import Explanation
from shadowviz.tokens.finding import Cause
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.verdict import Finding, Verdict

FOUND = 1
"""Exit code when an unwanted verdict is there."""


class Unwanted(NamedTuple):
    """A verdict, with its detail or with any."""

    verdict: Verdict
    detail: str = ""

    def is_named_by(self, finding: Finding) -> bool:
        """Whether a lookup with this finding is unwanted; capital and small letters are one in a detail."""
        return finding.verdict is self.verdict and self.detail.upper() in ("", finding.detail.upper())

    def __str__(self) -> str:
        return f"{self.verdict}({self.detail})" if self.detail else str(self.verdict)


def unwanted(names: Sequence[str]) -> list[Unwanted]:
    """Verdicts as a user names them: TOKENS_DIFFER, too-short, TOKENS_DIFFER(CRLF).

    Raises:
        InputError: there is no such verdict.
    """
    return [_unwanted(name) for name in names]


def _unwanted(name: str) -> Unwanted:
    head, opening, detail = name.strip().partition("(")
    spelt = head.strip().upper().replace("-", "_")
    if spelt not in set(Verdict) or (opening and not (detail[:-1] and detail.endswith(")"))):
        raise InputError(f"--fail-on {name[:40]!r} is no verdict: expected one of {', '.join(Verdict)}")
    found = Unwanted(Verdict(spelt), detail[:-1].strip())
    if found.verdict is Verdict.TOKENS_DIFFER and found.detail.upper() not in ("", *Cause):
        raise InputError(
            f"--fail-on {name[:40]!r}: TOKENS_DIFFER has no such cause: expected one of {', '.join(Cause)}"
        )
    return found


def judge(explanations: Sequence[Explanation], names: Sequence[Unwanted], gap: str) -> int:
    """The exit code: 1 where an unwanted verdict is there, 0 where none is.

    Args:
        gap: what the record does not tell, where it does not tell all.

    Raises:
        InputError: none is there as far as the record goes, and the record does not tell all.
    """
    if not names:
        return 0
    shown = ", ".join(map(str, names))
    num = sum(any(name.is_named_by(explanation.verdict) for name in names) for explanation in explanations)
    if num:
        verb = "is" if num == 1 else "are"
        write_note(f"shadowviz: {number(num)} of {counted(len(explanations), 'lookup')} {verb} {shown}")
        return FOUND
    if gap:
        raise InputError(f"--fail-on {shown} cannot be answered: {gap}")
    return 0
