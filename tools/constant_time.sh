#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Key generation, encoding, encryption, decryption and decoding of both schemes: do they branch on a secret, use one as
# an address, or take a time that depends on one? tools/constant_time.sh [flow|time], default both.
#
# flow: the release build under valgrind's memcheck with secrets declared uninitialised; portable and AVX2 (valgrind
#       knows no AVX-512).
# time: a statistical test in the manner of dudect on this processor's best path.
# Both have planted leaks to find.
set -euo pipefail
cd "$(dirname "$0")/.."
which=${1:-both}
host=$(rustc -vV | sed -n 's/^host: //p')
runner=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$host")_RUNNER
tests=(--release -p ringsmith-rlwe -p ringsmith-bfv -p ringsmith-ckks -p ringsmith-client)

if [ "$which" != time ]; then
  command -v valgrind >/dev/null || { echo "valgrind is missing: install the Debian package valgrind" >&2; exit 2; }
  cargo test --locked --quiet "${tests[@]}" --test secret_flow --no-run
  for level in portable avx2; do
    echo "== flow of secrets, $level"
    env RINGSMITH_SIMD="$level" "$runner=valgrind --quiet --num-callers=20 --suppressions=$PWD/tools/constant_time.supp" \
      cargo test --locked --quiet "${tests[@]}" --test secret_flow -- --ignored --nocapture --test-threads 1
  done
  # Valgrind's processor has no AVX-512: asking for it must end with a message there, not with an illegal instruction.
  echo "== a path that the processor lacks"
  if text=$(env RINGSMITH_SIMD=ifma "$runner=valgrind --quiet" \
    cargo test --locked --quiet "${tests[@]}" --test secret_flow -- --ignored --test-threads 1 2>&1); then
    echo "AVX-512 was accepted where there is none" >&2
    exit 1
  fi
  grep -m1 -o 'RINGSMITH_SIMD=ifma needs.*' <<<"$text"
fi
if [ "$which" != flow ]; then
  echo "== times"
  cargo test --locked --quiet --release -p ringsmith-bfv -p ringsmith-ckks --test constant_time -- --ignored --nocapture --test-threads 1
fi
