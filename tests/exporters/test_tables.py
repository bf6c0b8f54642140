"""Tables of changes, lookups and memory: every line is there as picture and as text, and unknown is not absent."""

from pathlib import Path

import pytest
from golden import check_golden
from hostile import ELEMENTS, TEXTS, hostile_caption, read_svg, texts_of
from lookup_runs import ByNumber
from msgspec.structs import replace
from picture_samples import caption
from trees import caption_of, chat_state

from shadowviz.diagrams.changes import Change, ChangesDiagram, ChangeSum, RowChange
from shadowviz.diagrams.lookups import LookupLine, LookupsDiagram
from shadowviz.diagrams.memory_of import memory_diagram
from shadowviz.exporters import svg_table, text_table
from shadowviz.exporters.formats import Look

GOLDEN = Path(__file__).parent / "golden"


def changes(*found: Change) -> ChangesDiagram:
    return ChangesDiagram(
        caption=caption(len(found), len(found), unit="changes", verdict="", notes=()),
        before=caption(0, 0, source="before.jsonl", seq=17),
        kinds=("csa_kv", "swa_kv"),
        changes=found,
        sums=tuple(ChangeSum(what, 1, 2, 3_000) for what in ("appeared", "went", "residency")),
        same_tokens=512,
        num_nodes=(7, 9),
    )


SAMPLE = changes(
    Change(what="appeared", before=0, after=8, start=256, stop=1024, label="Who found", nodes=2, tokens=900),
    Change(what="went", before=3, after=0, start=1, stop=412, namespace="tenant-b", label="It is", tokens=411),
    Change(
        what="residency",
        before=2,
        after=5,
        start=0,
        stop=256,
        tokens=256,
        rows=(RowChange("csa_kv", 64, None, 64), RowChange("swa_kv", 256, 128, 0)),
    ),
)


def lookups(*lines: LookupLine) -> LookupsDiagram:
    return LookupsDiagram(
        caption=caption(len(lines), len(lines), unit="lookups"),
        lines=lines,
        losses=(),
        prompt_tokens=0,
        reused_tokens=0,
        hit_rate=0.0,
        best_change="",
        best_change_wins=0,
    )


def lookup(request: str, num_prompt: int, reused: int, verdict: str) -> LookupLine:
    return LookupLine(
        request=request, seq=4, num_prompt=num_prompt, common=reused, matched=reused, usable=reused, reused=reused,
        computed=num_prompt - reused, verdict=verdict, detail="", lost=0, change="", facts=(),
    )  # fmt: skip


@pytest.mark.parametrize("dark", [False, True])
def test_the_picture_of_changes_is_the_stored_one(dark: bool) -> None:
    data = svg_table.render_changes(SAMPLE, Look(dark=dark)).data
    check_golden(GOLDEN / f"changes-{'dark' if dark else 'light'}.svg", data)


def test_the_text_of_changes_tells_both_sides_and_every_line() -> None:
    text = text_table.render_changes(SAMPLE).data.decode()
    assert "Before: before.jsonl · after event 17 of 9,981" in text
    assert "7 nodes; after: 9 nodes" in text
    lines = text.splitlines()
    for glyph, words in (("+", "n8"), ("-", "n3"), ("!", "CSA ? to 64 of 64; SWA 128 to 0 of 256")):
        assert any(line.startswith(glyph) and words in line for line in lines), words


def test_states_that_agree_are_said_to() -> None:
    for render in (svg_table.render_changes, text_table.render_changes):
        assert b"Nothing differs" in render(changes()).data


def test_bars_of_lookups_are_as_long_as_their_prompts() -> None:
    root = read_svg(
        svg_table.render_lookups(lookups(lookup("a", 1_000, 250, "FULL_HIT"), lookup("b", 500, 0, "COLD"))).data,
        ELEMENTS,
    )
    bars = [float(rect.attrib["width"]) for rect in root.iter() if rect.attrib.get("height") == "11"]
    assert bars == [svg_table.BAR * share for share in (0.25, 0.75, 0.5)]


def test_bytes_of_a_kind_that_is_not_known_are_a_question_mark() -> None:
    state = chat_state()
    diagram = memory_diagram(caption_of(state), state, ByNumber())
    kinds = tuple(
        replace(kind, rows=None, num_bytes=None, allocated_bytes=None) if kind.kind == "swa_kv" else kind
        for kind in diagram.kinds
    )
    text = text_table.render_memory(replace(diagram, kinds=kinds)).data.decode()
    line = next(line for line in text.splitlines() if "SWA" in line and "tail" not in line)
    assert line.startswith("?")
    assert line.count("?") == 4
    assert " 0 B" not in line


def test_hostile_texts_stay_texts() -> None:
    hostile = [
        replace(SAMPLE.changes[place % 3], label=text, namespace=TEXTS[place - 1]) for place, text in enumerate(TEXTS)
    ]
    diagram = replace(changes(*hostile), kinds=TEXTS[:2])
    diagram = replace(diagram, caption=hostile_caption(diagram.caption), before=hostile_caption(diagram.before))
    root = read_svg(svg_table.render_changes(diagram).data, ELEMENTS)
    assert any("<script>" in text for text in texts_of(root))
    text = text_table.render_changes(diagram).data.decode()
    assert all(character.isprintable() or character == "\n" for character in text)
    assert len(text) < 20_000
    names = [lookup(text, 3, 0, "COLD") for text in TEXTS]
    read_svg(svg_table.render_lookups(lookups(*names)).data, ELEMENTS)
