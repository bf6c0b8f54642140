"""The oracle level: the engine's state and logits equal those of transformers, and a fault shows, named."""

import msgspec
import numpy as np
import pytest
import torch
from stress_cells import results

from shadowviz.experiments.stress import oracle
from shadowviz.experiments.stress.oracle import OTHER_MODES, OracleSetting, OracleTrial, OracleWork, work_of
from shadowviz.experiments.stress.subject_runs import cached_subject
from shadowviz.experiments.stress.transformers_run import Oracle, oracle_of
from shadowviz.experiments.stress.work import CellResult, Plan
from shadowviz_engine.core.derive import resume_state
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.kinds import Shape
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.random_weights import random_weights


def oracle_plan(subject: str, *lengths: tuple[int, int], modes: tuple[str, ...] = ()) -> Plan:
    """A plan of the level `oracle`."""
    return Plan(level="oracle", subject=subject, lengths=lengths, modes=modes)


def wrong(cells: list[CellResult]) -> list[CellResult]:
    """Cells that differ."""
    return [cell for cell in cells if cell.outcome not in ("same", "near_tie")]


@pytest.mark.parametrize(
    ("subject", "lengths"),
    [
        ("recall", ((3, 5), (16, 18))),
        ("recall-hca", ((7, 10),)),
        pytest.param("tiny-article", ((127, 129),), marks=pytest.mark.slow),
        ("random:2", ((1, 20),)),
    ],
)
def test_state_and_logits_equal_those_of_transformers(subject: str, lengths: tuple, long_form: bool) -> None:
    cells = results(work_of(oracle_plan(subject, *(((1, 400),) if long_form else lengths))))
    assert wrong(cells) == []
    assert {cell.mode for cell in cells} == {"cold", "resumed"}
    assert all(0 < cell.difference < cell.noise for cell in cells)
    assert all(cell.noise < 1e-3 for cell in cells)


def test_every_way_that_the_oracle_can_judge_gives_its_state_and_logits() -> None:
    cells = results(work_of(oracle_plan("recall", (15, 18), (32, 33), modes=OTHER_MODES)))
    assert wrong(cells) == []
    assert len(cells) == 4 * len(OTHER_MODES)


def test_the_oracles_own_rows_are_those_that_a_length_needs() -> None:
    subject = cached_subject("recall")
    run = oracle_of("recall").run(subject.tokens(50, 0))
    for item in resume_state(subject.geometry, 50):
        kind = subject.geometry.kind(item.kind)
        for layer in kind.owners:
            rows = len(run.state[item.kind, layer])
            assert rows == (item.rows.stop if kind.shape is Shape.RANGE else 50)
    assert {kind.label for kind in subject.geometry.kinds} == {label for label, _ in run.state}


def test_a_run_that_is_cut_has_the_rows_of_one_that_is_not() -> None:
    tokens = cached_subject("recall").tokens(60, 3)
    theirs = oracle_of("recall")
    whole, cut = theirs.run(tokens), theirs.run(tokens, [7, 8, 40])
    for key, rows in whole.state.items():
        assert cut.state[key].shape == rows.shape
        assert torch.allclose(cut.state[key], rows, atol=1e-4)
    chosen, again = whole.reads["csa_kv", 1], cut.reads["csa_kv", 1]
    assert np.array_equal(chosen.readers, again.readers)
    assert np.array_equal(chosen.columns, again.columns)


class FaultySetting(OracleSetting):
    """Trials whose engine has a fault in it."""

    fault = ""

    def trial(self, num_pages: int, **sizes: int) -> OracleTrial:
        """An engine that goes on wrongly."""
        with super().trial(num_pages, **sizes) as sound:
            options = msgspec.structs.replace(sound.engine.options, faults=(self.fault,))
        return OracleTrial(options, self.model, self.noise)


FAULTS = {
    "csa_tail_lost": ("csa_tail", 22),
    "hca_tail_lost": ("hca_tail", 22),
    "csa_last_zeroed": ("csa_kv", 24),
    "index_last_zeroed": ("index_k", 24),
    "swa_rolled": ("swa_kv", 20),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_running_engine_is_found_and_its_kind_named(fault: str, monkeypatch) -> None:
    kind, length = FAULTS[fault]
    setting = type("Faulty", (FaultySetting,), {"fault": fault})
    monkeypatch.setattr(oracle, "OracleSetting", setting)
    (cell,) = results(work_of(oracle_plan("recall", (length, length + 1), modes=("resumed",))))
    assert (cell.outcome, cell.kind) == ("differs", kind)


def test_a_wrong_weight_of_the_oracle_is_seen_in_the_layer_that_has_it(monkeypatch) -> None:
    config = cached_subject("tiny-512").model(Numerics.EXACT).config
    weights = random_weights(config, 0)
    name = "model.layers.3.self_attn.compressor.kv_proj.weight"
    assert name in weights
    monkeypatch.setattr(
        oracle, "oracle_of", lambda subject: Oracle(config, {**weights, name: weights[name].roll(1, 0)})
    )
    (cell,) = results(OracleWork(oracle_plan("tiny-512", (20, 21), modes=("cold",))))
    assert (cell.outcome, cell.stage, cell.kind, cell.layer) == ("differs", "state", "hca_tail", 3)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (oracle_plan("recall", (1, 9), modes=("forked",)), "mode 'forked' is unknown to level oracle"),
        (oracle_plan("no-such-model", (1, 9)), "no model is called"),
        (oracle_plan("random:x", (1, 9)), "names no random model"),
    ],
)
def test_what_the_oracle_cannot_judge_is_refused(plan: Plan, words: str) -> None:
    with pytest.raises(InputError, match=words):
        work_of(plan)


def test_a_window_of_one_is_refused_as_transformers_is_wrong_there() -> None:
    from dataclasses import replace

    config = replace(cached_subject("tiny-512").model(Numerics.EXACT).config, n_win=1)
    with pytest.raises(InputError, match="window of 1"):
        Oracle(config, {})
