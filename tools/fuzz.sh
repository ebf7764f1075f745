#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes every decoder from valid objects on: tools/fuzz.sh [SECONDS per target, default 10] [TARGET...].
# Uses cargo-fuzz where it is installed (on stable Rust too),
# else builds the same targets with libFuzzer's flags by hand.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds=${1:-10}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for file in fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi
cargo run --locked --quiet --release --manifest-path ../Cargo.toml -p ringsmith-fuzz-targets --example seeds -- corpus
options=(-max_total_time="$seconds" -max_len=4096 -dict=objects.dict -verbosity=0 -print_final_stats=1)
# Sanitizer coverage is an unstable flag of an otherwise stable compiler.
export RUSTC_BOOTSTRAP=1
host=$(rustc -vV | sed -n 's/^host: //p')
by_hand() {
  local flags="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
  flags+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
  flags+=" -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
  RUSTFLAGS="$flags" cargo build --locked --quiet --release --target "$host" --bins
}
if cargo fuzz --version >/dev/null 2>&1; then
  cargo metadata --locked --format-version 1 >/dev/null # cargo-fuzz has no --locked of its own
  run() { cargo fuzz run "$1" --sanitizer none -- "${options[@]}"; }
else
  by_hand
  run() {
    mkdir -p "artifacts/$1"
    "${CARGO_TARGET_DIR:-target}/$host/release/$1" "corpus/$1" -artifact_prefix="artifacts/$1/" "${options[@]}"
  }
fi
for target in "${targets[@]}"; do
  if log=$(run "$target" 2>&1); then
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' <<<"$log") inputs, no failure"
  else
    echo "$log" >&2
    echo "$target: FAILED; the input is under fuzz/artifacts/$target" >&2
    exit 1
  fi
done
