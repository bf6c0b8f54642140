"""Who computes which tokens in the next pass, who may start, and who gives way: decisions without effects."""

from collections.abc import Collection, Sequence

import msgspec


class Progress(msgspec.Struct, frozen=True):
    """How far a running request is; running requests stand in the order in which they were submitted."""

    request: str
    num_prompt: int
    num_tokens: int
    """Prompt, and what was generated so far."""
    computed: int
    """Tokens whose state is written."""

    @property
    def decoding(self) -> bool:
        """Whether the prompt is computed, so that one token a pass is left to do."""
        return self.computed >= self.num_prompt


class Work(msgspec.Struct, frozen=True):
    """Tokens [start, stop) of a request, to be computed in one pass."""

    request: str
    start: int
    stop: int


def plan_decode(running: Sequence[Progress]) -> tuple[Work, ...]:
    """The newest token of every request whose prompt is computed."""
    return tuple(Work(item.request, item.computed, item.num_tokens) for item in running if item.decoding)


def plan_prefill(running: Sequence[Progress], budget: int, grid: int) -> tuple[Work, ...]:
    """Chunks of unfinished prompts, first come first served, up to `budget` tokens together.

    Args:
        grid: tokens; a chunk that ends inside a prompt ends at a multiple of it where the budget reaches one.
    """
    chunks = []
    for item in running:
        if item.decoding or budget < 1:
            continue
        stop = chunk_stop(item.computed, item.num_prompt, budget, grid)
        chunks.append(Work(item.request, item.computed, stop))
        budget -= stop - item.computed
    return tuple(chunks)


def chunk_stop(start: int, num_prompt: int, budget: int, grid: int) -> int:
    """Where a chunk from `start` on ends; see `plan_prefill`."""
    stop = min(num_prompt, start + budget)
    if stop == num_prompt:
        return stop
    aligned = stop - stop % grid
    return aligned if aligned > start else stop


def may_start(num_running: int, max_running: int, budget: int, blocked: Collection[str], held_back: bool) -> bool:
    """Whether the head of the queue may try to start.

    Nobody starts while a running request finds no room, nor beside another after one gave way (`held_back`, until
    one ends): what is free belongs to those that run. Only the head is ever tried, so nobody is overtaken.
    """
    return num_running < max_running and budget > 0 and not blocked and not (held_back and num_running)


def choose_retracted(running: Sequence[Progress]) -> str | None:
    """The request that gives its slots back when none can go on: the youngest of several; it starts again later.

    None when a single one runs: taking that one back would free nothing for it.
    """
    return running[-1].request if len(running) > 1 else None


def spent(chunks: Sequence[Work]) -> int:
    """Tokens in `chunks`."""
    return sum(chunk.stop - chunk.start for chunk in chunks)
