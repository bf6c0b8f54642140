"""Many prompts: each meets the earlier one that it shares most with."""

from array import array
from itertools import takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.inputs.prompt import Form, Prompt
from shadowviz.tokens.inputs.side import Reading
from shadowviz.tokens.report.cost import reused_length
from shadowviz.tokens.report.many import EXTENDS, FIRST, NO_LOSS, SAME, Pair, compare_many, dearest, summed
from shadowviz_engine.core.errors import InputError
from shadowviz_engine.core.presets import preset

FLASH = preset("v4-flash")
WORDS = "The keeper wrote the depth of the channel into the book and signed it.\n" * 60


def of_ids(*ids: int, namespace: str = "") -> Prompt:
    return Prompt("x", Form.IDS, ids=array("q", ids), vocabulary="v", namespace=namespace)


def of_text(text: str) -> Prompt:
    return Prompt("x", Form.TEXT, text)


def named(*prompts: Prompt) -> list[tuple[str, Prompt]]:
    return [(f"r{number}", prompt) for number, prompt in enumerate(prompts)]


def shared(one: list[int], other: list[int]) -> int:
    """Length of the common beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def reading() -> Reading:
    return Reading(default_tokenizer())


def test_a_prompt_meets_the_one_with_the_longest_common_prefix() -> None:
    prompts = named(
        of_ids(1, 2, 3), of_ids(1, 2, 3, 4, 5), of_ids(1, 9), of_ids(1, 2, 3, 4, 6), of_ids(7), of_ids(1, 9)
    )
    pairs = compare_many(prompts, reading(), FLASH).pairs
    assert [(pair.request, pair.earlier, pair.common) for pair in pairs] == [
        ("r0", "", 0),
        ("r1", "r0", 3),
        ("r2", "r1", 1),
        ("r3", "r1", 4),
        ("r4", "", 0),
        ("r5", "r2", 2),
    ]
    assert [pair.cause for pair in pairs] == [FIRST, EXTENDS, NO_LOSS, NO_LOSS, FIRST, SAME]


def lost(request: str, cause: str, tokens: int, gain: int) -> Pair:
    return Pair(request, "r", 999, 9, 0, tokens, gain, cause, "", "", "")


def test_rows_of_equal_loss_are_in_the_order_they_came() -> None:
    pairs = [lost("a", "TIME", 0, 5), lost("b", "CRLF", 0, 9), lost("c", "CASE", 256, 300), lost("d", "BOM", 0, 7)]
    assert [found.cause for found in summed(pairs, FLASH).causes] == ["CASE", "TIME", "CRLF", "BOM"]
    assert [pair.request for pair in dearest(pairs, 9)] == ["c", "a", "b", "d"]
    assert [pair.request for pair in dearest(pairs, 3)] == ["c", "b", "d"]


def test_of_several_as_near_the_likest_is_taken() -> None:
    like, unlike = (1, 2, 30, 4, 5, 6, 7), (1, 2, 60, 61, 62, 63, 64)
    pairs = compare_many(named(of_ids(*like), of_ids(*unlike), of_ids(1, 2, 3, 4, 5, 6, 7)), reading(), FLASH).pairs
    assert pairs[2].earlier == "r0"


def test_namespaces_share_nothing() -> None:
    pairs = compare_many(named(of_ids(1, 2), of_ids(1, 2, namespace="other"), of_ids(1, 2)), reading(), FLASH).pairs
    assert [pair.cause for pair in pairs] == [FIRST, FIRST, SAME]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.sampled_from([1, 2, 256, 70_000]), min_size=1, max_size=6), min_size=2, max_size=12))
def test_no_earlier_prompt_shares_more(prompts: list[list[int]]) -> None:
    pairs = compare_many(named(*(of_ids(*ids) for ids in prompts)), reading(), FLASH).pairs
    for number, pair in enumerate(pairs):
        best = max((shared(prompts[number], earlier) for earlier in prompts[:number]), default=0)
        assert pair.common == best


def test_losses_are_summed_by_cause_with_the_dearest_first() -> None:
    crlf = WORDS.replace("\n", "\r\n")
    clock = "It is 2026-06-09 15:04:20. " + WORDS
    prompts = named(*map(of_text, (WORDS, crlf, WORDS, clock, clock.replace(":20", ":21"), "Nothing like it.")))
    report = compare_many(prompts, reading(), FLASH)
    assert sorted((found.cause, found.requests) for found in report.causes[:2]) == [("CRLF", 1), ("TIME", 1)]
    assert report.causes[0].lost >= report.causes[1].lost > report.causes[2].lost == 0
    assert report.lost == sum(found.lost for found in report.causes) == sum(pair.lost for pair in report.pairs)
    assert [pair.lost for pair in report.pairs if pair.cause in (FIRST, SAME, EXTENDS, NO_LOSS)] == [0, 0, 0, 0]
    assert report.prompt_tokens == sum(pair.num_prompt for pair in report.pairs)
    assert report.reused == reused_length(FLASH, report.pairs[0].num_prompt, report.pairs[0].num_prompt)
    assert not report.same
    assert report.causes[0].advice


def test_a_prompt_that_agrees_by_chance_alone_has_no_cause() -> None:
    long = "alpha beta gamma delta " * 200
    report = compare_many(named(of_text("Once " + WORDS), of_text("Once " + long)), reading(), FLASH)
    assert [pair.cause for pair in report.pairs] == [FIRST, NO_LOSS]
    assert report.same


def test_one_prompt_cannot_be_compared() -> None:
    with pytest.raises(InputError, match="found 1 prompt, expected two or more"):
        compare_many(named(of_ids(1)), reading(), FLASH)
