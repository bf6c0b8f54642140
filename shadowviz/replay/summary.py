"""What a run lost and why: lost tokens summed by verdict, and the one change that would win most."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from shadowviz.replay.explain import Explanation
from shadowviz_engine.core.verdict import Finding, Verdict

MORE_ROOM = "give the pools more room (--pool-bytes or --mem-fraction)"
"""What to do about state that had to give way."""

AT_MOST = "it wins that much at most, if the pools have room"

ONE_BY_ONE = "--max-running 1 runs them one after another"


class Loss(msgspec.Struct, frozen=True):
    """All lookups with one verdict."""

    verdict: str
    requests: int
    lost: int
    """Tokens that lifting the leading rule alone would have saved, each lookup by itself."""
    example: str
    """The request that lost most."""
    example_seq: int
    example_lost: int
    change: str
    """What to do about it; empty when there is nothing to do."""


class Summary(msgspec.Struct, frozen=True):
    """A run in figures; lengths in tokens."""

    lookups: int
    prompt_tokens: int
    reused_tokens: int
    computed_tokens: int
    hit_rate: float
    """Reused of prompt tokens, 0 to 1."""
    losses: tuple[Loss, ...]
    """The dearest first."""
    best_change: str
    """What would win most, over all verdicts that it would mend; empty when nothing is lost."""
    best_change_wins: int
    """Tokens that it would have saved."""
    hint: str = ""
    """What else the run shows: prompts that could not share because they ran at the same time; empty = nothing."""


def summarise(explanations: Iterable[Explanation]) -> Summary:
    """Figures of a run, with what was lost by verdict.

    A request that had to give its room up and start again counts once, by its first lookup: what it finds later is
    its own.
    """
    groups: dict[str, list[Explanation]] = {}
    first: dict[str, Explanation] = {}
    for explanation in explanations:
        first.setdefault(explanation.request, explanation)
    for explanation in first.values():
        groups.setdefault(group_of(explanation.verdict), []).append(explanation)
    everything = [explanation.lookup for group in groups.values() for explanation in group]
    prompt = sum(lookup.num_prompt for lookup in everything)
    reused = sum(lookup.reused for lookup in everything)
    losses = sorted((_loss(name, group) for name, group in groups.items()), key=lambda loss: -loss.lost)
    wins = Counter[str]()
    for explanation in (explanation for loss in losses for explanation in groups[loss.verdict]):
        change = _change(explanation)
        wins[change] += explanation.lost if change else 0
    best, won = max(wins.items(), key=lambda item: item[1], default=("", 0))
    rate = reused / prompt if prompt else 0.0
    best = best if won else ""
    hint = _hint(first.values())
    return Summary(len(everything), prompt, reused, prompt - reused, rate, tuple(losses), best, won, hint)


def group_of(finding: Finding) -> str:
    """Verdict with the part of its detail that lookups have in common."""
    if finding.verdict in (Verdict.PAGE_ALIGNED, Verdict.IN_FLIGHT, Verdict.OTHER_NAMESPACE, Verdict.UNKNOWN):
        return str(finding.verdict)
    return finding.label


def _hint(explanations: Iterable[Explanation]) -> str:
    beside = sum(map(_ran_beside_its_like, explanations))
    if not beside:
        return ""
    prompts = "1 prompt" if beside == 1 else f"{beside:,} prompts"
    return f"{prompts} ran at the same time as one like {'it' if beside == 1 else 'them'}; {ONE_BY_ONE}"


def _ran_beside_its_like(explanation: Explanation) -> bool:
    other = explanation.lookup.in_flight
    if other is None or explanation.verdict.verdict not in (Verdict.IN_FLIGHT, Verdict.COLD):
        return False
    # A first token that all prompts share makes no two of them alike.
    return other.gain > 0 or other.common * 10 >= explanation.lookup.num_prompt


def _loss(name: str, group: list[Explanation]) -> Loss:
    dearest = max(group, key=lambda explanation: explanation.lost)
    return Loss(
        name,
        len(group),
        sum(explanation.lost for explanation in group),
        dearest.request,
        dearest.lookup.seq,
        dearest.lost,
        _change(dearest),
    )


def _change(explanation: Explanation) -> str:
    finding = explanation.verdict
    match finding.verdict:
        case Verdict.TOKENS_DIFFER:
            return _TOKEN_CHANGES.get(finding.detail, "make the prompts begin alike, and put what varies last")
        case Verdict.TOO_SHORT | Verdict.PAGE_ALIGNED | Verdict.CAPPED:
            smaller = f"use a page smaller than {explanation.lookup.unit:,}"
            return f"resume at any length (--resume any), or {smaller}; {AT_MOST}"
        case Verdict.CUT_BY_SWA if explanation.swa_reason == "pressure":
            return MORE_ROOM
        case Verdict.CUT_BY_SWA if explanation.swa_reason == "retention":
            return "keep more window rows (--retention all, forks or every:TOKENS)"
        case Verdict.CUT_BY_SWA:
            return "keep more window rows (--retention all, forks or every:TOKENS), or give the pools more room"
        case Verdict.NO_STATE:
            return f"keep the rows of {finding.rule} as long as the tree keeps the tokens"
        case Verdict.EVICTED if finding.detail == "ttl":
            return "keep idle paths longer (--idle-ttl)"
        case Verdict.EVICTED:
            return MORE_ROOM
        case Verdict.NOT_STORED if finding.detail == "off":
            return "turn the cache on (without --no-cache)"
        case Verdict.NOT_STORED if finding.detail == "flush":
            return "flush less often"
        case Verdict.NOT_STORED:
            return "let the first request finish"
        case Verdict.IN_FLIGHT:
            return "send requests with one beginning after the first of them has been computed (--max-running 1)"
        case Verdict.OTHER_NAMESPACE:
            return "use one namespace for prompts that may share state"
        case Verdict.UNKNOWN:
            return "remember more of what leaves, or look at a shorter run"
    return ""


_STABLE = "or move it behind everything that is shared"

_TOKEN_CHANGES = {
    "ATTRIBUTION_HEADER": "set the environment variable CLAUDE_CODE_ATTRIBUTION_HEADER=0 in the coding client",
    "REORDERED": "send it in one fixed order: sort it before the prompt is built",
    "RETOKENIZED": "send the stored token ids again instead of encoding their text anew",
    "SPECIAL_VS_TEXT": "encode the marker in the same way on both sides: as a control token, or escaped as text",
    "LOOKALIKE_SPECIAL": "write the marker with the characters of the tokenizer's control token",
    "BOS_DOUBLED": "send one beginning mark: the template and the encoder must not both add it",
    "BOS_MISSING": "begin both prompts with the beginning mark, or neither",
    "EOS_SWAPPED": "end every turn with one and the same end mark",
    "MERGE_ACROSS_BOUNDARY": (
        "end the shared part where the tokenizer never merges, such as behind a line end or a control token, "
        "or append token ids instead of text"
    ),
    "TIME": f"leave the time out, round it to what the task needs, {_STABLE}",
    "UUID": f"leave the identifier out of the prompt, {_STABLE}",
    "COUNTER": f"leave the counter out of the prompt, {_STABLE}",
    "NUMBER_FORM": "format numbers in one way",
    "JSON_ESCAPE": "write JSON with one setting for escapes (ensure_ascii the same everywhere)",
    "JSON_SPACING": "write JSON with the same separators and indent everywhere",
    "JSON_VALUE": f"send the same value, {_STABLE}",
    "ESCAPED": "escape the text once, in the same place on both paths",
    "CRLF": "send LF, not CR LF, at line ends",
    "LINE_SEPARATOR": "send LF at line ends",
    "UNICODE_FORM": "send text in one Unicode form (NFC)",
    "SPACE_KIND": "send plain blanks (U+0020)",
    "ZERO_WIDTH": "strip characters without width before sending",
    "BIDI_MARK": "strip marks of writing direction, or send the same ones always",
    "BOM": "strip the byte-order mark: read files as utf-8-sig",
    "QUOTE": "send one kind of quotation mark: turn off smart quotes",
    "DASH": "send one kind of dash: turn off smart punctuation",
    "HOMOGLYPH": "write the word in letters of one script",
    "FULL_WIDTH": "send one width of characters (NFKC on both sides)",
    "EMOJI": "send the same emoji, or leave it out of what is shared",
    "CASE": "send the same capital and small letters",
    "TRAILING_NEWLINE": "end the text in the same way: strip line ends at the end, or add just one",
    "TRAILING_SPACE": "strip blanks at line ends before sending",
    "LEADING_SPACE": "indent alike: strip blanks at the beginning, or keep them always",
    "TAB": "indent with blanks or with tabs, not both",
    "SPACE_COUNT": "send the same number of blanks",
    "PUNCTUATION": "send the same punctuation marks",
    "UNKNOWN": "record the ids unredacted and with their tokenizer to learn the cause",
}
"""What to do about each cause that the ids of a record can show; TEXT has nothing more specific than the default."""
