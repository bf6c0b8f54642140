"""The page on screens and its pictures are what the interface shows."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import textual

DOCS = Path(__file__).resolve().parents[2] / "docs"
DRAWN_WITH = "8.2.8"
"""Another textual draws other pictures of the same screen."""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_screens", DOCS / "make_screens.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(textual.__version__ != DRAWN_WITH, reason=f"pictures were drawn with textual {DRAWN_WITH}")
def test_the_page_on_screens_and_its_pictures_are_made_from_the_interface(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TEXTUAL_THEME", "TEXTUAL_COLOR_SYSTEM"):
        monkeypatch.delenv(name, raising=False)
    made = script.pages()
    assert script.TARGET.read_text("utf-8") == script.reference(made), "run python docs/make_screens.py"
    for name, page in made.items():
        stored = (script.PICTURES / f"tui-{name}.svg").read_text("utf-8")
        assert page.picture == stored, f"{name}: run python docs/make_screens.py"


def test_pictures_load_nothing_from_elsewhere(script: ModuleType) -> None:
    for shown in script.SHOWN:
        assert "url(http" not in (script.PICTURES / f"tui-{shown.name}.svg").read_text("utf-8")
