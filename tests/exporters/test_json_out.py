"""Exported JSON is what the published schema says, can be read back, and is the same every time."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_schemas import contradictions
from lookup_runs import ExplainedRun
from trees import caption_of, chat_state, walked

from shadowviz.diagrams.caption_of import state_caption
from shadowviz.diagrams.changes_of import Side, changes_diagram
from shadowviz.diagrams.collapse import TreeOptions
from shadowviz.diagrams.derivation_of import length_diagram
from shadowviz.diagrams.events import EventsDiagram
from shadowviz.diagrams.lookups import lookups_diagram
from shadowviz.diagrams.memory_of import memory_diagram
from shadowviz.diagrams.tree_of import tree_diagram
from shadowviz.exporters.formats import LIGHT, Diagram
from shadowviz.exporters.json_out import INDENTED_BYTES, VERSION, read, render
from shadowviz.tokens.words import IdWords
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.spans import Extent

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/reference/export-schema.json").read_text(encoding="utf-8"))


def docs_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_export_schema", ROOT / "docs/make_export_schema.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lookups() -> Diagram:
    run = ExplainedRun()
    found = [run.run(range(1_000)), run.run([5, *range(1, 1_000)])]
    return lookups_diagram(state_caption("Lookups", "run", run.explainer.state, 9), found)


def changes() -> Diagram:
    sides = [Side(caption_of(state), state, IdWords()) for state in (chat_state(), chat_state(num_swa_pages=40))]
    return changes_diagram(*sides)


def diagrams() -> dict[str, Diagram]:
    state = chat_state()
    return {
        "tree": tree_diagram(caption_of(state), state),
        "collapsed": tree_diagram(caption_of(state), state, TreeOptions(collapse=True, max_boxes=3)),
        "derivation": length_diagram(preset("qwen3.5"), Extent(0, 1_000)),
        "lookups": lookups(),
        "changes": changes(),
        "memory": memory_diagram(caption_of(state), state, IdWords()),
    }


def test_the_published_schema_says_what_the_types_say() -> None:
    script = docs_script()
    assert Path(script.TARGET).read_text(encoding="utf-8") == script.reference(), (
        "run: python docs/make_export_schema.py"
    )


def test_every_field_that_a_docstring_explains_is_explained_in_the_schema() -> None:
    box = SCHEMA["$defs"]["Box"]["properties"]
    assert box["reachable"]["description"].startswith("Tokens that a request which leaves the tree")
    assert "description" in SCHEMA["$defs"]["Bar"]["properties"]["resident"]


@pytest.mark.parametrize("name", ["tree", "collapsed", "derivation", "lookups", "changes", "memory"])
def test_what_is_written_follows_the_schema_and_is_read_back_as_it_was(name: str) -> None:
    diagram = diagrams()[name]
    drawing = render(diagram, LIGHT)
    assert drawing.data.endswith(b"\n")
    document = json.loads(drawing.data)
    assert list(contradictions(document, SCHEMA, SCHEMA)) == []
    assert (document["diagram"], document["version"]) == (name.replace("collapsed", "tree"), VERSION)
    assert read(drawing.data).content == diagram
    assert render(diagrams()[name], LIGHT) == drawing


@pytest.mark.parametrize("seed", range(6))
def test_random_states_with_running_requests_are_read_back_as_they_were(seed: int) -> None:
    _, state = walked(seed)
    diagram = tree_diagram(caption_of(state), state)
    data = render(diagram, LIGHT).data
    assert list(contradictions(json.loads(data), SCHEMA, SCHEMA)) == []
    assert read(data).content == diagram


def test_a_schema_that_misses_a_field_or_a_type_would_be_noticed() -> None:
    document = json.loads(render(diagrams()["tree"], LIGHT).data)
    del document["content"]["boxes"][1]["tier"]
    document["content"]["boxes"][2]["locks"] = "4"
    document["content"]["boxes"][3]["surprise"] = 1
    assert len(list(contradictions(document, SCHEMA["$defs"]["TreeDocument"], SCHEMA))) == 3


def test_what_is_not_known_is_null_and_never_zero() -> None:
    document = json.loads(render(diagrams()["derivation"], LIGHT).data)
    lanes = {lane["kind"]: lane for lane in document["content"]["lanes"]}
    assert {bar["resident"] for bar in lanes["delta_state"]["bars"]} == {None}


@given(text=st.text(max_size=40) | st.sampled_from(["</script>\u2028", "\x1b[2J", "\u202e", '"\\']))
def test_no_text_breaks_out_of_its_string(text: str) -> None:
    diagram = length_diagram(preset("article"), Extent(0, 42))
    forged = msgspec.structs.replace(diagram, caption=msgspec.structs.replace(diagram.caption, title=text))
    data = render(forged, LIGHT).data
    assert json.loads(data)["content"]["caption"]["title"] == text
    assert read(data).content == forged


def test_a_large_document_has_no_line_breaks_of_its_own() -> None:
    state = chat_state()
    tree = tree_diagram(caption_of(state), state)
    large = msgspec.structs.replace(tree, boxes=tree.boxes * 200)
    data = render(large, LIGHT).data
    assert len(data) > INDENTED_BYTES // 4
    assert (data.count(b"\n") == 1) == (len(data) > INDENTED_BYTES)
    assert read(data).content == large


@pytest.mark.parametrize(
    "data", [b"", b"{}", b'{"diagram":"tree"}', b'{"diagram":"song","version":1}', b"[" * 10_000, b"\xff"]
)
def test_what_is_no_document_is_told_in_one_line(data: bytes) -> None:
    with pytest.raises(InputError, match="no exported diagram"):
        read(data)


def test_a_document_of_another_version_is_refused() -> None:
    data = render(diagrams()["derivation"], LIGHT).data.replace(b'"version": 1', b'"version": 2')
    with pytest.raises(InputError, match="version 2: this shadowviz reads 1"):
        read(data)


def test_events_have_no_json_but_their_log() -> None:
    state = chat_state()
    with pytest.raises(InputError, match="EventsDiagram has no JSON"):
        render(EventsDiagram(caption_of(state), lambda: ()), LIGHT)
