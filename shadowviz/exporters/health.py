"""What draws on this machine: each part is tried with a small picture, since what is installed may still not run."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import msgspec

from shadowviz.exporters.formats import FORMATS, Format
from shadowviz.exporters.renderers import DOT, VARIABLE, WHEEL, Program, find_programs, run_program
from shadowviz_engine.core.errors import ShadowvizError

TRY_S: Final = 10.0
_GRAPH: Final = 'digraph { a [label=<<TABLE><TR><TD BGCOLOR="red">a</TD></TR></TABLE>>]; a -> b }'
_SVG: Final = b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text x="2" y="14">a</text></svg>'
DOT_EXTRA: Final = "pip install 'shadowviz[dot]'"
NEEDS: Final = {"html": "plotly", "perfetto": "perfetto"}
"""Packages that a format is made with."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One part or format."""

    name: str
    ok: bool
    detail: str
    """Version and place, or who draws it."""
    advice: str = ""
    """What follows where it is missing; empty where nothing does."""
    command: str = ""
    """Mends it."""


def check_parts() -> tuple[Check, ...]:
    """Every program and package that draws, tried."""
    return (*_check_graphviz(), _check_typesetter(), *(_check_package(name) for name in NEEDS.values()))


def check_formats(parts: tuple[Check, ...]) -> tuple[Check, ...]:
    """Every format, and who draws it."""
    state: dict[str, Check] = {}
    for part in parts:
        # Of two programs of one name the first that can draw is the one that does.
        if part.name not in state or not state[part.name].ok:
            state[part.name] = part
    return tuple(_check_format(form, state) for form in FORMATS)


def _check_graphviz() -> list[Check]:
    try:
        programs = find_programs()
    except ShadowvizError as error:
        return [Check(name=VARIABLE, ok=False, detail="wrong", advice=str(error), command=f"unset {VARIABLE}")]
    checks = [_check_program(program, first=place == 0) for place, program in enumerate(programs)]
    if not any(check.ok for check in checks):
        advice = "trees are drawn by the layout that is built in; with Graphviz small ones are laid out more compactly."
        checks.append(Check(name=DOT, ok=False, detail="not found", advice=advice, command=DOT_EXTRA))
    return checks


def _check_program(program: Program, *, first: bool) -> Check:
    name = WHEEL if program.version.startswith(WHEEL) else DOT
    place = f"{program.version.removeprefix(name).strip()}, {program.path}, {program.found}"
    failed = _tried(lambda: run_program(program, _GRAPH, "svg", TRY_S))
    if failed:
        return Check(name=name, ok=False, detail=place, advice=failed, command=DOT_EXTRA if name == WHEEL else "")
    return Check(name=name, ok=True, detail=place if first else f"{place}, in reserve")


def _check_typesetter() -> Check:
    from shadowviz.exporters.typeset import Typesetter

    command = "pip install --force-reinstall typst"
    failed = _tried(lambda: Typesetter().png(_SVG))
    if failed:
        return Check(name="typst", ok=False, detail="not usable", advice=failed, command=command)
    setter = Typesetter()
    if setter.has_wide_fonts:
        return Check(name="typst", ok=True, detail=f"{_version_of('typst')}, png and pdf, fonts built in")
    advice = (
        "no font here has East Asian characters: png and pdf show boxes in their place, "
        "svg and html leave the fonts to who reads them"
    )
    return Check(
        name="typst",
        ok=True,
        detail=f"{_version_of('typst')}, png and pdf, fonts built in for European scripts",
        advice=advice,
        command="install a font such as Noto Sans CJK",
    )


def _check_package(name: str) -> Check:
    installed = _version_of(name)
    if installed:
        return Check(name=name, ok=True, detail=installed)
    return Check(
        name=name, ok=False, detail="not installed", advice="its formats cannot be made", command=f"pip install {name}"
    )


def _check_format(form: Format, parts: dict[str, Check]) -> Check:
    typst = parts["typst"]
    # Only a variable that names no Graphviz keeps trees from being drawn.
    can_draw = VARIABLE not in parts
    graphviz = next((part for name in (DOT, WHEEL) if (part := parts.get(name)) and part.ok), None)
    if form.name in ("png", "pdf"):
        by = f"{_tree_by(graphviz)}; {typst.name} {typst.detail.split(',')[0]}"
        return Check(name=form.name, ok=typst.ok and can_draw, detail=by)
    if form.name == "svg":
        return Check(name=form.name, ok=can_draw, detail=_tree_by(graphviz))
    needed = NEEDS.get(form.name)
    if needed is None:
        return Check(name=form.name, ok=True, detail="built in")
    return Check(name=form.name, ok=parts[needed].ok, detail=f"{needed} {parts[needed].detail}")


def _tree_by(graphviz: Check | None) -> str:
    if graphviz is None:
        return "built in"
    return f"trees of up to 2,000 nodes by {graphviz.name} {graphviz.detail.split(',')[0]}, the rest built in"


def _tried(use: Callable[[], object]) -> str:
    """What went wrong; empty where nothing did."""
    try:
        use()
    except ShadowvizError as error:
        return str(error)
    return ""


def _version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
