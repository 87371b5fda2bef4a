# make demo, make test, make lint, make bench, make docs, make soak, make fuzz. Set-up is done by whatever needs it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SHELL := /bin/bash
BENCH_PACKAGES := wrk valgrind redis-tools postgresql python3-xapian lazarus-doc-2.2 postgresql-doc-15 gimp-help-ru cmake-doc rust-web-doc \
  installation-guide-amd64 installation-guide-i386 libboost1.74-doc

.PHONY: help demo test test-short test-long lint bench bench-setup studies docs pictures site audit wheel wheel-check soak fuzz lock clean

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

# What the tests need of Debian: a browser, curl for the commands in the docs, a database server and network namespaces
# for many machines.
NEEDED := $(if $(shell command -v chromium),,chromium) $(if $(shell command -v curl),,curl) \
  $(if $(wildcard /usr/lib/postgresql/*/bin/postgres)$(shell command -v postgres),,postgresql) \
  $(if $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v ip),,iproute2)

$(VENV)/.tools: $(VENV)/.ready
ifneq ($(strip $(NEEDED)),)
	@apt=apt-get; [ $$(id -u) = 0 ] || apt="sudo apt-get"; $$apt update && $$apt install -y $(NEEDED)
endif
	@touch $@

COMPILED := hatch_build.py $(wildcard src/gossamer/compiled/*.pyx src/gossamer/compiled/*.pxd src/gossamer/compiled/*.h)

$(VENV)/.ready: pyproject.toml requirements.lock $(COMPILED)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Gossamer needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || { rm -rf $(VENV); \
	  apt=apt-get; [ $$(id -u) = 0 ] || apt="sudo apt-get"; $$apt update && $$apt install -y python3-venv && $(PYTHON) -m venv $(VENV); }
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

demo: $(VENV)/.ready ## crawl a small bundled web, offline, and search it
	$(BIN)/gossamer demo

test: lint test-short ## what must hold after each change, in minutes

# In the order of the folders: what mostly waits begins early; hence one more than cores.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

test-short: $(VENV)/.tools
	$(PYTEST) -m 'not soak and not long'

test-long: $(VENV)/.tools ## the rest: browsers, clusters, kills, faults, the commands of the documentation
	$(PYTEST) -m long

lint: $(VENV)/.ready ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fuzz: $(VENV)/.ready ## pages, feeds, dates, rules, URLs and fingerprints, some minutes: nothing may crash or take a second
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[fuzz]'
	$(BIN)/python -m pytest -q fuzz
	$(BIN)/python fuzz/run.py --seconds 60

soak: $(VENV)/.ready ## an hour at full load with kills (docs/soak.md), then 1,000 kills in small crawls
	$(BIN)/python tests/soak/run.py --for 1h
	$(BIN)/python -m pytest -m soak -n 3 tests/faults

bench-setup: $(VENV)/.ready ## what the benchmarks need beside the project
	@apt=apt-get; [ $$(id -u) = 0 ] || apt="sudo apt-get"; $$apt update && $$apt install -y nginx-light wget2 $(BENCH_PACKAGES)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/pip install --quiet --disable-pip-version-check 'newspaper4k>=0.9.6'
	$(BIN)/pip install --quiet --disable-pip-version-check 'readability-lxml>=0.8.4'

# QUICK=1 takes what is installed and needs no network.
bench: $(if $(QUICK),$(VENV)/.ready,bench-setup) ## figures into docs/figures.md, in hours; QUICK=1 in a quarter of one, ONLY=crawl,dates these
	$(BIN)/python bench/figures.py --run $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY))

OUT ?= lab-report

studies: $(VENV)/.ready ## what the policies bring, measured, in hours; STUDY=growth,merge runs these only, OPTIONS=--quick less
	$(BIN)/python -m studies all $(if $(STUDY),--only $(STUDY)) --out $(OUT) $(OPTIONS)

docs: $(VENV)/.ready ## the pages of docs/ that are made from the code
	for page in settings cli api metrics outcomes; do $(BIN)/python -m reference.pages $$page > docs/$$page.md || exit 1; done
	$(BIN)/python -m reference.flow README.md ARCHITECTURE.md
	$(BIN)/python -m reference.python_page docs/python.md
	$(BIN)/python -m reference.pages query < docs/query.md > docs/query.md.new
	mv docs/query.md.new docs/query.md

pictures: $(VENV)/.tools ## the pictures of README and docs, taken from the running demo
	$(BIN)/python tests/browser/pictures.py docs/pictures

site: docs ## the documentation as a website, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

audit: $(VENV)/.ready ## known vulnerabilities of what we depend on, and a list of it all (sbom.json, CycloneDX); asks the network
	$(BIN)/pip-audit --requirement requirements.lock --no-deps --disable-pip
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --of JSON -o sbom.json $(BIN)/python

wheel: $(VENV)/.ready ## a wheel for this system in dist/, with the compiled modules: it needs no compiler
	rm -rf dist && $(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	ls dist

wheel-check: $(VENV)/.tools ## the wheel in an empty environment: demo and tutorials work, without a network
	rm -rf .venv-wheel
	$(MAKE) wheel
	$(PYTHON) -m venv .venv-wheel && .venv-wheel/bin/pip install --quiet --disable-pip-version-check dist/gossamer-*.whl
	cd dist && unshare -rn sh -c 'ip link set lo up && ../.venv-wheel/bin/gossamer demo --no-serve'
	GOSSAMER_BIN=$(CURDIR)/.venv-wheel/bin $(BIN)/python -m pytest -q tests/docs -k "in_their_order and tutorial"
	rm -rf .venv-wheel

lock: ## requirements.lock from pyproject.toml, in a fresh environment
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/pip install --quiet --disable-pip-version-check '.[dev]'
	.venv-lock/bin/pip freeze --disable-pip-version-check --exclude gossamer > requirements.lock
	rm -rf .venv-lock

clean:
	rm -rf $(VENV) site sbom.json .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
