"""The verdict of a lookup from its event alone, and whether the prompt's own tokens could still change it."""

import msgspec

from shadowviz_engine.core.events import LookupDone
from shadowviz_engine.core.geometry import Geometry
from shadowviz_engine.core.verdict import Finding, is_material, verdict_of


class QuickVerdict(msgspec.Struct, frozen=True):
    """The leading finding as far as the event tells."""

    finding: Finding
    sure: bool
    """Whether it is the verdict; if not, the prompt may part from a stored path at a greater cost, which only the state
    that the lookup met can tell."""


def quick_verdict(lookup: LookupDone, geometry: Geometry) -> QuickVerdict:
    """What the event of a lookup says about it; costs no look at the state."""
    finding = verdict_of(lookup, geometry)
    most = lookup.num_prompt - lookup.reused
    unit = max(lookup.unit, geometry.page_size)
    sure = not lookup.near or not lookup.cache_on or not is_material(most, unit, lookup.num_prompt)
    return QuickVerdict(finding, sure)
