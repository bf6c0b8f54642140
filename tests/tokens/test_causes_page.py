"""The page of causes is what its script makes."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from vocabularies import LABELS, encoder_of

from shadowviz.tokens.finding import Cause


@pytest.fixture(scope="module")
def script(repository: Path) -> ModuleType:
    """`docs/make_causes.py`, loaded."""
    spec = importlib.util.spec_from_file_location("make_causes", repository / "docs" / "make_causes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_cause_has_its_meaning_example_and_advice(script: ModuleType) -> None:
    page = script.TARGET.read_text(encoding="utf-8")
    assert page.startswith(script.causes()), "run python docs/make_causes.py"
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")][: len(Cause)] == list(Cause)


def test_the_counts_are_those_of_this_code(script: ModuleType, shared_dir: Path) -> None:
    for label in LABELS:
        encoder_of(label)
    assert script.TARGET.read_text(encoding="utf-8").endswith(script.counts()), "run python docs/make_causes.py"
