"""Eviction policies: which unlocked leaf, or which run of window rows, leaves first."""

from collections.abc import Callable
from typing import Protocol

from shadowviz_engine.core.errors import InputError


class NodeUse(Protocol):
    """What a policy may look at."""

    used: int
    hits: int
    created: int
    start: int
    stop: int


Priority = tuple[int, ...]
Policy = Callable[[NodeUse], Priority]
"""The node with the smallest value leaves first."""


def lru(node: NodeUse) -> Priority:
    """Least recently used first."""
    return (node.used,)


def lfu(node: NodeUse) -> Priority:
    """Least often looked up first, then least recently used."""
    return (node.hits, node.used)


def fifo(node: NodeUse) -> Priority:
    """First stored first."""
    return (node.created,)


POLICIES: dict[str, Policy] = {"lru": lru, "lfu": lfu, "fifo": fifo}


def policy_named(name: str) -> Policy:
    """The policy called `name`.

    Raises:
        InputError: there is none.
    """
    policy = POLICIES.get(name)
    if policy is None:
        raise InputError(f"eviction policy {name!r} is unknown: expected one of {', '.join(POLICIES)}")
    return policy
