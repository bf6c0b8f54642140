"""The runs that the interface can show: the one that it was started for, and a stress run begun in it."""

from pathlib import Path

from shadowviz.tui.late_words import LateWords
from shadowviz.tui.session import Session
from shadowviz.tui.stress_ask import StressAsk
from shadowviz.tui.stress_run import StressRun

STRESS = "stress"
"""The screen that shows a stress run."""


class ShownRun:
    """One run, as the user named it, with the words of its tokens."""

    def __init__(self, session: Session, source: str, *, fleeting: bool = False) -> None:
        self.session, self.source, self.fleeting = session, source, fleeting
        self.words: LateWords | None = None


class Runs:
    """Which run the screens show: a stress run where the stress screen leads, else the first one."""

    def __init__(self, main: ShownRun) -> None:
        self.main = self.shown = main
        self.stress: StressRun | None = None
        self.asked: StressAsk | None = None
        """What was asked for last, for whoever wants nearly the same again."""
        self._of_stress: ShownRun | None = None

    def begin_stress(self, run: StressRun) -> None:
        """Take a stress run in; the one before it has ended."""
        self._end_stress()
        self.stress = run

    def poll(self) -> bool:
        """Look at the stress run, if there is one; whether it has ended since the last look."""
        run = self.stress
        if run is None:
            return False
        was_alive = run.state.alive
        run.poll()
        if run.session is not None and self._of_stress is None:
            self._of_stress = ShownRun(run.session, str(run.record))
        return was_alive and not run.state.alive

    def lead_to(self, screen: str) -> bool:
        """Show the run that a screen is for; whether that is another one than before."""
        before = self.shown
        of_stress = self._of_stress
        is_for_it = of_stress is not None and (screen == STRESS or self._is_same_record(of_stress))
        self.shown = of_stress if is_for_it and of_stress is not None else self.main
        return self.shown is not before

    def close(self) -> str:
        """End the stress run, if one goes on; what is worth saying of that."""
        return self._end_stress()

    def _is_same_record(self, of_stress: ShownRun) -> bool:
        """Whether the stress run goes on with the very record that the interface was started for."""
        return _resolved(of_stress.session.follower.path) == _resolved(self.main.session.follower.path)

    def _end_stress(self) -> str:
        run, self.stress, self._of_stress = self.stress, None, None
        self.shown = self.main
        return run.close() if run is not None else ""


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
