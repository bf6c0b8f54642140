"""The moment that was left for that of a lookup, and the way back to it."""

from shadowviz.tui.frame import Mode
from shadowviz.tui.session import Session


class LeftMoment:
    """What a session showed before it was sent to the lookup in event `seq`."""

    def __init__(self, session: Session, mode: Mode, seq: int) -> None:
        self.seq = seq
        self._timeline = session.timeline
        self._follows, self._target, self._mode = session.timeline.follows, session.timeline.target, mode

    def leads_from(self, session: Session) -> bool:
        """Whether the session still is where it was sent to."""
        timeline = session.timeline
        return timeline is self._timeline and not timeline.follows and timeline.target == self.seq

    def return_to(self, session: Session) -> None:
        """Show it again: the newest event, if that was shown."""
        if self._follows:
            session.live()
            return
        session.go_to(self._target)
        if self._mode is Mode.PAUSED:
            # To pause is to stay at the moment shown, and that is not there yet.
            session.pause()
            session.timeline.aim(self._target)
