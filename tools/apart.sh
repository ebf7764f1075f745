#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the locked tools that make and audit lock files into build/tools, apart from .venv.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cmp -s requirements/tools.txt build/tools/locked.txt; then
  rm -rf build/tools
  .venv/bin/python -m venv build/tools
  build/tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
    -r requirements/tools.txt
  cp requirements/tools.txt build/tools/locked.txt
fi
