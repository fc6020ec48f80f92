# Every command of the README. Each sets up what it needs in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --quiet --disable-pip-version-check
CORE := $(wildcard core/src/* core/include/puforest/*) CMakeLists.txt
PACKAGE := $(shell find src -type f -not -name '*.pyc')
CPP := $(wildcard core/src/* core/include/puforest/* core/tests/*)
PYTEST := $(BIN)/pytest -n auto --dist worksteal tests --pyargs puforest

.PHONY: demo test test-python test-core lint format coverage clean
.PHONY: fuzz attack reproduce leaderboard
.PHONY: bench bench-report bench-scale bench-track bench-prior bench-calibration bench-propensity

demo: $(VENV)/installed
	$(BIN)/puforest demo build/demo --force

test: lint test-core test-python

test-python: $(VENV)/installed-dev
	$(PYTEST) --cov --cov-report=term

# The C++ tests plain, under AddressSanitizer and UBSan, and under ThreadSanitizer.
test-core: build/core/plain/passed build/core/address,undefined/passed build/core/thread/passed

build/core/%/passed: $(CPP) CMakeLists.txt $(VENV)/tools
	mkdir -p $(@D)
	$(BIN)/cmake -G Ninja -S . -B $(@D) -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DPUFOREST_PYTHON=OFF -DPUFOREST_TESTS=ON -DPUFOREST_SANITIZE=$(filter-out plain,$*) \
	  > $(@D)/log || { cat $(@D)/log; exit 1; }
	$(BIN)/cmake --build $(@D) > $(@D)/log || { cat $(@D)/log; exit 1; }
	$(@D)/core_tests
	touch $@

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(CPP)

format: $(VENV)/tools
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

# Lines and branches of the package and of the core that the Python and C++ tests reach. The tests
# of limits are left out: with counters in every branch they take many minutes.
coverage: $(VENV)/installed-dev
	rm -rf build/coverage
	$(PIP) install --no-build-isolation --no-deps --target build/coverage/site \
	  -Cbuild-dir=build/coverage/python -Ccmake.define.PUFOREST_COVERAGE=ON .
	PYTHONPATH=build/coverage/site $(PYTEST) --ignore tests/test_limits.py --cov --cov-report=term
	$(BIN)/cmake -G Ninja -S . -B build/coverage/core -DPUFOREST_PYTHON=OFF -DPUFOREST_TESTS=ON \
	  -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DPUFOREST_COVERAGE=ON > build/coverage/log
	$(BIN)/cmake --build build/coverage/core > build/coverage/log
	build/coverage/core/core_tests
	cd build/coverage && ../../$(BIN)/gcovr --root ../.. --filter ../../core/src --filter ../../core/include \
	  --exclude-throw-branches --merge-lines --print-summary .

# Damage 100,000 files of all kinds and read them; those that fail are kept in build/fuzz.
# ARGS="--files 5000 --kind csv --seed 1" does less, --start goes on where an earlier run stopped.
fuzz: $(VENV)/installed-dev
	PYTHONPATH=tests $(BIN)/python -m fuzz $(ARGS)

# Stop commands at 200 random moments, and let disks and memory run out at as many points each.
attack: $(VENV)/installed-dev
	PYTHONPATH=tests $(BIN)/python -m fuzz.interrupts
	PYTHONPATH=tests $(BIN)/python -m fuzz.exhaustion

# The paper's tables and figures again, beside its numbers; ARGS="--only tree_methods" runs one of
# them. Goes on where an earlier run stopped.
DATA ?= $(PUFOREST_DATA)
reproduce: $(VENV)/installed-experiments
	$(BIN)/python -m experiments.reproduce $(if $(DATA),--data "$(DATA)") $(ARGS)

# Methods over data sets, scenarios and numbers of labeled rows.
leaderboard: $(VENV)/installed-experiments
	$(BIN)/python -m experiments.leaderboard $(if $(DATA),--data "$(DATA)") $(ARGS)

# puforest beside others, taking turns; DATA is the folder of the published data sets. Goes on where
# an earlier run stopped. ARGS go to the script.
bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.compare $(if $(DATA),--data "$(DATA)") $(ARGS)
	$(BIN)/python -m benchmarks.report

# Tables, chart and the README's part out of the results that are there.
bench-report: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.report $(ARGS)

# How time and memory grow with the number of rows.
bench-scale: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.scale $(ARGS)

# Estimates of the prior, calibrated probabilities and propensities, beside the truth.
bench-prior bench-calibration bench-propensity: bench-%: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.$* $(if $(DATA),--data "$(DATA)") $(ARGS)

# Instructions of fixed cases, added to their history; needs valgrind.
bench-track: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.track $(ARGS)

$(VENV)/pip:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	touch $@

# As a user installs it: needs a compiler, brings everything else.
$(VENV)/installed: $(VENV)/pip pyproject.toml $(CORE) $(PACKAGE)
	$(PIP) install '.[cli]'
	touch $@

# With those that it is compared with.
$(VENV)/installed-bench: $(VENV)/installed
	$(PIP) install --group bench
	touch $@

$(VENV)/installed-experiments: $(VENV)/installed
	$(PIP) install --group experiments
	touch $@

$(VENV)/tools: $(VENV)/pip pyproject.toml
	$(PIP) install --group dev
	touch $@

# The same package, built in build/python, so that the next build compiles only what changed.
$(VENV)/installed-dev: $(VENV)/tools pyproject.toml $(CORE) $(PACKAGE)
	$(PIP) install --no-build-isolation -Cbuild-dir=build/python .
	touch $@

clean:
	rm -rf build $(VENV)
