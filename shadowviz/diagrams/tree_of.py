"""The tree of a replayed state as a diagram: what is shown, what is resident, what can be reached."""

import msgspec

from shadowviz.diagrams.boxes import BoxMaker
from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.collapse import Selection, TreeOptions, check_root, select
from shadowviz.diagrams.columns import TreeColumns
from shadowviz.diagrams.lookups import verdict_line
from shadowviz.diagrams.request_path import mask_of, path_of_request
from shadowviz.diagrams.tree import TreeDiagram
from shadowviz.replay.explain import Explanation
from shadowviz.replay.nearest import Words
from shadowviz.tokens.inert import printable
from shadowviz.tokens.words import IdWords
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import LogOpened
from shadowviz_engine.core.replayer import Replayer

EVERYTHING = TreeOptions()


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
    path, path_tokens = path_of_request(state, columns, options.request) if options.request else ([], 0)
    on_path = mask_of(columns, path)
    selection = select(columns, options, on_path)
    boxes = BoxMaker(state, opened, columns, words or IdWords()).make(selection, on_path)
    lookup = explanation.lookup if explanation else None
    return TreeDiagram(
        caption=_caption(caption, opened, columns, selection, explanation),
        kinds=tuple(kind.label for kind in opened.geometry.kinds),
        boxes=boxes,
        stubs=selection.stubs,
        request=printable(options.request),
        common=lookup.common if lookup else path_tokens,
        matched=lookup.matched if lookup else 0,
        usable=lookup.usable if lookup else 0,
        reused=lookup.reused if lookup else 0,
        num_prompt=lookup.num_prompt if lookup else 0,
    )


def _caption(
    caption: Caption, opened: LogOpened, columns: TreeColumns, selection: Selection, explanation: Explanation | None
) -> Caption:
    living = columns.living
    shown = int((selection.nodes > 0).sum())
    counts = (
        ("tokens", f"{int(columns.subtree[1][0]):,}"),
        ("leaves", f"{int((~columns.has_children[living]).sum()):,}"),
        ("locked", f"{int((columns.locks[living] > 0).sum()):,}"),
    )
    notes = []
    if selection.collapsed:
        notes.append("The largest nodes of each level are shown; what is beside or below them is counted in stubs.")
    if opened.policy != "lru":
        notes.append(f"Which node is evicted next is known for the policy lru only, not for {opened.policy!r}.")
    return msgspec.structs.replace(
        caption,
        shown=shown,
        total=len(living),
        unit="nodes",
        counts=(*caption.counts, *counts),
        verdict=verdict_line(explanation) if explanation else caption.verdict,
        notes=(*caption.notes, *notes),
    )
