# Two commands matter: `make demo` and `make test`. Both set up first; a second set-up is instant.

PY ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps

export PYTHONHASHSEED ?= 0

.DEFAULT_GOAL := help
.PHONY: help setup demo fast test check fix bench clean

help:  ## say what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(STAMPS)/archive  ## make the environment: Python packages, Java, Spark's class archive

demo: setup  ## run scenarios/rfc77.yaml, in a closed loop and at a fixed rate, and print the comparisons
	$(BIN)/python run_sim.py scenarios/rfc77.yaml
	$(BIN)/python run_sim.py scenarios/rfc77_fixed_rate.yaml

# An option: units of a study then take half the CPU time; an edited source file runs as ever.
fast: setup  ## compile the model with mypyc: three CPU minutes, and a C compiler
	$(BIN)/python -m analysis.pipeline.compiled_model

# A process a core, four at most; tests/conftest.py says which tests belong together.
test: setup $(STAMPS)/test_tools  ## run every test
	$(BIN)/python -m pytest --numprocesses=auto --maxprocesses=4 --dist=loadgroup \
		--no-loadscope-reorder

check: setup  ## format, lint, types, layers, spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

fix: setup  ## format, and mend what a tool can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## measure the simulator's speed
	$(BIN)/python run_sim.py bench

clean:  ## remove the environment and caches; results stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(STAMPS)/venv:
	$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; call make PY=python3.11")'
	test -x $(BIN)/python || $(PY) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/packages: requirements.txt requirements-dev.txt $(STAMPS)/venv
	@echo "installing Python packages: a minute or two"
	$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements-dev.txt
	@touch $@

$(STAMPS)/java: .ci/java.sh | $(STAMPS)/venv
	sh .ci/java.sh
	@touch $@

# What tests drive besides: a browser, Prometheus' own checker. Where they cannot be installed, the
# tests that need them are skipped, and say so.
$(STAMPS)/test_tools: .ci/test_tools.sh | $(STAMPS)/venv
	-sh .ci/test_tools.sh && touch $@

# A faster start of the JVM; a study runs without it, so a failure here is no failure.
$(STAMPS)/archive: $(STAMPS)/packages $(STAMPS)/java
	-$(BIN)/python -m analysis.pipeline.class_archive
	@touch $@
