"""`shadowviz doctor`: who draws what on this machine, whether each can, and the command that mends what is missing."""

from typing import TYPE_CHECKING, Annotated

import typer

from shadowviz.cli.show import strong, table, wrapped, write_json, write_out

if TYPE_CHECKING:
    from shadowviz.exporters.health import Check


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> int:
    """Try every program and package that draws, and say who draws what; exit with 1 if a format cannot be made."""
    from shadowviz.exporters.health import check_formats, check_parts

    parts = check_parts()
    formats = check_formats(parts)
    ok = all(form.ok for form in formats)
    if as_json:
        write_json({"ok": ok, "parts": parts, "formats": formats})
    else:
        write_out(_text(parts, formats))
    return 0 if ok else 1


def _text(parts: "tuple[Check, ...]", formats: "tuple[Check, ...]") -> str:
    blocks = [
        table(["part", "", "version and place"], [[part.name, _state(part), part.detail] for part in parts], (0, 1, 2)),
        "",
        table(["format", "", "drawn by"], [[form.name, _state(form), form.detail] for form in formats], (0, 1, 2)),
    ]
    told = [check for check in parts if check.advice]
    for check in told:
        blocks += ["", wrapped(f"{check.name}: {check.advice}"), *([f"  {check.command}"] if check.command else [])]
    missing = [form.name for form in formats if not form.ok]
    verdict = f"cannot be made here: {', '.join(missing)}" if missing else "every format can be made here"
    return "\n".join([*blocks, "", strong(verdict)])


def _state(check: "Check") -> str:
    return "ok" if check.ok else "missing"
