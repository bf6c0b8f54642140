"""Figures survive the way between two processes, and percentiles are those of the calls."""

import dataclasses
import json

from shadowviz.experiments.tree_figures import Latency, TreeFigures, time_calls

FIGURES = TreeFigures(
    insert=Latency(9.0, 20.0),
    full_match=Latency(5.0, 6.0),
    partial_match=Latency(4.0, 5.5),
    miss=Latency(1.0, 2.0),
    evict_half_s=0.25,
    evict_half_tokens=1000,
    full_match_tokens=2048,
    partial_match_tokens=768.0,
)


def test_figures_come_back_from_json_as_they_were() -> None:
    assert TreeFigures.from_fields(json.loads(json.dumps(dataclasses.asdict(FIGURES)))) == FIGURES


def test_eviction_is_also_given_as_a_rate() -> None:
    assert FIGURES.evict_tokens_per_s == 4000.0


def test_every_item_is_called_once_in_order_and_percentiles_are_of_these_calls() -> None:
    called: list[int] = []
    latency = time_calls(called.append, range(200))
    assert called == list(range(200))
    assert 0 < latency.p50_us <= latency.p99_us
