#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times `make run` in a fresh clone of this commit, as a newcomer runs it: nothing built, nothing of this folder used.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet . "$folder/ringsmith"
cd "$folder/ringsmith"
unset CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR VIRTUAL_ENV PYTHONPATH MAKEFLAGS MAKELEVEL MFLAGS
time make run
