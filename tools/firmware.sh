#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rust's target for the controller's firmware. Without it everything else works, and the tests of the controller are
# skipped.
set -uo pipefail
target=riscv32i-unknown-none-elf
rustup target add "$target" >/dev/null 2>&1 && exit 0
# A Rust that rustup does not manage may have the target.
[ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/$target" ] && exit 0
echo "setup: Rust's target $target is missing (rustup target add $target): no firmware, controller = \"none\" only" >&2
