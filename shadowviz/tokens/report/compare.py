"""Two prompts compared: where they part, why, what it costs and what to change."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from shadowviz.tokens.align.align import align
from shadowviz.tokens.align.token_diff import Hunk, TokenDiff
from shadowviz.tokens.causes.detail import all_tokens
from shadowviz.tokens.causes.find import find_causes
from shadowviz.tokens.finding import Cause, Finding
from shadowviz.tokens.inputs.side import check_comparable, is_readable
from shadowviz.tokens.report.cost import alignment_of, cost_of
from shadowviz.tokens.report.cure import prove
from shadowviz.tokens.report.excerpt import excerpts
from shadowviz.tokens.report.report import REPORT_VERSION, CauseReport, Cost, Excerpt, Report, SideReport
from shadowviz.tokens.side import Side
from shadowviz_engine.core.geometry import Geometry

MAX_MOVED = 8
"""Lines about what moved between two tokenizers."""


def compare(
    a: Side, b: Side, geometry: Geometry, sources: tuple[str, str] = ("", ""), diff: TokenDiff | None = None
) -> Report:
    """The whole answer for A stored and B sent.

    Args:
        geometry: of the cache, for the cost.
        sources: where the two came from, to be named.
        diff: how they are aligned, where that is known.

    Raises:
        InputError: the ids of the two cannot be compared.
    """
    check_comparable(a, b)
    diff = align(a, b) if diff is None else diff
    findings = findings_of(a, b, diff)
    leading = next((finding for finding in findings if finding.breaks), None)
    same = loses_nothing(a, b, diff)
    cure = prove(a, b, diff, leading) if leading and not same else None
    if leading and cure:
        measured = replace(leading, gain=cure.common - diff.common, measured=True)
        findings = tuple(measured if finding is leading else finding for finding in findings)
        leading = measured
    gain = leading.gain if leading and not same else 0
    cut = _excerpts(a, b, diff)
    cost = cost_of(geometry, len(b.ids), diff.common, gain, 0 if same else diff.realigned, cure)
    causes = tuple(_cause(a, b, finding) for finding in findings)
    return Report(
        version=REPORT_VERSION,
        same=same,
        equal=diff.equal,
        verdict=_verdict(a, b, diff, causes, cost),
        a=_side(a, sources[0]),
        b=_side(b, sources[1]),
        common=diff.common,
        excerpt_a=cut[0] if cut else None,
        excerpt_b=cut[1] if cut else None,
        causes=causes,
        cost=cost,
        advice="" if same or leading is None else leading.advice,
        alignment=alignment_of(diff),
        notes=tuple(_notes(a, b)),
    )


def findings_of(a: Side, b: Side, diff: TokenDiff) -> tuple[Finding, ...]:
    """Why the two differ, the cause that leads first; UNKNOWN where the ids cannot be read."""
    first = diff.first
    if is_readable(a) and is_readable(b):
        return tuple(_of_its_place(finding, diff, first) for finding in find_causes(a, b, diff))
    if first is None or loses_nothing(a, b, diff):
        return ()
    detail = "the ids cannot be read, so only their numbers are compared"
    return (Finding(Cause.UNKNOWN, "", first.a, first.b, detail, "", _gain_of_first(diff, first)),)


def loses_nothing(a: Side, b: Side, diff: TokenDiff) -> bool:
    """Whether all ids of one side begin the other."""
    return diff.common == min(len(a.ids), len(b.ids))


def segment_of_first(a: Side, b: Side, diff: TokenDiff) -> str:
    """What stands where the two part; empty where nothing is labelled."""
    return _segment(a, b, diff.common, diff.common)


def _of_its_place(finding: Finding, diff: TokenDiff, first: Hunk | None) -> Finding:
    """A finding whose gain is that of its own place where nothing ties it to the differences behind."""
    if finding.cause is not Cause.TEXT or first is None or not finding.gain:
        return finding
    return replace(finding, gain=min(finding.gain, _gain_of_first(diff, first)))


def _gain_of_first(diff: TokenDiff, first: Hunk) -> int:
    """Tokens that would join the common prefix if the first stretch were as in A.

    The stretch itself counts only where at least as much agrees behind it: else the prompts are two, and not one that
    was changed.
    """
    behind = diff.hunks[diff.hunks.index(first) + 1 :]
    agreed = behind[0].b.size if behind else 0
    return first.a.size + agreed if agreed >= first.a.size else agreed


def _excerpts(a: Side, b: Side, diff: TokenDiff) -> tuple[Excerpt, Excerpt] | None:
    first = diff.first
    return excerpts(a, b, first) if first is not None else None


def _side(side: Side, source: str) -> SideReport:
    readable = is_readable(side)
    return SideReport(
        name=side.name,
        source=source or side.name,
        num_tokens=len(side.ids),
        num_bytes=len(side.raw) if readable else 0,
        tokenizer=side.encoder.name,
        fingerprint=side.encoder.fingerprint,
        readable=readable,
        notes=side.notes,
    )


def _cause(a: Side, b: Side, finding: Finding) -> CauseReport:
    return CauseReport(
        cause=finding.cause,
        subject=finding.subject,
        a=finding.a,
        b=finding.b,
        segment=_segment(a, b, finding.a.start, finding.b.start),
        detail=finding.detail,
        advice=finding.advice,
        gain=finding.gain,
        breaks=finding.breaks,
    )


def _segment(a: Side, b: Side, token_a: int, token_b: int) -> str:
    """What stands at a place, by the side that was sent, and by the other where that one has ended."""
    found = b.segment_of(token_b) or a.segment_of(token_a)
    return found.label if found else ""


def _verdict(a: Side, b: Side, diff: TokenDiff, causes: Sequence[CauseReport], cost: Cost) -> str:
    num_a, num_b = len(a.ids), len(b.ids)
    if diff.equal:
        text = "" if a.text == b.text else f", though their texts differ ({causes[0].label})" if causes else ""
        if a.given != b.given:
            text = ", though bytes that are not UTF-8 differ (each is taken as U+FFFD)"
        return f"{a.name} and {b.name} are the same {_tokens(num_a)}{text}: nothing is lost."
    if loses_nothing(a, b, diff):
        short, long = (a, b) if num_a < num_b else (b, a)
        if not len(short.ids):
            return f"{short.name} has no tokens: nothing is lost."
        return f"{long.name} begins with {all_tokens(len(short.ids))} of {short.name}: nothing is lost."
    of = f"{num_a:,}" if num_a == num_b else f"{num_a:,} and {num_b:,}"
    segment = segment_of_first(a, b, diff)
    place = f", in {segment}" if segment else ""
    label = next((cause.label for cause in causes if cause.breaks), str(Cause.UNKNOWN))
    head = f"{a.name} and {b.name} part at token {diff.common:,} of {of}{place}: {label}."
    mended = "if this were mended" if cost.proven else "if this were mended, by estimate"
    if cost.lost:
        return f"{head} {_tokens(cost.lost)} more would be reused {mended}."
    if cost.reused_if_all_mended > cost.reused:
        more = _tokens(cost.reused_if_all_mended - cost.reused)
        return f"{head} {more} more would be reused if every difference were mended."
    if cost.mended > cost.common:
        return f"{head} {_tokens(cost.mended - cost.common)} more would be in common {mended}."
    return f"{head} Nothing behind it agrees again."


def _tokens(count: int) -> str:
    return f"{count:,} token" if count == 1 else f"{count:,} tokens"


def _notes(a: Side, b: Side) -> list[str]:
    notes = []
    if is_readable(a) and is_readable(b) and a.encoder.fingerprint != b.encoder.fingerprint:
        from shadowviz.tokens.encode.fingerprints import what_moved

        notes.append(f"{a.name} and {b.name} are encoded by different tokenizers; what moved:")
        moved = what_moved(a.encoder, b.encoder)
        notes += islice(moved, MAX_MOVED)
        if len(moved) > MAX_MOVED:
            notes.append(f"and {len(moved) - MAX_MOVED:,} more")
    return notes
