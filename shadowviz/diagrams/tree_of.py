"""The tree of a replayed state as a diagram: what is shown, what is resident, what can be reached."""

from collections.abc import Iterator

import msgspec

from shadowviz.diagrams.boxes import BoxMaker
from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.collapse import Selection, TreeOptions, check_root, select
from shadowviz.diagrams.columns import TreeColumns
from shadowviz.diagrams.lookups import verdict_line
from shadowviz.diagrams.memory_tiles import num_pages_taken
from shadowviz.diagrams.request_path import NO_PATH, RequestPath, mask_of, path_of_request
from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.replay.explain import Explanation
from shadowviz.replay.nearest import Words
from shadowviz.tokens.inert import printable, shorten
from shadowviz.tokens.words import IdWords
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.replayer import Replayer

EVERYTHING = TreeOptions()

MAX_NAME = 60
"""Characters of a name from the record that a note shows."""


def tree_diagram(
    caption: Caption,
    state: Replayer,
    options: TreeOptions = EVERYTHING,
    explanation: Explanation | None = None,
    words: Words | None = None,
) -> TreeDiagram:
    """The tree in `state`, or the part of it that `options` ask for.

    The first box is the root of the picture. Where that is the root of the tree, it is node 0, its own parent, and
    stands for no tokens; it is not counted in the caption.

    Args:
        caption: title, source, event and geometry; counts, verdict and notes are added to it.
        explanation: the lookup of `options.request` that the picture tells of.
        words: reads token ids for the labels; without it they are numbers.

    Raises:
        InputError: the tree has no such root, or the run no such request, at this moment.
        LogError: no log was opened.
    """
    opened = state.opened
    if opened is None:
        raise LogError("the events hold no LogOpened: expected the beginning of a log")
    columns = TreeColumns(state)
    check_root(columns, options.root, state.seq)
    path = path_of_request(state, columns, options.request) if options.request else NO_PATH
    on_path = mask_of(columns, path.nodes)
    selection = select(columns, options, on_path)
    boxes = BoxMaker(state, opened, columns, words or IdWords()).make(selection, on_path)
    lookup = explanation.lookup if explanation else None
    return TreeDiagram(
        caption=msgspec.structs.replace(
            caption,
            shown=int((selection.nodes > 0).sum()),
            total=len(columns.living),
            unit="nodes",
            counts=(*caption.counts, *_counts(state, opened, columns)),
            verdict=verdict_line(explanation) if explanation else caption.verdict,
            notes=(*caption.notes, *_notes(opened, options, path, selection)),
        ),
        kinds=tuple(kind.label for kind in opened.geometry.kinds),
        boxes=boxes,
        stubs=selection.stubs,
        request=printable(options.request),
        common=lookup.common if lookup else min(path.common, path.num_prompt),
        matched=lookup.matched if lookup else 0,
        usable=lookup.usable if lookup else 0,
        reused=lookup.reused if lookup else 0,
        num_prompt=path.num_prompt,
    )


def _counts(state: Replayer, opened: LogOpened, columns: TreeColumns) -> Iterator[tuple[str, str]]:
    """Figures of the whole tree, whatever is shown of it."""
    living = columns.living
    yield "tokens", f"{int(columns.subtree[1][0]):,}"
    yield "leaves", f"{int((~columns.has_children[living]).sum()):,}"
    yield "locked", f"{int((columns.locks[living] > 0).sum()):,}"
    pools = (("full", columns.full, opened.num_full_pages), ("swa", columns.swa, opened.num_swa_pages))
    for pool, runs, num_pages in pools:
        if num_pages:
            taken = num_pages_taken(runs, living, state.held_runs(pool), opened.geometry.page_size)
            yield f"{pool} pages", f"{taken:,} of {num_pages:,}"


def _notes(opened: LogOpened, options: TreeOptions, path: RequestPath, selection: Selection) -> Iterator[str]:
    if selection.collapsed:
        yield "The largest nodes of each level are shown; what is beside or below them is counted in stubs."
    if options.request:
        there = f"{path.common:,} of the {path.num_tokens:,} tokens of {shorten(options.request, MAX_NAME)}"
        yield f"After this event the tree holds {there}, what it stored itself included."
        if options.root not in (0, *path.nodes):
            yield f"Its path does not run through node {options.root}, so it is not in the picture."
    if opened.policy != "lru":
        policy = shorten(opened.policy, MAX_NAME) or "not known"
        yield f"Which node is evicted next can be told under the policy lru alone; this one is {policy}."
