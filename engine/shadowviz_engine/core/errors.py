"""Errors of the whole project; every one carries the exit code that a command ends with."""

from typing import ClassVar


class ShadowvizError(Exception):
    """Base of every expected error: one clear line, no traceback."""

    exit_code: ClassVar[int] = 2


class InputError(ShadowvizError, ValueError):
    """A prompt, file, option or value that cannot be used."""


class GeometryError(InputError):
    """A geometry whose parts do not fit together."""


class ModelError(InputError):
    """A model directory, configuration or state that the model cannot run on."""


class LogError(InputError):
    """A log that cannot be read, or that contradicts itself."""


class CapacityError(ShadowvizError):
    """A request that can never fit the pools it is given."""

    exit_code: ClassVar[int] = 3


class InvariantError(ShadowvizError):
    """The cache's bookkeeping contradicts itself: a defect, or an injected fault."""

    exit_code: ClassVar[int] = 1
