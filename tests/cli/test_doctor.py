"""`shadowviz doctor`: what draws here, what does not, and the command that mends it."""

import json
import sys
from pathlib import Path

import pytest
from cli_runs import Command

from shadowviz.exporters.formats import FORMATS


def test_every_format_is_listed_with_who_draws_it(command: Command) -> None:
    done = command("doctor", "--json")
    told = json.loads(done.out)
    assert [form["name"] for form in told["formats"]] == [form.name for form in FORMATS]
    assert told["ok"] is (done.code == 0) is all(form["ok"] for form in told["formats"])
    assert all(form["detail"] for form in told["formats"])
    text = command("doctor").out
    assert all(f"\n{form.name}" in text for form in FORMATS)


@pytest.mark.skipif(sys.platform == "win32", reason="writes a shell script")
def test_a_graphviz_that_says_its_version_but_draws_nothing_is_found_out(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "dot"
    broken.write_text(
        '#!/bin/sh\n[ "$1" = -V ] && echo "dot - graphviz version 99.1" && exit\nexit 4\n', encoding="utf-8"
    )
    broken.chmod(0o755)
    monkeypatch.setenv("SHADOWVIZ_DOT", str(broken))
    done = command("doctor", "--json")
    told = json.loads(done.out)
    assert done.code == 0, "the built-in layout draws all the same"
    assert told["parts"][0]["ok"] is False
    assert "failed with exit code 4" in told["parts"][0]["advice"]
    svg = next(form for form in told["formats"] if form["name"] == "svg")
    assert "99.1" not in svg["detail"]


def test_a_variable_that_names_nothing_makes_pictures_impossible(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWVIZ_DOT", "/nowhere/dot")
    done = command("doctor")
    assert done.code == 1
    assert "cannot be made here: svg, png, pdf" in done.out
    assert "unset SHADOWVIZ_DOT" in done.out


def test_without_graphviz_the_built_in_layout_is_named_with_what_would_add_it(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SHADOWVIZ_DOT", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    done = command("doctor")
    assert done.code == 0
    assert "pip install 'shadowviz[dot]'" in done.out
    assert json.loads(command("doctor", "--json").out)["formats"][1]["detail"] == "built in"
