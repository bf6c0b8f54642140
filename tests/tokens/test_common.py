"""How much of two texts is the same from the front."""

from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from shadowviz.tokens.common import common_beginning


@given(st.text("ab", max_size=20), st.text("ab", max_size=20))
def test_the_common_beginning_is_as_long_as_characters_and_bytes_agree(one: str, other: str) -> None:
    expected = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    assert common_beginning(one, other) == expected
    assert common_beginning(one.encode(), other.encode()) == expected


def test_two_letters_whose_first_byte_is_the_same_have_that_byte_in_common() -> None:
    assert common_beginning("caf\u00e9", "caf\u00e8") == 3
    assert common_beginning("caf\u00e9".encode(), "caf\u00e8".encode()) == 4
