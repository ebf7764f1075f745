#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Check the system tools, make .venv, install the locked requirement groups named as arguments (core, build, run, dev,
# service, hw, examples): wheels only, each with the hash that its file names. Python compiles what is imported, when it
# is: all of it takes longer than the rest of the installation.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=${PATH//"$PWD/.venv/bin:"/} # the system's Python, also where a broken .venv stands

# One line that names what is missing and the Debian package that has it.
missing() {
    echo "setup: $1 is missing or too old; install it with: $2" >&2
    exit 2
}

# True when dotted version $1 is at least $2.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

find_python() {
    local candidate
    for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

check_tools() {
    python=$(find_python)
    [ -n "$python" ] || missing "Python 3.11 or later" "apt-get install python3"
    "$python" -c 'import ensurepip, venv' 2>/dev/null || missing "Python's venv module" "apt-get install python3-venv"
    local version
    version=$(cargo --version 2>/dev/null | cut -d' ' -f2) || true # a rustup without a default toolchain fails here too
    [ -n "$version" ] || missing "Rust 1.89 or later (cargo)" "apt-get install rustup && rustup default stable (Debian 13; before that rustup.rs)"
    at_least "$version" 1.89 || missing "Rust 1.89 or later (found $version)" "rustup update stable (Debian: apt-get install rustup)"
    command -v g++ >/dev/null || missing "g++" "apt-get install g++"
    command -v make >/dev/null || missing "make" "apt-get install make"
}

check_tools
# A virtual environment whose interpreter was removed or moved cannot be mended, only remade.
if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
    echo "setup: making .venv with $("$python" --version)"
    rm -rf .venv
    "$python" -m venv .venv
fi
for group in "$@"; do
    echo "setup: installing requirements/$group.txt"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: --no-compile \
        -r "requirements/$group.txt"
done
