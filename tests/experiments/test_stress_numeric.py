"""The numeric level: no finding on the engine as it is, and the right one on an engine that is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
import torch

from shadowviz.experiments.stress import numeric, numeric_cells
from shadowviz.experiments.stress.numeric import EVERYTHING, STATE, NumericWork, work_of
from shadowviz.experiments.stress.numeric_cells import Part, go_on, store, verdict
from shadowviz.experiments.stress.numeric_modes import (
    WAYS,
    all_modes,
    anchors,
    choose_lengths,
    chosen_modes,
    parse_mode,
)
from shadowviz.experiments.stress.subject_runs import cached_subject, run_cold, subject_named
from shadowviz.experiments.stress.witness import Trial
from shadowviz.experiments.stress.work import CellResult, Plan
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.events import SwaFreed, SwaPublished
from shadowviz_engine.core.kinds import Shape, needed_rows
from shadowviz_engine.model.numerics import Numerics

SUBJECT = "random:2"
"""Ratios 3 and 8, page 72, n_win 2."""


def plan(subject: str = SUBJECT, lengths: tuple[int, int] = (1, 40), modes=(), **options: str) -> Plan:
    """A numeric plan."""
    return Plan(level="numeric", subject=subject, lengths=(lengths,), modes=modes, options=options)


def results_of(work: NumericWork) -> list[CellResult]:
    return [result for group in work.groups() for result in work.check(group)]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_finds_nothing_on_a_small_model(way: str) -> None:
    lengths = (22, 27) if way in ("tokens", "chunked") else (22, 34)
    results = results_of(work_of(plan(lengths=lengths, modes=(way,))))
    assert results
    assert {result.outcome for result in results} == {"same"}
    assert {result.length for result in results} == set(range(*lengths))


def test_every_length_of_models_with_other_ratios_goes_on_to_the_same_bits(long_form: bool) -> None:
    for seed in range(20 if long_form else 3):
        modes = () if long_form else ("batch/any/all", "batch/any/window")
        results = results_of(work_of(plan(f"random:{seed}", (1, 151 if long_form else 60), modes)))
        assert {result.outcome for result in results} == {"same"}, f"random:{seed}"


def test_every_length_of_the_small_preset_goes_on_to_the_same_bits(long_form: bool) -> None:
    if long_form:
        results = results_of(work_of(plan("tiny-512", (1, 1001), ("batch/any/all",))))
        assert len(results) == 1000
    else:
        # Beside the page and the largest ratio.
        results = results_of(work_of(plan("tiny-512", (254, 259), ("batch/any/all", "batch/any/window"))))
        assert len(results) == 10
    assert {result.outcome for result in results} == {"same"}


def test_fast_numerics_pass_within_the_noise_of_cold_against_cold() -> None:
    results = results_of(work_of(plan(lengths=(20, 32), modes=("batch/any/all/fast",))))
    assert {result.outcome for result in results} == {"same"}
    assert all(0 < result.noise < 1e-2 for result in results)
    assert all(result.difference <= result.noise for result in results)
    assert any(result.difference > 0 for result in results)


def test_an_expert_that_noise_chooses_is_a_near_tie_and_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    model = subject_named(SUBJECT).model(Numerics.FAST)
    for params in (layer.moe for layer in model.transformer._params.layers):
        if params.bias is not None:
            # Two experts that score the same but for a rounding step, before the third.
            params.router[:, 1] = params.router[:, 0]
            params.router[0, 1] += 1e-6
            params.bias[:2] = 5
    monkeypatch.setitem(cached_subject(SUBJECT).models, Numerics.FAST, model)
    results = results_of(work_of(plan(lengths=(22, 28), modes=("tokens/any/all/fast", "batch/any/all/fast"))))
    others = {(result.outcome, result.kind) for result in results} - {("same", "")}
    assert others <= {("near_tie", "router")}
    if not others:
        pytest.skip("no kernel of this machine chose another expert")


def spoilt(mode: str, kind: str, layer: int, row: int, length: int) -> CellResult:
    """The verdict at `length` when one number of one resumed row is wrong in the engine's own buffers."""
    work = work_of(plan(lengths=(length, length + 1), modes=(mode,)))
    setting = work.setting(parse_mode(mode), EVERYTHING)
    stop = setting.subject.stop_of(length)
    with setting.trial(setting.pages([(stop, 0)] * 3)) as trial:
        trial.run_stored([store("prime", setting.prompt(stop))], setting.cold)
        spoil(trial, setting.subject.geometry.kind(kind), layer, row)
        trial.run([go_on(str(length), setting.prompt(stop), length)], setting.cold)
        return verdict(setting, length, [Part("the run that goes on", trial.seen[str(length)], length)])


def spoil(trial: Trial, kind, layer: int, row: int) -> None:
    """Change a row of the only stored path."""
    (node,) = trial.engine.cache.node_states()
    (run,) = node.full
    slot = run.slot + ((row + 1) * kind.unit - 1 if kind.shape is Shape.RANGE else row)
    at = slot // kind.unit if kind.shape is Shape.RANGE else int(trial.engine.cache.full_to_swa[slot])
    trial.engine._runner.buffers.rows(kind.label, layer)[at, 1] += 0.25


LAST_NEEDED = [
    ("csa_kv", 8),
    ("index_k", 8),
    ("hca_kv", 2),
    ("swa_kv", 28),
    ("csa_tail", 28),
    ("hca_tail", 28),
    ("index_tail", 28),
]
"""The last row that a run needs to go on at 29, by kind."""


@pytest.mark.parametrize(("kind", "row"), LAST_NEEDED)
@pytest.mark.parametrize("numerics", ["", "/fast"])
def test_a_spoilt_row_is_named(kind: str, row: int, numerics: str) -> None:
    owners = cached_subject(SUBJECT).geometry.kind(kind).owners
    layer = owners[-1]
    assert needed_rows(cached_subject(SUBJECT).geometry.kind(kind), 29).stop - 1 == row
    result = spoilt(f"resumed/any/all{numerics}", kind, layer, row, 29)
    assert (result.outcome, result.stage) == ("differs", "state")
    assert (result.kind, result.layer, result.row) == (kind, layer, row)
    assert f"row {row} of {kind} in layer {layer}" in result.detail


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every vocabulary is a large one."""
    monkeypatch.setattr(numeric, "_WIDE", 1)


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("way", WAYS)
def test_every_way_finds_nothing_where_rows_stand_for_logits(way: str) -> None:
    for mode in (f"{way}/any/all", f"{way}/any/all/fast"):
        results = results_of(work_of(plan(lengths=(22, 24), modes=(mode,))))
        assert [result.outcome for result in results] == ["same", "same"]


def test_rows_for_a_large_vocabulary_give_the_verdict_that_logits_give(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = cached_subject(SUBJECT).geometry.kind("hca_tail").owners[0]
    plain = spoilt("resumed/any/all", "hca_tail", layer, 28, 29)
    monkeypatch.setattr(numeric, "_WIDE", 1)
    wide = spoilt("resumed/any/all", "hca_tail", layer, 28, 29)
    assert msgspec.structs.replace(wide, difference=0.0) == msgspec.structs.replace(plain, difference=0.0)
    assert wide.difference == pytest.approx(plain.difference)


@pytest.mark.usefixtures("wide")
def test_a_wrong_product_with_the_vocabulary_shows_in_the_probabilities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work = work_of(plan(lengths=(30, 32), modes=("batch/any/all",)))
    setting = work.setting(parse_mode("batch/any/all"))
    transformer = setting.model.transformer
    right = transformer.logits
    monkeypatch.setattr(transformer, "logits", lambda rows: right(rows) + 0.5 * (torch.arange(256) == 7))
    (group,) = work.groups()
    results = list(work.check(group))
    assert [(result.outcome, result.stage, result.offset) for result in results] == [("differs", "logits", 0)] * 2


def test_what_differs_in_a_first_look_is_named_by_a_second_one(monkeypatch: pytest.MonkeyPatch) -> None:
    run, looks = Trial.run, []

    def wrong_run(self: Trial, requests, cold) -> None:
        if requests[0].id == "29":
            spoil(self, self.engine.model.geometry.kind("swa_kv"), 0, 28)
            looks.append(self._stages)
        run(self, requests, cold)

    monkeypatch.setattr(Trial, "run", wrong_run)
    results = results_of(work_of(plan(lengths=(29, 31), modes=("resumed/any/all",))))
    # n_win is 2: the spoilt row is needed at 29 and not at 30.
    assert [result.outcome for result in results] == ["differs", "same"]
    assert (results[0].stage, results[0].kind, results[0].layer, results[0].row) == ("state", "swa_kv", 0, 28)
    assert looks == [STATE, EVERYTHING]


def test_a_spoilt_window_row_shows_in_the_next_token_and_an_open_window_when_it_closes() -> None:
    swa = spoilt("resumed/any/all", "swa_kv", 0, 28, 29)
    assert swa.offset == 0
    assert swa.difference > 0
    # 29 = 3 * 8 + 5: the window closes with the token at offset 2, which is the first that may read the entry.
    tail = spoilt("resumed/any/all", "hca_tail", cached_subject(SUBJECT).geometry.kind("hca_tail").owners[0], 28, 29)
    assert tail.offset == 2


def test_a_run_that_reuses_less_than_it_should_is_a_finding() -> None:
    work = work_of(plan(lengths=(30, 31), modes=("resumed/any/window",)))
    setting = work.setting(parse_mode("resumed/any/window"))
    with setting.trial(40) as trial:
        trial.run([go_on("30", setting.prompt(40), 30)], setting.cold)
        result = verdict(setting, 30, [Part("the run that goes on", trial.seen["30"], 30)])
    assert (result.outcome, result.stage) == ("differs", "state")
    assert "went on at 0, expected 30" in result.detail


def test_a_pool_without_room_is_refused_and_not_called_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numeric_cells.Setting, "pages", lambda self, requests: 1)
    results = results_of(work_of(plan(lengths=(300, 302), modes=("batch/any/all",))))
    assert [result.outcome for result in results] == ["refused", "refused"]
    assert "CapacityError" in results[0].detail


@pytest.mark.parametrize("retention", ["window", "all"])
def test_healing_really_heals(retention: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    emit = Trial.emit
    monkeypatch.setattr(Trial, "emit", lambda self, event: (seen.append(event), emit(self, event)))
    (result,) = results_of(work_of(plan(lengths=(30, 31), modes=(f"healed/any/{retention}",))))
    assert result.outcome == "same"
    assert any(isinstance(event, SwaPublished) and event.request == "heal 30" for event in seen)
    if retention == "all":
        assert any(isinstance(event, SwaFreed) and event.reason == "pressure" for event in seen)


def test_cells_depend_on_plan_and_group_alone() -> None:
    whole, one = work_of(plan(modes=("batch/any/all",))), work_of(plan(lengths=(33, 34), modes=("batch/any/all",)))
    assert [group.lengths for group in whole.groups()] == [tuple(range(1, 40))]
    assert list(one.check(one.groups()[0])) == [r for r in results_of(whole) if r.length == 33]
    subject = cached_subject(SUBJECT)
    assert subject.tokens(50, 7).tolist() == subject.tokens(400, 7)[:50].tolist()


def test_the_full_matrix_has_every_way_rule_and_retention() -> None:
    work = work_of(plan(matrix="full"))
    exact = [mode for mode in work.modes if mode.numerics is Numerics.EXACT]
    assert len(exact) == len(WAYS) * 2 * 4
    assert {mode.way for mode in work.modes if mode.numerics is Numerics.FAST} == set(WAYS) - {"cold"}
    chosen = work_of(plan()).modes
    assert set(chosen) <= set(all_modes(work.geometry))
    for part in ("way", "resume", "retention"):
        assert {getattr(mode, part) for mode in chosen} == {getattr(mode, part) for mode in work.modes}


def test_the_documentation_lists_the_chosen_part() -> None:
    page = (Path(__file__).parents[2] / "docs/explanation/boundary-stress.md").read_text("utf-8")
    listed = dict(re.findall(r"^\| `(\w+/[^`]+)` \| (all|\d+) \|$", page, re.MULTILINE))
    geometry = cached_subject("tiny-512").geometry
    chosen = {
        str(mode).replace(anchors(geometry), "every:N"): str(count or "all")
        for mode, count in chosen_modes(geometry).items()
    }
    assert listed == chosen
    assert f"All combinations of one model are {len(all_modes(geometry))}." in page


def test_options_leave_those_modes_that_they_name() -> None:
    assert {mode.retention for mode in work_of(plan(retention="window")).modes} == {"window"}
    assert {mode.resume for mode in work_of(plan(resume="page", matrix="full")).modes} == {"page"}


def test_few_chosen_lengths_are_those_beside_the_boundaries() -> None:
    geometry = cached_subject("tiny-512").geometry
    chosen = choose_lengths(geometry, range(1, 1001), 24)
    assert len(chosen) == 24
    assert {1, 1000, 127, 128, 129, 255, 256, 257} <= set(chosen)
    assert choose_lengths(geometry, range(1, 11), 24) == tuple(range(1, 11))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"modes": ("slowly",)}, "unknown"),
        ({"modes": ("batch/sometimes/all",)}, "expected page or any"),
        ({"modes": ("batch/any/never",)}, "retention"),
        ({"subject": "random:x"}, "whole number"),
        ({"subject": "no such model"}, "no model is called"),
        ({"matrix": "huge"}, "ci or full"),
        ({"colour": "red"}, "no option"),
        ({"retention": "every:999"}, "no such numeric mode"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(changes: dict, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        work_of(plan(**changes))
    assert "\n" not in str(caught.value)


def test_random_models_are_the_same_for_the_same_seed_and_differ_between_seeds() -> None:
    one, again = subject_named("random:4"), subject_named("random:4")
    assert one.geometry == again.geometry
    tokens = one.tokens(20, 0)
    cold = run_cold(one.model(Numerics.EXACT), tokens)
    assert torch.equal(cold.logits, run_cold(again.model(Numerics.EXACT), tokens).logits)
    assert len({str(subject_named(f"random:{seed}").geometry.compressors) for seed in range(20)}) > 10
