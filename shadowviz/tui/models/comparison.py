"""Two prompts compared beside the interface: which two, the report, and their lines side by side."""

from array import array
from itertools import islice
from threading import Thread

import msgspec

from shadowviz.replay.resident import request_prompt
from shadowviz.tokens.align.token_diff import TokenDiff
from shadowviz.tokens.inert import printable, shorten
from shadowviz.tokens.inputs.prompt import Form, Prompt
from shadowviz.tokens.passages.passage import Fold, Row
from shadowviz.tokens.report.report import Report
from shadowviz.tokens.side import Side
from shadowviz.tui.session import TICK_S, Session
from shadowviz_engine.core.errors import InputError, LogError, ShadowvizError
from shadowviz_engine.core.geometry import Geometry

MAX_ROWS = 20_000
"""Lines that are kept of a comparison."""


class Compared(msgspec.Struct, frozen=True):
    """The answer."""

    report: Report
    rows: list[Row | Fold]
    first: int
    """Row of the first difference; -1 = there is none."""
    is_cut: bool
    """Whether there are more lines than are kept."""


class Comparison:
    """One comparison, worked out in a thread of its own; what a user has named is read there, too."""

    def __init__(self, a: Prompt | str, b: Prompt | str, geometry: Geometry) -> None:
        self._a, self._b, self.geometry = a, b, geometry
        self.prompts: tuple[Prompt, Prompt] | None = None
        """The two, once they were read."""
        self.answer: Compared | None = None
        self.fault = ""
        """Why there is no answer; empty = it may come."""
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until it is there."""
        self._thread.join()

    def _run(self) -> None:
        try:
            self.prompts = one, other = _read(self._a), _read(self._b)
            self.answer = compared(one, other, self.geometry)
        except ShadowvizError as error:
            self.fault = str(error)
        except Exception as error:
            # A thread that ends by it would tell nobody.
            self.fault = f"they cannot be compared: {type(error).__name__}: {error}"


def _read(prompt: Prompt | str) -> Prompt:
    if not isinstance(prompt, str):
        return prompt
    from shadowviz.tokens.inputs.read import read_argument

    return read_argument(prompt, None, bytes)


class Laid(msgspec.Struct, frozen=True):
    """Two sides, how they are aligned, and the report of it."""

    a: Side
    b: Side
    diff: TokenDiff
    report: Report

    def compared(self) -> Compared:
        """The report with as many lines as are kept."""
        from shadowviz.tokens.passages.lay_out import passages

        rows = list(islice(passages(self.a, self.b, self.diff), MAX_ROWS + 1))
        first = next((place for place, row in enumerate(rows) if isinstance(row, Row) and not row.same), -1)
        return Compared(self.report, rows[:MAX_ROWS], first, len(rows) > MAX_ROWS)


def compared(a: Prompt, b: Prompt, geometry: Geometry) -> Compared:
    """The report of two prompts, and their lines.

    Raises:
        InputError: they cannot be compared.
    """
    return laid_out(a, b, geometry).compared()


def laid_out(a: Prompt, b: Prompt, geometry: Geometry) -> Laid:
    """Two prompts, aligned.

    Raises:
        InputError: they cannot be compared.
    """
    from shadowviz.tokens.align.align import align
    from shadowviz.tokens.inputs.side import check_comparable, make_side, reading_of
    from shadowviz.tokens.report.compare import compare

    reading = reading_of("deepseek-v4")
    one, other = make_side("A", a, reading), make_side("B", b, reading)
    check_comparable(one, other)
    diff = align(one, other)
    return Laid(one, other, diff, compare(one, other, geometry, (a.source, b.source), diff))


def prompt_of(session: Session, request: str) -> Prompt:
    """The prompt of a request of the run.

    Raises:
        InputError: there is no such request at this moment.
    """
    state = session.state
    row, opened = state.requests.index.get(request), state.opened
    if row is None or opened is None:
        raise InputError(f"there is no request {request[:60]!r} at this moment")
    return Prompt(
        source=session.request(row).name,
        form=Form.IDS,
        ids=array("q", request_prompt(state, row)),
        vocabulary=opened.tokenizer_fingerprint or "none",
        redacted=str(session.follower.path) if opened.redacted else "",
    )


class Rival(msgspec.Struct, frozen=True):
    """The request that another one is compared with, or why there is none."""

    name: str = ""
    """Id; empty = there is none."""
    words: str = ""
    """Why there is none, in a sentence."""
    known: bool = True
    """Whether that is the answer; if not, ask again."""


def rival_of(session: Session, request: str, budget_s: float = TICK_S) -> Rival:
    """The request that the explanation of this one's last lookup speaks of.

    Args:
        budget_s: for what has to be replayed, about.
    """
    row = session.state.requests.index.get(request)
    if row is None:
        return Rival(words=f"There is no request {shorten(request, 60)} at this moment.")
    lookup = session.request(row).lookup
    if lookup is None:
        return Rival(words="B was not looked up until this moment, so it has met no other request.")
    try:
        explanation = session.explain(lookup.seq, budget_s)
    except LogError as error:
        return Rival(words=printable(str(error)))
    if explanation is None:
        return Rival(words="What the lookup of B met is being replayed, to find the request beside it ...", known=False)
    if explanation.rival:
        return Rival(explanation.rival)
    met = "nothing like B was stored or being computed" if lookup.cache_on else "the cache was off"
    return Rival(words=f"When B was looked up, {met}, so there is no request to compare it with.")
