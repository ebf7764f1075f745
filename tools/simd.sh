#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unit tests, known answers and the comparison of paths under every instruction set that this processor has:
# tools/simd.sh [LEVEL...], default all. Ends with one line per level.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=(-p ringsmith-zq -p ringsmith-ntt -p ringsmith-rns -p ringsmith-rlwe -p ringsmith-bfv -p ringsmith-ckks)
levels=("$@")
[ ${#levels[@]} -gt 0 ] || levels=(portable neon avx2 avx512 ifma ifma-amd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cargo test --locked --quiet "${packages[@]}" --tests --no-run
summary=()
for level in "${levels[@]}"; do
  # A level that cannot be had stops the first test with a message; that is not a failure of this machine's tests.
  if ! RINGSMITH_SIMD=$level cargo test --locked --quiet -p ringsmith-zq --lib level_tests >"$log" 2>&1; then
    reason=$(grep -o "RINGSMITH_SIMD=.*" "$log" | head -1)
    if [[ $reason == *lacks* ]]; then
      summary+=("$level: not run, $reason")
      continue
    fi
    cat "$log" >&2
    exit 1
  fi
  start=$SECONDS
  if ! RINGSMITH_SIMD=$level cargo test --locked --quiet "${packages[@]}" --tests >"$log" 2>&1; then
    cat "$log" >&2
    echo "$level: FAILED" >&2
    exit 1
  fi
  passed=$(grep -oE '^test result: ok\. [0-9]+' "$log" | awk '{ total += $4 } END { print total + 0 }')
  summary+=("$level: $passed passed, $((SECONDS - start)) s")
done
printf '%s\n' "${summary[@]}"
