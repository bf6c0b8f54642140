"""The nodes that a request's tokens run through."""

from collections.abc import Sequence

import msgspec
import numpy as np

from shadowviz.diagrams.columns import Mask, TreeColumns
from shadowviz.replay.probe import equal_tokens
from shadowviz.tokens.inert import shorten
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.replayer import Replayer


class RequestPath(msgspec.Struct, frozen=True):
    """Where a request's tokens, its output included once it has finished, run through the tree."""

    nodes: tuple[int, ...] = ()
    """From the top down; the last perhaps holds more than equals the request."""
    common: int = 0
    """Tokens that the tree holds."""
    num_prompt: int = 0
    num_tokens: int = 0


NO_PATH = RequestPath()


def path_of_request(state: Replayer, columns: TreeColumns, request: str) -> RequestPath:
    """The path of a request in the tree as it is.

    Raises:
        InputError: the run has no such request at this moment.
    """
    row = state.requests.index.get(request)
    if row is None:
        raise InputError(f"the run has no request {shorten(request)!r} at event {state.seq}: expected one submitted")
    tokens, namespace = state.request_tokens(row), state.requests.namespace[row]
    path: list[int] = []
    node, common = 0, 0
    while common < len(tokens) and common == columns.stop[node]:
        beside = columns.children(node)
        alike = (columns.first_token[beside] == tokens[common]) & (columns.namespace[beside] == namespace)
        best = 0
        for child in beside[alike].tolist():
            equal = equal_tokens(state.node_tokens(child), tokens[common : int(columns.stop[child])])
            if equal > best:
                node, best = child, equal
        if not best:
            break
        path.append(node)
        common += best
    return RequestPath(tuple(path), common, state.requests.num_prompt[row], len(tokens))


def mask_of(columns: TreeColumns, path: Sequence[int]) -> Mask:
    """Which nodes are on the path, by id."""
    mask = np.zeros(len(columns), dtype=bool)
    mask[list(path)] = True
    return mask
