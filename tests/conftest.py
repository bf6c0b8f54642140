"""Options, Hypothesis profiles and the fixtures that decide when a test is skipped."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

# Set before anything imports torch: test processes share the cores, and one thread a process is also reproducible.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]

NUM_EXAMPLES = 100
NUM_EXAMPLES_LONG = 100 * NUM_EXAMPLES

_COMMON = {"deadline": None, "print_blob": True, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("ci", derandomize=True, max_examples=NUM_EXAMPLES, **_COMMON)
hypothesis.settings.register_profile("long", derandomize=False, max_examples=NUM_EXAMPLES_LONG, **_COMMON)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--slow` asks for the long form of every check."""
    parser.addoption("--slow", action="store_true", help="run tests marked slow, and a hundred times the examples")


def pytest_configure(config: pytest.Config) -> None:
    """The profile that `--slow` chooses holds for all properties that do not set their own."""
    hypothesis.settings.load_profile("long" if config.getoption("--slow") else "ci")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell lets what it runs in the background ignore it, and so would every program that a test interrupts.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this machine or this run has no use for, with the reason."""
    if item.get_closest_marker("slow") and not item.config.getoption("--slow"):
        pytest.skip("the long form of a check: run with --slow")
    if item.get_closest_marker("gpu"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("no CUDA device")


@pytest.fixture(scope="session")
def long_form(request: pytest.FixtureRequest) -> bool:
    """Whether this run was asked for the long form of its checks (`--slow`)."""
    return bool(request.config.getoption("--slow"))


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def require_tool() -> Callable[[str], str]:
    """Path of a program on PATH; a test that lacks it is skipped, and fails where `CI=true`."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            reason = f"no {name} on PATH: install it to run this test"
            if os.environ.get("CI") == "true":
                pytest.fail(f"{reason} (with CI=true that is a failure)", pytrace=False)
            pytest.skip(reason)
        return path

    return find


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder `shared` beside the checkout: facts and captures that are not part of the repository."""
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip("no folder ../shared beside this checkout")
    return path


@pytest.fixture(scope="session")
def peers_dir() -> Path:
    """The environment of other projects; skipped in CI too, where it is not built for its size."""
    path = ROOT / ".peers"
    if not path.is_dir():
        pytest.skip("no .peers: `.venv/bin/python -m shadowviz.experiments.peers` fetches it")
    return path
