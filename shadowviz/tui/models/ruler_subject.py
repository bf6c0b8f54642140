"""What the ruler is about: the prompt of a request, the path of a node, or a length that a stress run checked."""

from collections.abc import Sequence
from typing import Final

import msgspec

from shadowviz.replay.counts import tokens
from shadowviz.replay.resident import path_tokens, prompt_state, request_prompt
from shadowviz.tokens.inert import printable
from shadowviz.tui.frame import Selection
from shadowviz.tui.models.ruler_finding import Finding, finding_of
from shadowviz.tui.models.ruler_model import RulerModel
from shadowviz.tui.session import Session
from shadowviz_engine.core.derive import Origin
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted, LookupDone
from shadowviz_engine.core.geometry import Geometry

CHANGE_ROWS: Final = frozenset(
    {
        "SpanInserted",
        "SpanEvicted",
        "SwaFreed",
        "SwaPublished",
        "SlotsTaken",
        "SlotsFreed",
        "StepDone",
    }
)
"""Kinds of events after which a prompt may have other rows than before."""

NOT_YET: Final = "It has not been looked up yet: the cut is where a lookup would put it."
MET: Final = "Rows as its lookup met them."


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of tokens from the first on, and what is known of its state."""

    name: str
    """Inert."""
    request: str = ""
    """Empty = it is no request."""
    model: RulerModel
    tokens: Sequence[int] | None
    """None = the ids are not known."""
    lookup: LookupDone | None = None
    """What the lookup came to, or would come to."""
    origin: Origin = Origin.DERIVED
    """How the lookup is known."""
    shown_at: int = -1
    """Event after which rows are shown, where they may be others than the lookup met; -1 = they are those."""
    finding: Finding | None = None
    """Of the check that it is about."""
    note: str = ""

    @property
    def marks(self) -> list[tuple[int, str]]:
        """Lengths of the lookup by name, ascending; those at one position are one."""
        if self.lookup is None:
            return []
        names: dict[int, list[str]] = {}
        for name in ("reused", "usable", "matched", "common"):
            names.setdefault(getattr(self.lookup, name), []).append(name)
        return [(position, ", ".join(names[position])) for position in sorted(names)]


def subject_of(session: Session, chosen: Selection) -> Subject | None:
    """What is selected, as it is at the moment shown; None = nothing that has tokens."""
    state = session.state
    if state.opened is None:
        return None
    row = state.requests.index.get(chosen.request)
    if row is not None:
        return _of_request(session, row)
    node = chosen.node
    if 0 < node < len(state.nodes) and state.nodes.alive[node]:
        return _of_node(session, node)
    return _of_check(session, chosen.seq) if chosen.seq >= 0 else _of_newest(session)


def _of_newest(session: Session) -> Subject | None:
    num = len(session.state.requests)
    return _of_request(session, num - 1) if num else None


def _of_request(session: Session, row: int) -> Subject:
    state, facts = session.state, session.request(row)
    prompt = request_prompt(state, row)
    there = prompt_state(state, prompt, facts.namespace, row)
    lookup = facts.lookup or there.found
    assert state.opened is not None, "a request comes behind the first event"
    at, seen = session.timeline.at, facts.lookup
    is_met = seen is None or not _rows_may_change(session, seen.seq, at)
    return Subject(
        name=printable(facts.name),
        request=facts.name,
        model=RulerModel(state.opened.geometry, len(prompt), lookup.reused, there.rows),
        tokens=prompt,
        lookup=lookup,
        origin=Origin.DERIVED if seen is None else Origin.OBSERVED,
        shown_at=-1 if is_met else at,
        note=NOT_YET if seen is None else MET if is_met else "",
    )


def _rows_may_change(session: Session, before: int, after: int) -> bool:
    kinds = session.follower.kinds_between(before + 1, after + 1)
    return kinds is None or not kinds.isdisjoint(CHANGE_ROWS)


def _of_node(session: Session, node: int) -> Subject:
    state = session.state
    nodes = state.nodes
    path, stop = path_tokens(state, node), nodes.stop[node]
    there = prompt_state(state, path, state.namespaces.names[nodes.namespace[node]])
    assert state.opened is not None, "a node comes behind the first event"
    geometry = state.opened.geometry
    # A request that repeats the path and goes on has one token more, so the end itself can be reached.
    return Subject(
        name=f"path of n{node}",
        model=RulerModel(geometry, stop, there.found.reused, there.rows),
        tokens=path,
        lookup=there.found,
        note="The cut is what a request of these very tokens would reuse at this moment.",
    )


def _of_check(session: Session, seq: int) -> Subject | None:
    try:
        check = session.event_at(seq)
        if not isinstance(check, BoundaryChecked):
            return _of_newest(session)
        geometry = _checked_geometry(session, check)
    except LogError:
        return None
    if geometry is None:
        return None
    model = RulerModel(geometry, check.length, check.length)
    return Subject(
        name=printable(f"{tokens(check.length)} ({check.subject})"),
        model=model,
        tokens=None,
        finding=finding_of(check, model),
        note="By arithmetic, as if every row were there: what going on at this length reads.",
    )


def _checked_geometry(session: Session, check: BoundaryChecked) -> Geometry | None:
    """The geometry of the run that a check belongs to."""
    seq: int | None = check.seq
    while seq is not None:
        seq = session.follower.previous_of(("BoundaryStressStarted",), seq)
        started = session.event_at(seq) if seq is not None else None
        if isinstance(started, BoundaryStressStarted) and (started.level, started.subject) == (
            check.level,
            check.subject,
        ):
            return started.geometry
    return None
