"""The embedded engine of the terminal interface, and where its record goes."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from shadowviz.sources.child import EngineChild
    from shadowviz.sources.child_wire import Setup

PACE_S = 0.4
"""Wait between two steps of the tour."""


class EngineFile(NamedTuple):
    """The embedded engine, and where its record goes."""

    output: str
    """Empty = it goes when the interface ends."""
    force: bool
    pool_bytes: int
    """0 = the tour, with pools that are right for it."""


def start_engine(engine: EngineFile, folder: Path) -> "EngineChild":
    """Start it; a record without a name of its own goes into `folder`.

    Raises:
        InputError: a file is there already, or can take no record.
    """
    import msgspec

    from shadowviz.sources.child import EngineChild, sidecar_of
    from shadowviz_engine.core.errors import InputError

    log = engine.output or str(folder / "run.jsonl")
    setup = setup_of(log, engine.force, PACE_S, engine.pool_bytes)
    sidecar = sidecar_of(Path(log))
    if Path(sidecar).exists() and not engine.force:
        raise InputError(f"{sidecar} is there already: choose another file for -o, or replace both with --force")
    # The ruler shows which entries a query selected.
    return EngineChild(msgspec.structs.replace(setup, options=setup.options | {"record": "full", "sidecar": sidecar}))


def setup_of(log: str, force: bool, pace_s: float, pool_bytes: int = 0) -> "Setup":
    """What an engine begins with: the tour, or, with `pool_bytes`, a model that waits for prompts.

    Raises:
        InputError: the file is there already, or can take no record.
    """
    from shadowviz.cli.page_file import check_page_file
    from shadowviz.sources.child_wire import Setup
    from shadowviz.sources.script import TOUR_OPTIONS
    from shadowviz.tokens.inert import printable
    from shadowviz_engine.core.errors import InputError

    try:
        log.encode()
    except UnicodeEncodeError:
        raise InputError(f"-o {printable(log)} is no name in UTF-8, as the record of an engine needs one") from None
    check_page_file(log, force, (), "-o")
    if Path(log).exists() and not Path(log).is_file():
        raise InputError(f"-o {log} is no regular file: expected one, since the record is read back while it grows")
    if pool_bytes:
        return Setup(options={"model": TOUR_OPTIONS["model"], "pool_bytes": pool_bytes}, log=log, overwrite=force)
    return Setup(options=TOUR_OPTIONS, log=log, overwrite=force, script="tour", pace_s=pace_s)
