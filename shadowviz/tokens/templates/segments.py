"""The stretches of a rendered chat template named, from marks that a rendering carried."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from shadowviz.tokens.rendering.render import Segment
from shadowviz.tokens.templates.marks import Stretch
from shadowviz.tokens.templates.sources import Hidden, Source

BEGINNING: Final = "beginning of text"
PROMPT: Final = "generation prompt"
TEMPLATE: Final = "template text"
LONGEST_MARKER: Final = 120
"""Characters up to which what a template writes before a message, in its loop, is taken for its role marker."""
SHORT_MARKER: Final = 64
"""The same outside any loop over messages."""


@dataclass(frozen=True)
class Found:
    """What is known of a rendering: its text, the marked stretches, inner ones first, and where its frame is."""

    text: str
    sources: Sequence[Source]
    stretches: Sequence[Stretch]
    body_start: int = 0
    """Behind the beginning-of-text marker."""
    prompt_start: int | None = None
    """Where the generation prompt begins, the text's length where there is none; None where that is not known."""
    hidden: Mapping[int, Hidden] = field(default_factory=dict)
    """By message."""


@dataclass(slots=True)
class _Run:
    start: int
    stop: int
    owner: int | None
    """Index of the innermost stretch around it."""
    label: str = TEMPLATE


@dataclass(frozen=True, slots=True)
class _Gap:
    """What a template writes before the first text of a message, behind any tools."""

    places: Sequence[int]
    source: Source
    text: str
    is_behind_tools: bool = False

    @property
    def role(self) -> str:
        """As the label says it."""
        return self.source.label.partition("(")[2].rstrip(")")

    @property
    def is_plain(self) -> bool:
        """Short, and without the name of another role that would show it to hold more than a marker."""
        others = {"system", "developer"} - {self.role}
        is_short = len(self.text) <= LONGEST_MARKER and not self.is_behind_tools
        return is_short and not any(other in self.text for other in others)

    @property
    def names_role(self) -> bool:
        """Plain, and with the name of the message's own role."""
        return self.is_plain and self.role in self.text


def name_segments(found: Found) -> tuple[Segment, ...]:
    """Segments that cover the text; `template text` is what no source is known for."""
    runs = list(_split_at(_runs(found.stretches, len(found.text)), (found.body_start, found.prompt_start)))
    for run in runs:
        if run.owner is not None:
            run.label = found.sources[found.stretches[run.owner].number].label
    _name_markers(found, runs)
    _name_between(found, runs)
    for run in runs:
        if run.owner is None or found.sources[found.stretches[run.owner].number].is_message:
            if run.stop <= found.body_start:
                run.label = BEGINNING
            elif found.prompt_start is not None and run.start >= found.prompt_start:
                run.label = PROMPT
    return tuple(_joined(runs))


def _runs(stretches: Sequence[Stretch], length: int) -> Iterable[_Run]:
    # Of two that are equally long, that which ends later in the list is the outer one.
    order = sorted(
        (place for place, stretch in enumerate(stretches) if stretch.start < stretch.stop),
        key=lambda place: (stretches[place].start, -stretches[place].stop, -place),
    )
    around: list[int] = []
    end = 0
    for place in [*order, None]:
        start = length if place is None else stretches[place].start
        while around and stretches[around[-1]].stop <= start:
            inner = around.pop()
            if end < stretches[inner].stop:
                yield _Run(end, stretches[inner].stop, inner)
                end = stretches[inner].stop
        if end < start:
            yield _Run(end, start, around[-1] if around else None)
            end = start
        if place is not None:
            around.append(place)


def _split_at(runs: Iterable[_Run], places: Sequence[int | None]) -> Iterable[_Run]:
    for run in runs:
        start = run.start
        for place in sorted(place for place in places if place is not None and run.start < place < run.stop):
            yield _Run(start, place, run.owner)
            start = place
        yield _Run(start, run.stop, run.owner)


def _name_markers(found: Found, runs: list[_Run]) -> None:
    """Tell what a template writes before a message from what it writes behind it."""
    starts = [run.start for run in runs]
    gaps: list[_Gap] = []
    for owner, stretch in enumerate(found.stretches):
        source = found.sources[stretch.number]
        if source.is_message and stretch.start < stretch.stop:
            span = range(bisect_left(starts, stretch.start), bisect_left(starts, stretch.stop))
            own = [place for place in span if runs[place].owner == owner]
            held = {place: _source(found, runs[place]) for place in span if runs[place].owner != owner}
            if gap := _name_own(found, runs, source, own, held):
                gaps.append(gap)
    _name_role_markers(sorted(gaps, key=lambda gap: gap.places[0]), runs)


def _name_own(
    found: Found, runs: list[_Run], source: Source, own: Sequence[int], held: Mapping[int, Source]
) -> _Gap | None:
    """Name what a template adds behind and between the texts of a message, and return what it adds before them."""
    told = [place for place, inner in held.items() if inner.message is not None]
    if not own or not told:
        return None
    first, last = told[0], told[-1]
    hidden = found.hidden.get(source.message or 0, Hidden())
    behind = [place for place in own if place > last]
    calls = [place for place in told if held[place].label == f"{source.label}: tool calls"]
    shows_calls = not hidden.has_calls or (bool(calls) and not held[last].is_inside)
    if behind and shows_calls and hidden.allows_behind(_text(found, runs, behind)):
        # Where it is not known what the generation prompt is, the last of it may be that.
        is_open = found.prompt_start is None and runs[behind[-1]].stop == len(found.text)
        for place in behind:
            runs[place].label = TEMPLATE if is_open else f"{source.label}: end marker"
    for place in own:
        if first < place < last and runs[place - 1].label == runs[place + 1].label:
            runs[place].label = runs[place - 1].label
    tools = [place for place in held if place < first]
    for place in own:
        if tools and place < tools[-1]:
            runs[place].label = TEMPLATE
    before = [
        place for place in own if max(tools, default=-1) < place < first and runs[place].start >= found.body_start
    ]
    text = _text(found, runs, before)
    if not before or held[first].is_inside or not hidden.allows_before(text):
        return None
    return _Gap(before, source, text, bool(tools))


def _source(found: Found, run: _Run) -> Source:
    assert run.owner is not None
    return found.sources[found.stretches[run.owner].number]


def _name_role_markers(gaps: Sequence[_Gap], runs: list[_Run]) -> None:
    texts: dict[str, set[str]] = {}
    for gap in gaps:
        if gap.is_plain:
            texts.setdefault(gap.role, set()).add(gap.text)
    inserted = 0
    for gap in gaps:
        places = [place + inserted for place in gap.places]
        marker = f"{gap.source.label}: role marker"
        if gap.is_plain:
            for place in places:
                runs[place].label = marker
            continue
        # A template that writes instructions of its own writes them before the marker that other messages have.
        own = max((text for text in texts.get(gap.role, ()) if gap.text.endswith(text)), key=len, default="")
        for place in places:
            runs[place].label = TEMPLATE
        last = runs[places[-1]]
        if own and len(own) < last.stop - last.start:
            runs.insert(places[-1] + 1, _Run(last.stop - len(own), last.stop, last.owner, marker))
            last.stop -= len(own)
            inserted += 1


def _name_between(found: Found, runs: Sequence[_Run]) -> None:
    """Name what stands alone, outside any message, beside text of a message."""
    for place, run in enumerate(runs):
        if run.owner is not None or place + 1 == len(runs) or run.start < found.body_start:
            continue
        behind = _leaf(found, runs[place + 1])
        if behind is None or behind.message is None:
            continue
        text = found.text[run.start : run.stop]
        before = _leaf(found, runs[place - 1]) if place else None
        if before is behind and text in (behind.text or ""):
            run.label = behind.label
        elif before is None and len(text) <= SHORT_MARKER and _Gap([place], behind, text).names_role:
            run.label = f"{behind.label}: role marker"


def _leaf(found: Found, run: _Run) -> Source | None:
    source = None if run.owner is None else found.sources[found.stretches[run.owner].number]
    return source if source is not None and source.text is not None else None


def _text(found: Found, runs: Sequence[_Run], places: Sequence[int]) -> str:
    return found.text[runs[places[0]].start : runs[places[-1]].stop] if places else ""


def _joined(runs: Iterable[_Run]) -> Iterable[Segment]:
    for label, group in groupby(runs, key=lambda run: run.label):
        members = list(group)
        yield Segment(label, members[0].start, members[-1].stop)
