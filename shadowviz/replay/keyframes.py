"""Saved states of a run at places along it, within a number of bytes."""

from bisect import bisect_right, insort
from threading import Thread

from shadowviz.replay.keyframe import Keyframe, Stores, state_bytes
from shadowviz_engine.core.replayer import Replayer

BYTES_AN_EVENT = 100
"""Bytes of a state that may be saved for each event replayed: saving then costs a tenth of replaying."""


class Keyframes:
    """Keyframes of one run. When they take too much, every second one is forgotten and the others lie further apart."""

    def __init__(self, max_bytes: int, spacing: int) -> None:
        self._max_bytes = max_bytes
        self._frames: list[Keyframe] = []
        self._spacing = spacing
        self._packing: Thread | None = None
        self.stores = Stores()
        """What states that were left had of the stores that only grow."""

    @property
    def num_bytes(self) -> int:
        """About what the keyframes take, the stores left out."""
        return sum(frame.num_bytes for frame in self._frames)

    @property
    def seqs(self) -> tuple[int, ...]:
        """Events after which there are keyframes."""
        return tuple(frame.seq for frame in self._frames)

    def offer(self, state: Replayer) -> bool:
        """Save `state` if it lies far enough behind the keyframe before it; whether it did."""
        at = bisect_right(self._frames, state.seq, key=lambda frame: frame.seq)
        before = self._frames[at - 1].seq if at else -1
        after = self._frames[at].seq if at < len(self._frames) else state.seq + self._spacing
        if min(state.seq - before, after - state.seq) < self._spacing:
            return False
        size = state_bytes(state)
        if state.seq - before < size // BYTES_AN_EVENT or size > self._max_bytes // 2:
            return False
        self.settle()
        frame = Keyframe(state)
        insort(self._frames, frame, key=lambda frame: frame.seq)
        # Packing leaves other threads their turn: where there are two processors it costs the replay nothing.
        self._packing = Thread(target=frame.pack, daemon=True)
        self._packing.start()
        return True

    def settle(self) -> None:
        """Wait until the keyframe saved last is packed, and keep to the bytes."""
        if self._packing is None:
            return
        self._packing.join()
        self._packing = None
        while self.num_bytes > self._max_bytes and len(self._frames) > 1:
            self._spacing *= 2
            self._frames = self._frames[1::2]

    def nearest(self, seq: int, state: Replayer) -> Keyframe | None:
        """The last keyframe at or before `seq` that can be restored when `state` is left; None = there is none."""
        self.stores.keep(state)
        frames = (frame for frame in reversed(self._frames) if frame.seq <= seq)
        return next((frame for frame in frames if frame.is_within(self.stores)), None)
