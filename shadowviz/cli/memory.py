"""`shadowviz memory`: bytes that one sequence keeps, by kind, and the price of resuming anywhere."""

from typing import TYPE_CHECKING, Annotated

import typer

from shadowviz.cli.show import number, strong, table, wrapped, write_json, write_out
from shadowviz.replay.counts import counted

if TYPE_CHECKING:
    from shadowviz_engine.core.memory import MemoryTable, ResumePrice

V4_MODELS = ("v4-flash", "v4-pro")
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def memory(
    length: Annotated[int, typer.Argument(help="Tokens of the sequence.", min=0, max=2**40)] = 1_048_576,
    name: Annotated[
        str, typer.Option("--geometry", "--family", help="One preset; left out: v4-flash and v4-pro.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Count the bytes that one sequence keeps, by state kind and row format, and the price of resuming at any token."""
    from shadowviz_engine.core.memory import memory_table, resume_price
    from shadowviz_engine.core.presets import preset
    from shadowviz_engine.core.row_formats import formats_of

    geometries = [preset(name)] if name else [preset(model) for model in V4_MODELS]
    tables = [[memory_table(geometry, form, length) for form in formats_of(geometry)] for geometry in geometries]
    prices = [resume_price(geometry, formats_of(geometry)[0]) for geometry in geometries]
    if as_json:
        write_json({"length": length, "tables": [one for group in tables for one in group], "resume_prices": prices})
        return
    write_out("\n\n".join(_text(group, price) for group, price in zip(tables, prices, strict=True)))


def _text(group: "list[MemoryTable]", price: "ResumePrice") -> str:
    rows = []
    for place, line in enumerate(group[0].kinds):
        label = line.kind if line.part == "rows" else f"{line.kind} ({line.part})"
        sizes = [size(one.kinds[place].total_bytes) for one in group]
        rows.append([label, str(line.layers), number(line.rows), *sizes])
    rows.append(["total", "", "", *(size(one.total_bytes) for one in group)])
    rows.append(["one more token", "", "", *(size(round(one.marginal_bytes)) for one in group)])
    title = f"{strong(group[0].geometry)}: one sequence of {counted(group[0].length, 'token')}"
    shown = table(["kind", "layers", "rows", *(one.row_format for one in group)], rows)
    return f"{title}\n{shown}" + (f"\n{_price(price)}" if price.tail_bytes else "")


def _price(price: "ResumePrice") -> str:
    text = (
        f"To go on from any token, every token keeps its raw tail rows: {number(price.tail_bytes)} bytes a token "
        f"beside {number(price.window_bytes)} of the window ({price.row_format})"
    )
    if price.n_win:
        text += f", {size(price.tail_bytes_of_window)} for a window of {price.n_win} tokens"
    return wrapped(f"{text}.")


def size(num_bytes: int) -> str:
    """Bytes in the largest unit that keeps a figure before the point."""
    value, unit = float(num_bytes), 0
    while value >= 1024 and unit < len(UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{num_bytes} B" if unit == 0 else f"{value:.2f} {UNITS[unit]}"
