"""Conversations changed at random get the cause of the change, and its measured gain."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from conversations import CHANGES, Changed, conversation, rewritten
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowviz.tokens.align.align import align
from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.side import Conversation, Side, side_of_text
from shadowviz.tokens.structure.find import structural
from shadowviz.tokens.structure.mended import render_v4
from shadowviz_engine.core.errors import InputError

EXAMPLES = 12
"""Conversations for each kind of change; each is compared in both directions."""


def side(name: str, told: Conversation) -> Side:
    rendered = render_v4(told)
    return side_of_text(name, rendered.text, default_tokenizer(), segments=rendered.segments, conversation=told)


def unknown(told: Conversation) -> str:
    raise InputError(f"a template that is not at hand, for {len(told.messages)} messages")


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=EXAMPLES)
def test_a_change_gets_its_cause_alone_and_undoing_it_restores_the_whole_prefix(
    change: Callable[[Conversation, Random], Changed | None], seed: int
) -> None:
    random = Random(seed)
    base = conversation(random)
    changed = change(base, random)
    if changed is None:
        return
    a, b = side("A", base), side("B", rewritten(changed.conversation, random))
    for one, other in ((a, b), (b, a)):
        diff = align(one, other)
        [finding] = structural(one, other, diff)
        assert (finding.cause, finding.subject) == (changed.cause, changed.subject)
        assert diff.common + finding.gain == len(one.ids)
        assert finding.a.start == diff.common
        assert finding.detail.isprintable()


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=EXAMPLES)
def test_a_change_is_alone_under_a_template_that_cannot_be_rendered_again(
    change: Callable[[Conversation, Random], Changed | None], seed: int
) -> None:
    random = Random(seed)
    base = conversation(random)
    changed = change(base, random)
    if changed is None:
        return
    a, b = side("A", base), side("B", changed.conversation)
    diff = align(a, b)
    [finding] = structural(replace(a, write=unknown), replace(b, write=unknown), diff)
    assert (finding.cause, finding.subject) == (changed.cause, changed.subject)
    assert 0 < finding.gain <= len(a.ids) - diff.common


@given(seed=st.integers(0, 2**32))
def test_the_same_conversation_in_other_json_has_no_finding(seed: int) -> None:
    random = Random(seed)
    base = conversation(random)
    a, b = side("A", base), side("B", rewritten(base, random))
    assert a.ids == b.ids
    assert structural(a, b, align(a, b)) == ()
