"""The choice of the next token: greedy, or a draw that depends on logits, seed and position alone."""

from collections.abc import Sequence
from hashlib import blake2b
from math import isfinite, log

import msgspec
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from shadowviz_engine.core.errors import InvariantError

Row = npt.NDArray[np.float64]


class Choice(msgspec.Struct, frozen=True):
    """How the token at one position of one request is chosen."""

    request: str
    position: int
    """Position of the token that is chosen."""
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


def sample(logits: Tensor, choices: Sequence[Choice]) -> list[int]:
    """Next token of every row.

    Args:
        logits: `[rows, vocab]` in float32.
        choices: one for each row.

    Raises:
        InvariantError: the best logit of a row is not finite.
    """
    best = _best_of_rows(logits)
    scores = logits.gather(1, best[:, None])[:, 0].tolist()
    tokens: list[int] = best.tolist()
    for row, choice in enumerate(choices):
        # argmax and max prefer NaN, so the best logit tells of every NaN in its row.
        if not isfinite(scores[row]):
            raise InvariantError(
                f"request {choice.request!r} has logit {scores[row]} at position {choice.position}: "
                "expected finite ones, so a row of its state is not what was computed"
            )
        if choice.temperature > 0.0:
            tokens[row] = draw_token(logits[row].double().cpu().numpy(), choice)
    return tokens


def log_probabilities(logits: Tensor, token_ids: npt.NDArray[np.int64]) -> tuple[float, ...]:
    """Natural logarithm of the probability of one token a row, over the whole vocabulary, in float64.

    Args:
        logits: `[tokens, vocab]` in float32.
    """
    found = []
    for row, token in zip(logits.cpu().numpy(), token_ids, strict=True):
        # Row by row: a table of a large vocabulary in float64 would be larger than the logits of the pass.
        largest = float(row.max())
        wide = row.astype(np.float64)
        wide -= largest
        found.append(float(row[token]) - largest - log(float(np.exp(wide, out=wide).sum())))
    return tuple(found)


def _best_of_rows(logits: Tensor) -> Tensor:
    """`[rows]`: where the largest logit stands, the lowest id on ties, NaN before any number."""
    if logits.is_cuda:
        return torch.argmax(logits, dim=-1)
    # On a CPU torch takes twenty times as long: a fifth of a pass over 16 requests.
    return torch.from_numpy(logits.numpy().argmax(axis=-1))


def draw_token(logits: Row, choice: Choice) -> int:
    """A draw from the nucleus at a temperature.

    Args:
        logits: `[vocab]`, finite or -inf.
        choice: temperature above 0.
    """
    ids, probabilities = nucleus(logits, choice.temperature, choice.top_p)
    reached = np.cumsum(probabilities)
    index = int(np.searchsorted(reached, uniform(choice.seed, choice.position) * reached[-1], side="right"))
    # Rounding may carry the product up to the total, beyond which only tokens of probability 0 stand.
    return int(ids[min(index, int(np.searchsorted(reached, reached[-1])))])


def nucleus(logits: Row, temperature: float, top_p: float) -> tuple[npt.NDArray[np.int64], Row]:
    """The fewest most likely tokens that together reach `top_p`: ids and softmax probabilities, likeliest first.

    Equal probabilities stand in the order of their ids. Softmax is over the whole vocabulary, in float64.
    """
    shifted = (logits - logits.max()) / temperature
    weights = np.exp(shifted)
    order = np.argsort(-shifted, kind="stable")
    probabilities = weights[order] / weights.sum()
    if top_p >= 1.0:
        return order, probabilities
    size = int(np.searchsorted(np.cumsum(probabilities), top_p)) + 1
    return order[:size], probabilities[:size]


def uniform(seed: int, position: int) -> float:
    """A number in [0, 1) that depends on `seed` and `position` alone, the same on every machine."""
    digest = blake2b(f"{seed}:{position}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "little") >> 11) / (1 << 53)
