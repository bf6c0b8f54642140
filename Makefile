# `make run` and `make test` need Python 3.11 or newer and nothing else: each sets up .venv first, once.

PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-from-constraints

# glibc hands large tensors back to the kernel on every free; without these a third of the run is page faults.
export MALLOC_MMAP_THRESHOLD_ := 4000000000
export MALLOC_TRIM_THRESHOLD_ := 4000000000
export MALLOC_TOP_PAD_ := 268435456

.DEFAULT_GOAL := help
.PHONY: help run test check format bench clean

help:
	@echo "make run     set up, then show a tour of an engine live; without a terminal, run the demo and print its lookups"
	@echo "make test    set up, then lint, types, import contracts and tests"
	@echo "make check   what 'make test' does, without set-up"
	@echo "make format  rewrite the sources the way 'make check' wants them"
	@echo "make bench   set up, then measure, side by side with other caches where they can be had"
	@echo "make clean   remove .venv, .peers, .vocabularies and caches"
	@echo "PYTHON=python3.12 chooses the interpreter of .venv, WORKERS=4 the test processes"

$(STAMP): pyproject.toml constraints.txt
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "make: no '$(PYTHON)' here: install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "make: '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1), wanted Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@"$(BIN)/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  "$(PYTHON)" -m venv --clear $(VENV)
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

run: $(STAMP)
	@if [ -t 0 ] && [ -t 1 ] && [ "$${TERM:-dumb}" != dumb ]; then \
	  $(BIN)/shadowviz tui -o demo.jsonl --force; else \
	  $(BIN)/shadowviz run --demo -o demo.jsonl --force; fi
	@echo "next: $(BIN)/shadowviz why demo.jsonl"

test: $(STAMP)
	@$(MAKE) --no-print-directory check

check:
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

format:
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(STAMP)
	@$(BIN)/python -m shadowviz.experiments.bench $(ARGS)

clean:
	rm -rf $(VENV) .peers .vocabularies .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist build
