"""Diagrams made of values, of any size and with any text, for tests of what draws them."""

import random

from shadowviz.diagrams.caption import Caption
from shadowviz.diagrams.tree import Box, KindRows, Stub, TreeDiagram
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.kinds import Shape, owned_rows
from shadowviz_engine.core.presets import preset

TEXTS = (
    "You are a helpful assistant.\\nTools: ",
    "User: compare the two files",
    "日本語のプロンプト",
    "\\u202egnp.exe",
    "Ünïcödé",
)
VERDICT = "CUT_BY_SWA(n7), 1,536 tokens lost: the rows of the window before token 1,536 were freed by event 88."


def caption(shown: int, total: int, **values: object) -> Caption:
    """A caption with everything in it."""
    fixed: dict[str, object] = {
        "title": "Radix tree and resident state",
        "source": "demo.jsonl",
        "seq": 1042,
        "last_seq": 9981,
        "geometry": "v4-flash: page 256, n_win 128, csa ratio 4 with overlap, hca ratio 128, top 512",
        "shown": shown,
        "total": total,
        "counts": (("tokens", "88,100,000"), ("pages used", "31 of 64")),
        "notes": ("Children of 12 nodes are collapsed: the largest by tokens are shown.",),
    }
    return Caption(**{**fixed, **values})  # type: ignore[arg-type]


def tree(
    num: int, seed: int = 0, texts: tuple[str, ...] = TEXTS, geometry: str = "v4-flash", width: int = 4
) -> TreeDiagram:
    """A tree of `num` boxes with every mark somewhere, and the path of a request through it."""
    rng = random.Random(seed)
    kinds = preset(geometry).kinds
    boxes: list[Box] = []
    children = [0] * num
    for node in range(num):
        parent = rng.randrange(max(0, node - width), node) if node else -1
        start = boxes[parent].stop if node else 0
        stop = start + (0 if not node else rng.choice((1, 64, 256, 412, 1024, 5000)))
        if node:
            children[parent] += 1
        freed = rng.random() < 0.2
        rows = []
        for kind in kinds:
            owned = owned_rows(kind, start, stop)
            total = owned.stop - owned.start
            there: int | None = total
            if kind.shape in (Shape.WINDOW, Shape.OPEN):
                there = 0 if freed else rng.choice((total, min(total, 128)))
            if rng.random() < 0.05:
                there = None
            origin = rng.choice((Origin.OBSERVED,) * 8 + (Origin.DERIVED, Origin.ASSUMED))
            # None at all is what an event says; derived, it would be a kind that the tree never holds.
            rows.append(KindRows(kind.label, total, there, origin if there != 0 else Origin.OBSERVED))
        boxes.append(
            Box(
                node=node,
                parent=boxes[parent].node if node else 0,
                depth=boxes[parent].depth + 1 if node else 0,
                start=start,
                stop=stop,
                label=rng.choice(texts),
                rows=tuple(rows) if node else (),
                tier=rng.choice(("device",) * 6 + ("host", "storage")),
                locks=rng.choice((0, 0, 0, 1, 12)),
                heat=None if not node or rng.random() < 0.1 else rng.random(),
                tombstone=freed and node > 0,
                terminal=rng.random() < 0.3,
                reachable=rng.choice((None, stop // 256 * 256)),
                next_out=node == num // 2,
            )
        )
    return _with_path(_in_pre_order(boxes), kinds=tuple(kind.label for kind in kinds))


def _in_pre_order(boxes: list[Box]) -> list[Box]:
    below: dict[int, list[Box]] = {}
    for box in boxes[1:]:
        below.setdefault(box.parent, []).append(box)
    ordered, waiting = [], boxes[:1]
    while waiting:
        box = waiting.pop()
        ordered.append(box)
        waiting += reversed(below.get(box.node, []))
    return ordered


def _with_path(boxes: list[Box], kinds: tuple[str, ...]) -> TreeDiagram:
    from msgspec.structs import replace

    by_node = {box.node: place for place, box in enumerate(boxes)}
    last = max(range(len(boxes)), key=lambda place: boxes[place].depth)
    path, place = [], last
    while True:
        path.append(place)
        if not boxes[place].node:
            break
        place = by_node[boxes[place].parent]
    for place in path[len(path) // 3 :]:
        boxes[place] = replace(boxes[place], on_path=True)
    end = boxes[path[len(path) // 3]].stop
    return TreeDiagram(
        caption=caption(len(boxes), len(boxes) + 1204, verdict=VERDICT),
        kinds=kinds,
        boxes=tuple(boxes),
        stubs=(Stub(boxes[0].node, 1204, 88_000),),
        request="r0042",
        common=end,
        matched=end // 256 * 256,
        usable=end // 512 * 512,
        reused=end // 512 * 512,
        num_prompt=end + 3,
    )


def chain(num: int) -> TreeDiagram:
    """Boxes each of which is the only child of the one before."""
    boxes = tuple(Box(node=n, parent=max(0, n - 1), depth=n, start=n, stop=n + 1) for n in range(num))
    return TreeDiagram(caption=caption(num, num), kinds=(), boxes=boxes)
