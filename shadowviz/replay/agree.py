"""Where two token sequences that have parted agree again."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator

import msgspec

from shadowviz_engine.core.spans import Extent

ANCHOR = 4
"""Equal tokens in a row that count as an agreement."""
CONVINCING = 2
"""The first agreement is taken without looking further if it is this many times as long as what differs before it,
on both sides together; later ones if they are as long."""
MAX_NEEDED = 32
"""Longest agreement that is asked for because of what only the stored path has."""

FOLLOW_UP = 256
"""Tokens of the prompt that are searched for the next agreement once there was one."""


class Stretch(msgspec.Struct, frozen=True):
    """A differing stretch of prompt and stored path, and the tokens that agree behind it."""

    prompt: Extent
    stored: Extent
    agreed: int


def differing_stretches(prompt: "array[int]", stored: "array[int]", start: int) -> Iterator[Stretch]:
    """The stretches in which two sequences differ from position `start` on, in order.

    `start` is the first position at which they differ. Ends with the last stretch behind which they agree again; the
    first one is searched for in all that follows, later ones near by, so that the work stays linear in the lengths.
    """
    search = _Search(prompt, stored, start)
    place: tuple[int, int] = (start, start)
    reach = max(len(prompt), FOLLOW_UP + 1)
    while (stretch := search.next_agreement(*place, reach)) is not None:
        yield stretch
        place = (stretch.prompt.stop + stretch.agreed, stretch.stored.stop + stretch.agreed)
        reach = FOLLOW_UP
        if place[0] >= len(prompt) or place[1] >= len(stored):
            return


def _outweighs(stretch: Stretch) -> bool:
    return stretch.agreed >= max(stretch.prompt.size, min(stretch.stored.size, MAX_NEEDED))


class _Search:
    """Positions of every run of `ANCHOR` stored tokens, and the walk along the prompt that looks them up."""

    def __init__(self, prompt: "array[int]", stored: "array[int]", start: int) -> None:
        self._prompt, self._stored = prompt, stored
        self._width = ANCHOR * prompt.itemsize
        self._prompt_bytes, self._stored_bytes = prompt.tobytes(), stored.tobytes()
        self._places: dict[bytes, list[int]] = {}
        for place in range(start, len(stored) - ANCHOR + 1):
            self._places.setdefault(self._gram(self._stored_bytes, place), []).append(place)

    def next_agreement(self, a: int, b: int, reach: int) -> Stretch | None:
        """The first convincing agreement behind prompt position `a` and stored position `b`, or else the longest.

        The first agreement of all is chance when it is shorter than what differs before it: the texts are not alike.
        """
        best: Stretch | None = None
        first = reach > FOLLOW_UP
        factor = CONVINCING if first else 1
        at = a
        while at < min(len(self._prompt) - ANCHOR + 1, a + reach):
            found = self._agreement(at, a, b)
            if found is None:
                at += 1
                continue
            if found.agreed >= factor * (found.prompt.size + found.stored.size):
                return found
            if best is None or found.agreed > best.agreed:
                best = found
            at = found.prompt.stop + found.agreed
        if best is None or (first and not _outweighs(best)):
            return None
        return best

    def _agreement(self, at: int, a: int, b: int) -> Stretch | None:
        places = self._places.get(self._gram(self._prompt_bytes, at))
        if places is None:
            return None
        first = bisect_left(places, b)
        if first == len(places):
            return None
        # The same distance from the parting is the likeliest partner, then the earliest.
        level = bisect_left(places, b + at - a, first)
        same = level < len(places) and places[level] == b + at - a
        other = places[level] if same else places[first]
        while at > a and other > b and self._prompt[at - 1] == self._stored[other - 1]:
            at, other = at - 1, other - 1
        return Stretch(Extent(a, at), Extent(b, other), self._equal_from(at, other))

    def _equal_from(self, at: int, other: int) -> int:
        """Number of equal tokens from prompt position `at` and stored position `other` on."""
        size = self._prompt.itemsize
        most = min(len(self._prompt) - at, len(self._stored) - other)
        left, right = memoryview(self._prompt_bytes)[at * size :], memoryview(self._stored_bytes)[other * size :]
        # Doubling steps, then halving: equal stretches are compared as bytes, not token by token.
        done, step = 0, 16
        while done < most:
            step = min(step, most - done)
            if left[done * size : (done + step) * size] == right[done * size : (done + step) * size]:
                done, step = done + step, step * 2
            elif step == 1:
                break
            else:
                step //= 2
        return done

    def _gram(self, data: bytes, place: int) -> bytes:
        size = self._prompt.itemsize
        return data[place * size : place * size + self._width]
