"""What the screens show, as plain values: a frame after each tick, and the selection that all screens share."""

from enum import StrEnum

import msgspec

from shadowviz.sources.states import EngineState, LogState
from shadowviz_engine.core.events import LogOpened


class Mode(StrEnum):
    """Which moment of the run the screens show."""

    LIVE = "LIVE"
    """The newest: the state follows the log while it grows."""
    PAUSED = "PAUSED"
    """The one at which the user stopped it; events that arrive are counted."""
    REPLAY = "REPLAY"
    """One that the user chose, or the end of a log that grows no more."""


class Selection(msgspec.Struct, frozen=True):
    """The cursor that all screens share."""

    request: str = ""
    """Id; empty = none."""
    node: int = 0
    """Node of the tree; 0 = none, since the root cannot be chosen."""
    token: int = -1
    """Position in the prompt of the request, or on the path of the node; -1 = none."""
    seq: int = -1
    """Event; -1 = none."""
    rival: str = ""
    """Request that others are compared with; empty = as the lookup says."""


class Crumb(msgspec.Struct, frozen=True):
    """One step of the way to what is shown: a screen and what was selected there."""

    screen: str
    selection: Selection


class HitRate(msgspec.Struct, frozen=True):
    """Tokens over all lookups up to the moment shown."""

    num_lookups: int = 0
    prompt_tokens: int = 0
    reused_tokens: int = 0

    @property
    def rate(self) -> float:
        """Reused of prompt tokens, 0 to 1."""
        return self.reused_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


class PoolFill(msgspec.Struct, frozen=True):
    """Pages of one pool; a page counts once, whoever shares it."""

    pool: str
    """full or swa."""
    num_pages: int
    """0 = the log does not say how many there are."""
    used: int
    locked: int
    """Of the used ones, those on a path that a running request has locked."""
    held: int
    """Of the used ones, those that running requests hold beside the tree's."""

    @property
    def fill(self) -> float:
        """Used of all pages, 0 to 1."""
        return self.used / self.num_pages if self.num_pages else 0.0


class Arrival(msgspec.Struct, frozen=True):
    """How far the state has come on its way to the moment that was asked for."""

    at: int
    target: int
    begun: int
    """Seq from which it set out."""
    events_per_s: float = 0.0
    """While it was working; 0 = not known yet."""

    @property
    def settled(self) -> bool:
        """Whether the state is the one asked for."""
        return self.at == self.target

    @property
    def fraction(self) -> float:
        """Part of the way that is done, 0 to 1."""
        way = self.target - self.begun
        return 1.0 if self.settled or not way else min(1.0, max(0.0, (self.at - self.begun) / way))


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The run at one moment, as every screen's head and status line show it; texts are inert."""

    version: int
    """Changes whenever the state shown does: what is drawn for one version stays right."""
    tree_version: int
    """Changes whenever the tree may have, or what its nodes have, or tokens that lead into it."""
    mode: Mode
    head: int
    """Newest event of the log; -1 = none."""
    arrival: Arrival
    new_events: range
    """Events that the log gained since the frame before."""
    opened: LogOpened | None
    t_ns: int
    """Time of the event shown last, since the log was opened."""
    hit: HitRate
    pools: tuple[PoolFill, ...]
    """As they were counted last: in a large tree that is done now and then."""
    pools_at: int
    """Event after which they were counted."""
    num_requests: int
    """Submitted up to the moment shown."""
    num_running: int
    num_waiting: int
    """In the queue, or waiting for room."""
    num_nodes: int
    """Living nodes of the tree."""
    log: LogState
    log_words: str
    """What has become of the log, in a sentence; empty where there is nothing to say."""
    stopped: str = ""
    """The event at whose kind a breakpoint has stopped the interface, and that kind; empty = it has not."""
    engine: EngineState
    engine_words: str
    selection: Selection
    trail: tuple[Crumb, ...]
    """The breadcrumb: where `Backspace` leads, oldest first."""

    @property
    def at(self) -> int:
        """Event after which the state is shown; -1 = before the first."""
        return self.arrival.at

    @property
    def unseen(self) -> int:
        """Events of the log behind the moment shown."""
        return max(0, self.head - self.at)

    @property
    def moment_words(self) -> str:
        """The mode with its numbers, for the top left corner."""
        if not self.arrival.settled:
            return f"{self.mode} {self.arrival.fraction:.0%} of the way to e{self.arrival.target:,}"
        match self.mode:
            case Mode.LIVE:
                return f"LIVE e{self.at:,}" if self.at >= 0 else "LIVE"
            case Mode.PAUSED:
                return f"PAUSED {self._place} (+{self.unseen:,} events)"
            case Mode.REPLAY:
                return f"REPLAY {self._place} of {self.head:,}" if self.head >= 0 else "REPLAY no event"

    @property
    def _place(self) -> str:
        return f"e{self.at:,}" if self.at >= 0 else "before e0"
