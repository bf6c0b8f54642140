"""A run resumed at any length equals the cold run bit for bit, from nothing but the rows of resume_state."""

import pytest
import torch
from paged_runs import ColdRun, Snapshot, Subject, World, cold_run, resume_in, run_steps, subject

from shadowviz_engine.core.spans import Extent

MODELS = {"tiny-512": 1000, "tiny-article": 300, "near": 100, "odd": 100}
BATCH = 20
NUM_PARTS = 5
"""Of the lengths of one model, so that test processes share them."""
LENGTHS_TO_DECODE_ALONE = (1, 5, 129, 384, 1000)
"""Every length with `--slow`."""


@pytest.fixture(scope="module", params=MODELS)
def cold(request: pytest.FixtureRequest) -> ColdRun:
    model = subject(request.param)
    stop = stop_after(model, MODELS[request.param])
    return cold_run(model, model.tokens(stop), model.transformer())


def stop_after(model: Subject, length: int) -> int:
    """One token past the next multiple of the largest ratio: every open window has closed and been read by then."""
    largest = max(compressor.ratio for compressor in model.config.used_compressors)
    return (length // largest + 1) * largest + 1


def prefill(length: int, stop: int) -> list[int]:
    return [length, stop]


def decode_around_chunk(length: int, stop: int) -> list[int]:
    """Five tokens one by one, a chunk, and the last three one by one: windows close in single-token steps."""
    ends = [position for position in range(length, stop + 1) if position <= length + 5 or position >= stop - 3]
    return sorted(set(ends))


def decode(length: int, stop: int) -> list[int]:
    return list(range(length, stop + 1))


@pytest.mark.parametrize("part", range(NUM_PARTS))
def test_every_length_resumes_to_the_bits_of_the_cold_run(cold: ColdRun, part: int) -> None:
    model = cold.world.model
    transformer = model.transformer()
    page = model.geometry.page_size
    last = MODELS[model.geometry.name]
    for first in range(1 + part * BATCH, last + 1, NUM_PARTS * BATCH):
        lengths = range(first, min(first + BATCH, last + 1))
        stops = [stop_after(model, length) for length in lengths]
        world = World(model, sum(stop // page + 2 for stop in stops), sum(stops), seed=first)
        sequences = [resume_in(world, cold, length, stop) for length, stop in zip(lengths, stops, strict=True)]
        snapshot = Snapshot(world)
        for cut in (prefill, decode):
            cuts = [cut(length, stop) for length, stop in zip(lengths, stops, strict=True)]
            for length, stop, logits in zip(
                lengths, stops, run_steps(transformer, world, sequences, cuts), strict=True
            ):
                assert torch.equal(logits, cold.logits[length:stop]), f"{cut.__name__} in a batch from {length}"
            snapshot.restore()
        for cut in (prefill, decode_around_chunk):
            for length, stop, sequence in zip(lengths, stops, sequences, strict=True):
                (logits,) = run_steps(transformer, world, [sequence], [cut(length, stop)])
                assert torch.equal(logits, cold.logits[length:stop]), f"{cut.__name__} alone from {length}"
            snapshot.restore()


def test_decoding_alone_token_by_token_gives_the_bits_of_the_cold_run(cold: ColdRun, long_form: bool) -> None:
    model = cold.world.model
    transformer = model.transformer()
    page = model.geometry.page_size
    last = MODELS[model.geometry.name]
    for length in range(1, last + 1) if long_form else (n for n in LENGTHS_TO_DECODE_ALONE if n <= last):
        stop = stop_after(model, length)
        world = World(model, stop // page + 2, stop)
        sequence = resume_in(world, cold, length, stop)
        (logits,) = run_steps(transformer, world, [sequence], [decode(length, stop)])
        assert torch.equal(logits, cold.logits[length:stop]), f"alone from {length}"


def test_a_cold_run_in_any_chunks_gives_the_same_bits(cold: ColdRun) -> None:
    model = cold.world.model
    stop = min(len(cold.logits), 300)
    cuts = ([0, 1, 2, 3, 17, 18, 100, stop], [0, 16, 31, 33, stop - 1, stop], [0, stop])
    world = World(model, 3 * (stop // model.geometry.page_size + 2), 3 * stop)
    sequences = []
    for _ in cuts:
        sequence = world.place(cold.sequence.tokens[:stop], stop)
        world.map_tokens(sequence, Extent(0, stop))
        sequences.append(sequence)
    for logits in run_steps(model.transformer(), world, sequences, cuts):
        assert torch.equal(logits, cold.logits[:stop])
