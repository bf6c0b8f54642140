"""Faults of the bookkeeping in a running engine: what each does to the request that meets it, and to nobody else."""

import numpy as np
import pytest

from shadowviz_engine.core.errors import InvariantError
from shadowviz_engine.core.events import FaultInjected
from shadowviz_engine.runtime.request import Request

PAGE = 16
PATH = tuple(np.random.default_rng(5).integers(0, 512, 60).tolist())
ELSE = tuple((token + 1) % 512 for token in PATH)


def run(engine, name: str, tokens: tuple[int, ...], max_tokens: int = 1, namespace: str = ""):
    """The output of one request."""
    engine.submit(Request(id=name, token_ids=tokens, max_tokens=max_tokens, namespace=namespace))
    engine.run()
    return engine.outputs[name]


def answer(oracle, tokens: tuple[int, ...], max_tokens: int = 8) -> tuple[int, ...]:
    return oracle.output(Request(id="cold", token_ids=tokens, max_tokens=max_tokens))


def with_and_without(make_engine, fault: str, **options: object):
    """An engine with the fault and one that is sound."""
    return [make_engine(resume="any", faults=faults, **options)[0] for faults in ((fault,), ())]


def test_a_prompt_that_is_reused_whole_has_its_last_token_computed_behind_it(make_engine, oracle):
    for length in (PAGE, PAGE + 3):
        faulty, sound = with_and_without(make_engine, "full_hit_uncapped")
        for engine, reused in ((faulty, length), (sound, length - 1)):
            run(engine, "first", PATH[:length])
            again = run(engine, "again", PATH[:length], 8)
            assert again.lookup.reused == reused
            assert (again.token_ids == answer(oracle, PATH[:length])) == (engine is sound)
            repeated = (*PATH[:length], PATH[length - 1])
            assert (again.token_ids == answer(oracle, repeated)) == (engine is faulty)


def test_a_token_that_is_computed_alone_behind_reused_ones_is_placed_wrong(make_engine, oracle):
    for engine, right in zip(with_and_without(make_engine, "lone_token_shifted"), (False, True), strict=True):
        run(engine, "first", PATH[:20])
        assert run(engine, "two left", PATH[:22], 8).token_ids == answer(oracle, PATH[:22])
        assert (run(engine, "one left", PATH[:23], 8, "").token_ids == answer(oracle, PATH[:23])) == right


def test_the_engine_says_where_a_lone_token_was_shifted(make_engine):
    engine, sink = make_engine(resume="any", faults=("lone_token_shifted",))
    run(engine, "first", PATH[:20])
    run(engine, "again", PATH[:20], 3)
    told = [event for event in sink.events if isinstance(event, FaultInjected) and event.request]
    assert [(one.request, one.length, one.kind, one.layer, one.row) for one in told] == [("again", 19, "swa_kv", 0, 19)]


@pytest.mark.parametrize(("length", "page_begins"), [(19, False), (2 * PAGE, True)])
def test_a_fork_inside_a_page_overwrites_the_path_beside_it_and_one_between_pages_does_not(
    make_engine, oracle, length, page_begins
):
    for engine, right in zip(with_and_without(make_engine, "fork_overwrites"), (page_begins, True), strict=True):
        run(engine, "donor", PATH[:50])
        fork = (*PATH[:length], *ELSE[length:50])
        assert run(engine, "fork", fork, 8).token_ids == answer(oracle, fork)
        # Of two tokens behind the fork one is reused, in a row that the fork overwrote.
        donor = PATH[: length + 2]
        assert (run(engine, "again", donor, 8).token_ids == answer(oracle, donor)) == right


def test_of_twins_the_second_frees_the_rows_that_the_tree_keeps(make_engine, oracle):
    for engine, right in zip(with_and_without(make_engine, "twin_freed"), (False, True), strict=True):
        for name in ("one", "two"):
            engine.submit(Request(id=name, token_ids=PATH[:19], max_tokens=1))
        engine.run()
        run(engine, "else", ELSE[:32], namespace="else")
        again = run(engine, "again", PATH[:20], 8)
        assert again.lookup.reused == 19
        assert (again.token_ids == answer(oracle, PATH[:20])) == right


def test_a_prefill_that_is_cut_short_is_reused_beyond_what_was_computed(make_engine, oracle):
    for engine, reused in zip(with_and_without(make_engine, "abort_published", chunk_tokens=5), (16, 0), strict=True):
        engine.submit(Request(id="cut short", token_ids=PATH[:30], max_tokens=1))
        engine.step()
        engine.abort("cut short")
        again = run(engine, "again", PATH[:30], 8)
        assert again.lookup.reused == reused
        assert (again.token_ids == answer(oracle, PATH[:30])) == (reused == 0)


def test_the_last_token_of_an_answer_is_reused_although_it_was_never_computed(make_engine, oracle):
    for engine, extra in zip(with_and_without(make_engine, "last_token_published"), (1, 0), strict=True):
        told = run(engine, "asks", PATH[:20], 3).token_ids
        follow_up = (*PATH[:20], *told, *PATH[20:22])
        again = run(engine, "again", follow_up, 8)
        assert again.lookup.reused == 22 + extra
        assert (again.token_ids == answer(oracle, follow_up)) == (not extra)


def test_one_window_row_too_few_makes_the_end_of_a_prompt_no_point_to_go_on_from(make_engine):
    for engine, right in zip(
        with_and_without(make_engine, "window_off_by_one", retention="window"), (False, True), strict=True
    ):
        # The window alone reaches back to 27 for length 34: neither 35 nor a tail keeps that row.
        run(engine, "first", PATH[:35])
        assert (engine.probe(PATH[:35]).reused == 34) == right


@pytest.mark.parametrize("fault", ["fork_overwrites", "twin_freed", "slot_leaked", "unlock_skipped"])
def test_the_invariants_name_what_breaks_the_books(make_engine, fault):
    for engine, right in zip(with_and_without(make_engine, fault), (False, True), strict=True):
        for name in ("one", "two"):
            engine.submit(Request(id=name, token_ids=PATH[:19], max_tokens=1))
        engine.run()
        run(engine, "fork", (*PATH[:10], *ELSE[10:20]))
        if right:
            engine.cache.check_invariants()
            continue
        with pytest.raises(InvariantError):
            engine.cache.check_invariants()
