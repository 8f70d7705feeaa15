# Everything is run through this file: `make` alone lists the targets.
# Needed on the machine: make, and Python 3.11 or newer with its venv module.

PYTHON ?= python3
BASE ?= HEAD~1
PYTEST_FLAGS ?=
WORKERS ?= auto
SEED ?= 1
COUNT ?= 20
PKG ?=
LONG ?=
DOCS ?= dist/docs

VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif

# Installed once, and again when pyproject.toml changes.
PLAY := $(VENV)/.play-installed
DEVELOP := $(VENV)/.develop-installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR: # a Python without its venv module leaves half of an environment
.PHONY: help setup install develop demo test check mutants long bench learn-smoke compare screenshots lint build \
	package check-package windows windows-zip onefile wheels site release dist clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(PLAY): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[build,tools,board]'
	@touch $@

$(DEVELOP): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(PLAY) $@

# The compiler itself knows whether the kernel is fresh, which takes a tenth of a second.
setup: $(PLAY) ## install the commands into .venv and compile the kernel for this machine
	@$(BIN)/numoku build

install: $(DEVELOP) ## install all that development needs, and compile nothing yet

develop: setup $(DEVELOP) ## set up, and install what tests and checks need

demo: ## watch one game of the engine against itself
	@test -e $(PLAY) || echo "The first time this sets up .venv and compiles the kernel: about a minute."
	@$(MAKE) --no-print-directory setup
	@$(BIN)/numoku demo

# What looks at a clock runs alone, after the others. Status 5: the flags leave no such test.
test: develop ## run the whole test suite, on all cores: WORKERS=1 for one
	@$(BIN)/python -m tests.suite --workers $(WORKERS) $(PYTEST_FLAGS)

check: develop ## run the tests that concern one package, in under a minute: make check PKG=protocol
	@$(BIN)/python -m tests.check $(PKG)

mutants: develop ## put COUNT random faults by SEED into a copy, of PKG or all, and show what no test notices
	@$(BIN)/python -m lab.mutants $(SEED) $(COUNT) $(PKG)

long: develop ## run what takes hours: LONG=tests, claims, lines or games; all without it
	$(BIN)/python -m tests.suite long $(LONG)

bench: setup ## measure the speed and print the signature of the search
	@$(BIN)/numoku bench

learn-smoke: setup ## learn on a tiny budget: games, a network, and a match
	@$(BIN)/python -m lab.learn_smoke

compare: setup ## compare speed and signature with another revision: make compare BASE=rev
	@$(BIN)/python build/compare.py $(BASE)

screenshots: develop ## take the pictures of the board that the documents show (needs chromium)
	$(BIN)/python build/screenshots.py

lint: $(DEVELOP) ## check style and types; no kernel is needed for it
	$(BIN)/ruff check .
	$(BIN)/mypy

build: $(PLAY) ## compile the kernels of every platform and level into dist/kernels
	$(BIN)/python build/shipping.py dist/kernels

# These build the kernels they need, all in one go: half of that work is the same for all.
package: $(DEVELOP) ## build the ZIP for tournaments on this platform, into dist
	rm -f dist/*.zip dist/*.zip.sha256
	$(BIN)/python build/package.py dist
	$(BIN)/python build/report.py dist/*.zip

check-package: $(DEVELOP) ## test the ZIP in dist as a tournament uses it
	NUMOKU_PACKAGE=dist $(BIN)/python -m pytest $(PYTEST_FLAGS) tests/build/test_package.py

# Wine runs a Python for Windows there, which is put together once, in the user's cache.
windows: $(DEVELOP) ## build the ZIP for Windows on Linux and test it, where wine is installed
	$(BIN)/python build/windows.py dist

windows-zip: $(DEVELOP)
	$(BIN)/python build/windows.py dist --build-only

onefile: $(DEVELOP) ## build a single program instead, which starts later: see docs/packaging.md
	$(BIN)/python build/package.py dist/onefile --onefile

wheels: $(DEVELOP) ## build a wheel for every platform, and the sdist, into dist
	rm -f dist/*.whl dist/*.tar.gz
	$(BIN)/python build/wheels.py dist

site: $(DEVELOP) ## build the board as a site of files alone, with the engine in it, into dist/site
	$(BIN)/python build/website.py dist/site

docs: $(DEVELOP) ## build the documents as a site, with a generated reference, into dist/docs
	@$(BIN)/python build/docs.py $(DOCS)

release: ## attach what is in dist to the release of a tag, with the tool gh: make release TAG=v1
	gh release view "$(TAG)" >/dev/null 2>&1 || gh release create "$(TAG)" --verify-tag --notes ""
	gh release upload "$(TAG)" dist/*.zip dist/*.sha256 dist/*.whl dist/*.tar.gz --clobber

dist: wheels package windows-zip ## build everything that is released into dist, and measure it

clean: ## remove what was built, but not .venv
	rm -rf .kernels dist pbrain_engine/native/lib *.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find pbrain_engine tests build -name __pycache__ -type d -exec rm -rf {} +
