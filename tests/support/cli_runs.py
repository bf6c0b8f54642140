"""What the tests of the command line share: prompts with a verdict each, and what a command leaves behind."""

from collections.abc import Callable
from typing import NamedTuple

STORY = "The keeper wrote the depth of the channel into the harbour book each morning and signed it twice.\n"


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


def story_requests() -> list[dict[str, object]]:
    """Seven prompts of about 300 tokens: one of each verdict that a plain run gives."""
    text = "Read this first.\n" + STORY * 14
    return [
        {"id": "first", "prompt": text + "What was the depth on the third morning?", "max_tokens": 3},
        {"id": "again", "prompt": text + "What was the depth on the third morning?", "max_tokens": 2},
        {"id": "line-ends", "prompt": text.replace("\n", "\r\n") + "Who signed the book?", "max_tokens": 1},
        {"id": "short", "prompt": text[:600], "max_tokens": 1},
        {"id": "adapter", "prompt": text + "Who signed the book?", "namespace": "lora-7", "max_tokens": 1},
        {"id": "other", "prompt": "Nothing of this was ever asked before. " * 3, "max_tokens": 1},
    ]
