"""The short way to a call, beside Typer's."""

import inspect
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowviz.cli import tui
from shadowviz.cli.plain_arguments import plain_arguments

WORDS = st.sampled_from(
    [
        "a.jsonl",
        "tree",
        "nord",
        "5",
        "k.json",
        "h:1",
        "=",
        "-",
        "--",
        "-o",
        "-x",
        "-ox",
        "-o=x",
        "--output",
        "--output=x",
        "--screen",
        "--screen=tree",
        "--screen=",
        "--theme",
        "--at",
        "--at=5",
        "--request=r1",
        "--node",
        "--node=3",
        "--keys",
        "--address",
        "--plain",
        "--plain=1",
        "--ascii",
        "--web",
        "--force",
        "--help",
        "--plai",
        "--no-plain",
        "--=x",
        "--wrong",
    ]
)
DEFAULTS: dict[str, Any] = {
    name: parameter.default for name, parameter in inspect.signature(tui.tui).parameters.items()
}


def by_typer(arguments: list[str]) -> dict[str, Any] | None:
    """What Typer calls the command with; None = it refuses."""
    app = typer.Typer(add_completion=False)
    app.command("tui")(tui.tui)
    command = typer.main.get_command(app)
    try:
        with command.make_context("tui", list(arguments)) as context:
            return dict(context.params)
    except Exception:  # whatever it raises, it does not call
        return None


@given(arguments=st.lists(WORDS, max_size=5))
@settings(max_examples=150, deadline=None)
def test_what_is_read_the_short_way_is_what_typer_reads(arguments: list[str]) -> None:
    plain = plain_arguments(tui.tui, arguments)
    if plain is not None:
        assert DEFAULTS | dict(plain) == by_typer(arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], {}),
        (["run.jsonl"], {"source": "run.jsonl"}),
        (["--screen", "tree", "run.jsonl", "--ascii"], {"screen": "tree", "source": "run.jsonl", "ascii_only": True}),
        (["-o", "kept.jsonl", "--force"], {"output": "kept.jsonl", "force": True}),
        (["--theme=nord", "--", "-odd"], {"theme": "nord", "source": "-odd"}),
    ],
)
def test_what_users_write_is_read_the_short_way(arguments: list[str], expected: dict[str, Any]) -> None:
    assert plain_arguments(tui.tui, arguments) == expected


def test_what_is_joined_behind_one_dash_is_left_to_typer() -> None:
    assert plain_arguments(tui.tui, ["-o=kept.jsonl"]) is None
    assert (by_typer(["-o=kept.jsonl"]) or {})["output"] == "=kept.jsonl"
