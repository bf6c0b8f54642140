"""What may import what, and what a process has loaded after an import or a command."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HEAVY = ("torch", "transformers", "safetensors", "tokenizers", "textual", "plotly", "graphviz", "zmq", "ray", "numpy")
THIRD_PARTY = {"core": {"msgspec"}, "cache": {"msgspec", "numpy"}}

LOADED_AFTER = """
import json, sys
{statement}
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""

HELP = """
import contextlib, io
sys.argv = ["shadowviz", "--help"]
from shadowviz.cli.main import main
with contextlib.redirect_stdout(io.StringIO()) as screen:
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, stop.code
assert "Usage" in screen.getvalue(), screen.getvalue()
"""


def loaded_after(statement: str) -> set[str]:
    """Top-level modules of a fresh interpreter that ran one statement."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED_AFTER.format(statement=statement)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def submodules(repository: Path, package: str) -> list[str]:
    """Dotted names of all modules of a package of the engine."""
    root = repository / "engine"
    paths = (root / package.replace(".", "/")).rglob("*.py")
    return sorted(".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for path in paths)


def imported_modules(path: Path) -> Iterator[str]:
    """Dotted names that a file imports, at whatever depth the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_names(path: Path) -> set[str]:
    """Top-level names among `imported_modules`."""
    return {name.partition(".")[0] for name in imported_modules(path)}


def test_the_import_contracts_hold(repository: Path) -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("package", sorted(THIRD_PARTY))
def test_the_pure_packages_name_no_other_dependency(repository: Path, package: str) -> None:
    allowed = sys.stdlib_module_names | THIRD_PARTY[package] | {"shadowviz_engine"}
    files = sorted((repository / "engine/shadowviz_engine" / package).rglob("*.py"))
    assert files
    foreign = {(str(path), name) for path in files for name in imported_names(path) if name not in allowed}
    assert not foreign


def test_only_the_embedded_source_and_the_experiments_start_an_engine(repository: Path) -> None:
    package = repository / "shadowviz"
    engine = ("shadowviz_engine.runtime", "shadowviz_engine.model")
    reaching = {
        path for path in package.rglob("*.py") if any(name.startswith(engine) for name in imported_modules(path))
    }
    inside = {path for path in reaching if path.relative_to(package).parts[0] == "experiments"}
    assert reaching - inside == {package / "sources/embedded.py"}


def test_importing_the_whole_core_loads_nothing_heavy(repository: Path) -> None:
    modules = submodules(repository, "shadowviz_engine.core")
    assert loaded_after(f"import {', '.join(modules)}").isdisjoint(HEAVY)


def test_importing_the_whole_cache_loads_no_torch(repository: Path) -> None:
    modules = submodules(repository, "shadowviz_engine.cache")
    assert loaded_after(f"import {', '.join(modules)}").isdisjoint(set(HEAVY) - {"numpy"})


def test_help_loads_nothing_heavy() -> None:
    assert loaded_after(HELP).isdisjoint(HEAVY)


def test_a_heavy_import_would_be_noticed() -> None:
    assert "numpy" in loaded_after("import numpy")


def test_the_linter_refuses_the_source_root_as_a_package(repository: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--select",
        "TID251",
        "--stdin-filename",
        "shadowviz/sample.py",
        "-",
    ]
    done = subprocess.run(
        command,
        cwd=repository,
        input="import engine.shadowviz_engine\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "engine/ is a source root" in done.stdout


def test_no_file_imports_the_source_root(repository: Path) -> None:
    folders = ("shadowviz", "engine", "tests", "fixtures")
    files = [path for folder in folders for path in (repository / folder).rglob("*.py")]
    assert files
    assert not [str(path) for path in files if "engine" in imported_names(path)]
