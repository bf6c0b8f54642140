"""First tokens of a span as a label that fits a box."""

from shadowviz.replay.nearest import Words
from shadowviz_engine.core.replay_state import ReplayState

MAX_LABEL = 28
"""Characters of a label."""

LABEL_TOKENS = 12
"""First tokens of a span that a label is made from."""

MAX_NAMESPACE = 40
"""Characters of a namespace's name."""


def span_label(state: ReplayState, words: Words, node: int, start: int) -> str:
    """First tokens of a node from position `start` of its path on; an ellipsis where there are more."""
    nodes = state.nodes
    first, length = nodes.tokens_at[node] + start, nodes.stop[node] - start
    text = words.text(state.tokens[first : first + min(length, LABEL_TOKENS)])
    if len(text) <= MAX_LABEL and length <= LABEL_TOKENS:
        return text
    return f"{text[: MAX_LABEL - 1]}…"
