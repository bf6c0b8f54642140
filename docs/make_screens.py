"""Writes `reference/screens.md` and its pictures with the interface itself: `python docs/make_screens.py`."""

import asyncio
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from textual.pilot import Pilot

from shadowviz.tui.app import ShadowvizApp
from shadowviz.tui.screens.base import PaneScreen
from shadowviz.tui.session import Session
from shadowviz.tui.themed import AppOptions

DOCS = Path(__file__).parent
TARGET = DOCS / "reference" / "screens.md"
PICTURES = DOCS / "images"
LOG = DOCS.parent / "fixtures" / "tour.jsonl"
STRESS = DOCS.parent / "fixtures" / "stress.jsonl"
SIZE = (100, 26)

HEAD = """\
# Screens

`shadowviz tui` shows an engine live, `shadowviz tui run.jsonl` a record, while it grows or long after. One selection is
shared by all screens: `enter` goes deeper, `backspace` returns. The first line says LIVE, PAUSED or REPLAY, which event
is shown, the hit rate in tokens and how full the pools are. No meaning hangs on colour alone: `H` is a hit, `M` a miss,
`C` a hit that was cut short, `?` what the record does not tell. `--plain --screen NAME` prints the same as text.
On every screen `y` copies a command that shows what is selected, and `e` writes what is shown to a file, at the moment
shown and as far as a filter lets it through.
This page and its pictures are made by `docs/make_screens.py`.
"""


class Shown(NamedTuple):
    """A screen, the keys that lead to its picture from the first one, and what it is for."""

    name: str
    keys: tuple[str, ...]
    text: str
    log: Path = LOG


SHOWN = (
    Shown(
        "live",
        ("slash", *"stop-the", "enter", "escape"),
        "Every request with its verdict, and beside the one under the cursor the chain of facts behind it: what was\n"
        "observed, what follows from it, and what to change. A verdict stands in the list once it is sure, `…` until\n"
        "then; a filter or an order that asks for verdicts has the others explained, and counts them in the title.",
    ),
    Shown(
        "tree",
        ("2",),
        "The radix tree of stored prompts, and of the span under the cursor: residency of each kind of state, pages,\n"
        "locks, and how much a request reuses that leaves there.",
    ),
    Shown(
        "ruler",
        ("slash", *"stop-the", "enter", "3", "a"),
        "The state of the selected prompt, token by token, in one lane a kind: where it was cut, what is there left\n"
        "of the cut and what had to be computed right of it.",
    ),
    Shown(
        "diff",
        ("slash", *"clock", "enter", "escape", "d"),
        "Two prompts aligned: why they part, what that costs in tokens, and what to change. `d` on the first\n"
        "screen compares the chosen request with the one marked by `m`, else with the one that its explanation names.",
    ),
    Shown(
        "stress",
        ("5", "down", "down", *("right",) * 9),
        "A stress run, length by length, while it goes on or long after: a row a mode, kind or fault, a column a\n"
        "length. `enter` opens the ruler at the length of the cell, `y` copies the command that repeats it.\n"
        "`r` begins a run, `x` stops the one that goes on, `c` goes on with one that ended early.",
        STRESS,
    ),
    Shown("pools", ("6",), "How full each pool is, how that came about, what is locked and what leaves next."),
    Shown(
        "events",
        ("7",),
        "Every event. To go to one turns the whole interface to that moment; the first line says REPLAY then.",
    ),
)


class Page(NamedTuple):
    """What one screen gave."""

    picture: str
    keys: list[tuple[str, str, str]]
    """Key, what it does, its id."""


async def _settled(app: ShadowvizApp, pilot: Pilot[None]) -> None:
    app.session.settle()
    await pilot.pause()
    while not app.screen_stack or not getattr(app.screen, "is_ready", True) or app.focused is None:
        await pilot.pause()
    app.tick()
    if app._words is not None:
        app._words.wait()
    # Some panes read the record a slice a tick: done once a second look shows what the first did.
    if isinstance(app.screen, PaneScreen):
        app.screen.finish()
    before, text = "", app.export_screenshot()
    while text != before:
        for _ in range(5):
            app.tick()
            await pilot.pause(0.02)
        before, text = text, app.export_screenshot()


async def _page(shown: Shown) -> Page:
    session = Session(shown.log)
    try:
        app = ShadowvizApp(session, shown.log.name, AppOptions())
        async with app.run_test(size=SIZE) as pilot:
            await _settled(app, pilot)
            for key in shown.keys:
                await pilot.press(key)
                await _settled(app, pilot)
            picture = _without_fonts(app.export_screenshot(title=f"shadowviz: {shown.name}"))
            return Page(picture, list(_keys(app)))
    finally:
        session.close()


def _without_fonts(picture: str) -> str:
    # Rich names a font host; a picture of the documentation loads nothing from elsewhere.
    return re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)


def _keys(app: ShadowvizApp) -> Iterator[tuple[str, str, str]]:
    rows: dict[str, tuple[list[str], str]] = {}
    for found in app.screen.active_bindings.values():
        binding = found.binding
        if binding.id and not binding.id.startswith("screen."):
            rows.setdefault(binding.id, ([], binding.description))[0].append(app.key_words(binding))
    for name, (keys, does) in sorted(rows.items()):
        yield " ".join(sorted(set(keys))), does, name


def pages() -> dict[str, Page]:
    """Every screen's picture and keys; the environment's colours and size do not count."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TEXTUAL_THEME", "TEXTUAL_COLOR_SYSTEM"):
        os.environ.pop(name, None)
    return {shown.name: asyncio.run(_page(shown)) for shown in SHOWN}


def reference(made: dict[str, Page]) -> str:
    """The page, whole."""
    parts = [HEAD]
    everywhere = set.intersection(*({name for _, _, name in page.keys} for page in made.values()))
    first = next(iter(made.values()))
    parts.append("\n## Everywhere\n\n`1` to `7` choose a screen.\n\n" + _table(first, everywhere, inside=True))
    for shown in SHOWN:
        page = made[shown.name]
        parts.append(f"\n## {shown.name}\n\n{shown.text}\n\n![{shown.name}](../images/tui-{shown.name}.svg)\n\n")
        parts.append(_table(page, everywhere, inside=False))
    return "".join(parts)


def _table(page: Page, everywhere: set[str], *, inside: bool) -> str:
    rows = [f"| `{key}` | {does} | `{name}` |\n" for key, does, name in page.keys if (name in everywhere) == inside]
    return "| Key | Does | Id for `--keys` |\n| --- | --- | --- |\n" + "".join(rows)


def main() -> int:
    """Write all of it."""
    made = pages()
    TARGET.write_text(reference(made), encoding="utf-8")
    for name, page in made.items():
        (PICTURES / f"tui-{name}.svg").write_text(page.picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
