"""What the ruler is about: the prompt of a request, the path of a node, or a length that a stress run checked."""

from collections.abc import Sequence

import msgspec

from shadowviz.replay.counts import tokens
from shadowviz.replay.resident import path_tokens, prompt_state, request_prompt
from shadowviz.tokens.inert import printable
from shadowviz.tui.frame import Selection
from shadowviz.tui.models.ruler_model import RulerModel
from shadowviz.tui.session import Session
from shadowviz_engine.core.errors import LogError
from shadowviz_engine.core.events import BoundaryChecked, BoundaryStressStarted, LookupDone
from shadowviz_engine.core.geometry import Geometry


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
    return Subject(
        name=printable(facts.name),
        request=facts.name,
        model=RulerModel(state.opened.geometry, len(prompt), lookup.reused, there.rows),
        tokens=prompt,
        lookup=lookup,
        note=_moment(facts.lookup, session.timeline.at),
    )


def _moment(lookup: LookupDone | None, at: int) -> str:
    if lookup is None:
        return "It has not been looked up yet: the cut is where a lookup would put it."
    if at > lookup.seq:
        return f"Rows as they are after e{at:,}; a shows those that its lookup met (e{lookup.seq:,})."
    return "Rows as its lookup met them."


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
    return Subject(
        name=printable(f"{tokens(check.length)} ({check.subject})"),
        model=RulerModel(geometry, check.length, check.length),
        tokens=None,
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
