"""Labelled pairs put before the code under test: sides, alignment, causes."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final

import tokenizers
from cause_tally import Miss, Tally, leads, lists
from chats import Chat
from edits_of_chats import labelled_chats
from edits_of_ids import labelled_ids
from labelled import Pair
from prompt_edits import labelled_pairs, right_answers

from shadowviz.tokens.align.align import align
from shadowviz.tokens.causes.find import find_causes
from shadowviz.tokens.encode.encoder import Encoder
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.finding import Finding
from shadowviz.tokens.rendering.messages import parse_messages, parse_tools
from shadowviz.tokens.rendering.render import RenderOptions, render
from shadowviz.tokens.side import Conversation, Side, side_of_ids, side_of_text


def findings_of(a: Side, b: Side) -> tuple[Finding, ...]:
    """What is said of two sides, the leading cause first; checked for what must hold of any findings."""
    diff = align(a, b)
    findings = find_causes(a, b, diff)
    for finding in findings:
        assert finding.a.start <= finding.a.stop <= len(a.ids), finding
        assert finding.b.start <= finding.b.stop <= len(b.ids), finding
        assert finding.detail, finding
        assert (finding.detail + finding.advice).isprintable(), finding
        assert finding.advice or not finding.breaks, finding
        assert 0 <= finding.gain <= max(len(a.ids), len(b.ids)), finding
    if findings and findings[0].breaks:
        assert findings[0].a.start <= diff.common <= findings[0].a.stop, (findings[0], diff.common)
    return findings


def sides_of(pair: Pair, encoder: Encoder) -> tuple[Side, Side]:
    """The pair's texts, or its ids, under a tokenizer."""
    if pair.ids is not None:
        return side_of_ids("A", pair.ids[0], encoder), side_of_ids("B", pair.ids[1], encoder)
    return side_of_text("A", pair.a, encoder), side_of_text("B", pair.b, encoder)


def side_of_chat(name: str, chat: Chat, encoder: Encoder) -> Side:
    """A conversation rendered as DeepSeek-V4 does."""
    rendered = render(parse_messages(chat.messages), RenderOptions(**chat.options), parse_tools(chat.tools))
    conversation = Conversation(tuple(chat.messages), tuple(chat.tools), dict(chat.options))
    return side_of_text(name, rendered.text, encoder, segments=rendered.segments, conversation=conversation)


def judge_pair(name: str, pair: Pair, encoder: Encoder) -> Miss | None:
    """The miss that a pair is, or None."""
    a, b = sides_of(pair, encoder)
    right = right_answers(pair, a.ids, b.ids)
    # Where the tokenizer takes the edit away, as an appended text, there is no second place either.
    second = pair.second if right >= pair.labels else frozenset()
    return _judged(name, pair.recipe, right, second, a, b)


def _judged(name: str, recipe: str, right: frozenset[str], second: Collection[str], a: Side, b: Side) -> Miss | None:
    findings = findings_of(a, b)
    given = tuple(finding.cause.value for finding in findings)
    silent = a.ids != b.ids or not any(finding.breaks for finding in findings)
    if leads(given, right) and lists(given, second) and silent:
        return None
    return Miss(name, recipe, right | {f"then {each}" for each in second}, given, a.text, b.text)


@cache
def tally_of_texts(seed: int, each: int, doubles: int) -> Tally:
    """All classes that an edit of text or ids shows, under DeepSeek-V4's tokenizer."""
    tally, encoder = Tally(), default_tokenizer()
    for name, pair in labelled_pairs(seed, each, doubles):
        tally.add(name, judge_pair(name, pair, encoder))
    inner: Any = tokenizers.Tokenizer.from_file(str(encoder.path))
    for name, pair in labelled_ids(seed, each, inner):
        tally.add(f"{name} of ids", judge_pair(name, pair, encoder))
    return tally


MARKER_EDITS: Final = ("LOOKALIKE_SPECIAL", "SPECIAL_VS_TEXT", "BOS_DOUBLED", "BOS_MISSING", "EOS_SWAPPED", "EXTENDS")
"""Edits of markers that DeepSeek-V4 has and other vocabularies have not."""


def tally_under(encoder: Encoder, seed: int, each: int, *, markers: bool) -> Tally:
    """Classes of single edits of text, with those of markers or without, under any tokenizer."""
    tally = Tally()
    for name, pair in labelled_pairs(seed, each, 0):
        if markers or name not in MARKER_EDITS:
            tally.add(name, judge_pair(name, pair, encoder))
    return tally


def tally_of_cases(rows: Sequence[Mapping[str, Any]], encoder: Encoder) -> Tally:
    """Pairs with known classes, as `../shared/cases/pairs.jsonl` has them."""
    tally = Tally()
    for row in rows:
        a, b = side_of_text("A", row["a"], encoder), side_of_text("B", row["b"], encoder)
        tally.add(row["class"], _judged(row["class"], row["id"], frozenset(row["class"].split("|")), (), a, b))
    return tally


@cache
def tally_of_chats(seed: int, each: int) -> Tally:
    """All causes that only the structure of a conversation shows."""
    tally, encoder = Tally(), default_tokenizer()
    for name, pair in labelled_chats(seed, each):
        a, b = (side_of_chat(side, chat, encoder) for side, chat in (("A", pair.a), ("B", pair.b)))
        tally.add(name, _judged(name, pair.recipe, pair.labels, pair.second, a, b))
    return tally
