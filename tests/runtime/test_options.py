"""The switches of an engine."""

import pytest

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.reuse import ResumeRule
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.runtime.options import EngineOptions


def test_choices_given_by_name_become_members():
    options = EngineOptions(numerics="exact", resume="any")
    assert options.numerics is Numerics.EXACT
    assert options.resume is ResumeRule.ANY


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"page_size": -1}, "page_size -1 must be at least 0"),
        ({"max_running": 0}, "max_running 0 must be at least 1"),
        ({"chunk_tokens": 0}, "chunk_tokens 0 must be at least 1"),
        ({"threads": 1025}, "threads 1025 must be at most 1024"),
        ({"page_size": 2**31}, "page_size 2147483648 must be at most 2147483647"),
        ({"idle_ttl_s": 1e308}, "idle_ttl_s 1e[+]308 must be at least 0 and at most 1000000000"),
        ({"mem_fraction": 1.0}, "mem_fraction 1.0 must be"),
        ({"mem_fraction": 0.5, "pool_bytes": 9}, "give one of the two"),
        ({"idle_ttl_s": -1.0}, "idle_ttl_s -1.0"),
        ({"record": "full"}, "needs a file"),
        ({"sidecar": "x.topk"}, "'lookups' has none"),
        ({"numerics": "quick"}, "numerics 'quick' is unknown: expected exact or fast"),
        ({"resume": "block"}, "resume 'block' is unknown: expected page or any"),
    ],
)
def test_options_out_of_range_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        EngineOptions(**changes)
