# Needs Python 3.11 to 3.13, make and a package registry; nothing else, and no root.

# Any name may be a version manager's shim that does not run: take the first that really is a fitting Python.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
INSTALLED := .venv/installed

.PHONY: demo test run lint bench chaos crash lock

demo: $(INSTALLED)
	$(BIN)/ikkai demo

test: lint
	$(BIN)/pytest tests/architecture -s
	$(BIN)/pytest -n 2 --dist loadfile --ignore tests/architecture

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

run: $(INSTALLED)
	$(BIN)/ikkai up --sandbox

bench: $(INSTALLED)
	$(BIN)/python -m tests.benchmarks

crash: $(INSTALLED)
	$(BIN)/pytest tests/crash

chaos:
	@echo "later: chaos comes with the chapter on proof; make crash kills workers at every step"

$(INSTALLED): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "ikkai needs Python 3.11, 3.12 or 3.13: make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# Needs the tool uv. Hashes pin the packages; no address is written down.
lock:
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --upgrade --output-file requirements.lock
