# Everything happens in .venv, which is made once. A target installs what it needs and no more, and
# again when what it reads there changes; targets may come in any order.

able = -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
python ?= $(shell for p in python3 python3.11; do $$p $(able) && echo $$p && exit; done)
bin := .venv/bin
pip := PIP_CONSTRAINT=constraints.txt $(bin)/pip install --quiet --disable-pip-version-check --no-warn-conflicts
inputs := pyproject.toml constraints.txt
pytest := $(bin)/python -m pytest
only ?=
args ?=

.DEFAULT_GOAL := help
.NOTPARALLEL:  # two installers in one .venv would meet
.PHONY: help setup test test-slow check audit mutants bench docs demo clean

help:  ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' Makefile

setup: .venv/tools-ready .venv/docs-ready  ## Install everything that a developer needs

.venv/bin/pip:
	$(python) -m venv .venv

.venv/demo-ready: $(inputs) | .venv/bin/pip
	$(pip) --editable '.[plots]' polars
	@touch $@

.venv/bench-ready: $(inputs) .venv/demo-ready
	$(pip) --editable '.[frames,learn,plots,postgres,spark]'
	@touch $@

.venv/tools-ready: $(inputs) | .venv/bin/pip
	$(pip) --editable '.[dev]'
	@touch $@

.venv/docs-ready: $(inputs) | .venv/bin/pip
	$(pip) --editable '.[docs]'
	@touch $@

# Two workers fill two cores: threads of the linear algebra below them would only wait for each other.
test: check  ## Check the source, then run the fast tests (args=... goes to pytest)
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(pytest) -n 2 --dist loadgroup --durations=10 $(args)

test-slow: .venv/tools-ready  ## Run the slow tests
	$(pytest) -m slow --durations=10 $(args)

check: .venv/tools-ready  ## Format, lint, types and import layers
	$(bin)/ruff format --check .
	$(bin)/ruff check .
	$(bin)/mypy --strict
	$(pytest) -q tests/project/test_layers.py

audit: .venv/tools-ready  ## Attack every mechanism at length
	$(pytest) tests/audit tests/fuzz tests/queries/test_audit.py tests/synthetic tests/streams tests/learn -m 'audit or slow' --durations=10 $(args)

mutants: .venv/tools-ready  ## Plant mistakes and see which tests notice: make mutants only=ledger
	$(bin)/python tests/mutants/run.py $(only)

bench: .venv/bench-ready  ## Compare with peers: make bench only=noise
	$(bin)/python benchmarks/run.py $(only)

docs: .venv/docs-ready  ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(bin)/mkdocs build --strict --site-dir site

demo: .venv/demo-ready  ## Run the main job end to end on real data
	$(bin)/python examples/demo.py

clean:  ## Remove everything that was built
	rm -rf .venv .bench site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
