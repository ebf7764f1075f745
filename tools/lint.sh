#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Format and lint everything; every tool runs, and the status says whether all were content.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
types=$(mktemp)
trap 'rm -f "$types"' EXIT

step() {
    echo "lint: $*"
    "$@" || status=1
}

# Types on one core while clippy, which follows the chain of crates, hardly needs a second.
mypy --no-error-summary >"$types" 2>&1 &
types_pid=$!
step cargo fmt --all --check
step cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
# Compiled only where they are asked for, so asked for.
step cargo clippy --locked --quiet --workspace --test secret_flow --test constant_time --test planted_race -- -D warnings
step ruff format --check --quiet .
step ruff check --quiet .
step python -m ringsmith.hw.lint_rtl
echo "lint: mypy --no-error-summary"
wait "$types_pid" || status=1
cat "$types"
exit $status
