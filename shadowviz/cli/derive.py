"""`shadowviz derive`: the state behind a length or a span of tokens."""

from typing import TYPE_CHECKING, Annotated

import typer

from shadowviz.cli.show import number, strong, table, wrapped, write_json, write_out
from shadowviz.replay.counts import counted

if TYPE_CHECKING:
    from shadowviz.replay.derivation import Derivation
    from shadowviz_engine.core.geometry import Geometry
    from shadowviz_engine.core.spans import Extent

FLASH = "v4-flash"
WINDOW = 128


def derive(
    span: Annotated[str, typer.Argument(help="A length such as 1000, or a span such as 256:1000.", metavar="SPAN")],
    name: Annotated[
        str, typer.Option("--geometry", "--family", help="A preset: a DeepSeek-V4 model or another family.")
    ] = FLASH,
    ratios: Annotated[str, typer.Option(help="Tokens per entry of a geometry of your own, such as 4,128.")] = "",
    overlap: Annotated[str, typer.Option(help="Those ratios whose entries also read the window before.")] = "",
    n_win: Annotated[int, typer.Option(help="Sliding window of a geometry of your own, in tokens.")] = WINDOW,
    page_size: Annotated[int, typer.Option(help="Its page, in tokens; 0 = the smallest that fits.")] = 0,
    log: Annotated[str, typer.Option(help="A recorded run: adds pages and slots.", metavar="RUN")] = "",
    request: Annotated[str, typer.Option(help="The request of that run.", metavar="ID")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Derive what a span of tokens owns, what going on behind it needs, and how much of it is reusable.

    An entry belongs to the span that closes it. Complete entries, room for entries, and the tokens of the open window
    are kept apart.
    """
    from shadowviz.replay.derivation import derivation, own_geometry, parse_span
    from shadowviz_engine.core.errors import InputError
    from shadowviz_engine.core.presets import preset

    extent = parse_span(span)
    if bool(log) != bool(request):
        raise InputError("--log and --request go together: expected a recorded run and one of its requests")
    if log and (ratios or name != FLASH):
        raise InputError(f"{log} brings its own geometry: expected no other beside it")
    if ratios and name != FLASH:
        raise InputError(f"--ratios and --geometry {name[:40]!r} name two geometries: expected one")
    if not ratios and (overlap or page_size or n_win != WINDOW):
        raise InputError(
            "--overlap, --n-win and --page-size describe a geometry of your own: expected --ratios with them"
        )
    if log:
        from shadowviz.cli.recorded import placed_derivation

        geometry, shown = placed_derivation(log, request, extent)
    else:
        geometry = (
            own_geometry(page_size, n_win, _integers("--ratios", ratios), _integers("--overlap", overlap))
            if ratios
            else preset(name)
        )
        shown = derivation(geometry, extent)
    if as_json:
        write_json(shown)
        return
    write_out(_text(geometry, shown))


def _integers(option: str, text: str) -> tuple[int, ...]:
    from shadowviz.replay.derivation import is_count
    from shadowviz_engine.core.errors import InputError

    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(map(is_count, parts)):
        raise InputError(f"{option} {text[:40]!r} is no list of numbers: expected one such as 4,128")
    return tuple(int(part) for part in parts)


def _text(geometry: "Geometry", shown: "Derivation") -> str:
    start, stop = shown.span
    pages, rest = divmod(stop, geometry.page_size)
    blocks = [
        _geometry_line(geometry),
        f"span {shown.span}: {counted(stop - start, 'token')}; its end lies at page {number(pages)}, offset {rest}",
        "",
        _owned_table(shown),
        "",
        wrapped(
            f"Of {counted(stop, 'stored token')} a longer prompt can reuse {number(shown.reusable_page)} under the "
            f"page rule and {number(shown.reusable_any)} where any length may be gone on from."
        ),
        "",
        _needed_table(shown),
        *(f"\n{wrapped(note, 'note: ')}" for note in shown.notes),
    ]
    return "\n".join(blocks)


def _geometry_line(geometry: "Geometry") -> str:
    parts = [f"page {geometry.page_size}"]
    parts += [f"n_win {geometry.n_win}"] if geometry.n_win else []
    for compressor in geometry.compressors:
        marks = ", overlap" if compressor.overlap else ""
        parts.append(f"{compressor.name} ratio {compressor.ratio}{marks}")
    if geometry.index_topk:
        parts.append(f"top {geometry.index_topk}")
    return f"{strong(geometry.name)}: {'; '.join(parts)}"


def _owned_table(shown: "Derivation") -> str:
    figures = {figure.kind: figure for figure in shown.figures}
    rows = []
    for descriptor in shown.owned:
        figure = figures.get(descriptor.kind)
        counts = [number(figure.complete), number(figure.allocated), number(figure.tail)] if figure else ["-", "-", "-"]
        rows.append(
            [
                descriptor.kind,
                _extent(descriptor.rows),
                _extent(descriptor.reads),
                *counts,
                str(len(descriptor.layers) or "-"),
            ]
        )
    owned = table(["owns", "rows", "made from", "complete", "allocated", "tail", "layers"], rows, left=(0, 1, 2))
    return f"{owned}\n{wrapped(f'complete, allocated and tail: entries and open tokens at {number(shown.span.stop)}')}"


def _needed_table(shown: "Derivation") -> str:
    placed = any(descriptor.slots for descriptor in shown.needed)
    rows = []
    for descriptor in shown.needed:
        row = [descriptor.kind, _extent(descriptor.rows), number(descriptor.rows.size)]
        rows.append([*row, _runs(descriptor.pages), _runs(descriptor.slots)] if placed else row)
    headers = [f"to go on at {number(shown.span.stop)}", "rows", "count", *(["pages", "slots"] if placed else [])]
    return table(headers, rows, left=(0, 1, 3, 4))


def _extent(extent: "Extent") -> str:
    return str(extent) if extent else "-"


def _runs(values: "tuple[int, ...]") -> str:
    """Numbers with neighbours joined, such as 256-383 640."""
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][1] == value - 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    shown = [f"{first}-{last}" if last > first else str(first) for first, last in runs]
    return " ".join(shown[:6]) + (f" ... ({len(shown)} runs)" if len(shown) > 6 else "") if shown else "-"
