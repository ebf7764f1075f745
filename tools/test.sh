#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lint and every test; ends with one line per part and the counts. A failing part does not hide another one.
# The Rust parts, which wait for the last crate of a chain, run beside the tests of Python, which wait for servers: one
# keeps the cores busy that the other leaves idle. The terminal shows the latter as they run, then the former.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=$(mktemp -d)
beside=
trap 'rm -rf "$logs"' EXIT
trap '[ -z "$beside" ] || kill -- -"$beside" 2>/dev/null; exit 130' INT TERM

# part NAME COMMAND...: run it; its output goes to the log NAME and on, its line of the summary to NAME.line.
part() {
    local name=$1 start=$SECONDS status=0 ok bad
    shift
    "$@" 2>&1 | tee "$logs/$name" || status=$?
    ok=$(count passed "$logs/$name")
    bad=$(count failed "$logs/$name")
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    printf '%-8s %6d passed %4d failed %5d s\n' "$name" "$ok" "$bad" $((SECONDS - start)) >"$logs/$name.line"
}

# Sum of the numbers before the word $1 on the closing lines of cargo test and pytest in file $2.
count() {
    sed 's/\x1b\[[0-9;]*m//g' "$2" | grep -E '^test result:|^=*[ ]*[0-9]+ (passed|failed).* in [0-9.]+s' \
        | grep -oE "[0-9]+ $1" | awk '{ total += $1 } END { print total + 0 }'
}

engine() {
    part lint tools/lint.sh
    # No crate has examples in its documentation: rustdoc would read all of them for nothing.
    part rust cargo test --locked --quiet --no-fail-fast --lib --bins --tests --examples
    part aarch64 tools/aarch64.sh short
    part sanitize tools/sanitize.sh short
}

set -m # the engine's part gets a process group, which an interrupt ends whole
engine >"$logs/engine" 2>&1 </dev/null &
beside=$!
set +m
part python .venv/bin/python -m pytest -n 2 --dist worksteal --durations 20 -m "not slow" \
    python rtl tests examples bench
wait "$beside"
beside=
cat "$logs/engine"

echo
cat "$logs"/{lint,rust,aarch64,sanitize,python}.line
awk '{ passed += $2; failed += $4 } END { print passed " passed, " failed " failed"; exit failed > 0 }' \
    "$logs"/{lint,rust,aarch64,sanitize,python}.line
