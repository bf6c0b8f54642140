"""How `shadowviz tui` ends: what goes on is ended or waited for, and what nobody was told of yet is told."""

from contextlib import ExitStack
from typing import TYPE_CHECKING

from shadowviz.cli.show import write_note
from shadowviz.tokens.inert import printable

if TYPE_CHECKING:
    from shadowviz.sources.child import EngineChild
    from shadowviz.tui.app import ShadowvizApp
    from shadowviz.tui.helpers import Helpers
    from shadowviz.tui.keeping import KeptLog
    from shadowviz.tui.session import Session
    from shadowviz.tui.signals import Signals

FAULT = 1


def end(app: "ShadowvizApp | None", session: "Session | None", child: "EngineChild | None") -> None:
    """End the stress run and the engine, let files become whole, and complete the records that the user keeps.

    Ctrl-C cuts short what is waited for at that moment, and nothing that comes behind it.
    """
    # Done from the last to the first, each also where the one before it was cut short.
    with ExitStack() as rest:
        if app is not None:
            for kept in tuple(app.kept.values())[::-1]:
                rest.callback(_finish_kept, kept)
            rest.callback(_await, app.helpers)
        if session is not None:
            rest.callback(session.close)
        elif child is not None:
            rest.callback(child.close)
        if app is not None:
            rest.callback(_end_stress, app)


def run_app(app: "ShadowvizApp", signals: "Signals") -> None:
    """Run the interface until it ends; a signal asks it to, from the first moment on."""
    app.signals = signals
    # One that comes before it can be asked is remembered.
    signals.ask_by(lambda _code: None)
    try:
        app.run()
    finally:
        signals.insist()


def app_code(app: "ShadowvizApp") -> int:
    """Exit code of an interface that has ended: its own, else that of what went wrong behind it."""
    if app.return_code is None:
        # It was ended by an error that it has shown.
        return FAULT
    return app.return_code or end_code(app)


def end_code(app: "ShadowvizApp") -> int:
    """Exit code that tells of work which went wrong without the user having seen it; 0 = there is none."""
    kept = (log.outcome for log in app.kept.values())
    return max((outcome.code for outcome in (*app.helpers.untold, *kept) if outcome is not None), default=0)


def _end_stress(app: "ShadowvizApp") -> None:
    run = app.runs.stress
    goes_on = run is not None and run.state.alive
    if goes_on:
        write_note("shadowviz: the stress run is being stopped; ctrl+c does not wait for it")
    words = ""
    try:
        words = app.close_runs()
    except KeyboardInterrupt:
        if run is not None and run.has_record:
            # Its process ends with this one.
            words = "the stress run was not waited for; go on with: shadowviz stress --continue "
            words += printable(str(run.record))
        raise
    finally:
        if words:
            write_note(f"shadowviz: {words}")


def _await(helpers: "Helpers") -> None:
    """Let files that are being written become whole, unless the user does not want to wait; tell how that went."""
    from shadowviz.tui.exporting import give_up

    try:
        if helpers.are_busy:
            write_note("shadowviz: a file is being written; ctrl+c gives it up")
            helpers.wait()
    except KeyboardInterrupt:
        give_up()
        raise
    finally:
        for outcome in helpers.untold:
            write_note(f"shadowviz: {outcome.words}")


def _finish_kept(kept: "KeptLog") -> None:
    kept.outcome = kept.finish()
    write_note(f"shadowviz: {kept.outcome.words}")
