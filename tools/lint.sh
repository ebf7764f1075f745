#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Format and lint everything; the first complaint ends the run.
set -euo pipefail
cd "$(dirname "$0")/.."

step() {
    echo "lint: $*"
    "$@"
}

step cargo fmt --all --check
step cargo clippy --quiet --workspace --all-targets -- -D warnings
step ruff format --check --quiet .
step ruff check --quiet .
step mypy --no-error-summary
