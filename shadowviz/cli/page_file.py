"""Writes a page or a picture to a file: whole or not at all, and never over what is not to be replaced."""

import contextlib
import os
import secrets
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from shadowviz.cli.show import write_note, write_out
from shadowviz_engine.core.errors import InputError


class PageFile:
    """The file of `--html`; that it cannot be written is said before anything is computed."""

    def __init__(self, path: str, force: bool, inputs: Iterable[str]) -> None:
        check_page_file(path, force, inputs)
        self._path = path

    def write(self, page: str) -> None:
        """The page, whole."""
        write_page(self._path, page)

    def tell(self, as_json: bool) -> None:
        """Where the page is; beside JSON on stderr."""
        (write_note if as_json else write_out)(f"page: {self._path}")


def check_page_file(path: str, force: bool, inputs: Iterable[str], option: str = "--html") -> None:
    """Say at once that a page cannot go there, before anything is computed; `option` is what named the file.

    Raises:
        InputError: the file holds something and `force` is not given, is one of the inputs, or has no folder.
    """
    if not path or path == "-":
        raise InputError(f"{option} {path!r} names no file: expected such as diff.html")
    for argument in inputs:
        if _is_input(argument, path):
            raise InputError(f"{path} is one of the inputs: choose another file for {option}")
    try:
        target = Path(path)
        if target.is_dir() or not target.resolve().parent.is_dir():
            raise InputError(f"{path} cannot be written: expected a file in a folder that is there")
        if not force and target.is_file() and target.stat().st_size:
            raise InputError(f"{path} is not empty: choose another file for {option}, or replace it with --force")
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from None


def write_page(path: str, text: str) -> None:
    """The text as UTF-8 in the file, under its name only once it is whole.

    Raises:
        InputError: it cannot be written; what was there before is left as it was.
    """
    write_whole(path, text.encode())


def write_whole(path: str, content: bytes, parts: Iterable[bytes] = ()) -> None:
    """The bytes in the file, and behind them `parts` as they are made; under its name only once it is whole.

    Raises:
        InputError: it cannot be written; what was there before is left as it was.
    """
    try:
        # The file that a link leads to is written, and the link stays one.
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                file.writelines(chain((content,), parts))
            return
        beside = target.with_name(f".shadowviz-{secrets.token_hex(8)}.tmp")
        try:
            with beside.open("xb") as file:
                file.writelines(chain((content,), parts))
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                beside.unlink()
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None


def _is_input(argument: str, path: str) -> bool:
    """Whether an argument of the command names this file, in any of its forms."""
    plain = argument.removeprefix("file:")
    for name in filter(None, (argument, plain, plain.rpartition("#")[0])):
        with contextlib.suppress(OSError, ValueError):
            if Path(path).samefile(name):
                return True
    return False
