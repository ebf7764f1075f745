#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes requirements/*.txt from requirements/*.in: every package, those that packages need included, with the hashes of
# all its files, for each Python from 3.11 on and each platform. What is locked stays as it is;
# tools/lock.sh --upgrade renews it.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/apart.sh
# The index that pip is set up to use, if any, is the one to ask; its name stays out of the files.
if [ -z "${UV_DEFAULT_INDEX:-}" ]; then
  index=$(build/tools/bin/python -m pip config get global.index-url 2>/dev/null || true)
  [ -z "$index" ] || export UV_DEFAULT_INDEX=$index
fi
for group in core build run dev hw service examples tools; do
  echo "lock: requirements/$group.txt"
  build/tools/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --custom-compile-command "make lock" "$@" "requirements/$group.in" --output-file "requirements/$group.txt"
done
