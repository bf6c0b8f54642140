"""`shadowviz tui`: watch live requests, or a record, in the terminal."""

import gc
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from shadowviz.cli.show import write_note, write_out
from shadowviz.cli.tui_end import end, end_code
from shadowviz.cli.tui_folder import fleeting_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shadowviz.sources.child import EngineChild
    from shadowviz.sources.child_wire import Setup
    from shadowviz.tui.session import Session

LEAST_COLUMNS, LEAST_LINES = 60, 16
PLAIN_COLUMNS = 120
"""Width of the plain form where it goes to no terminal."""
PACE_S = 0.4
"""Wait between two steps of the tour."""
EMBEDDED = "embedded engine"
ADDRESS = "127.0.0.1:8000"
"""Where `--web` listens."""
WEB_DRIVER = "textual.drivers.web_driver:WebDriver"
"""What textual-serve writes into `TEXTUAL_DRIVER` of the process behind a tab."""


class EngineFile(NamedTuple):
    """The embedded engine, and where its record goes."""

    output: str
    """Empty = it goes when the interface ends."""
    force: bool
    pool_bytes: int
    """0 = the tour, with pools that are right for it."""


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
    theme: Annotated[str, typer.Option(help="Colours, such as nord or high-contrast.", metavar="NAME")] = "",
    ascii_only: Annotated[bool, typer.Option("--ascii", help="Draw with ASCII alone.")] = False,
    keys: Annotated[
        str, typer.Option(help='A JSON file of keys by the id that ? shows, such as {"app.quit": "x"}.', metavar="FILE")
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

    _check_screen(screen)
    if at is not None and not source:
        raise InputError("--at names an event of a record: expected a source with it")
    if source and output:
        raise InputError("-o keeps the record of the embedded engine: expected no other source beside it")
    if source and pool_bytes:
        raise InputError("--pool-bytes is for the embedded engine: expected no source beside it")
    if address and not web:
        raise InputError("--address says where --web listens: expected --web beside it")
    if web:
        if plain or output:
            raise InputError("--web gives each tab a session of its own: expected neither --plain nor -o beside it")
        if pool_bytes:
            raise InputError("--web shows the tour or a record: expected no --pool-bytes beside it")
        _check_source(source)
        chosen = {"--at": "" if at is None else str(at), "--screen": screen, "--theme": theme}
        chosen["--keys"] = keys and str(Path(keys).absolute())
        _keymap(keys)
        return _serve(source, address or ADDRESS, chosen, ascii_only)
    is_served = os.environ.get("TEXTUAL_DRIVER") == WEB_DRIVER
    is_terminal = sys.stdout.isatty() and sys.stdin.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    ascii_only = ascii_only or (not is_served and _is_ascii_terminal())
    if plain or not (is_terminal or is_served):
        if not plain:
            write_note("shadowviz: no terminal to draw in: this is the plain form (--plain)")
        if pool_bytes:
            raise InputError("--pool-bytes makes an engine that waits for prompts: expected a terminal to type them in")
        if not source:
            return _print_tour(output, force, screen, ascii_only)
        _check_source(source)
        return _print_plain(source, screen, ascii_only, at)
    if not is_served:
        _check_size()
    keymap = _keymap(keys)
    options = {"screen": screen, "theme": theme, "ascii": ascii_only, "keymap": keymap}
    options["fleeting"] = not source and not output
    return _run(source, EngineFile(output, force, pool_bytes), options, at)


def _is_ascii_terminal() -> bool:
    """Whether more than ASCII would come out as rubbish, as far as the environment tells."""
    if not (sys.stdout.encoding or "").lower().startswith("utf"):
        return True
    # Python writes UTF-8 where the locale is C; a terminal of somebody who asked for that locale may not know it.
    is_by_itself = bool(sys.flags.utf8_mode) and "utf8" not in sys._xoptions and not os.environ.get("PYTHONUTF8")
    return is_by_itself and any(os.environ.get(name) in ("C", "POSIX") for name in ("LC_ALL", "LC_CTYPE", "LANG"))


def _check_source(source: str) -> None:
    from shadowviz_engine.core.errors import InputError

    if source and not Path(source).exists():
        raise InputError(f"{source} is not there: expected a record")


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


def _check_size() -> None:
    from shadowviz_engine.core.errors import InputError

    size = os.get_terminal_size()
    if size.columns < LEAST_COLUMNS or size.lines < LEAST_LINES:
        raise InputError(
            f"the terminal has {size.columns} columns and {size.lines} lines: expected at least "
            f"{LEAST_COLUMNS} and {LEAST_LINES}, or --plain"
        )


def _check_screen(name: str) -> None:
    from shadowviz.tui.screens.registry import SCREENS
    from shadowviz_engine.core.errors import InputError

    names = [entry.name for entry in SCREENS]
    if name not in names:
        raise InputError(f"--screen {name[:40]!r} is no screen: expected one of {', '.join(names)}")


def _keymap(path: str) -> "Mapping[str, str]":
    """Keys by id of a binding.

    Raises:
        InputError: the file holds something else, or names what there is not.
        OSError: it cannot be read.
    """
    import msgspec

    from shadowviz_engine.core.errors import InputError

    if not path:
        return {}
    try:
        keys = msgspec.json.decode(Path(path).read_bytes(), type=dict[str, str])
        if keys:
            # Loads every screen.
            from shadowviz.tui.keymap import check_keymap

            check_keymap(keys)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InputError(f"{path}: {error}: expected one JSON object of keys by id") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return keys


def _print_tour(output: str, force: bool, screen: str, ascii_only: bool) -> int:
    """The same run that a terminal shows step by step, at its end."""
    from shadowviz.cli.show import write_progress
    from shadowviz.sources.scripted import record_script

    with fleeting_folder() as folder:
        setup = _setup(output or str(folder / "run.jsonl"), force, pace_s=0.0)
        write_progress("the embedded engine runs its tour")
        try:
            record_script(setup, write_note)
        finally:
            write_progress("")
        return _print_plain(setup.log, screen, ascii_only)


def _print_plain(source: str, screen: str, ascii_only: bool, at: int | None = None) -> int:
    from shadowviz.tui.plain import plain_lines
    from shadowviz.tui.session import Session

    width = shutil.get_terminal_size((PLAIN_COLUMNS, 24)).columns if sys.stdout.isatty() else PLAIN_COLUMNS
    session = Session(source)
    try:
        _begin_at(session, at)
        for line in plain_lines(session, screen, width, ascii_only):
            write_out(line)
    finally:
        session.close()
    return 0


def _begin_at(session: "Session", at: int | None) -> None:
    """Show the state after event `at`.

    Raises:
        InputError: the record has no such event.
    """
    if at is not None:
        session.go_to(at)
        session.selection.select(seq=at)


def _run(source: str, engine: EngineFile, options: "Mapping[str, object]", at: int | None) -> int:
    # Whatever is imported stays: to look for rubbish in it takes a tenth of the time until the first frame.
    gc.disable()
    from shadowviz.tui.app import AppOptions, ShadowvizApp
    from shadowviz.tui.session import Session
    from shadowviz.tui.thrift import be_thrifty

    be_thrifty()
    gc.enable()
    with fleeting_folder() as folder:
        child = None if source else _engine(engine, folder)
        session: Session | None = None
        app: ShadowvizApp | None = None
        try:
            session = Session(child.log if child is not None else source, child)
            _begin_at(session, at)
            app = ShadowvizApp(session, source or engine.output or EMBEDDED, AppOptions(**options))  # type: ignore[arg-type]
            app.run()
        finally:
            end(app, session, child)
    return app.return_code or end_code(app)


def _engine(engine: EngineFile, folder: Path) -> "EngineChild":
    import msgspec

    from shadowviz.sources.child import EngineChild, sidecar_of
    from shadowviz_engine.core.errors import InputError

    log = engine.output or str(folder / "run.jsonl")
    setup = _setup(log, engine.force, PACE_S, engine.pool_bytes)
    sidecar = sidecar_of(Path(log))
    if Path(sidecar).exists() and not engine.force:
        raise InputError(f"{sidecar} is there already: choose another file for -o, or replace both with --force")
    # The ruler shows which entries a query selected.
    return EngineChild(msgspec.structs.replace(setup, options=setup.options | {"record": "full", "sidecar": sidecar}))


def _setup(log: str, force: bool, pace_s: float, pool_bytes: int = 0) -> "Setup":
    from shadowviz.cli.page_file import check_page_file
    from shadowviz.sources.child_wire import Setup
    from shadowviz.sources.script import TOUR_OPTIONS
    from shadowviz_engine.core.errors import InputError

    check_page_file(log, force, (), "-o")
    if Path(log).exists() and not Path(log).is_file():
        raise InputError(f"-o {log} is no regular file: expected one, since the record is read back while it grows")
    if pool_bytes:
        return Setup(options={"model": TOUR_OPTIONS["model"], "pool_bytes": pool_bytes}, log=log, overwrite=force)
    return Setup(options=TOUR_OPTIONS, log=log, overwrite=force, script="tour", pace_s=pace_s)
