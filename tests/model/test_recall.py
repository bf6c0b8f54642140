"""The trained checkpoints answer rightly from whole state, and wrongly when rows at the boundary are lost."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import DeepseekV4ForCausalLM

from shadowviz_engine.core.presets import preset
from shadowviz_engine.core.spans import Extent
from shadowviz_engine.model import needles
from shadowviz_engine.model.buffers import StateBuffers
from shadowviz_engine.model.needles import RECALL, RECALL_HCA, needle_at, random_questions
from shadowviz_engine.model.numerics import Numerics
from shadowviz_engine.model.reference import forward
from shadowviz_engine.model.step import SequenceStep
from shadowviz_engine.model.transformer import Transformer
from shadowviz_engine.model.weights import load_model

CHECKPOINTS = Path(needles.__file__).with_name("checkpoints")
TASKS = {"recall": RECALL, "recall-hca": RECALL_HCA}
NUM_TOKENS = 56
SEQUENCES = 48
PAGE = 16


@dataclass(frozen=True)
class Sequences:
    """Needle sequences of equal length, each with pages of its own, SWA slots equal to full slots."""

    tokens: np.ndarray
    slots: np.ndarray

    def steps(self, start: int, stop: int) -> list[SequenceStep]:
        pairs = zip(self.tokens, self.slots, strict=True)
        return [SequenceStep(tokens[:stop], slots[:stop], start, stop) for tokens, slots in pairs]


def answers_right(name: str, length: int, place: int, lost: tuple[tuple[str, Extent], ...] = ()) -> float:
    """Share of needles at `place` answered when all sequences resume at `length` without the `lost` tail rows."""
    config, tensors = load_model(CHECKPOINTS / name)
    model = Transformer(config, tensors, Numerics.FAST)
    questions = needle_at(place, NUM_TOKENS, seed=place, count=SEQUENCES)
    pages = -(-NUM_TOKENS // PAGE)
    slots = PAGE + np.arange(SEQUENCES)[:, None] * pages * PAGE + np.arange(NUM_TOKENS)
    sequences = Sequences(questions.tokens, slots)
    buffers = model.make_buffers(int(slots.max()) + PAGE, int(slots.max()) + PAGE)
    full_to_swa = np.arange(buffers.num_full_slots)

    model.forward(sequences.steps(0, length), full_to_swa, buffers)
    for label, rows in lost:
        lose(buffers, label, slots[:, rows.start : rows.stop].flatten())
    logits = model.forward(sequences.steps(length, NUM_TOKENS), full_to_swa, buffers).logits
    return float((logits.argmax(-1).numpy() == questions.answers[:, 0]).mean())


def lose(buffers: StateBuffers, label: str, slots: np.ndarray) -> None:
    """Make tail rows weigh nothing, as for a window that had no such tokens: kv 0, gate minus infinity."""
    for key, layer in buffers.keys:
        if key == label:
            rows = buffers.rows(label, layer)
            kv, gate = rows[torch.from_numpy(slots)].chunk(2, dim=-1)
            rows[torch.from_numpy(slots)] = torch.cat([torch.zeros_like(kv), torch.full_like(gate, -torch.inf)], dim=-1)


def csa_overlap(length: int) -> Extent:
    """The last full window of `recall` before `length`: the next entry reads it too."""
    return Extent((length // 4 - 1) * 4, length // 4 * 4)


@pytest.mark.parametrize("name", TASKS)
def test_a_checkpoint_answers_held_out_questions(name: str) -> None:
    config, tensors = load_model(CHECKPOINTS / name)
    rng = np.random.default_rng(20_000_000)
    right = []
    for _ in range(8):
        questions = random_questions(TASKS[name], rng, 32)
        logits = forward(config, tensors, torch.from_numpy(questions.tokens)).numpy()
        found = np.take_along_axis(logits.argmax(-1), questions.asked_at, axis=1)
        right.append((found == questions.answers).flatten())
    assert np.concatenate(right).mean() >= 0.9


@pytest.mark.parametrize("length", [20, 22, 23, 32])
def test_recall_answers_from_whole_state_and_not_without_the_overlap(length: int) -> None:
    overlap = csa_overlap(length)
    lost = (("csa_tail", overlap), ("index_tail", overlap))
    for place in range(overlap.start, overlap.stop):
        assert answers_right("recall", length, place) >= 0.9
        assert answers_right("recall", length, place, lost) <= 0.3


@pytest.mark.parametrize("place", [15, 20, 21])
def test_a_lost_overlap_leaves_needles_outside_it_alone(place: int) -> None:
    overlap = csa_overlap(22)
    assert answers_right("recall", 22, place, (("csa_tail", overlap), ("index_tail", overlap))) >= 0.9


@pytest.mark.parametrize(("length", "place"), [(22, 20), (22, 21), (23, 22)])
def test_recall_does_not_answer_without_the_open_window(length: int, place: int) -> None:
    open_window = Extent(20, length)
    assert answers_right("recall", length, place) >= 0.9
    assert answers_right("recall", length, place, (("csa_tail", open_window), ("index_tail", open_window))) <= 0.3


@pytest.mark.parametrize("length", [20, 23, 36])
def test_recall_hca_answers_from_whole_state_and_not_without_the_open_window(length: int) -> None:
    tail = Extent(length // 8 * 8, length)
    for place in range(tail.start, tail.stop):
        assert answers_right("recall-hca", length, place) >= 0.9
        assert answers_right("recall-hca", length, place, (("hca_tail", tail),)) <= 0.3


@pytest.mark.parametrize("place", [15, 16, 17, 20])
def test_lost_rows_of_an_hca_tail_leave_needles_outside_them_alone(place: int) -> None:
    assert answers_right("recall-hca", 20, place, (("hca_tail", Extent(18, 20)),)) >= 0.9


@pytest.mark.parametrize("place", [15, 18, 19])
def test_a_lost_open_window_leaves_needles_in_the_overlap_alone(place: int) -> None:
    open_window = Extent(20, 22)
    assert answers_right("recall", 22, place, (("csa_tail", open_window), ("index_tail", open_window))) >= 0.9


@pytest.mark.parametrize("name", TASKS)
def test_transformers_reads_a_checkpoint_and_gives_the_same_logits(name: str) -> None:
    oracle = DeepseekV4ForCausalLM.from_pretrained(
        CHECKPOINTS / name, dtype=torch.float32, attn_implementation="eager", local_files_only=True
    )
    config, tensors = load_model(CHECKPOINTS / name)
    assert oracle.config.index_topk == config.index_topk
    tokens = torch.from_numpy(random_questions(TASKS[name], np.random.default_rng(3), 4).tokens)
    with torch.no_grad():
        expected = oracle(tokens, use_cache=False).logits
    torch.testing.assert_close(forward(config, tensors, tokens), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("name", "page"), [("recall", 16), ("recall-hca", 8)])
def test_a_checkpoint_has_the_geometry_of_its_preset_and_is_small(name: str, page: int) -> None:
    config, _ = load_model(CHECKPOINTS / name)
    assert config.geometry(name, page) == preset(name)
    assert (CHECKPOINTS / name / "model.safetensors").stat().st_size < 1_400_000
