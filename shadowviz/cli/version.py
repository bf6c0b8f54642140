"""`shadowviz version`: the program, the event format, and what it runs on."""

from typing import Annotated

import typer

from shadowviz.cli.show import write_json, write_out


def version(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> None:
    """Print the version of the program, of its event format, and of what it runs on."""
    import platform
    from importlib.metadata import version as installed

    from shadowviz_engine.core.events import SCHEMA

    facts = {
        "shadowviz": installed("shadowviz"),
        "schema": SCHEMA,
        "python": platform.python_version(),
        "torch": installed("torch"),
    }
    if as_json:
        write_json(facts)
    else:
        write_out("\n".join(f"{name:<10}{value}" for name, value in facts.items()))
