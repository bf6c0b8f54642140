"""What a request may look like."""

from array import array

import pytest

from shadowviz_engine.core.errors import InputError
from shadowviz_engine.runtime.request import Request, check_request


def check(**changes: object) -> "array[int]":
    """Check a request that is right but for `changes`, against 512 ids and 1,000 positions."""
    values = {"id": "r", "token_ids": (1, 2, 511), "max_tokens": 4, **changes}
    return check_request(Request(**values), vocab_size=512, max_positions=1000)


def test_a_prompt_becomes_int64_ids_that_nobody_else_can_change():
    ids = array("q", [3, 4])
    assert check() == array("q", [1, 2, 511])
    checked = check(token_ids=ids)
    ids[0] = 9
    assert checked == array("q", [3, 4])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": ""}, "empty id"),
        ({"token_ids": ()}, "empty prompt"),
        ({"token_ids": (1, 512, 2)}, "token id 512: expected ids from 0 to 511"),
        ({"token_ids": (1, -1)}, "token id -1"),
        ({"token_ids": (1, 2**70)}, "no 64-bit integer"),
        ({"token_ids": (1, "a")}, "no 64-bit integer"),
        ({"stop_ids": (600,)}, "stop id 600"),
        ({"max_tokens": 0}, "max_tokens must be at least 1"),
        ({"max_tokens": 998}, "may grow to 1001 tokens"),
        ({"logprob_start": 3}, "logprob_start 3: expected -1, or a position of its 3 tokens"),
        ({"logprob_start": -2}, "logprob_start -2"),
        ({"temperature": -0.1}, "temperature -0.1"),
        ({"temperature": float("nan")}, "temperature nan"),
        ({"temperature": float("inf")}, "temperature inf"),
        ({"top_p": 0.0}, "top_p 0.0"),
        ({"top_p": 1.5}, "top_p 1.5"),
    ],
)
def test_an_unfit_request_is_refused_in_one_line_that_names_the_value(changes, words):
    with pytest.raises(InputError, match=words) as refusal:
        check(**changes)
    assert "\n" not in str(refusal.value)


def test_a_request_may_fill_every_position_of_the_model():
    assert len(check(max_tokens=997)) == 3
