"""Each sentence says what is true of the lookup."""

import msgspec

from shadowviz.replay.meanings import Past, meaning
from shadowviz.replay.rival import Holders
from shadowviz.replay.sentences import elsewhere_facts
from shadowviz_engine.core.events import Elsewhere, LeftCache, LookupDone
from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.reuse import KindLength
from shadowviz_engine.core.verdict import findings

V4 = preset("v4-flash")
NOBODY = Holders(beside="", stored="", gone="", coming="", elsewhere="")
CUT = LookupDone(
    seq=9,
    t_ns=0,
    request="r2",
    num_prompt=1100,
    common=966,
    cap=1099,
    unit=256,
    matched=768,
    usable=0,
    reused=0,
    page_gain=966,
    kinds=(KindLength("swa_kv", 0, 768), KindLength("csa_tail", 0, 0)),
)
"""A hit of which the window kept nothing: its rows are there for 966 tokens alone."""


def told(lookup: LookupDone, past: Past | None = None) -> list[str]:
    """Every finding of a lookup with its sentence, the verdict first."""
    known = past or Past({}, {}, {})
    return [f"{finding.label}. {meaning(finding, lookup, known)}" for finding in findings(lookup, V4)]


def test_a_hit_that_a_kind_cut_to_nothing_is_not_called_shorter_than_a_unit() -> None:
    assert told(CUT) == [
        "CUT_BY_SWA. 768 tokens more would be reused if the window rows were there.",
        "TOO_SHORT(256). The rows of swa_kv are not there for 768 tokens, nor for a shorter multiple of 256; 966 "
        "tokens more would be reused if any length would do.",
    ]


def test_what_is_shorter_than_a_unit_is_called_that() -> None:
    short = msgspec.structs.replace(CUT, num_prompt=200, common=199, matched=0, page_gain=199, kinds=())
    assert told(short) == [
        "TOO_SHORT(256). What could be reused is shorter than one unit; 199 tokens more would be reused without the "
        "rule."
    ]


def test_one_token_elsewhere_is_told_in_the_singular() -> None:
    lookup = msgspec.structs.replace(
        CUT,
        namespace=Elsewhere(common=1, gain=0, namespace="lora"),
        in_flight=Elsewhere(common=1, gain=0, request="r1"),
        left=LeftCache(length=1, reason="lru", event=3, gain=0),
    )
    assert [fact.text for fact in elsewhere_facts(lookup, Past({}, {}, {}), NOBODY)] == [
        "1 token is stored under namespace lora, which this request may not use.",
        "1 token was being computed by r1 at that moment.",
        "1 token of it is remembered as gone: lru, event 3.",
    ]
