# Two commands do everything on a fresh machine: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RUNS := $(VENV)/.runs
JOBS ?= 2

# Compiled modules are kept, also where the environment forbids it: tests start the gateway and the commands as processes
# of their own, and each of them would compile the whole package again.
export PYTHONDONTWRITEBYTECODE =

.PHONY: $(shell grep -hoE '^[a-z][a-z0-9-]*:' $(MAKEFILE_LIST) | tr -d ':')

help:  ## Show this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

setup: $(READY)  ## Create .venv with the package and what its development needs

define a_python
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dragoman needs Python 3.11 or later. Name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
endef

$(READY): pyproject.toml
	$(a_python)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(RUNS)

$(RUNS): pyproject.toml
	$(a_python)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

run: $(RUNS)  ## Start the gateway on the built-in rehearsal: clients can be pointed at it, browsers too
	@$(BIN)/dragoman serve

demo: $(RUNS)  ## Play one tool cycle between all pairs of dialects, without a key
	@$(BIN)/dragoman demo

show: $(RUNS)  ## Show one agent conversation in all dialects, with its losses
	@$(BIN)/dragoman show

test: lint types layers unit unit-without-memory  ## Set up, then lint, types, layers and tests

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy
	$(BIN)/basedpyright --pythonpath $(BIN)/python

layers: $(READY)
	$(BIN)/lint-imports --no-logo

unit: $(READY)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# Everything that is there only for speed is off: laws, golden files, cases, recordings, generated documents and digests
# hold without it.
# Left out: tests that turn the memory on and off themselves to compare both ways, and the slow test of bounds.
WITHOUT_MEMORY := $(addprefix tests/,manifest property generated golden conformance/test_library.py recorded)
BOTH_WAYS := $(addprefix tests/property/test_,growing_histories.py frame_fast_paths.py plain.py requests.py)

unit-without-memory: $(READY)
	DRAGOMAN_FAST=0 HYPOTHESIS_PROFILE=fewer $(BIN)/python -m pytest $(WITHOUT_MEMORY) \
	  $(addprefix --ignore ,$(BOTH_WAYS) tests/property/test_bounds.py) -n $(JOBS) --dist worksteal

CORE_UNITS := $(addprefix tests/unit/,canon codec dialects facts fast lint repair seals translate) $(wildcard tests/unit/test_*.py)
CORE_TESTS := $(CORE_UNITS) tests/golden tests/pairs tests/regressions tests/seals tests/contract tests/property tests/conformance/test_library.py \
  tests/lint tests/unit/gateway/endpoints tests/unit/gateway/http/test_repeated_request_heads.py \
  tests/unit/transport/test_response_head_reader.py tests/repo/test_toy_endpoints.py

coverage: $(READY)  ## Coverage of the core packages, each with a floor (slow; the report is build/coverage/html/index.html)
	rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/coverage run -m pytest -n $(JOBS) --dist worksteal $(CORE_TESTS) --ignore tests/property/test_bounds.py
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet --directory build/coverage/html
	$(BIN)/python -m tests.repo.coverage_floors

format: $(READY)  ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

conform: $(RUNS)  ## Run the conformance cases against the library
	$(BIN)/dragoman conform

golden: $(READY)  ## Rewrite the conformance cases from their sources, the golden files and the matrix; review the diff
	$(BIN)/python -m conformance.source
	$(BIN)/python -m tests.golden

docs: $(READY)  ## Rewrite the generated pages of the documentation
	$(BIN)/python -m docs.generate

site: $(READY)  ## Build the documentation as a site: build/site-source/site/index.html
	$(BIN)/python -m docs.build_site

changes: $(READY)  ## Print the next section of the changelog, gathered from changes.d
	$(BIN)/python changes.d/release.py

release: $(READY)  ## Write that section for VERSION into CHANGELOG.md and set the version; docs/releasing.md has the recipe
	$(if $(VERSION),,$(error Say which version: make release VERSION=0.2.0))
	$(BIN)/python changes.d/release.py $(VERSION)

bench: $(READY)  ## Cost of translation, against JSON libraries and (after bench-peers) other translators
	$(BIN)/python -m bench.translate

bench-recorded: $(READY)  ## Cost of translation at first sight: recorded traffic, each exchange once
	$(BIN)/python -m bench.recorded

bench-convert: $(READY)  ## Lines a second and core of dragoman convert, beside orjson and (after bench-peers) other translators
	$(BIN)/python -m bench.convert

bench-gateway: $(READY)  ## Cost of the gateway between wrk and a scripted upstream, beside the peers that are installed
	$(BIN)/python -m bench.gateway

doubling: $(READY)  ## Look for work that grows faster than the document, in every list and nesting (more than an hour)
	$(BIN)/python -m bench.doubling

same: $(READY)  ## Translate all documents with the library of commit BASE too, and show where the outcomes differ
	$(BIN)/python -m tests.manifest.compare $(BASE)

kills: $(READY)  ## Kill dragoman convert at KILLS random moments (50), and compare the output with an unbroken run
	$(BIN)/python -m tests.unit.convert.killed_conversions --kills $(or $(KILLS),50)

ray:  ## Install Ray, an S3 server, datasets and Spark into .venv-ray; compare their conversions with those of this machine alone
	$(PYTHON) -m venv .venv-ray
	.venv-ray/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[ray]' -r tests/unit/convert/cluster.txt
	.venv-ray/bin/python -m pytest tests/unit/convert/test_ray.py tests/unit/convert/test_cluster_page.py

facts: $(READY)  ## Count which facts of ../shared/wire arrive in each other dialect, are reported as lost, or vanish
	$(BIN)/python -m bench.facts

bench-peers:  ## Install what the benchmarks compare with: .venv-bench, and with npm build/peers
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -r bench/peers.txt
	if command -v npm >/dev/null; then npm install --prefix build/peers --no-audit --no-fund --silent @portkey-ai/gateway@1.15.2; fi

test-wheel:  ## Build sdist and wheel; install, upgrade, try and remove them on every Python of this machine
	$(PYTHON) -m tests.repo.wheel_check

e2e-older: $(READY)  ## Install one older major of each SDK into an environment of its own, and run the sessions with them too
	$(PYTHON) -m venv .venv-older
	.venv-older/bin/python -m pip install --quiet --disable-pip-version-check -r tests/e2e/older.txt
	$(BIN)/python -m pytest tests/e2e/test_sessions.py

soak: $(READY)  ## Ten minutes of mixed dialects, tenants and faults through the gateway; MINUTES=1 for a short one
	$(BIN)/python -m tests.soak --minutes $(or $(MINUTES),10)

browser: $(READY)  ## Test the page in Debian's Chromium (installs the package chromium where apt may); part of `make test` too
	command -v chromium >/dev/null || apt-get install --yes --no-install-recommends chromium
	$(BIN)/python -m pytest tests/browser

screenshots: $(READY)  ## Take the pictures of the page for the documentation again (needs Chromium)
	$(BIN)/python -m tests.browser.screenshots

many-exchanges: $(READY)  ## Measure the page with COUNT exchanges, 1000 by default (needs Chromium)
	$(BIN)/python -m tests.browser.many_exchanges $(or $(COUNT),1000)

define install_langchain
	mkdir -p build/agents && $(PYTHON) -m venv build/agents/langchain
	build/agents/langchain/bin/pip install --quiet --disable-pip-version-check -r tests/agents/langchain.txt
endef

langchain: $(READY)  ## Install LangChain into build/agents/langchain, and run its standard tests of chat models on the rehearsal
	$(install_langchain)
	DRAGOMAN_AGENTS=build/agents $(BIN)/python -m pytest tests/agents/test_langchain.py

agents: $(READY)  ## Install coding agents by npm and pip into build/agents (2 GB) and let them work through the gateway
	mkdir -p build/agents && cp tests/agents/package.json build/agents/
	npm install --prefix build/agents --no-audit --no-fund
	$(PYTHON) -m venv build/agents/aider && build/agents/aider/bin/pip install --quiet --disable-pip-version-check aider-chat==0.86.2
	$(PYTHON) -m venv build/agents/llm && build/agents/llm/bin/pip install --quiet --disable-pip-version-check llm==0.36
	$(install_langchain)
	DRAGOMAN_AGENTS=build/agents $(BIN)/python -m pytest tests/agents -n $(JOBS) --dist worksteal

mcp-conformance: $(READY)  ## Install the MCP conformance suite by npm into build/mcp-conformance, and run our client and server against it
	npm install --prefix build/mcp-conformance --no-audit --no-fund @modelcontextprotocol/conformance@0.2.0-alpha.12 node@22
	$(BIN)/python -m pytest tests/e2e/test_mcp_suite.py -n $(JOBS)

clean:  ## Remove what the other commands made
	rm -rf $(VENV) .venv-bench .venv-older .venv-ray build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
