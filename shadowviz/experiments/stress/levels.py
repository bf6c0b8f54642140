"""Levels of stress: what each compares, and the module that makes its plans ready, loaded only when asked for."""

from importlib import import_module
from typing import NamedTuple, cast

from shadowviz.experiments.stress.work import Plan, Work
from shadowviz_engine.core.errors import InputError


class Level(NamedTuple):
    """One level: its module has a function `work_of(plan)`."""

    module: str
    options: tuple[str, ...]
    """Names of `Plan.options` that it knows; a command has an option of the same name for each."""


LEVELS: dict[str, Level] = {
    "arithmetic": Level("arithmetic", ("claims", "multiples")),
    "numeric": Level("numeric", ("matrix", "numerics", "resume", "retention")),
    "oracle": Level("oracle", ()),
    "faults": Level("faults", ("blind", "fault")),
}


def level_named(name: str) -> Level:
    """The level that a user names.

    Raises:
        InputError: there is none.
    """
    level = LEVELS.get(name)
    if level is None:
        raise InputError(f"level {name[:40]!r} is not known: expected one of {', '.join(LEVELS)}")
    return level


def work_of(plan: Plan) -> Work:
    """A plan made ready in this process; loads what its level needs.

    Raises:
        InputError: a level, subject, mode or option that there is not.
    """
    module = import_module(f"shadowviz.experiments.stress.{level_named(plan.level).module}")
    return cast("Work", module.work_of(plan))
