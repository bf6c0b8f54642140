"""What the palette finds beside commands: requests by name, nodes as `n12`, events as `e345`."""

from asyncio import sleep
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from textual.command import Hit, Hits, Provider
from textual.content import Content

from shadowviz.tokens.inert import shorten

if TYPE_CHECKING:
    from shadowviz.tui.app import ShadowvizApp

MOST_HITS = 20
"""Requests that are offered."""
SLICE = 2_000
"""Names that are looked at in one go."""
MOST_DIGITS = 15
EXACT, BEGINS = 1_000.0, 0.5
"""Scores: a whole name is offered before every command, the beginning of one behind those that fit well."""


class Places(Provider):
    """Requests of the moment shown whose name begins with what is typed, and a node or an event by its number."""

    async def search(self, query: str) -> Hits:
        """What fits, the newest requests first."""
        for hit in (self._node(query), self._event(query)):
            if hit is not None:
                yield hit
        names, begin, num = self._owner.session.state.requests.names, query.casefold(), 0
        for row in range(len(names) - 1, -1, -1):
            # A state that has gone back meanwhile has fewer.
            if row < len(names) and names[row].casefold().startswith(begin):
                yield self._request(names[row], EXACT if names[row] == query else BEGINS)
                num += 1
            if num >= MOST_HITS:
                return
            if row % SLICE == 0:
                await sleep(0)

    @property
    def _owner(self) -> "ShadowvizApp":
        return cast("ShadowvizApp", self.app)

    def _request(self, name: str, score: float) -> Hit:
        words, says = f"request {shorten(name, 60)}", "why it was not reused"
        return self._hit(score, words, says, "live", lambda: {"request": name})

    def _node(self, query: str) -> Hit | None:
        node, nodes = _number(query, "n"), self._owner.session.state.nodes
        if not 0 < node < len(nodes) or not nodes.alive[node]:
            return None
        return self._hit(EXACT, f"node n{node}", "in the tree", "tree", lambda: {"node": node})

    def _event(self, query: str) -> Hit | None:
        seq, session = _number(query, "e"), self._owner.session
        if not 0 <= seq <= session.follower.head:
            return None

        def go() -> dict[str, object]:
            session.go_to(seq)
            return {"seq": seq}

        return self._hit(EXACT, f"event e{seq}", "the state after it, on every screen", "events", go)

    def _hit(self, score: float, words: str, says: str, screen: str, chosen: Callable[[], dict[str, object]]) -> Hit:
        app = self._owner

        def go() -> None:
            app.drill(screen)
            selection: dict[str, object] = {"request": "", "node": 0, "token": -1}
            app.session.selection.select(**(selection | chosen()))
            app.tick()

        shown = app.look.shown(words)
        return Hit(score, Content(shown), go, text=shown, help=says)


def _number(query: str, letter: str) -> int:
    """The number behind a letter; -1 = there is none."""
    digits = query.strip().lower().removeprefix(letter).replace(",", "")
    begins = query.strip().lower().startswith(letter)
    return int(digits) if begins and digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS else -1
