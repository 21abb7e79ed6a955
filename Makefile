# Two commands matter: `make demo` and `make test`. Both set up first; a second set-up is instant.

PY ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps

export PYTHONHASHSEED ?= 0
# A process that may not keep what it has compiled compiles it again, and so does every one after it.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo fast test check fix bench lock clean

help:  ## say what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(STAMPS)/archive  ## make the environment: Python packages, Java, Spark's class archive

demo: setup  ## run scenarios/rfc77.yaml, in a closed loop and at a fixed rate, and print the comparisons
	$(BIN)/python run_sim.py scenarios/rfc77.yaml
	$(BIN)/python run_sim.py scenarios/rfc77_fixed_rate.yaml

# An option: units of a study then take half the CPU time; an edited source file runs as ever.
fast: setup $(STAMPS)/tools  ## compile the model with mypyc: two CPU minutes, and a C compiler
	$(BIN)/python -m analysis.pipeline.compiled_model

# A process a core, four at most; tests/conftest.py says which tests belong together.
test: setup $(STAMPS)/tools $(STAMPS)/test_tools  ## run every test
	$(BIN)/python -m pytest --numprocesses=auto --maxprocesses=4 --dist=loadgroup \
		--no-loadscope-reorder

check: setup $(STAMPS)/tools  ## format, lint, types, layers, spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

fix: setup $(STAMPS)/tools  ## format, and mend what a tool can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## measure the simulator's speed
	$(BIN)/python run_sim.py bench

# One file serves every Python from 3.11 on; what differs between them has markers.
LOCKED := pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --quiet \
	--default-index https://pypi.org/simple --no-config --custom-compile-command "make lock"

lock: $(STAMPS)/venv  ## write the lock files again, from requirements.txt and requirements-dev.txt
	$(BIN)/python -m pip install -qq --disable-pip-version-check uv==0.13.9
	$(BIN)/uv $(LOCKED) requirements.txt --output-file requirements.lock
	$(BIN)/uv $(LOCKED) requirements-dev.txt --constraints requirements.lock \
		--output-file requirements-dev.lock
	$(BIN)/uv $(LOCKED) .ci/s3_server.txt --output-file .ci/s3_server.lock

clean:  ## remove the environment and caches; results stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(STAMPS)/venv:
	$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; call make PY=python3.11")'
	test -x $(BIN)/python || $(PY) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes

$(STAMPS)/packages: requirements.lock $(STAMPS)/venv
	@echo "installing Python packages: a minute or two"
	$(PIP) -r requirements.lock
	@touch $@

$(STAMPS)/tools: requirements-dev.lock $(STAMPS)/packages
	@echo "installing what checking and testing need besides"
	$(PIP) -r requirements-dev.lock
	@touch $@

$(STAMPS)/java: .ci/java.sh | $(STAMPS)/venv
	sh .ci/java.sh
	@touch $@

# What tests drive besides: a browser, Prometheus' own checker, a server that speaks S3. Where they
# cannot be installed, the tests that need them are skipped, and say so.
$(STAMPS)/test_tools: .ci/test_tools.sh .ci/s3_server.lock | $(STAMPS)/venv
	-sh .ci/test_tools.sh $(VENV) && touch $@

# A faster start of the JVM; a study runs without it, so a failure here is no failure.
$(STAMPS)/archive: $(STAMPS)/packages $(STAMPS)/java
	-$(BIN)/python -m analysis.pipeline.class_archive
	@touch $@
