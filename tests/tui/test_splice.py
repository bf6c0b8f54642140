"""Arrays with a few changes, beside lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shadowviz.tui.models.splice import grown, spliced


@given(st.lists(st.integers(0, 99), max_size=30), st.data())
def test_a_spliced_array_is_the_list_without_what_went_and_with_what_came(values, data):
    places = st.integers(0, len(values))
    gone = sorted(data.draw(st.sets(st.integers(0, len(values) - 1)))) if values else []
    before = sorted(data.draw(st.lists(places, max_size=10)))
    added = list(range(1000, 1000 + len(before)))
    expected = []
    for place in range(len(values) + 1):
        expected += [new for at, new in zip(before, added, strict=True) if at == place]
        expected += [values[place]] if place < len(values) and place not in gone else []
    result = spliced(np.array(values, dtype=np.int32), np.array(gone, dtype=np.int32), before, added)
    assert result.tolist() == expected


@given(st.lists(st.integers(0, 99), max_size=20), st.integers(0, 60))
def test_a_column_that_has_grown_keeps_what_it_had(values, num):
    longer = grown(np.array(values, dtype=np.int32), num, -1)
    assert len(longer) >= num
    assert longer[: len(values)].tolist() == values
    assert set(longer[len(values) :].tolist()) <= {-1}
