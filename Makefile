# The two commands of the README. Each makes .venv if it is missing, installs what it needs, and runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-dev
DEMO_STAMP := $(VENV)/.installed

.PHONY: demo test lint types layers unit slow kernel figures paper versions clean

demo: $(DEMO_STAMP)
	$(BIN)/paretoguard demo

test: lint types layers unit kernel

$(BIN)/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'paretoguard needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)

$(DEMO_STAMP): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(STAMP): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@ $(DEMO_STAMP)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports --no-logo

unit: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal --doctest-modules -m "not slow" --durations=15 src tests

# What would take `make test` over a quarter of an hour.
slow: $(STAMP)
	$(BIN)/python -m pytest -n auto -m slow

kernel: $(STAMP)
	PARETOGUARD_TIER=interpreted $(BIN)/python -m pytest -m kernel -n auto

# What the tests were last run with; names and versions only.
versions: $(STAMP)
	$(BIN)/python -c "import platform; print('# Python', platform.python_version())" > tested-versions.txt
	$(BIN)/python -m pip freeze --exclude-editable --disable-pip-version-check >> tested-versions.txt

figures: $(STAMP)
	for figure in secukinumab trace batches; do $(BIN)/python docs/figures/$$figure.py || exit 1; done

# The results of the paper at full size: about half an hour on two cores.
paper: $(STAMP)
	$(BIN)/paretoguard paper --all
	$(BIN)/python -m paretoguard.papers.folder papers/kone2025

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis src/*.egg-info
