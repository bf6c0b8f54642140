"""The ruler, worked out: for a length, a span, or a request of a run."""

from collections.abc import Sequence

import msgspec

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.caption_of import geometry_line, state_caption
from shadowviz.diagrams.lanes import DerivationDiagram
from shadowviz.diagrams.lanes_of import lanes_of, told_apart
from shadowviz.diagrams.lookups import verdict_line
from shadowviz.replay.explain import Explanation
from shadowviz.replay.moment import Moment
from shadowviz.replay.nearest import Words
from shadowviz.replay.resident import PromptState, path_tokens, prompt_state, request_prompt, request_row
from shadowviz.tokens.inert import printable
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.replayer import Replayer
from shadowviz_engine.core.reuse import Lookup, ResumeRule, plan_reuse, reuse_rules
from shadowviz_engine.core.spans import Extent

MAX_TEXTS = 512
"""Longest span whose tokens are shown as text."""
MAX_TEXT = 24
"""Characters of a token that are shown."""
MAX_NODE_ENDS = 16
"""Ends of nodes that are marked."""


class View(msgspec.Struct, frozen=True):
    """The stretch of tokens to show, and where a resume is assumed to go on; None = all, and where it really does."""

    span: Extent | None = None
    cut: int | None = None


WHOLE = View()


def length_diagram(geometry: Geometry, span: Extent, cut: int | None = None) -> DerivationDiagram:
    """State behind the tokens [0, span.stop) under `geometry`, by arithmetic alone.

    Without a `cut` it is the most that a longer prompt could reuse under the `page` rule.

    Raises:
        InputError: the cut lies behind the span.
    """
    stop = span.stop
    page, any_length = (_reusable(geometry, resume, stop) for resume in (ResumeRule.PAGE, ResumeRule.ANY))
    marks = [(page, "page rule"), (any_length, "any length")]
    caption = Caption(
        title=f"State behind {stop:,} tokens" if not span.start else f"State behind the tokens {span}",
        source="arithmetic",
        seq=-1,
        last_seq=-1,
        geometry=geometry_line(geometry),
        shown=span.size,
        total=stop,
        unit="tokens",
        counts=(("reusable, page rule", f"{page:,}"), ("reusable, any length", f"{any_length:,}")),
        notes=("No state is shown: which rows are there is not known.", *geometry.warnings()),
    )
    chosen = page if cut is None else _checked_cut(cut, stop)
    return DerivationDiagram(
        caption=caption,
        span=span,
        cut=chosen,
        page_size=geometry.page_size,
        lanes=lanes_of(geometry, span, stop, chosen),
        marks=_joined(marks, span),
    )


def request_diagram(moment: Moment, source: str, request: str, words: Words, view: View = WHOLE) -> DerivationDiagram:
    """State behind the prompt of a request at one moment of a run, and what its lookup made of it.

    Raises:
        InputError: there is no such request, or the view lies outside its prompt.
    """
    state = moment.state
    opened, row = state.opened, request_row(state, request)
    prompt = request_prompt(state, row)
    namespace = state.namespaces.names[state.requests.namespace[row]]
    there = prompt_state(state, prompt, namespace, row)
    explanation = next((found for found in moment.explanations if found.request == request), None)
    lookup = explanation.lookup if explanation else there.found
    length = len(prompt)
    span = _checked_span(view.span, length, request)
    cut = lookup.reused if view.cut is None else _checked_cut(view.cut, length)
    left = lookup.left or there.found.left
    computed = max(there.found.common, state.requests.computed[row], left.length if left else 0)
    assert opened is not None, "a request comes after the beginning of its log"
    return DerivationDiagram(
        caption=_request_caption(moment, source, request, explanation, lookup, span),
        span=span,
        cut=cut,
        page_size=opened.geometry.page_size,
        lanes=told_apart(lanes_of(opened.geometry, span, length, cut, there.rows), opened.geometry, computed),
        marks=_joined([*_lookup_marks(lookup), *_node_ends(state, there)], span),
        text=_texts(words, prompt[span.start : span.stop], opened.redacted),
    )


def path_diagram(moment: Moment, source: str, node: int, words: Words, view: View = WHOLE) -> DerivationDiagram:
    """State behind the tokens from the root to the end of a node, and what a request that begins with them reuses.

    Raises:
        InputError: there is no such node at this moment, or the view lies outside its path.
    """
    state = moment.state
    opened, nodes = state.opened, state.nodes
    if opened is None or not (0 < node < len(nodes) and nodes.alive[node]):
        raise InputError(f"there is no node n{node} after event {moment.seq}: expected one that is in the tree then")
    path, length = path_tokens(state, node), nodes.stop[node]
    there = prompt_state(state, path, state.namespaces.names[nodes.namespace[node]])
    span = _checked_span(view.span, length, f"n{node}")
    cut = there.found.reused if view.cut is None else _checked_cut(view.cut, length)
    caption = state_caption(f"State behind the path of n{node}", source, state, moment.last_seq)
    return DerivationDiagram(
        caption=msgspec.structs.replace(caption, shown=span.size, total=length, unit="tokens"),
        span=span,
        cut=cut,
        page_size=opened.geometry.page_size,
        lanes=lanes_of(opened.geometry, span, length, cut, there.rows),
        marks=_joined([*_lookup_marks(there.found), *_node_ends(state, there)], span),
        text=_texts(words, path[span.start : span.stop], opened.redacted),
    )


def _request_caption(
    moment: Moment, source: str, request: str, explanation: Explanation | None, lookup: LookupDone, span: Extent
) -> Caption:
    num = lookup.num_prompt
    notes = []
    if explanation is None:
        notes.append(f"{request} was not looked up by this event: its lengths are what a lookup would give.")
    elif moment.seq > lookup.seq:
        notes.append(f"Its lookup is event {lookup.seq:,}; the rows are those after event {moment.seq:,}.")
    caption = state_caption(f"State behind the prompt of {request}", source, moment.state, moment.last_seq)
    return msgspec.structs.replace(
        caption,
        shown=span.size,
        total=num,
        unit="tokens",
        counts=(
            ("prompt", f"{num:,}"),
            ("common", f"{lookup.common:,}"),
            ("matched", f"{lookup.matched:,}"),
            ("usable", f"{lookup.usable:,}"),
            ("reused", f"{lookup.reused:,}"),
            ("computed", f"{num - lookup.reused:,}"),
        ),
        verdict=verdict_line(explanation) if explanation else "",
        notes=tuple(map(printable, notes)),
    )


def _lookup_marks(lookup: LookupDone) -> list[tuple[int, str]]:
    lengths = (lookup.common, lookup.matched, lookup.usable, lookup.reused)
    return list(zip(lengths, ("common", "matched", "usable", "reused"), strict=True))


def _node_ends(state: Replayer, there: PromptState) -> list[tuple[int, str]]:
    """Ends of the nodes that hold the prompt, the last ones where there are many."""
    stop = state.nodes.stop
    ends = [(stop[node], f"end of n{node}") for node in there.path if stop[node] <= there.found.common]
    return ends[-MAX_NODE_ENDS:]


def _joined(marks: Sequence[tuple[int, str]], span: Extent) -> tuple[tuple[int, str], ...]:
    """Marks within the span by position; those at one position are one."""
    names: dict[int, list[str]] = {}
    for position, name in marks:
        if span.start <= position <= span.stop:
            names.setdefault(position, []).append(name)
    return tuple((position, ", ".join(names[position])) for position in sorted(names))


def _texts(words: Words, ids: Sequence[int], redacted: bool) -> tuple[str, ...]:
    if redacted or len(ids) > MAX_TEXTS:
        return ()
    texts = (printable(words.text([token])[:MAX_TEXT]) for token in ids)
    return tuple(text if len(text) < MAX_TEXT else f"{text[: MAX_TEXT - 1]}…" for text in texts)


def _checked_span(span: Extent | None, length: int, request: str) -> Extent:
    if span is None:
        return Extent(0, length)
    if not span or span.stop > length:
        raise InputError(
            f"span {span} is not within the prompt of {request!r}: expected one within its {length:,} tokens"
        )
    return span


def _checked_cut(cut: int, length: int) -> int:
    if not 0 <= cut <= length:
        raise InputError(f"cut {cut:,} is outside the {length:,} tokens: expected a length within them")
    return cut


def _reusable(geometry: Geometry, resume: ResumeRule, length: int) -> int:
    return plan_reuse(Lookup(length + 1, length, length), reuse_rules(geometry, resume), {}).reused
