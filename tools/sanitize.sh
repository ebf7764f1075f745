#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The engine's tests under sanitizers and Miri: tools/sanitize.sh [address|thread|miri|miri-schemes|short]...,
# default the first three.
#
# address: AddressSanitizer (out of bounds, use after free, leaks), portable and best path.
# thread:  ThreadSanitizer over everything that threads share; rebuilds the standard library.
# miri:    undefined behaviour in the storage of residues, portable path.
# miri-schemes: both schemes in the smallest ring, interpreted; many minutes.
# short:   AddressSanitizer on the storage of residues alone: part of `make test`, left out with a word without nightly.
#
# Needs a nightly toolchain with the components rust-src and miri, and installs what is missing where rustup is there.
# RINGSMITH_NIGHTLY names another toolchain than "nightly". Status 2: something is missing and cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."
toolchain=${RINGSMITH_NIGHTLY:-nightly}
nightly=+$toolchain
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(address thread miri)
# Whether it is there, without asking rustup to fetch it, and no older than what the crates need.
has_nightly() {
  local minor
  minor=$(RUSTUP_AUTO_INSTALL=0 rustc "$nightly" --version 2>/dev/null | sed -n 's/^rustc 1\.\([0-9]*\).*/\1/p')
  [ "${minor:-0}" -ge "$(sed -n 's/^rust-version = "1\.\([0-9]*\).*/\1/p' Cargo.toml)" ]
}
has_components() {
  has_nightly && [ -e "$(rustc "$nightly" --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ] \
    && cargo "$nightly" miri --version >/dev/null 2>&1
}
if [ "${parts[*]}" = short ]; then
  has_nightly || {
    echo "sanitize: not run, there is no nightly toolchain, or an old one"
    exit 0
  }
else
  has_nightly || rustup toolchain install "$toolchain" --profile minimal >/dev/null 2>&1 || true
  has_components || rustup component add --toolchain "$toolchain" rust-src miri >/dev/null 2>&1 || true
  has_components || {
    echo "sanitize: not run, a toolchain is missing:" \
      "rustup toolchain install $toolchain --component rust-src --component miri" >&2
    exit 2
  }
fi
host=$(rustc "$nightly" -vV | sed -n 's/^host: //p')
# Build products of instrumented code stay apart from the usual ones.
target=${CARGO_TARGET_DIR:-target}/sanitize
packages=(-p ringsmith-zq -p ringsmith-ntt -p ringsmith-rns -p ringsmith-rlwe -p ringsmith-bfv -p ringsmith-ckks)

sanitized() {
  local level=$1
  shift
  export RUSTFLAGS="-Zsanitizer=address" RINGSMITH_HUGE_PAGES=0 RINGSMITH_SIMD=$level
  # Tests ask for more memory than there is: they expect no memory, as from the system's allocator, not an end.
  export ASAN_OPTIONS="allocator_may_return_null=1"
  echo "== AddressSanitizer, ${level:-best path}"
  cargo "$nightly" test --locked --quiet --profile checked --target "$host" --target-dir "$target/address" "$@"
}

address() {
  for level in portable ""; do
    # The comparison of paths starts children for each of them: once is enough.
    sanitized "$level" "${packages[@]}" --tests -- --skip one_seed_gives --skip what_cannot
  done
}

short() {
  sanitized "" -p ringsmith-zq --lib -- aligned
}

thread() {
  # crossbeam orders memory with fences, which ThreadSanitizer does not see, unless it is told of the sanitizer.
  export RUSTFLAGS="-Zsanitizer=thread --cfg crossbeam_sanitize_thread" TSAN_OPTIONS="halt_on_error=1"
  local run=(cargo "$nightly" test --locked --quiet --profile checked -Zbuild-std --target "$host")
  run+=(--target-dir "$target/thread")
  echo "== ThreadSanitizer"
  "${run[@]}" -p ringsmith-bfv -p ringsmith-ckks --test shared
  "${run[@]}" -p ringsmith-rlwe --lib -- threads
  if "${run[@]}" -p ringsmith-rlwe --test planted_race -- --ignored >/dev/null 2>&1; then
    echo "the planted race was not found" >&2
    exit 1
  fi
  echo "the planted race was found"
}

interpreted() {
  export MIRIFLAGS="-Zmiri-disable-isolation" RUSTFLAGS="" RINGSMITH_SIMD=portable
  echo "== Miri, portable path: $*"
  cargo "$nightly" miri test --locked --quiet --target-dir "$target/miri" "$@"
}

miri() {
  interpreted -p ringsmith-zq --lib -- aligned level_tests
}

miri-schemes() {
  interpreted -p ringsmith-bfv -p ringsmith-ckks --test smallest_ring
}

for part in "${parts[@]}"; do
  case $part in
    address | thread | miri | miri-schemes | short) ("$part") ;;
    *)
      echo "no part $part: address, thread, miri, miri-schemes, short" >&2
      exit 2
      ;;
  esac
done
