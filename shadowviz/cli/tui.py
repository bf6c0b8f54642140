"""`shadowviz tui`: watch live requests, or a record, in the terminal."""

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadowviz.cli.show import write_note
from shadowviz.cli.tui_begin import (
    begin_at,
    check_screen,
    check_size,
    check_source,
    check_theme,
    check_together,
    is_ascii_terminal,
    keymap_of,
)
from shadowviz.cli.tui_end import app_code, end, run_app
from shadowviz.cli.tui_engine import EngineFile, start_engine
from shadowviz.cli.tui_folder import fleeting_folder

if TYPE_CHECKING:
    from collections.abc import Mapping


EMBEDDED = "embedded engine"
ADDRESS = "127.0.0.1:8000"
"""Where `--web` listens."""
WEB_DRIVER = "textual.drivers.web_driver:WebDriver"
"""What textual-serve writes into `TEXTUAL_DRIVER` of the process behind a tab."""


def tui(
    source: Annotated[
        str, typer.Argument(help="A record, followed while it grows; left out: the embedded engine runs a tour.")
    ] = "",
    screen: Annotated[
        str,
        typer.Option(
            help="The screen to begin with: live, tree, ruler, diff, stress, pools or events.", metavar="NAME"
        ),
    ] = "live",
    at: Annotated[
        int | None, typer.Option(help="The event to begin at, with the state after it.", metavar="SEQ", min=0)
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Print the screen as text, and end.")] = False,
    request: Annotated[
        str, typer.Option(help="With --plain, the request that the screen is about.", metavar="NAME")
    ] = "",
    node: Annotated[
        int | None, typer.Option(help="With --plain, the node that the screen is about.", metavar="N", min=1)
    ] = None,
    theme: Annotated[str, typer.Option(help="Colours, such as nord or high-contrast.", metavar="NAME")] = "",
    ascii_only: Annotated[bool, typer.Option("--ascii", help="Draw with ASCII alone.")] = False,
    keys: Annotated[
        str, typer.Option(help='A JSON file of keys by the id that ? shows, such as {"app.quit": "Q"}.', metavar="FILE")
    ] = "",
    output: Annotated[str, typer.Option("--output", "-o", help="Keep the engine's record here.", metavar="FILE")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace what -o names.")] = False,
    pool_bytes: Annotated[
        int,
        typer.Option(
            help="An engine with so much room and without the tour: only prompts of your own run; 0 = the tour.",
            metavar="N",
            min=0,
        ),
    ] = 0,
    web: Annotated[bool, typer.Option("--web", help="Show it in a browser on this machine.")] = False,
    address: Annotated[
        str, typer.Option(help="Where --web listens; this machine alone, port 0 takes any.", metavar="HOST:PORT")
    ] = "",
) -> int:
    """Watch requests live, or a record, and find out why one was not reused: list, reason, tree.

    Without a terminal the screen is printed as text; without a source, that at the end of the tour.
    """
    from shadowviz_engine.core.errors import InputError

    check_screen(screen)
    check_theme(theme)
    given = {"SOURCE": source, "--at": at is not None, "--plain": plain, "--theme": theme, "--keys": keys, "-o": output}
    given |= {"--force": force, "--pool-bytes": pool_bytes, "--web": web, "--address": address}
    given |= {"--request": request, "--node": node is not None}
    check_together({name for name, value in given.items() if value})
    if web:
        check_source(source)
        chosen = {"--at": "" if at is None else str(at), "--screen": screen, "--theme": theme}
        chosen["--keys"] = keys and str(Path(keys).absolute())
        keymap_of(keys)
        return _serve(source, address or ADDRESS, chosen, ascii_only)
    is_served = os.environ.get("TEXTUAL_DRIVER") == WEB_DRIVER
    is_terminal = sys.stdout.isatty() and sys.stdin.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    ascii_only = ascii_only or (not is_served and is_ascii_terminal())
    if plain or not (is_terminal or is_served):
        if not plain:
            write_note("shadowviz: no terminal to draw in: this is the plain form (--plain)")
        if pool_bytes:
            raise InputError("--pool-bytes makes an engine that waits for prompts: expected a terminal to type them in")
        from shadowviz.cli.tui_plain import PlainAsk, print_plain, print_tour

        if not source:
            return print_tour(output, force, screen, ascii_only)
        check_source(source)
        return print_plain(source, PlainAsk(screen, ascii_only, at, request, node or 0))
    if request or node:
        raise InputError("--request and --node choose what --plain prints: expected that; else : finds both by name")
    if not is_served:
        check_size()
    keymap = keymap_of(keys)
    options = {"screen": screen, "theme": theme, "ascii": ascii_only, "keymap": keymap}
    options["fleeting"] = not source and not output
    return _run(source, EngineFile(output, force, pool_bytes), options, at)


def _serve(source: str, address: str, options: "Mapping[str, str]", ascii_only: bool) -> int:
    from shadowviz_engine.core.errors import InputError

    try:
        from shadowviz.tui.web.server import LoopbackServer, bind, loopback
    except ModuleNotFoundError as error:
        raise InputError(f"--web needs the package {error.name}: pip install 'shadowviz[web]'") from None
    arguments = ["tui", *(f"{name}={value}" for name, value in options.items() if value)]
    arguments += ["--ascii"] * ascii_only
    # What begins with a dash is a name behind two of them.
    LoopbackServer([*arguments, "--", *([source] if source else [])], bind(*loopback(address))).run()
    return 0


def _run(source: str, engine: EngineFile, options: "Mapping[str, object]", at: int | None) -> int:
    # Whatever is imported stays: to look for rubbish in it takes a tenth of the time until the first frame.
    gc.disable()
    from shadowviz.tui.app import ShadowvizApp
    from shadowviz.tui.session import Session
    from shadowviz.tui.signals import Signals
    from shadowviz.tui.themed import AppOptions
    from shadowviz.tui.thrift import be_thrifty

    be_thrifty()
    gc.enable()
    with Signals() as signals:
        try:
            with fleeting_folder() as folder:
                child = None if source else start_engine(engine, folder)
                session: Session | None = None
                app: ShadowvizApp | None = None
                try:
                    session = Session(child.log if child is not None else source, child)
                    begin_at(session, at)
                    app = ShadowvizApp(session, source or engine.output or EMBEDDED, AppOptions(**options))  # type: ignore[arg-type]
                    run_app(app, signals)
                finally:
                    end(app, session, child)
        except KeyboardInterrupt:
            return signals.code
    return app_code(app)
