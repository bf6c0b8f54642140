"""The state of a run as far as a picture of its tree shows it."""

from collections.abc import Iterator

from shadowviz.replay.bulk.columns import Ints
from shadowviz_engine.core.holdings import Run
from shadowviz_engine.core.replayer import Replayer


class TreeState(Replayer):
    """Tree, prompts and slots. Whose slots those are that no node has is not known, nor how far requests have come."""

    def __init__(self) -> None:
        super().__init__()
        self.slots: dict[str, tuple[Ints, Ints]] = {}
        """By pool, where runs of slots that requests hold begin, and their numbers of slots."""

    def held_runs(self, pool: str) -> Iterator[Run]:
        """Runs of slots that requests hold, as if each token were at the position of its slot in the pool.

        Positions are right up to whole pages: a token is in its page where it is in its prompt.
        """
        slots, lengths = self.slots[pool]
        return ((slot, slot + num, slot) for slot, num in zip(slots.tolist(), lengths.tolist(), strict=True))

    def copied(self) -> "TreeState":
        """As `Replayer.copied`, with the same slots."""
        other = TreeState()
        self.copy_into(other)
        other.slots = dict(self.slots)
        return other
