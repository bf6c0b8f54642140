"""Steps: mixed batches, and what cannot be computed is refused before anything is stored."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from paged_runs import Subject, World, cold_run, resume_in, run_steps, subject

from shadowviz_engine.core.errors import ModelError
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model.buffers import StateBuffers
from shadowviz_engine.model.numerics import Numerics, threads
from shadowviz_engine.model.step import SequenceStep
from shadowviz_engine.model.transformer import Transformer

LENGTH = 33


@pytest.fixture(scope="module")
def model() -> Subject:
    return subject("near")


def small_step(**changes: object) -> SequenceStep:
    """Two tokens from position 0, in page 1."""
    values = {"token_ids": np.array([1, 2]), "slots": np.array([16, 17]), "start": 0, "stop": 2} | changes
    return SequenceStep(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (small_step(token_ids=np.array([1, 512])), "sequence 0 has token id 512: expected 0 to 511"),
        (small_step(token_ids=np.array([-1, 2])), "sequence 0 has token id -1"),
        (small_step(stop=3), "stops at 3, but has 2 token_ids"),
        (small_step(slots=np.array([16])), "stops at 2, but has 1 slots"),
        (small_step(start=2), r"computes \[2, 2\): expected at least one token"),
        (small_step(start=-1), r"computes \[-1, 2\)"),
        (small_step(slots=np.array([16, 0])), "full slot 0 at position 1: expected 1 to 63"),
        (small_step(slots=np.array([64, 17])), "full slot 64 at position 0"),
        (
            small_step(token_ids=np.arange(4), slots=np.array([16, 17, 18, 20]), stop=4),
            "closes csa entry 0 at position 3 in full slot 20: expected a slot that is 3 modulo 4",
        ),
    ],
)
def test_a_step_that_cannot_be_computed_is_refused(model: Subject, step: SequenceStep, message: str) -> None:
    transformer = model.transformer()
    buffers = transformer.make_buffers(64, 64)
    with pytest.raises(ModelError, match=message):
        transformer.forward([step], np.arange(64), buffers)
    assert all(not buffers.rows(*key).any() for key in buffers.keys)


def test_a_step_without_sequences_is_refused(model: Subject) -> None:
    transformer = model.transformer()
    with pytest.raises(ModelError, match="at least one sequence"):
        transformer.forward([], np.arange(64), transformer.make_buffers(64, 64))


def test_positions_beyond_the_model_are_refused(model: Subject) -> None:
    transformer = model.transformer()
    limit = model.config.max_positions
    step = SequenceStep(np.zeros(limit + 1, np.int64), np.arange(1, limit + 2), limit, limit + 1)
    with pytest.raises(ModelError, match=f"below position {limit}"):
        transformer.forward([step], np.zeros(1), transformer.make_buffers(16, 16))


@pytest.mark.parametrize("numerics", list(Numerics))
@pytest.mark.parametrize(
    ("position", "label"),
    [(18, "swa_kv"), (32, "swa_kv"), (33, "swa_kv"), (34, "swa_kv")],
)
def test_an_unmapped_row_of_the_window_is_named(model: Subject, numerics: Numerics, position: int, label: str) -> None:
    cold = cold_run(model, model.tokens(36), model.transformer())
    world = World(model, 8, 64)
    sequence = resume_in(world, cold, LENGTH, 36)
    slot = sequence.slots[position]
    world.full_to_swa[slot] = 0
    with pytest.raises(ModelError, match=f"needs the {label} row of position {position}, but full slot {slot} has no"):
        model.transformer(numerics).forward([sequence.step(LENGTH, 36)], world.full_to_swa, world.buffers)


def test_an_unmapped_tail_row_before_the_window_is_named() -> None:
    odd = subject("odd")
    cold = cold_run(odd, odd.tokens(31), odd.transformer())
    world = World(odd, 8, 64)
    sequence = resume_in(world, cold, 29, 31)
    world.full_to_swa[sequence.slots[21]] = 0
    with pytest.raises(ModelError, match="needs the hca_tail row of position 21"):
        odd.transformer().forward([sequence.step(29, 31)], world.full_to_swa, world.buffers)


def test_rows_before_the_window_need_no_mapping(model: Subject) -> None:
    cold = cold_run(model, model.tokens(36), model.transformer())
    world = World(model, 8, 64)
    sequence = resume_in(world, cold, LENGTH, 36)
    assert not world.full_to_swa[sequence.slots[:18]].any()
    (logits,) = run_steps(model.transformer(), world, [sequence], [[LENGTH, 36]])
    assert torch.equal(logits, cold.logits[LENGTH:])


@pytest.mark.parametrize("numerics", list(Numerics))
def test_prefill_and_decode_mix_in_one_step(model: Subject, numerics: Numerics) -> None:
    transformer = model.transformer(numerics)
    cold = cold_run(model, model.tokens(80), transformer)
    starts = [79, 0, 1, 40, 16, 78, 31]
    stops = [80, 80, 2, 57, 32, 79, 80]
    world = World(model, 7 * 8, 7 * 80)
    sequences = [resume_in(world, cold, start, stop) for start, stop in zip(starts, stops, strict=True)]
    steps = [sequence.step(start, stop) for sequence, start, stop in zip(sequences, starts, stops, strict=True)]
    result = transformer.forward(steps, world.full_to_swa, world.buffers)
    expected = cold.logits[torch.tensor(stops) - 1]
    if numerics is Numerics.EXACT:
        assert torch.equal(result.logits, expected)
    assert (result.logits - expected).abs().max() < 1e-4
    assert result.logits.dtype is torch.float32


def test_a_run_writes_only_the_rows_of_its_own_tokens(model: Subject) -> None:
    for numerics in Numerics:
        world = World(model, 6, 64)
        sequence = world.place(model.tokens(37), 37)
        world.map_tokens(sequence, Extent(0, 37))
        run_steps(model.transformer(numerics), world, [sequence], [[0, 20, 21, 37]])
        geometry = model.geometry
        for label, layer in world.buffers.keys:
            rows = world.buffers.rows(label, layer)
            count = 37 // geometry.kind(label).unit
            written = {world.row_number(sequence, label, index) for index in range(count)}
            dummies = max(1, 16 // geometry.kind(label).unit)
            finite = set(torch.nonzero(rows.isfinite().all(dim=1)).flatten().tolist())
            assert finite == written | set(range(dummies))
            assert not rows[:dummies].any()


def test_exact_numerics_are_refused_where_they_hold_nothing(model: Subject) -> None:
    with pytest.raises(ModelError, match=r"exact numerics on cpu in torch\.bfloat16"):
        Transformer(model.config, model.weights, Numerics.EXACT, dtype=torch.bfloat16)
    with pytest.raises(ModelError, match="exact numerics on cuda"):
        Transformer(model.config, model.weights, Numerics.EXACT, device="cuda")


def test_buffers_know_their_rows_and_bytes(model: Subject) -> None:
    buffers = StateBuffers(model.config, 64, 48)
    assert buffers.rows("swa_kv", 0).shape == (48, 32)
    assert buffers.rows("csa_kv", 2).shape == (16, 32)
    assert buffers.rows("hca_kv", 3).shape == (4, 32)
    assert buffers.rows("csa_tail", 4).shape == (48, 128)
    assert buffers.rows("hca_tail", 5).shape == (48, 64)
    assert buffers.row_bytes("index_tail") == 128 * 4
    expected = 6 * 48 * 32 + 2 * (16 * (32 + 32) + 48 * (128 + 128)) + 2 * (4 * 32 + 48 * 64)
    assert buffers.total_bytes == 4 * expected
    with pytest.raises(ModelError, match="layer 0 has no rows of kind 'csa_kv'"):
        buffers.rows("csa_kv", 0)
    with pytest.raises(ModelError, match="no state kind 'gdn'"):
        buffers.row_bytes("gdn")


@pytest.fixture
def two_threads() -> Callable[[], int]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield torch.get_num_threads
    torch.set_num_threads(before)


def test_exact_runs_have_threads_and_give_the_others_back(model: Subject, two_threads: Callable[[], int]) -> None:
    with threads(1):
        assert torch.get_num_threads() == 1
    assert two_threads() == 2
    tokens = model.tokens(60)
    with_two = cold_run(model, tokens, model.transformer()).logits
    torch.set_num_threads(1)
    assert torch.equal(with_two, cold_run(model, tokens, model.transformer()).logits)
