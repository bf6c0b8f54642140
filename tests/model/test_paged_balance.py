"""Doubly stochastic matrices: the same from every form of Sinkhorn's algorithm, and by bits for any number of rows."""

import pytest
import torch

from shadowviz_engine.model.balance import _balance_on_device, balance_quickly, balance_rows

EPS = 1e-6
ITERATIONS = 20


def matrices(count: int, sharpness: float, size: int = 4) -> torch.Tensor:
    """Softmax of random logits, `[count, size, size]`; the sharper, the nearer to a permutation."""
    generator = torch.Generator().manual_seed(round(1000 * sharpness) + size)
    return torch.softmax(torch.randn(count, size, size, generator=generator) * sharpness, dim=-1)


def balanced_as_defined(square: torch.Tensor) -> torch.Tensor:
    """In float64, step by step as the model has it."""
    values = square.double() + EPS
    values = values / (values.sum(-2, keepdim=True) + EPS)
    for _ in range(ITERATIONS - 1):
        values = values / (values.sum(-1, keepdim=True) + EPS)
        values = values / (values.sum(-2, keepdim=True) + EPS)
    return values.transpose(1, 2)


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("sharpness", [0.3, 1.0, 3.0, 8.0])
def test_every_form_gives_what_the_definition_gives(sharpness: float, size: int) -> None:
    squares = matrices(200, sharpness, size)
    expected = balanced_as_defined(squares)
    one_by_one = torch.cat([balance_quickly(square[None], ITERATIONS, EPS) for square in squares])
    for result in (
        balance_rows(squares, ITERATIONS, EPS),
        balance_quickly(squares, ITERATIONS, EPS),
        _balance_on_device(squares, ITERATIONS, EPS),
        one_by_one,
    ):
        assert (result - expected).abs().max() < 7e-7


def test_one_turn_normalises_columns_alone() -> None:
    squares = matrices(1, 1.0)
    for balance in (balance_rows, balance_quickly):
        result = balance(squares, 1, EPS)
        torch.testing.assert_close(result.sum(dim=2), torch.ones(1, 4), atol=1e-5, rtol=0)
        assert (result.sum(dim=1) - 1).abs().max() > 0.01


def test_bits_of_a_row_do_not_depend_on_the_number_of_rows() -> None:
    squares = matrices(300, 1.0)
    whole = balance_rows(squares, ITERATIONS, EPS)
    for count in (1, 2, 7, 16, 17, 64, 299):
        assert torch.equal(balance_rows(squares[:count], ITERATIONS, EPS), whole[:count])


def test_the_input_is_left_as_it_was() -> None:
    squares = matrices(1, 1.0)
    before = squares.clone()
    balance_rows(squares, ITERATIONS, EPS)
    balance_quickly(squares, ITERATIONS, EPS)
    assert torch.equal(squares, before)
