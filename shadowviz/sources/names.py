"""Names of files that nothing has yet."""

import os
from itertools import count
from pathlib import Path


def free_name(path: Path) -> Path:
    """The path itself if nothing is there, else the first free one of `run-2.jsonl`, `run-3.jsonl` ... beside it."""
    return name_beside(path) if os.path.lexists(path) else path


def name_beside(path: Path) -> Path:
    """The first of `run-2.jsonl`, `run-3.jsonl` ... beside `run.jsonl` that is not there."""
    names = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(name for name in names if not os.path.lexists(name))
