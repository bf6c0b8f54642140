"""Ctrl-C at moments when Python's own way of taking it does harm."""

import signal

import pytest

from shadowviz.cli.interrupts import interrupts_held


def interrupted(times: int, finished: list[bool]) -> None:
    """Raises SIGINT inside, then notes that the end was reached."""
    with interrupts_held():
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
        finished.append(True)


@pytest.mark.parametrize(("times", "finished"), [(1, [True]), (2, [])])
def test_the_first_interrupt_waits_until_what_is_inside_has_finished(times: int, finished: list[bool]) -> None:
    reached: list[bool] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(times, reached)
    assert reached == finished


def test_nothing_is_raised_where_nobody_interrupts() -> None:
    with interrupts_held():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
