"""Answers of the trained checkpoints when they go on with a fault in reused state: right before, wrong after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from msgspec.structs import replace

from shadowviz.experiments.stress.fault_runs import options_with
from shadowviz.experiments.stress.subject_runs import Subject, cached_subject
from shadowviz.experiments.stress.work import CellResult, Group
from shadowviz_engine.core.sinks import NullSink
from shadowviz_engine.model.faults import place_fault
from shadowviz_engine.model.needles import Questions, needle_at
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.runtime.engine import Engine
from shadowviz_engine.runtime.request import Request

ANSWERS = "answers"
"""Modes of answers with a fault: `answers/FAULT`; alone, all of them."""
NUM_TOKENS = 64
SEQUENCES = 48
LENGTHS = {"recall": (20, 22, 23, 32), "recall-hca": (20, 23, 24)}
"""By checkpoint, lengths of every kind: no window is open, one is, one is nearly full."""
FIRST, LAST = 12, 48
"""Lengths with room for needles before, and for a gap up to the question behind."""
RIGHT = 0.9
"""Share of right answers that whole state must give."""
WRONG = 0.5
"""Share that an answer must lose to count as turned wrong."""
SILENT = "answers stay right: recall by content does not depend on what is wrong"
"""Why a fault that acts is not seen in answers."""
_NEEDLES = {"recall": 5, "recall-hca": 7}
"""Positions before a length at which a needle is put."""
FAULTS: dict[str, dict[str, tuple[str, ...]]] = {
    "recall": {
        "csa_overlap_dropped": ("csa_overlap_dropped",),
        "csa_overlap_lost": ("csa_overlap_lost",),
        "index_overlap_lost": ("index_overlap_lost",),
        "csa_tail_lost": ("csa_tail_lost", "index_tail_lost"),
        "csa_tail_other": ("csa_tail_other", "index_tail_other"),
        "csa_last_other": ("csa_last_other",),
        "index_last_other": ("index_last_other",),
    },
    "recall-hca": {
        "hca_tail_lost": ("hca_tail_lost",),
        "hca_tail_other": ("hca_tail_other",),
        "hca_tail_first_lost": ("hca_tail_first_lost",),
        "hca_tail_rolled": ("hca_tail_rolled",),
        "hca_partial": ("hca_partial",),
        "hca_last_other": ("hca_last_other",),
    },
}
"""By checkpoint, the faults whose effect on answers is shown; a tail that is lost is lost for the indexer too."""


@dataclass(frozen=True)
class Answers:
    """Share of needles answered rightly, 0 to 1."""

    length: int
    needle: int
    """Position of its value."""
    whole: float
    """Going on from whole state."""
    faulty: float

    @property
    def lost(self) -> float:
        """Share that the fault costs."""
        return self.whole - self.faulty

    def __str__(self) -> str:
        """Percent before and after."""
        return f"L-{self.length - self.needle}: {self.whole:.0%} to {self.faulty:.0%}"


def check_answers(subject: Subject, group: Group) -> Iterator[CellResult]:
    """A cell a length: whether the fault turns right answers wrong, whatever the logits do."""
    name = group.mode.partition("/")[2]
    faults = FAULTS[subject.name][name]
    first = place_fault(faults[0], subject.geometry).fault
    for length in group.lengths:
        cell = CellResult(mode=group.mode, length=length, fault=name)
        absent = first.reason_absent(subject.geometry, length)
        if absent:
            yield replace(cell, detail=absent)
            continue
        needles = range(length - _NEEDLES[subject.name], length)
        found = answers_at(subject, faults, length, needles)
        worst = max(found, key=lambda one: one.lost)
        table = ", ".join(map(str, found))
        cell = replace(cell, answers=tuple((length - one.needle, one.whole, one.faulty) for one in found))
        if min(one.whole for one in found) < RIGHT:
            yield replace(cell, fault="", outcome="differs", stage="answer", detail=f"wrong from whole state: {table}")
        elif worst.lost >= WRONG:
            yield replace(cell, outcome="differs", stage="answer", row=worst.needle, detail=f"needles right at {table}")
        else:
            yield replace(cell, detail=SILENT)


def answers_at(subject: Subject, faults: Sequence[str], length: int, needles: Sequence[int]) -> list[Answers]:
    """Answers with and without faults, for a needle at each position."""
    found = []
    for needle in needles:
        questions = _questions(needle)
        whole = _share_of_whole(subject.name, length, needle)
        found.append(Answers(length, needle, whole, share_right(subject, tuple(faults), length, questions)))
    return found


def _questions(needle: int) -> Questions:
    return needle_at(needle, NUM_TOKENS, seed=needle, count=SEQUENCES)


@lru_cache(maxsize=1024)
def _share_of_whole(subject: str, length: int, needle: int) -> float:
    """What every fault is held against, worked out once."""
    return share_right(cached_subject(subject), (), length, _questions(needle))


def share_right(subject: Subject, faults: tuple[str, ...], length: int, questions: Questions) -> float:
    """Share of sequences answered when each goes on at `length` from its own stored path."""
    model = subject.model(Numerics.EXACT)
    count, num_tokens = len(questions.tokens), len(questions.tokens[0])
    options = options_with(model, count * num_tokens, faults)
    with Engine(options, NullSink(), model=model) as engine:
        # In a namespace of its own nobody reuses the first token that all share.
        for stop, start in ((length, -1), (num_tokens, length)):
            for number, tokens in enumerate(questions.tokens):
                ids = tokens[:stop].tolist()
                name = f"{number} up to {stop}"
                engine.submit(Request(id=name, token_ids=ids, max_tokens=1, namespace=f"{number}", logprob_start=start))
            engine.run()
    given = [engine.outputs[f"{number} up to {num_tokens}"].token_ids[0] for number in range(count)]
    right: list[int] = questions.answers[:, 0].tolist()
    return sum(one == other for one, other in zip(given, right, strict=True)) / count
