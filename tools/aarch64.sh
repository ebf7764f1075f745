#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The engine for AArch64 on any machine: cross-compiled, run under qemu-user. tools/aarch64.sh [short|whole|count].
#
# short  known answers and the comparison of paths of zq, ntt and rns: part of `make test`, left out with a word where
#        the compiler or qemu is missing
# whole  (default) every test of zq, ntt, rns, rlwe, bfv and ckks
# count  instructions of a butterfly on the portable path and on NEON's, counted while whole transforms run
#
# Needs Debian's gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user (installed here by root) and Rust's target.
# Status 2: something is missing and cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
which=${1:-whole}
target=aarch64-unknown-linux-gnu
packages=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)
qemu=(qemu-aarch64 -L /usr/aarch64-linux-gnu)

has_tools() { command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; }
has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; }

if ! has_tools && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  { apt-get update -qq && apt-get install -y -qq "${packages[@]}"; } >/dev/null 2>&1 || true
fi
has_target || rustup target add "$target" >/dev/null 2>&1 || true
missing=
has_tools || missing="apt-get install ${packages[*]}"
has_target || missing="${missing:+$missing, }rustup target add $target"
if [ -n "$missing" ]; then
  echo "aarch64: not run, tools are missing: $missing" >&2
  [ "$which" = short ] || exit 2
  exit 0
fi
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="${qemu[*]}"
export RINGSMITH_RUNNER="${qemu[*]}" # tests that start themselves again

tests() { cargo test --locked --quiet --target "$target" "$@"; }

# counted LEVEL BITS DIRECTION TIMES: instructions of the whole program.
counted() {
  RINGSMITH_SIMD=$1 "${qemu[@]}" -plugin build/count_instructions.so "$program" "$2" 4096 "$3" "$4" 2>&1 >/dev/null \
    | sed -n 's/^instructions: //p'
}

# The difference between four transforms and two, for each of their butterflies: n/2 log2 n of them.
butterfly() {
  local two four
  two=$(counted "$1" "$2" "$3" 2)
  four=$(counted "$1" "$2" "$3" 4)
  awk "BEGIN { printf \"%.2f\", ($four - $two) / (2 * 2048 * 12) }"
}

case $which in
  short)
    tests -p ringsmith-zq -p ringsmith-ntt -p ringsmith-rns --lib -- \
      simd:: smallest up_to_2_pow_9 vector_loops known
    ;;
  whole)
    tests --profile checked --tests \
      -p ringsmith-zq -p ringsmith-ntt -p ringsmith-rns -p ringsmith-rlwe -p ringsmith-bfv -p ringsmith-ckks
    ;;
  count)
    mkdir -p build
    cc -shared -fPIC -O2 -o build/count_instructions.so tools/count_instructions.c
    cargo build --locked --quiet --release --target "$target" -p ringsmith-ntt --example count
    program=${CARGO_TARGET_DIR:-target}/$target/release/examples/count
    printf '%s\n' "| bits | direction | portable | neon | fraction |" "|---|---|---|---|---|"
    for bits in 45 50 60; do
      for direction in forward inverse; do
        portable=$(butterfly portable "$bits" "$direction")
        neon=$(butterfly neon "$bits" "$direction")
        echo "| $bits | $direction | $portable | $neon | $(awk "BEGIN { printf \"%.2f\", $neon / $portable }") |"
      done
    done
    ;;
  *)
    echo "aarch64: $which is none of short, whole, count" >&2
    exit 2
    ;;
esac
