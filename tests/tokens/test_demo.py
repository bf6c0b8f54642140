"""The demo workload: it parses, and its prompts share exactly the prefixes that its story needs."""

from itertools import takewhile

import pytest

from shadowviz.tokens.encode.tokenizer import default_tokenizer
from shadowviz.tokens.inputs.requests import PromptRequest, read_demo

TOKENIZER = default_tokenizer()
PAGE = 256

PREFIXES = {
    # id: tokens, tokens in common with an earlier prompt of its namespace, of these whole pages below the last token
    "library-1": (711, 0, 0),
    "log-1": (1300, 2, 0),
    "library-2": (971, 711, 512),
    "french-1": (104, 1, 0),
    "inbox-1": (541, 1, 0),
    "library-3": (1109, 971, 768),
    "log-2": (1301, 1281, 1280),
    "inbox-2": (542, 515, 512),
    "french-again": (104, 104, 0),
    "library-again": (711, 711, 512),
    "tutor-1": (185, 3, 0),
    "log-follow-up": (1356, 1300, 1280),
    "review-512": (512, 2, 0),
    "inbox-3": (541, 515, 512),
    "library-other-reader": (707, 672, 512),
    "tutor-2": (274, 184, 0),
    "manual-1": (483, 1, 0),
    "log-again": (1300, 1300, 1280),
    "review-512-again": (512, 512, 256),
    "log-crlf": (1302, 11, 0),
    "manual-2": (483, 9, 0),
    "tutor-3": (369, 273, 256),
    "library-upset-reader": (720, 672, 512),
    "log-harbour-office": (1300, 0, 0),
    "log-follow-up-2": (1394, 1356, 1280),
    "inbox-two-marks": (542, 1, 0),
    "cafe-1": (289, 2, 0),
    "log-edited": (1300, 66, 0),
    "inbox-ids": (541, 516, 512),
    "cafe-decomposed": (290, 6, 0),
    "inbox-crlf": (602, 78, 0),
    "library-effort": (790, 1, 0),
    "log-harbour-office-2": (1299, 1281, 1280),
    "log-3": (1300, 1281, 1280),
    "plain-text": (102, 0, 0),
}


@pytest.fixture(scope="module")
def demo() -> dict[str, PromptRequest]:
    return {request.id: request for request in read_demo(TOKENIZER)}


def num_common(first: PromptRequest, second: PromptRequest) -> int:
    pairs = zip(first.token_ids, second.token_ids, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def num_common_at_end(first: PromptRequest, second: PromptRequest) -> int:
    pairs = zip(reversed(first.token_ids), reversed(second.token_ids), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def test_the_demo_shares_the_prefixes_that_its_story_needs(demo: dict[str, PromptRequest]) -> None:
    found, earlier = {}, []
    for request in demo.values():
        stored = [other for other in earlier if other.namespace == request.namespace]
        common = max((num_common(request, other) for other in stored), default=0)
        num_prompt = len(request.token_ids)
        found[request.id] = (num_prompt, common, min(common, num_prompt - 1) // PAGE * PAGE)
        earlier.append(request)
    assert found == PREFIXES


def test_the_demo_is_small_enough_to_run_on_a_cpu(demo: dict[str, PromptRequest]) -> None:
    assert all(100 <= len(request.token_ids) <= 1_800 for request in demo.values())
    assert all(4 <= request.max_tokens <= 16 for request in demo.values())
    assert 25 <= len(demo) <= 40


def test_a_prompt_of_two_whole_pages_comes_twice(demo: dict[str, PromptRequest]) -> None:
    assert demo["review-512-again"].token_ids == demo["review-512"].token_ids
    assert len(demo["review-512"].token_ids) == 2 * PAGE


def test_one_prompt_comes_again_in_another_namespace(demo: dict[str, PromptRequest]) -> None:
    assert demo["log-harbour-office"].token_ids == demo["log-1"].token_ids
    assert demo["log-harbour-office"].namespace != demo["log-1"].namespace


@pytest.mark.parametrize(
    ("changed", "original", "place"),
    [
        ("log-crlf", "log-1", 11),
        ("log-edited", "log-1", 66),
        ("manual-2", "manual-1", 9),
        ("inbox-two-marks", "inbox-1", 1),
        ("cafe-decomposed", "cafe-1", 6),
        ("library-effort", "library-1", 1),
    ],
)
def test_a_small_change_at_the_head_loses_every_page_and_nothing_else_differs(
    demo: dict[str, PromptRequest], changed: str, original: str, place: int
) -> None:
    """So lifting that one difference alone would win every whole page of the prompt."""
    first, second = demo[changed], demo[original]
    assert num_common(first, second) == place
    differing = len(first.token_ids) - place - num_common_at_end(first, second)
    assert 0 <= differing < 90
    assert len(first.token_ids) - 1 >= PAGE


@pytest.mark.parametrize(("changed", "original", "num_ends"), [("log-crlf", "log-1", 1), ("inbox-crlf", "inbox-1", 36)])
def test_texts_with_other_line_ends_look_the_same(
    demo: dict[str, PromptRequest], changed: str, original: str, num_ends: int
) -> None:
    text = demo[changed].text
    assert text is not None
    assert text.count("\r\n") == num_ends
    assert text.replace("\r\n", "\n") == demo[original].text
