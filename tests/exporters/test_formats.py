"""The registry: every format can be found, and what it promises is there."""

import pytest

from shadowviz.exporters.formats import (
    FORMATS,
    DiagramName,
    Format,
    Look,
    format_named,
    format_of_file,
    formats_of,
)
from shadowviz_engine.core.errors import InputError


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_every_promised_renderer_is_a_function_that_is_there(form: Format) -> None:
    assert form.diagrams
    for diagram in form.diagrams:
        assert callable(form.renderer(diagram))
    assert set(form.heeds) <= set(Look.__struct_fields__)
    assert all(ending.startswith(".") and ending == ending.lower() for ending in form.endings)


def test_names_and_endings_mean_one_format_each() -> None:
    names = [form.name for form in FORMATS]
    endings = [ending for form in FORMATS for ending in form.endings]
    assert len(set(names)) == len(names)
    assert len(set(endings)) == len(endings)


def test_every_sort_of_diagram_but_events_can_be_exported_as_json() -> None:
    for diagram in DiagramName:
        assert (format_named("json") in formats_of(diagram)) == (diagram is not DiagramName.EVENTS)


def test_a_format_is_found_by_name_and_by_the_ending_of_a_file() -> None:
    assert format_named(" JSON ").name == "json"
    assert format_of_file("/tmp/a.b/Tree.JSON").name == "json"


@pytest.mark.parametrize("path", ["", "tree", "json", "tree.json.gz", "a/.json/b", "x" * 5000])
def test_a_file_that_tells_no_format_is_told_with_those_there_are(path: str) -> None:
    with pytest.raises(InputError, match=r"tells no format: expected -f with one of .*json"):
        format_of_file(path)


def test_an_unknown_format_and_a_diagram_that_it_cannot_show_are_told() -> None:
    with pytest.raises(InputError, match="'gif' is not known: expected one of"):
        format_named("gif")
    with pytest.raises(InputError, match="format json shows no events: expected one of tree, "):
        format_named("json").renderer(DiagramName.EVENTS)
