"""A tree as an HTML page: a Plotly icicle that zooms, with everything that is known of the node pointed at."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from shadowviz.diagrams.kind_styles import kind_styles
from shadowviz.diagrams.roles import (
    ABSENT,
    COMPUTED,
    ELSEWHERE,
    LOCKED,
    NEXT_OUT,
    ORIGINS,
    PARTIAL,
    PATH,
    PRESENT,
    REACHABLE,
    REUSED,
    STUB,
    TERMINAL,
    TOMBSTONE,
    UNKNOWN,
    heat_style,
    tier_style,
)
from shadowviz.diagrams.theme import BLUE, GREY, Pattern, Style
from shadowviz.diagrams.tree import Box, KindRows, TreeDiagram
from shadowviz.exporters.box_words import cell, in_full, marks, outcome_place, path_words, presence
from shadowviz.exporters.formats import LIGHT, Drawing, Look
from shadowviz.exporters.html_legend import Entry, Styles, area, glyph, outline
from shadowviz.exporters.html_page import Page, drawn_by, rendered, swatches
from shadowviz.exporters.html_text import Pool, octets
from shadowviz.exporters.svg_frame import meaning
from shadowviz_engine.core.derive import Origin

NOTHING = Style(word="owns no row", glyph="·", ascii=".", hue=GREY, pattern=Pattern.EMPTY, meaning="nothing to hold")
WHOLE = replace(PRESENT, hue=BLUE, word="resident", meaning="every row of every kind is there")
FREE = Style(word="not locked", glyph="·", ascii=".", hue=GREY, pattern=Pattern.EMPTY, meaning="no request uses it")
OFF_PATH = Style(word="beside the path", glyph="·", ascii=".", hue=GREY, pattern=Pattern.EMPTY)


class Mode(NamedTuple):
    """One way to colour the boxes."""

    name: str
    style: Callable[[Box], Style]


def render(diagram: TreeDiagram, look: Look = LIGHT) -> Drawing:  # noqa: ARG001 (the page follows the reader's ground)
    """The page."""
    styles, pool = Styles(), Pool()
    kinds = kind_styles(diagram.kinds)
    modes, values = [], []
    for mode in _modes(diagram, kinds):
        found, codes = _coded(mode, diagram.boxes)
        modes.append({"codes": octets(codes), "styles": styles.numbers(found)})
        values.append(
            {"name": mode.name, "legend": swatches(area(style) for style in _worth_telling(found, codes, diagram))}
        )
    places = {box.node: place for place, box in enumerate(diagram.boxes)}
    data = {
        "parent": [places.get(box.parent, 0) if place else -1 for place, box in enumerate(diagram.boxes)],
        "own": [box.num_tokens for box in diagram.boxes],
        "stubs": [[places[stub.parent], stub.nodes, stub.tokens] for stub in diagram.stubs],
        "full": [pool.numbers(in_full(box, diagram, kinds)) for box in diagram.boxes],
        "brief": [pool.numbers(_brief(box, diagram, kinds)) for box in diagram.boxes],
        "pool": pool.texts,
        "modes": modes,
        "path": [place for place, box in enumerate(diagram.boxes) if box.on_path],
        "place": outcome_place(diagram) if diagram.request else 0,
        "isRoot": not diagram.boxes[0].node,
        "stubStyle": styles.number(STUB),
        "styles": styles.data(),
    }
    page = Page(
        template="tree",
        script="tree",
        caption=diagram.caption,
        request=diagram.request,
        values={"modes": values, "marks": swatches(_marks(diagram))},
        data=data,
        styles=styles.used(),
    )
    return Drawing(rendered(page), drawn_by())


def _modes(diagram: TreeDiagram, kinds: Mapping[str, Style]) -> list[Mode]:
    modes = [Mode("state of all kinds", _state)]
    if diagram.request:
        modes.append(Mode(f"path of {diagram.request}", lambda box: _on_path(box, diagram)))
    modes += [Mode(f"rows of {style.word}", _of_kind(kind, style)) for kind, style in kinds.items()]
    modes.append(Mode("tier", lambda box: tier_style(box.tier)))
    modes.append(Mode("recency of use", lambda box: UNKNOWN if box.heat is None else heat_style(box.heat)))
    modes.append(Mode("locks", lambda box: replace(LOCKED, pattern=Pattern.DIAGONAL) if box.locks else FREE))
    return modes


def _state(box: Box) -> Style:
    """All kinds of a node at once: freed before unknown, unknown before in part."""
    if box.tombstone:
        return TOMBSTONE
    seen = {presence(row) for row in box.rows} - {None, ELSEWHERE}
    if UNKNOWN in seen:
        return _UNKNOWN
    if not seen:
        return NOTHING
    if seen == {PRESENT}:
        return WHOLE
    return _GONE if seen == {ABSENT} else PARTIAL


_UNKNOWN = replace(UNKNOWN, pattern=Pattern.DOTS)
_GONE = ABSENT


def _of_kind(kind: str, style: Style) -> Callable[[Box], Style]:
    whole = replace(PRESENT, hue=style.hue, pattern=Pattern.SOLID)
    part = replace(PARTIAL, hue=style.hue)

    def of(box: Box) -> Style:
        row = next((row for row in box.rows if row.kind == kind), None)
        found = presence(row) if row else None
        if found is None:
            return NOTHING
        return {UNKNOWN: _UNKNOWN, PRESENT: whole, PARTIAL: part, ELSEWHERE: ELSEWHERE}.get(found, _GONE)

    return of


def _on_path(box: Box, diagram: TreeDiagram) -> Style:
    if not box.on_path:
        return OFF_PATH
    said = path_words(box, diagram)
    if said == REUSED.word:
        return REUSED
    if said == COMPUTED.word:
        return COMPUTED
    return replace(PATH, word="in part", meaning="reused or equal up to a token within it", pattern=Pattern.DIAGONAL)


def _coded(mode: Mode, boxes: Sequence[Box]) -> tuple[list[Style], list[int]]:
    """The styles that occur, and the number of that of each box."""
    found: dict[Style, int] = {}
    codes = [found.setdefault(mode.style(box), len(found)) for box in boxes]
    return list(found), codes


def _worth_telling(found: Sequence[Style], codes: Sequence[int], diagram: TreeDiagram) -> list[Style]:
    """Without that of the root of all, which stands for no tokens, unless others have it."""
    first = not diagram.boxes[0].node and codes.count(codes[0]) == 1 and len(codes) > 1
    return [style for number, style in enumerate(found) if not first or number != codes[0]]


def _brief(box: Box, diagram: TreeDiagram, kinds: Mapping[str, Style]) -> list[str]:
    """Glyphs, label, marks, and the rows of each kind: what is written in a box that has room."""
    said = marks(box, diagram)
    glyphs = "".join(mark.style.glyph for mark in said if mark.style not in (REACHABLE, TERMINAL))
    words = " · ".join(f"{mark.style.glyph} {mark.text}" for mark in said)
    return [glyphs, box.label, words, *(_cell(row, kinds) for row in box.rows if row.owned)]


def _cell(row: KindRows, kinds: Mapping[str, Style]) -> str:
    origin = "" if row.origin is Origin.OBSERVED else f" {ORIGINS[row.origin].glyph} {row.origin}"
    if presence(row) is ELSEWHERE:
        origin = f" {ELSEWHERE.glyph} {ELSEWHERE.word}"
    return f"{kinds[row.kind].glyph} {kinds[row.kind].word} {cell(row)}{origin}"


def _marks(diagram: TreeDiagram) -> list[Entry]:
    """What glyphs and outlines mean, for those that occur."""
    boxes = diagram.boxes
    tiers = sorted({box.tier for box in boxes} - {"device"})
    origins = {row.origin for box in boxes for row in box.rows} - {Origin.OBSERVED}
    entries: list[tuple[Entry, bool]] = [
        (outline(PATH), any(box.on_path for box in boxes)),
        (glyph(LOCKED), any(box.locks for box in boxes)),
        (glyph(TOMBSTONE), any(box.tombstone for box in boxes)),
        (glyph(NEXT_OUT), any(box.next_out for box in boxes)),
        *((glyph(tier_style(tier), f"{meaning(tier_style(tier))}"), True) for tier in tiers),
        (glyph(REACHABLE), any(box.reachable is not None for box in boxes)),
        (glyph(TERMINAL), any(box.terminal for box in boxes)),
        *((glyph(ORIGINS[origin]), True) for origin in sorted(origins)),
        (glyph(ELSEWHERE), any(presence(row) is ELSEWHERE for box in boxes for row in box.rows)),
        (area(STUB), bool(diagram.stubs)),
    ]
    return [entry for entry, is_there in entries if is_there]
