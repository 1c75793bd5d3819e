# make run     the whole way on the built-in corpus; ends by naming the page it wrote
# make test    the unit tests
# make check   style, types and the direction of the imports
# make slow    the tests that take longer
#
# Each target first makes the environment in .venv and installs into it, when pyproject.toml or
# constraints.txt changed since. More words for the command go into ARGS:
#
#     make run ARGS="--preset nano -o runs/first"
#     make test ARGS="tests/models -x"

PYTHON ?= python3
ARGS ?=

python := .venv/bin/python
stamp := .venv/installed

# An environment does not survive when the checkout is moved, so the stamp says where it stood.
ifneq ($(shell cat $(stamp) 2>/dev/null),$(CURDIR))
moved := moved
endif

.PHONY: run test check slow install moved

run: $(stamp)
	@$(python) -m headcount run $(ARGS)

test: $(stamp)
	@$(python) -m pytest -n 2 $(ARGS)

slow: $(stamp)
	@$(python) -m pytest -n 2 -m slow $(ARGS)

check: $(stamp)
	$(python) -m ruff check
	$(python) -m ruff format --check
	$(python) -m mypy
	.venv/bin/lint-imports

install: $(stamp)

$(stamp): pyproject.toml constraints.txt $(moved)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "headcount needs Python 3.11 or newer; name one, as in: make PYTHON=python3.12 run"; \
	    exit 1; }
	@echo "installing into .venv, once; this takes a few minutes"
	@$(PYTHON) -m venv .venv
	@$(python) -m pip install --quiet -c constraints.txt -e ".[dev]"
	@ln -sfn "$(CURDIR)" .venv/headcount
	@printf '%s\n' "$(CURDIR)" > $(stamp)
