#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lint, then every test; ends with one line per part and the counts. A failing part does not hide the next one.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
summary=()
passed=0
failed=0

# part NAME PASSED_PATTERN FAILED_PATTERN COMMAND...: run it, keep its output, add up the counts its lines report.
part() {
    local name=$1 start=$SECONDS status=0 ok bad
    shift
    "$@" 2>&1 | tee "$logs/$name" || status=$?
    ok=$(count passed "$logs/$name")
    bad=$(count failed "$logs/$name")
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    passed=$((passed + ok))
    failed=$((failed + bad))
    summary+=("$(printf '%-8s %6d passed %4d failed %5d s' "$name" "$ok" "$bad" $((SECONDS - start)))")
}

# Sum of the numbers before the word $1 on the closing lines of cargo test and pytest in file $2.
count() {
    sed 's/\x1b\[[0-9;]*m//g' "$2" | grep -E '^test result:|^=*[ ]*[0-9]+ (passed|failed).* in [0-9.]+s' \
        | grep -oE "[0-9]+ $1" | awk '{ total += $1 } END { print total + 0 }'
}

part lint tools/lint.sh
# No crate has examples in its documentation: rustdoc would read all of them for nothing.
part rust cargo test --locked --quiet --no-fail-fast --lib --bins --tests --examples
part python .venv/bin/python -m pytest -n 2 -m "not slow" python rtl tests examples bench

echo
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
