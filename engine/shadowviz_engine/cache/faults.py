"""Named faults of the cache's bookkeeping: what a check of it must be able to catch."""

from shadowviz_engine.core.errors import InputError

FAULTS: dict[str, str] = {
    "lock_skipped": "a reused path is not locked, so it may be evicted between match and load",
    "window_off_by_one": "retention keeps one window row too few at every resume point",
    "heal_skipped": "window rows that were computed again are not given back to a tombstoned span",
    "tombstone_mapped": "freed window rows stay in the table from full to window slots",
    "slot_leaked": "a finished request forgets the last run of full slots that it holds",
    "unlock_skipped": "a finished request leaves its path locked",
    "full_hit_uncapped": "a prompt that is stored whole is reused whole, its last token computed again behind it",
    "fork_overwrites": "a request that leaves a stored path inside a page writes to the rest of that page",
    "twin_freed": "of two requests that stored the same tokens, the second gives back the slots that the tree keeps",
    "abort_published": "a prefill that is cut short stores every token that has a slot, computed or not",
    "last_token_published": "a finished request stores its last token too, whose rows were never computed",
}
"""Fault point by name, with what it does."""


def check_faults(names: frozenset[str]) -> frozenset[str]:
    """`names`, when every one is a fault point.

    Raises:
        InputError: a name that is none.
    """
    unknown = sorted(names - FAULTS.keys())
    if unknown:
        raise InputError(f"no fault point is called {unknown[0]!r}: expected one of {', '.join(FAULTS)}")
    return names
