"""Measured ratios beside their bars, and figures without one, as text, Markdown and JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AtLeast:
    """A ratio that is wanted as large as this, or larger."""

    bound: float

    def met_by(self, value: float) -> bool:
        """Whether `value` reaches the bound."""
        return value >= self.bound

    def __str__(self) -> str:
        """The bar in words."""
        return f"at least {self.bound:g}"


@dataclass(frozen=True)
class AtMost:
    """A ratio that is wanted as small as this, or smaller."""

    bound: float

    def met_by(self, value: float) -> bool:
        """Whether `value` stays within the bound."""
        return value <= self.bound

    def __str__(self) -> str:
        """The bar in words."""
        return f"at most {self.bound:g}"


@dataclass(frozen=True)
class Ratio:
    """Two figures of one run, the first divided by the second."""

    name: str
    value: float
    bar: AtLeast | AtMost | None
    """None = the ratio is for comparison alone."""

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None without a bar."""
        return None if self.bar is None else self.bar.met_by(self.value)

    @property
    def verdict(self) -> str:
        """`met` or `NOT MET`; empty without a bar."""
        return {None: "", True: "met", False: "NOT MET"}[self.met]


@dataclass(frozen=True)
class Figure:
    """A value that depends on the machine."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True)
class Part:
    """What one part of the benchmark gave."""

    name: str
    about: str
    """Workload and statistic, in one line."""
    ratios: tuple[Ratio, ...]
    figures: tuple[Figure, ...]
    missing: tuple[str, ...] = ()
    """A line for each peer that could not be measured."""


Facts = dict[str, str]
"""What the figures were measured on and with."""


def to_text(facts: Facts, parts: Sequence[Part]) -> str:
    """The whole report in columns."""
    blocks = ["\n".join(_columns([[name, value] for name, value in facts.items()]))]
    for part in parts:
        lines = [f"{part.name}: {part.about}"]
        lines += _indented([[item.name, *_ratio_cells(item)] for item in part.ratios])
        lines += _indented([[item.name, f"{item.value:.4g}", item.unit] for item in part.figures])
        lines += [f"  missing: {line}" for line in part.missing]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def to_markdown(facts: Facts, parts: Sequence[Part]) -> str:
    """The report as sections with tables."""
    blocks = [_table(["measured on", ""], [[name, value] for name, value in facts.items()])]
    for part in parts:
        blocks.append(f"## {part.name}\n\n{part.about[:1].upper()}{part.about[1:]}.")
        if part.ratios:
            rows = [[item.name, *_ratio_cells(item)] for item in part.ratios]
            blocks.append(_table(["ratio", "measured", "bar", ""], rows))
        if part.figures:
            rows = [[item.name, f"{item.value:.4g} {item.unit}"] for item in part.figures]
            blocks.append(_table(["figure", "measured"], rows))
        blocks += [f"Missing: {line}" for line in part.missing]
    return "\n\n".join(blocks) + "\n"


def to_values(facts: Facts, parts: Sequence[Part]) -> dict[str, Any]:
    """The report in plain values, for JSON."""
    return {
        "facts": facts,
        "parts": [
            {
                "name": part.name,
                "about": part.about,
                "ratios": [
                    {
                        "name": item.name,
                        "value": item.value,
                        "bar": None if item.bar is None else str(item.bar),
                        "met": item.met,
                    }
                    for item in part.ratios
                ],
                "figures": [{"name": item.name, "value": item.value, "unit": item.unit} for item in part.figures],
                "missing": part.missing,
            }
            for part in parts
        ],
    }


def _ratio_cells(ratio: Ratio) -> list[str]:
    return [f"{ratio.value:.3f}", "" if ratio.bar is None else str(ratio.bar), ratio.verdict]


def _indented(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"  {line}" for line in _columns(rows)]


def _columns(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
