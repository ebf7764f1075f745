#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Format and lint everything; every tool runs, and the status says whether all were content.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0

step() {
    echo "lint: $*"
    "$@" || status=1
}

step cargo fmt --all --check
step cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
step ruff format --check --quiet .
step ruff check --quiet .
step mypy --no-error-summary
exit $status
