"""Runs of a real cache without a model, explained event by event, for the tests of the replay package."""

from array import array
from collections.abc import Iterable, Sequence

from cache_driver import Driver, options

from shadowviz.replay.explain import Explainer, Explanation
from shadowviz_engine.cache.options import CacheOptions
from shadowviz_engine.core.events import SCHEMA, LogOpened
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.presets import preset


class ByNumber:
    """Words whose text is the ids; a stretch that differs by 1000 in every token has the cause SHIFTED."""

    readable = True

    def text(self, ids: Sequence[int]) -> str:
        return " ".join(map(str, ids))

    def cause(self, prompt: Sequence[int], stored: Sequence[int]) -> str:
        same = len(prompt) == len(stored) and all((a - b) % 1000 == 0 for a, b in zip(prompt, stored, strict=True))
        return "SHIFTED" if same else "TEXT"


class ExplainedRun:
    """A cache, and the explanation of each of its lookups."""

    def __init__(self, geometry: Geometry | None = None, **changes: object) -> None:
        self.geometry = geometry or preset("v4-flash")
        self.options: CacheOptions = options(**changes)
        self.driver = Driver(self.geometry, self.options)
        self.explainer = Explainer(ByNumber())
        # The driver's cache has no engine around it that would open the log.
        self._num_seen = 0
        self.explainer.state.opened = LogOpened(
            seq=0,
            t_ns=0,
            schema=SCHEMA,
            geometry=self.geometry,
            resume=self.options.resume,
            unit=self.options.unit,
            match_mode=self.options.match_mode,
            cache_on=self.options.cache_on,
        )

    def run(self, ids: Iterable[int], namespace: str = "", output: Iterable[int] = ()) -> Explanation:
        """One request to its end; its explanation."""
        self.driver.run(ids, namespace, output)
        return self.catch_up()[-1]

    def catch_up(self) -> list[Explanation]:
        """Explanations of the lookups since the last call."""
        fresh = self.driver.events[self._num_seen :]
        self._num_seen += len(fresh)
        return [found for event in fresh if (found := self.explainer.feed(event)) is not None]


def ids(values: Iterable[int]) -> "array[int]":
    """Token ids as the replay package has them."""
    return array("i", values)
