"""The product with the vocabulary, shared with a second thread."""

import threading

import pytest
import torch

from shadowviz_engine.model import vocabulary
from shadowviz_engine.model.vocabulary import SharedProduct


def weight_of(width: int) -> torch.Tensor:
    return torch.randn(64, width, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("width", [7, 70_001])
@pytest.mark.parametrize("num_rows", [1, 3, 16])
@pytest.mark.parametrize("processors", [1, 4])
def test_it_is_the_product(width: int, num_rows: int, processors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_num_processors", lambda: processors)
    weight = weight_of(width)
    rows = torch.randn(num_rows, 64, generator=torch.Generator().manual_seed(1))
    product = SharedProduct(weight)(rows)
    assert product.shape == (num_rows, width)
    torch.testing.assert_close(product, rows @ weight, rtol=1e-5, atol=1e-5)


def test_a_second_thread_that_gets_no_time_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_num_processors", lambda: 2)
    weight, rows, busy = weight_of(70_001), torch.ones(1, 64), threading.Event()
    blocker = vocabulary._helper().submit(busy.wait, 60)
    try:
        torch.testing.assert_close(SharedProduct(weight)(rows), rows @ weight, rtol=1e-5, atol=1e-5)
        assert not blocker.done()
    finally:
        busy.set()
