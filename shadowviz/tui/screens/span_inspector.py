"""What the inspector says of a span: its logical place, and beside it the physical state that belongs to it."""

from shadowviz.diagrams.roles import LOCKED, NEXT_OUT, REACHABLE, heat_style
from shadowviz.diagrams.tree import KindRows
from shadowviz.replay.counts import tokens
from shadowviz.tui.widgets.look import Look
from shadowviz.tui.widgets.text_pane import Paragraph
from shadowviz.tui.widgets.tree_view import TreeShown, kind_cell
from shadowviz_engine.core.columns import DONE
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.holdings import Runs

MAX_RUNS = 4
"""Runs of slots, pages and names that are written out."""
LABEL_TOKENS = 48
"""Tokens of a span whose text is shown."""
MAX_PATH = 8
"""Nodes of the logical path that are named, the deepest ones."""


def span_paragraphs(shown: TreeShown, node: int, look: Look) -> list[Paragraph]:
    """The paragraphs about a node."""
    if not node:
        return _root(shown, look)
    state, facts = shown.state, shown.facts
    nodes = state.nodes
    start, stop = nodes.start[node], nodes.stop[node]
    namespace = state.namespaces.names[nodes.namespace[node]]
    head = f"[{start:,}..{stop:,}) {tokens(stop - start)}"
    head += f", namespace {namespace}" if namespace else ""
    at = nodes.tokens_at[node] + start
    text = shown.words.text(state.tokens[at : at + min(stop - start, LABEL_TOKENS)])
    parts = [
        Paragraph(head, look.text, f"n{node}  ", look.strong),
        _reach(shown, node, look),
        *(_kind(shown, node, rows, look) for rows in facts.rows(node) if rows.owned),
        _lead("slots", _slots(shown, node), look),
        _lead("path", _path(shown, node), look),
        _lead("locks", _locks(shown, node), look, look.ink(LOCKED) if nodes.locks[node] else look.text),
        _lead("used", _recency(shown, node), look),
        _lead("out", _eviction(shown, node), look, look.ink(NEXT_OUT) if node == facts.next_out else look.text),
    ]
    if nodes.terminal[node]:
        parts.append(_lead("end", "a registered path ends here", look))
    return [*parts, _lead("text", text, look)]


def _root(shown: TreeShown, look: Look) -> list[Paragraph]:
    opened = shown.state.opened
    assert opened is not None, "a tree is shown once its log was opened"
    num = shown.index.order.sizes[0] - 1
    words = f"{num:,} nodes; geometry {opened.geometry.name}, page {opened.geometry.page_size}"
    words += f", resume {opened.resume}, retention {opened.retention or '-'}, policy {opened.policy or '-'}"
    kinds = "  ".join(f"{look.glyph(style)} {style.word}" for style in shown.kinds.values())
    marks = f"{look.pick('◐', '/')} in part  {look.pick('-', '-')} gone  ? not known  blank: the span closes no row"
    return [
        Paragraph(words, look.text, "root  ", look.strong),
        _lead("there", kinds, look),
        _lead("", marks, look),
        _lead("reuses", "what a longer request reuses that leaves the tree at the end of a span (derived)", look),
        _lead("known", "an event tells what is not marked (derived)", look),
    ]


def _known(text: str, origin: Origin) -> str:
    """A text that says how it is known, unless an event tells it."""
    return text if origin is Origin.OBSERVED else f"{text} ({origin})"


def _lead(name: str, text: str, look: Look, ink: object = None) -> Paragraph:
    return Paragraph(text, ink or look.text, f"{name:<7}", look.title)  # type: ignore[arg-type]


def _reach(shown: TreeShown, node: int, look: Look) -> Paragraph:
    reused = shown.facts.reused(node)
    if reused is None:
        text = "what a request that leaves here reuses is not known: no event speaks of a kind that it needs"
    else:
        text = f"a request that leaves here reuses {reused:,} of {tokens(shown.state.nodes.stop[node])}"
        text = _known(text, Origin.DERIVED)
    return Paragraph(text, look.ink(REACHABLE), f"{look.glyph(REACHABLE)} ", look.ink(REACHABLE))


def _kind(shown: TreeShown, node: int, rows: KindRows, look: Look) -> Paragraph:
    style = shown.kinds[rows.kind]
    cell, ink = kind_cell(rows, style, look)
    if rows.resident is None:
        text = f"{rows.owned:,} row{'s' * (rows.owned != 1)}, no event says which are there"
    elif rows.resident >= rows.owned:
        text = "its one row is there" if rows.owned == 1 else f"all {rows.owned:,} rows are there"
    elif rows.resident:
        text = f"{rows.resident:,} of {rows.owned:,} rows are there"
    else:
        text = "its one row is gone" if rows.owned == 1 else f"all {rows.owned:,} rows are gone"
    opened = shown.state.opened
    assert opened is not None, "a tree is shown once its log was opened"
    kind = opened.geometry.kind(rows.kind)
    if kind.unit > 1:
        first, last = shown.state.nodes.start[node] // kind.unit, shown.state.nodes.stop[node] // kind.unit - 1
        which = f"entry {first:,}" if first == last else f"entries [{first:,}..{last + 1:,})"
        text += f", {which} of {kind.unit} tokens"
    if rows.resident is not None:
        text = _known(text, rows.origin)
    return Paragraph(text, look.text, f"{cell} {style.word:<11}", ink)


def _slots(shown: TreeShown, node: int) -> str:
    pages = shown.facts.pages
    texts = []
    for pool, runs in (("full", shown.state.full_runs(node)), ("swa", shown.state.swa_runs(node))):
        if runs:
            where = ", ".join(
                f"{start}" if stop - start == 1 else f"[{start:,}..{stop:,})" for start, stop in pages(runs)
            )
            texts.append(f"{pool} {_runs(runs)}, page {where}")
        else:
            texts.append(f"{pool} none")
    return "; ".join(texts)


def _runs(runs: Runs) -> str:
    shown = [f"[{start:,}..{stop:,}) at {slot:,}" for start, stop, slot in runs[:MAX_RUNS]]
    more = len(runs) - MAX_RUNS
    return " ".join(shown) + (f" and {more} more" if more > 0 else "")


def _path(shown: TreeShown, node: int) -> str:
    names = [f"n{node}" for node in shown.state.nodes.path(node)]
    named = names[:MAX_PATH][::-1]
    lead = f"root > {len(names) - MAX_PATH:,} others" if len(names) > MAX_PATH else "root"
    return " > ".join([lead, *named])


def _locks(shown: TreeShown, node: int) -> str:
    locks = shown.state.nodes.locks[node]
    if not locks:
        return "none"
    requests, parent = shown.state.requests, shown.state.nodes.parent
    holders = []
    for row, lock in enumerate(requests.lock_node):
        if requests.state[row] < DONE and lock:
            at = lock
            while at and at != node:
                at = parent[at]
            if at == node:
                holders.append(requests.names[row])
    by = f", by {', '.join(holders[:MAX_RUNS])}" if holders else ""
    return f"{locks}{by}{' and others' if len(holders) > MAX_RUNS else ''}"


def _recency(shown: TreeShown, node: int) -> str:
    nodes = shown.state.nodes
    style = heat_style(shown.facts.heat(node))
    return f"last in e{nodes.last_used[node]:,} ({style.word}), made in e{nodes.created[node]:,}"


def _eviction(shown: TreeShown, node: int) -> str:
    nodes, order = shown.state.nodes, shown.facts.order
    if nodes.locks[node]:
        return "cannot be evicted while it is locked"
    if nodes.first_child[node]:
        return "cannot be evicted before what is below it"
    place = order.place(node)
    if place is None:
        opened = shown.state.opened
        return f"a leaf; the order of policy {(opened and opened.policy) or '-'} is not known here"
    if not place.exact:
        return _known(f"to be evicted after {place.before:,} others or more", Origin.DERIVED)
    words = f"to be evicted as number {place.before + 1:,}" if place.before else "next to be evicted"
    return _known(words, Origin.DERIVED)
