"""What a stress run that is begun in the interface is to check, and the command that does it."""

import shlex
from typing import Final

import msgspec

from shadowviz.tui.exporting import free_target
from shadowviz_engine.core.errors import InputError


class StressPart(msgspec.Struct, frozen=True, kw_only=True):
    """One sort of check."""

    title: str
    levels: tuple[str, ...] = ()
    """Levels of the command; empty = its usual ones."""
    subject: str
    """A good one to begin with."""
    lengths: str
    """As many as are checked within about a minute."""


PARTS: Final = (
    StressPart(title="formulas and the engine", subject="tiny-512", lengths="1:129"),
    StressPart(title="formulas alone", levels=("arithmetic",), subject="v4-flash", lengths="1:1001"),
    StressPart(title="the engine alone", levels=("numeric",), subject="tiny-512", lengths="1:129"),
    StressPart(title="the engine beside transformers", levels=("oracle",), subject="tiny-512", lengths="1:65"),
    StressPart(title="faults put in, to be found", levels=("faults",), subject="recall", lengths="18:22"),
)
"""The first is the usual one."""
RECORD: Final = "stress.jsonl"
SUBJECTS: Final = "a model (tiny, tiny-512, recall), random:7, a geometry (v4-flash), or a model's folder"


class StressAsk(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for."""

    part: int = 0
    """Place in `PARTS`."""
    subject: str = PARTS[0].subject
    """One or several, with blanks between."""
    lengths: str = PARTS[0].lengths
    record: str = RECORD

    def with_part(self, part: int) -> "StressAsk":
        """The same with another sort of check; what the user has not touched becomes what is good for it."""
        before, after = PARTS[self.part], PARTS[part]
        return msgspec.structs.replace(
            self,
            part=part,
            subject=after.subject if self.subject == before.subject else self.subject,
            lengths=after.lengths if self.lengths == before.lengths else self.lengths,
        )

    def arguments(self) -> list[str]:
        """Arguments of the program; the record is named as it was typed.

        Raises:
            InputError: something is missing, or would be taken for an option.
        """
        subjects, lengths, record = _words(self.subject), self.lengths.strip(), self.record.strip()
        for what, value in (("lengths", lengths), ("a file for the record", record), ("a subject", subjects)):
            if not value:
                raise InputError(f"{what} must be given: expected such as {_EXAMPLES[what]}")
        for word in (*subjects, lengths):
            if word.startswith("-"):
                raise InputError(f"{word!r} would be an option: options are for shadowviz stress on the command line")
        levels = [word for level in PARTS[self.part].levels for word in ("--level", level)]
        file = f"./{record}" if record.startswith("-") else record
        return ["stress", *subjects, *levels, "--lengths", lengths, "-o", file]

    def ready(self) -> list[str]:
        """The same, with the file where it is.

        Raises:
            InputError: as `arguments`, or the file is there already or cannot be.
        """
        *arguments, file = self.arguments()
        return [*arguments, str(free_target(file))]


_EXAMPLES: Final = {"lengths": "1:129", "a file for the record": "stress.jsonl", "a subject": "tiny-512"}


def command_line(arguments: list[str]) -> str:
    """The command as a shell takes it."""
    return shlex.join(["shadowviz", *arguments])


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise InputError(f"{text!r} has a quote that does not end: expected subjects with blanks between") from None
