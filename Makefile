# Needs Python 3.11 or newer and make; sets up everything else in this folder.
# Another Python than the first that fits on PATH: make test PYTHON=/path/to/python3

SHELL := /usr/bin/env bash
.DEFAULT_GOAL := help
.PHONY: help test demo test-long bench format docs lock clean
export PYTHON
# Tests and the demo start many processes: each would compile our source anew.
unexport PYTHONDONTWRITEBYTECODE

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' Makefile | column -t -s '|'

test: ## Set up and run the gate: format, lint, types, import contracts, tests
	@scripts/venv .venv-lint lint & scripts/venv .venv dev && wait $$!
	@scripts/check

demo: ## Set up and watch two agents' processes talk in a room
	@scripts/venv .venv run
	@.venv/bin/letagents demo

test-long: ## The tests that take longer than a gate may
	@scripts/venv .venv dev
	@scripts/venv .venv-fuzz fuzz
	@.venv/bin/python -m pytest -m long

bench: ## Measure, side by side with the bare thing, in an environment as users have it
	@scripts/venv .venv-bench bench
	@.venv-bench/bin/python -m tests.benchmarks

format: ## Put the code into its form
	@scripts/venv .venv dev
	@.venv/bin/ruff check --fix --quiet .
	@.venv/bin/ruff format --quiet .

docs: ## Write docs/rules.md and docs/how-to/tools.md anew from the code and the tests
	@scripts/venv .venv dev
	@scripts/rules
	@scripts/tools

lock: ## Write requirements/*.txt anew (scripts/lock --upgrade takes newer versions)
	@scripts/lock

clean: ## Remove what was set up here
	rm -rf .venv .venv-lint .venv-fuzz .venv-bench .mypy_cache .ruff_cache .pytest_cache \
	    .import_linter_cache .hypothesis build dist
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
