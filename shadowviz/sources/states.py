"""What has become of a log that is followed, and of the engine that writes it."""

from enum import StrEnum


class LogState(StrEnum):
    """A followed log as it was found last."""

    WAITING = "waiting"
    """Not there yet, or without a whole first line."""
    FOLLOWING = "following"
    CLOSED = "closed"
    """It ends with `LogClosed`: nothing follows."""
    TORN = "torn"
    """Its last line has been unfinished for a while."""
    TRUNCATED = "truncated"
    """Events that were there are cut off."""
    REPLACED = "replaced"
    """Another log stands under its name."""
    GONE = "gone"
    """Nothing stands under its name."""
    BROKEN = "broken"
    """What it holds is no log, or contradicts itself."""

    @property
    def restartable(self) -> bool:
        """Whether reading it again from the beginning gives something else."""
        return self in (LogState.TRUNCATED, LogState.REPLACED)

    @property
    def loss(self) -> str:
        """What has befallen the file, in a phrase, where whoever writes it writes in vain; empty = nothing has."""
        return _LOSSES.get(self, "")


_LOSSES = {
    LogState.TRUNCATED: "cut off",
    LogState.REPLACED: "replaced by another file",
    LogState.GONE: "moved or removed",
    LogState.BROKEN: "damaged",
}


class EngineState(StrEnum):
    """The embedded engine in its child process."""

    NONE = "none"
    """The log is a recorded one."""
    STARTING = "starting"
    """Its model loads."""
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    """It ended as it was told to, and closed its log."""
    FAILED = "failed"
    """It could not start, or ended with an error."""
    KILLED = "killed"
    """It was ended from outside."""

    @property
    def alive(self) -> bool:
        """Whether it takes commands."""
        return self in (EngineState.STARTING, EngineState.RUNNING, EngineState.PAUSED)
