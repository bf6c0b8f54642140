"""Right and wrong answers counted by class, with the wrong ones to read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

SHOWN = 60
"""Characters of each text that a miss shows, from shortly before the first difference."""


@dataclass(frozen=True)
class Miss:
    """A wrong answer."""

    name: str
    recipe: str
    right: frozenset[str]
    given: tuple[str, ...]
    a: str
    b: str

    def line(self) -> str:
        """One line: class, how the pair was made, what is right, what was said, both texts."""
        start = max(0, next((at for at, (x, y) in enumerate(zip(self.a, self.b, strict=False)) if x != y), 0) - 20)
        texts = " / ".join(ascii(text[start : start + SHOWN]) for text in (self.a, self.b))
        right = "|".join(sorted(self.right))
        return f"{self.name} ({self.recipe}): right {right}, said {' '.join(self.given) or 'NONE'}: {texts}"


@dataclass
class Tally:
    """Counts of right and wrong answers by class, in the order of their coming."""

    right: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, int] = field(default_factory=dict)
    misses: list[Miss] = field(default_factory=list)

    def add(self, name: str, miss: Miss | None) -> None:
        """Count one answer; None is a right one."""
        self.right[name] = self.right.get(name, 0) + (miss is None)
        self.wrong[name] = self.wrong.get(name, 0) + (miss is not None)
        if miss is not None:
            self.misses.append(miss)

    @property
    def total(self) -> int:
        """Answers counted."""
        return sum(self.right.values()) + sum(self.wrong.values())

    @property
    def precision(self) -> float:
        """Share of right answers, 0 to 1."""
        return sum(self.right.values()) / self.total

    @property
    def loud(self) -> list[str]:
        """Misses in which equal ids were given a cause."""
        return [miss.line() for miss in self.misses if "NONE" in miss.right]

    def below(self, share: float) -> list[str]:
        """Classes with a smaller share of right answers."""
        return [name for name, right in self.right.items() if right < share * (right + self.wrong[name])]

    def table(self, misses: int = 200) -> str:
        """A line a class, the sums, and the misses, one a line."""
        lines = [f"{name:32} {right:6} right {self.wrong[name]:5} wrong" for name, right in self.right.items()]
        lines.append(f"{'all':32} {sum(self.right.values()):6} right {len(self.misses):5} wrong  {self.precision:.2%}")
        return "\n".join([*lines, *(miss.line() for miss in self.misses[:misses])])


def leads(given: Sequence[str], right: frozenset[str]) -> bool:
    """Whether the first name said is a right one; nothing said is NONE."""
    return (given[0] if given else "NONE") in right


def lists(given: Sequence[str], second: Iterable[str]) -> bool:
    """Whether one of the names stands behind the first; true where none is asked for."""
    wanted = set(second)
    return not wanted or not wanted.isdisjoint(given[1:])
