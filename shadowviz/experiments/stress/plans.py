"""Plans from what is asked for: which levels, on which subjects, at which lengths."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from shadowviz.experiments.stress.levels import LEVELS, level_named
from shadowviz.experiments.stress.work import Plan
from shadowviz_engine.core.errors import InputError

USUAL_LEVELS = ("arithmetic", "numeric")
USUAL_SUBJECT = "tiny-512"
RANDOM = "random:"
MAX_LENGTH = 2**40
MAX_SUBJECTS = 1000
_RANGE = re.compile(r"(\d{1,13})(?::(\d{1,13}))?", re.ASCII)
_SEEDS = re.compile(r"random:(\d{1,12}):(\d{1,12})", re.ASCII)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a user asks for; what is left empty is chosen here."""

    subjects: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    lengths: str = "1:1001"
    modes: tuple[str, ...] = ()
    seed: int = 0
    options: Mapping[str, str] = {}
    """By name, those that were given."""


def plans_of(asked: Asked) -> list[Plan]:
    """One plan for each level and subject; nothing is loaded and no subject opened.

    Raises:
        InputError: a level, length or option that there is not, or one that no level of the run takes.
    """
    subjects = tuple(dict.fromkeys(_spelt_out(asked.subjects or (USUAL_SUBJECT,))))
    levels = tuple(dict.fromkeys(asked.levels)) or _levels_for(asked.options)
    lengths = lengths_of(asked.lengths)
    if asked.modes and len(levels) > 1:
        raise InputError(f"--mode {asked.modes[0][:40]!r} is a mode of one level: expected --level with it, once")
    for name in asked.options:
        _check_taken(name, levels)
    plans = [
        Plan(
            level=level,
            subject=subject,
            lengths=lengths,
            modes=asked.modes,
            seed=asked.seed,
            options={name: value for name, value in asked.options.items() if name in level_named(level).options},
        )
        for level in levels
        for subject in subjects
        if asked.levels or len(levels) == 1 or level == "arithmetic" or has_model(subject)
    ]
    assert plans, "every subject has the arithmetic level"
    return plans


def lengths_of(text: str) -> tuple[tuple[int, int], ...]:
    """Ranges of lengths such as `1:1001` or `27,4090:4100`, half-open, ascending, and joined where they meet.

    Raises:
        InputError: something else.
    """
    ranges = []
    for part in text.split(","):
        found = _RANGE.fullmatch(part.strip())
        start = int(found[1]) if found else 0
        stop = int(found[2] or start + 1) if found else 0
        if not start < stop <= MAX_LENGTH:
            raise InputError(f"--lengths {part[:40]!r} is no range: expected START:STOP such as 1:1001, or one length")
        ranges.append((start, stop))
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return tuple(joined)


def has_model(subject: str) -> bool:
    """Whether the engine can run the subject, and not only reckon with its geometry."""
    from shadowviz_engine.model.presets import MODEL_PRESETS, TRAINED

    return subject in (*MODEL_PRESETS, *TRAINED) or subject.startswith(RANDOM) or Path(subject, "config.json").is_file()


def _levels_for(options: Iterable[str]) -> tuple[str, ...]:
    """The levels that take any of the options, and without one the usual ones."""
    given = set(options)
    return tuple(name for name, level in LEVELS.items() if given & set(level.options)) or USUAL_LEVELS


def _check_taken(name: str, levels: Sequence[str]) -> None:
    if any(name in level_named(level).options for level in levels):
        return
    takers = [level for level in LEVELS if name in LEVELS[level].options]
    raise InputError(f"--{name} means nothing to level {', '.join(levels)}: expected --level {' or '.join(takers)}")


def _spelt_out(subjects: Iterable[str]) -> Iterable[str]:
    """Every subject by itself: `random:0:20` is twenty."""
    for subject in subjects:
        found = _SEEDS.fullmatch(subject)
        if found is None:
            yield subject
            continue
        start, stop = int(found[1]), int(found[2])
        if not start < stop <= start + MAX_SUBJECTS:
            raise InputError(f"{subject} names no subjects: expected random:START:STOP, at most {MAX_SUBJECTS} of them")
        yield from (f"{RANDOM}{seed}" for seed in range(start, stop))
