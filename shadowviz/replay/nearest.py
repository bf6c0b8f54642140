"""What the first difference from the nearest stored path costs: the gain that needs a token diff."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from shadowviz.replay.agree import Stretch, differing_stretches
from shadowviz.replay.beside import StoredPath, likest_paths
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import LogOpened, LookupDone
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.reuse import Lookup, Residency, ResumeRule, plan_reuse, reuse_rules
from shadowviz_engine.core.spans import Extent, merge
from shadowviz_engine.core.verdict import TokensRule

CONTEXT = 8
"""Equal tokens on each side of a differing stretch that a cause is judged with."""

SHOWN = 32
"""Ids of a differing stretch that are kept to show."""

GENERAL_CAUSES = ("TEXT", "UNKNOWN")
"""Causes that say nothing about the differences behind the first one."""


class Words(Protocol):
    """Reads token ids; implemented where there is a tokenizer."""

    readable: bool
    """Whether the ids have a text; if not, they are shown as numbers."""

    def text(self, ids: Sequence[int]) -> str:
        """What the ids stand for, safe to show."""

    def cause(self, prompt: Sequence[int], stored: Sequence[int]) -> str:
        """Why two stretches differ."""


class Parting(msgspec.Struct, frozen=True):
    """Where a prompt parts from a stored path, and what that costs."""

    rule: TokensRule
    node: int
    """Node of the stored path that holds the first differing token."""
    prompt: tuple[int, ...]
    """Ids of the first differing stretch, as sent; at most `SHOWN` of them."""
    stored: tuple[int, ...]
    """The same stretch as stored."""
    agreed: int
    """Tokens that agree again behind it; 0 = none do."""
    common: int
    """Tokens that would equal the stored path if the differing stretches were as stored."""
    num_stretches: int
    """Differing stretches taken together, because they have one cause."""
    longer: int = 0
    """Tokens that the prompt would have more if these were as stored; below 0 = fewer."""


def nearest_parting(state: Replayer, lookup: LookupDone, prompt: "array[int]", words: Words) -> Parting | None:
    """Where `prompt` parts from the stored path with which it could share most; None if nothing is stored beside it.

    Args:
        state: the state just before the lookup.
        prompt: ids of the whole prompt.
    """
    if not lookup.near or state.opened is None:
        return None
    if not lookup.near < len(state.nodes) or not state.nodes.alive[lookup.near]:
        raise LogError(f"lookup at seq {lookup.seq} is near node {lookup.near}, which is not in the tree")
    best: Parting | None = None
    for path in likest_paths(state, lookup, prompt):
        found = _parting(state, state.opened, lookup, prompt, path, words)
        if found is not None and (best is None or found.rule.gain > best.rule.gain):
            best = found
    return best


def _parting(
    state: Replayer, opened: LogOpened, lookup: LookupDone, prompt: "array[int]", path: StoredPath, words: Words
) -> Parting | None:
    stored = path.tokens
    start = _first_difference(prompt, stored, lookup.common)
    if start == min(len(prompt), len(stored)):
        return None
    stretches = list(_alike(prompt, stored, start, words))
    first = stretches[0] if stretches else Stretch(Extent(start, len(prompt)), Extent(start, len(stored)), 0)
    cause = _cause(prompt, stored, first, start, words) if stretches else "TEXT"
    length, gain = _gain(state, opened, lookup, path.nodes, stretches) if stretches else (lookup.reused, 0)
    node = next(node for node in path.nodes if state.nodes.stop[node] > start)
    return Parting(
        TokensRule(start, cause, length, gain),
        node,
        tuple(prompt[first.prompt.start : min(first.prompt.stop, start + SHOWN)]),
        tuple(stored[first.stored.start : min(first.stored.stop, start + SHOWN)]),
        first.agreed,
        stretches[-1].stored.stop + stretches[-1].agreed if stretches else start,
        max(1, len(stretches)),
        _longer(stretches),
    )


def _alike(prompt: "array[int]", stored: "array[int]", start: int, words: Words) -> Iterator[Stretch]:
    """The first differing stretch, and those behind it for as long as they have its cause."""
    cause, before = "", start
    for stretch in differing_stretches(prompt, stored, start):
        found = _cause(prompt, stored, stretch, before, words)
        if cause and found != cause:
            return
        yield stretch
        if found in GENERAL_CAUSES:
            return
        cause, before = found, stretch.agreed


def _gain(
    state: Replayer, opened: LogOpened, lookup: LookupDone, path: tuple[int, ...], stretches: list[Stretch]
) -> tuple[int, int]:
    """Length reused if the stretches were as stored, and what that adds for tokens that the prompt has."""
    last = stretches[-1]
    common = last.stored.stop + last.agreed
    longer = _longer(stretches)
    num_prompt = lookup.num_prompt + longer
    if opened.match_mode == "classic":
        nodes = state.nodes
        common = max((nodes.stop[n] for n in path if nodes.terminal[n] and nodes.stop[n] <= common), default=0)
    rules = reuse_rules(opened.geometry, ResumeRule(opened.resume), opened.unit)
    looked = Lookup(num_prompt, min(common, num_prompt), lookup.cap + longer)
    reused = plan_reuse(looked, rules, _residency(state, opened, path)).reused
    # Tokens that only the stored path has are nothing to win for this prompt.
    within = last.prompt.stop + last.agreed
    return reused, max(0, min(reused, within) - lookup.reused)


def _longer(stretches: list[Stretch]) -> int:
    return sum(stretch.stored.size - stretch.prompt.size for stretch in stretches)


def _residency(state: Replayer, opened: LogOpened, path: tuple[int, ...]) -> Residency:
    runs = [run for node in path for run in state.swa_runs(node)]
    live = merge(Extent(start, stop) for start, stop, _ in runs)
    return {kind.label: live for kind in opened.geometry.kinds if kind.shape is Shape.WINDOW}


def _cause(prompt: "array[int]", stored: "array[int]", stretch: Stretch, before: int, words: Words) -> str:
    """Cause of a stretch, judged with the equal tokens around it; `before` of them are on its left."""
    left, right = min(CONTEXT, before), min(CONTEXT, stretch.agreed)
    a, b = stretch.prompt, stretch.stored
    return words.cause(prompt[a.start - left : a.stop + right], stored[b.start - left : b.stop + right])


def _first_difference(prompt: "array[int]", stored: "array[int]", start: int) -> int:
    end = min(len(prompt), len(stored))
    while start < end and prompt[start] == stored[start]:
        start += 1
    return start
