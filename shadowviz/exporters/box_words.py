"""The words of a box, the same in every picture of a tree: title, cells, marks, and all of it in full."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shadowviz.diagrams.lanes import Bar
from shadowviz.diagrams.roles import (
    ABSENT,
    COMPUTED,
    ELSEWHERE,
    LOCKED,
    NAMESPACE,
    NEVER,
    NEXT_OUT,
    PARTIAL,
    PATH,
    PRESENT,
    REACHABLE,
    REUSED,
    TERMINAL,
    TOMBSTONE,
    UNKNOWN,
    heat_style,
    tier_style,
)
from shadowviz.diagrams.theme import Style
from shadowviz.diagrams.tree import Box, KindRows, Stub, TreeDiagram
from shadowviz.replay.counts import counted
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.derive import Origin

STEPS = 8
"""Widths of a gauge: finer ones say no more, and pictures stay small."""


MAX_REQUEST = 40
"""Characters of a request's name."""


class Mark(NamedTuple):
    """One thing that is said of a node below its cells."""

    style: Style
    text: str


def title(box: Box) -> str:
    """Node, range of positions, and length."""
    return f"{name(box.node)} [{box.start}..{box.stop}) {counted(box.num_tokens, 'token')}"


def name(node: int) -> str:
    """A node as it is called everywhere."""
    return f"n{node}" if node else "root"


def cell(row: KindRows) -> str:
    """Rows of a kind: all of them, some of them, none, or not known."""
    if not row.owned:
        return "-"
    if row.resident is None:
        return f"?/{short(row.owned)}"
    if row.resident == row.owned:
        return short(row.owned)
    return f"{short(row.resident)}/{short(row.owned)}"


def presence(row: KindRows) -> Style | None:
    """Whether the rows are there; None where the span owns none."""
    if not row.owned:
        return None
    if row.resident is None:
        return UNKNOWN
    if row.resident == 0:
        return ELSEWHERE if row.origin is Origin.DERIVED else ABSENT
    return PRESENT if row.resident >= row.owned else PARTIAL


def missing(bar: Bar) -> Style:
    """Whether rows of a ruler that are not there were there once."""
    return ABSENT if bar.once else NEVER


def steps(row: KindRows) -> int:
    """Eighths of the rows that are there; neither some nor some missing rounds to nothing."""
    if not row.owned or not row.resident:
        return 0
    if row.resident >= row.owned:
        return STEPS
    return min(STEPS - 1, max(1, round(row.resident * STEPS / row.owned)))


def marks(box: Box, diagram: TreeDiagram) -> list[Mark]:
    """What else is known of a node, the most telling first."""
    found = []
    if box.on_path:
        found.append(Mark(PATH, path_words(box, diagram)))
    if box.locks:
        found.append(Mark(LOCKED, f"{LOCKED.word} {short(box.locks)}"))
    if box.tombstone:
        found.append(Mark(TOMBSTONE, TOMBSTONE.word))
    if box.next_out:
        found.append(Mark(NEXT_OUT, NEXT_OUT.word))
    if box.tier != "device":
        found.append(Mark(tier_style(box.tier), tier_style(box.tier).word))
    if box.reachable is not None:
        found.append(Mark(REACHABLE, f"{REACHABLE.word} {short(box.reachable)}"))
    if box.terminal:
        found.append(Mark(TERMINAL, TERMINAL.word))
    if tells_namespace(box, diagram):
        found.append(Mark(NAMESPACE, shorten(box.namespace, MAX_REQUEST)))
    return found


def tells_namespace(box: Box, diagram: TreeDiagram) -> bool:
    """Whether a node says its namespace: the first of those that share it, where it has one."""
    return bool(box.namespace) and (not box.parent or box.node == diagram.boxes[0].node)


def path_words(box: Box, diagram: TreeDiagram) -> str:
    """How far the request took what this node holds."""
    if not diagram.num_prompt or not box.node:
        return PATH.word
    if box.stop <= diagram.reused:
        return REUSED.word
    if box.start < diagram.reused:
        return f"{REUSED.word} to {diagram.reused}"
    return f"equal to {min(box.stop, diagram.common)}, not reused" if box.start < diagram.common else COMPUTED.word


def outcome_lines(diagram: TreeDiagram) -> list[str]:
    """What the request's lookup came to, shown beside the node where its prompt parted from what was stored."""
    if not diagram.num_prompt:
        return [f"{request_words(diagram)} has no lookup yet", f"{counted(diagram.common, 'token')} on this path"]
    return [
        f"lookup of {request_words(diagram)}",
        f"common {diagram.common:,}, matched {diagram.matched:,}",
        f"usable {diagram.usable:,}, reused {diagram.reused:,}",
        f"of {counted(diagram.num_prompt, 'prompt token')}",
    ]


def request_words(diagram: TreeDiagram) -> str:
    """The request whose path is marked."""
    return shorten(diagram.request, MAX_REQUEST) or "the request"


def outcome_place(diagram: TreeDiagram) -> int:
    """Index of the box where the request's prompt parted from what was stored."""
    path = [index for index, box in enumerate(diagram.boxes) if box.on_path]
    common = [index for index in path if diagram.boxes[index].start < diagram.common]
    return (common or path or [0])[-1]


def stub_words(stub: Stub) -> str:
    """Nodes that are not shown, and their tokens."""
    return f"+{stub.nodes:,} more ({short(stub.tokens)} tokens)"


def in_brief(box: Box, found: Sequence[Mark]) -> list[str]:
    """What is known of a node beside its title and rows, a line each."""
    lines = [shorten(box.label)] if box.label else []
    return [*lines, ", ".join([mark.text for mark in found])] if found else lines


def in_full(box: Box, diagram: TreeDiagram, styles: Mapping[str, Style]) -> list[str]:
    """Everything that is known of a node, a line each: shown when the reader points at it."""
    lines = [title(box)]
    if box.label:
        lines.append(shorten(box.label))
    if box.namespace:
        lines.append(f"namespace {shorten(box.namespace)}")
    for row in box.rows:
        style = styles.get(row.kind)
        origin = "" if row.origin is Origin.OBSERVED else f", {row.origin}"
        lines.append(f"{style.word if style else row.kind}: {_rows_in_full(row)}{origin}")
    lines.append(f"tier {tier_style(box.tier).word}, locks {box.locks:,}")
    lines.append("recency of use not known" if box.heat is None else f"recency of use: {heat_style(box.heat).word}")
    if box.tombstone:
        lines.append(f"{TOMBSTONE.word}: {TOMBSTONE.meaning}")
    if box.terminal:
        lines.append(TERMINAL.meaning)
    if box.reachable is None:
        lines.append("what a request that leaves the tree here reuses is not known")
    else:
        lines.append(f"a request that leaves the tree here reuses {counted(box.reachable, 'token')}")
    if box.on_path:
        lines.append(f"on the path of {request_words(diagram)}: {path_words(box, diagram)}")
    if box.next_out:
        lines.append(NEXT_OUT.meaning)
    return lines


def _rows_in_full(row: KindRows) -> str:
    if not row.owned:
        return "owns no row"
    if row.resident is None:
        return f"residency of {counted(row.owned, 'row')} not known"
    if presence(row) is ELSEWHERE:
        return f"{counted(row.owned, 'row')} {ELSEWHERE.meaning}"
    return f"{row.resident:,} of {counted(row.owned, 'row')} there"


def short(value: int) -> str:
    """A count in at most five columns."""
    if value < 10_000:
        return f"{value:,}"
    for unit, size in (("k", 10**3), ("M", 10**6), ("G", 10**9)):
        if value * 2 < size * 1999:
            scaled = value / size
            return f"{scaled:.1f}{unit}" if scaled < 99.95 else f"{scaled:.0f}{unit}"
    return f"{value / 10**12:.0f}T"


def share_words(part: int, total: int) -> str:
    """A share in per cent; of something never 0.0%."""
    return "<0.1%" if 0 < part * 2000 < total else f"{part / total:.1%}"


def byte_words(value: int) -> str:
    """Bytes in the unit that suits them."""
    if value < 1024:
        return f"{value:,} B"
    for power, unit in enumerate(("KiB", "MiB", "GiB"), 1):
        if value < 1024 ** (power + 1):
            return f"{value / 1024**power:,.1f} {unit}"
    return f"{value / 1024**4:,.1f} TiB"
