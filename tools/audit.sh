#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Known vulnerabilities, licences and sources of everything that is locked. Needs the advisory databases of PyPI and
# RustSec, and cargo-deny for the Rust side.
# Exit status: 0 nothing found, 1 something found, 2 some part could not be looked at.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# outcome PART STATUS [UNREACHABLE]: say how a part ended; a text in its log tells a database that was out of reach.
outcome() {
  local away=${3:-}
  # Behind a mirror of PyPI that knows nothing about packages, pip-audit is content to skip them.
  [ "$2" -ne 0 ] || away="could not be audited"
  if [ -n "$away" ] && grep -qE "$away" "$log"; then
    echo "audit: $1: NOT CHECKED, the advisory database is out of reach: $(grep -oE "$away" "$log" | head -1)" >&2
    [ "$status" -eq 1 ] || status=2
  elif [ "$2" -eq 0 ]; then
    echo "audit: $1: nothing found"
  else
    cat "$log" >&2
    echo "audit: $1: FOUND something" >&2
    status=1
  fi
}

if tools/apart.sh; then
  for group in core build run dev hw service examples tools; do
    build/tools/bin/pip-audit --disable-pip --require-hashes --progress-spinner off --timeout 20 \
      -r "requirements/$group.txt" >"$log" 2>&1
    outcome "requirements/$group.txt" $? "ConnectionError|ServiceError|ConnectTimeout|Max retries|HTTPError|Failed to resolve"
  done
else
  echo "audit: requirements: NOT CHECKED, the tools of requirements/tools.txt cannot be installed" >&2
  status=2
fi

# Built here once where it is missing: some minutes.
deny=0.20.2
if ! cargo deny --version >/dev/null 2>&1; then
  cargo install --locked --quiet --root build/cargo-deny "cargo-deny@$deny" >"$log" 2>&1 || tail -n 3 "$log" >&2
  PATH="$PWD/build/cargo-deny/bin:$PATH"
fi

if cargo deny --version >/dev/null 2>&1; then
  for manifest in Cargo.toml fuzz/Cargo.toml; do
    cargo deny --locked --manifest-path "$manifest" --config deny.toml check bans licenses sources >"$log" 2>&1
    outcome "$manifest: licences, bans, sources" $?
    cargo deny --locked --manifest-path "$manifest" --config deny.toml check advisories >"$log" 2>&1
    outcome "$manifest: advisories" $? "failed to fetch|failed to (load|open|update).*advisor|unable to fetch"
  done
else
  echo "audit: Cargo.lock: NOT CHECKED, cargo-deny is missing and cannot be installed: cargo install --locked cargo-deny@$deny" >&2
  [ "$status" -eq 1 ] || status=2
fi
exit "$status"
