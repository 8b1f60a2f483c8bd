# Everything a person needs: demo, test, lint, duels. Each target says what it does and skips what is done.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
QUIET  := -qq --progress-bar off
# tests start hundreds of processes, which would compile all modules anew without kept bytecode
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help browser demo docs test test-all truth mutants fuzz lint format warm duels sweep tables swap accelerate clean
help:            ## list the targets
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(BIN)/python:
	@echo "==> creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "gnomon needs Python 3.11 or later; set PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install $(QUIET) --upgrade pip

$(VENV)/.core: pyproject.toml | $(BIN)/python
	@echo "==> installing gnomon and what it stands on (first time: about two minutes)"
	@$(PIP) install $(QUIET) --editable .
	@touch $@

$(VENV)/.%: pyproject.toml | $(VENV)/.core
	@echo "==> installing what '$*' needs"
	@$(PIP) install $(QUIET) --editable '.[$*]'
	@touch $@

warm: $(VENV)/.core  ## compile the kernels once, with a progress bar
	@$(BIN)/gnomon warm

demo: warm       ## install and run the main job on a bundled table
	@echo "==> gnomon learn: which of these customers will leave?"
	@$(BIN)/gnomon learn --example customers --target churn --save demo.gnomon
	@echo "==> the same in a browser: $(BIN)/gnomon open --example customers"

browser:         ## install Chromium, which tests of pages need, where it is missing and apt is there
	@command -v chromium chromium-browser google-chrome >/dev/null \
	  || { command -v apt-get >/dev/null && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } \
	  || echo "==> there is no Chromium and it cannot be installed here: tests of pages will fail"

node_modules/axe-core/axe.min.js:
	@npm install --silent --no-save --no-package-lock axe-core >/dev/null \
	  || echo "==> npm cannot install axe-core here: the test of accessibility will fail"

test: warm browser $(VENV)/.test  ## the test suite, without its slow tests
	@echo "==> running the tests"
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow" $(PYTEST_ARGS)

test-all: warm browser node_modules/axe-core/axe.min.js $(VENV)/.test $(VENV)/.bench  ## the slow tests too, with a new seed in every run
	@GNOMON_TEST_SEED=$${GNOMON_TEST_SEED:-random} $(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

truth: warm $(VENV)/.test  ## simulate every printed statement, write benchmarks/TRUTH.md (takes hours; goes on)
	@$(BIN)/python -m tests.truth.simulation $(TRUTH)

mutants: warm $(VENV)/.test  ## plant 240 small faults and count how many the tests find (takes hours)
	@$(BIN)/python -m tests.mutants $(MUTANTS)

fuzz: warm $(VENV)/.test  ## changed model files and random tables, counted: FUZZ="--minutes 3 --seed 1"
	@$(BIN)/python -m tests.fuzz $(FUZZ)

lint: $(VENV)/.lint  ## style, types and the layers of packages
	@echo "==> ruff, mypy, import-linter"
	@$(BIN)/ruff check --no-cache .
	@$(BIN)/ruff format --no-cache --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

docs: warm $(VENV)/.docs  ## the documentation site, offline, to docs/build/html; a warning is an error
	@$(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/build/doctrees docs docs/build/html
	@$(BIN)/python docs/check_links.py docs/build/html
	@echo "==> open docs/build/html/index.html"

format: $(VENV)/.lint  ## put the code in its style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

duels: warm $(VENV)/.bench  ## measure against the peers, write benchmarks/RESULTS.md
	@$(BIN)/python -m benchmarks.duels $(DUELS)

sweep: warm $(VENV)/.bench  ## random shapes against the peers: SWEEP="--only kmeans --seconds 100"
	@$(BIN)/python -m benchmarks.sweep $(SWEEP)

tables: warm $(VENV)/.bench  ## learn on many tables against peers, write TABLES.md: TABLES="--budget 20 --only iris wine"
	@$(BIN)/python -m benchmarks.tables $(TABLES)

swap: warm $(VENV)/.test  ## scikit-learn's own tests, accelerated and with our classes (takes hours)
	@$(BIN)/python -m benchmarks.swap accelerate $(SWAP)
	@$(BIN)/python -m benchmarks.swap forced $(SWAP)
	@$(BIN)/python -m benchmarks.swap native $(SWAP)

accelerate: warm  ## time scikit-learn scripts with gnomon.accelerate, write benchmarks/ACCELERATE.md
	@$(BIN)/python -m benchmarks.accelerate

clean:           ## remove what the targets made
	rm -rf $(VENV) build dist src/*.egg-info .hypothesis .mypy_cache .ruff_cache demo.gnomon
