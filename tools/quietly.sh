#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command with all it prints in a log: `tools/quietly.sh "what it does" LOG COMMAND...`. One line tells what is
# done; on a terminal also how far it is, by the log's last line, and how long it took. If it fails, the log's end is
# shown.
set -uo pipefail
SECONDS=0
what=$1 log=$2
shift 2
mkdir -p "$(dirname "$log")"
if [ ! -t 1 ]; then echo "$what"; fi
"$@" >"$log" 2>&1 &
pid=$!
trap 'kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; exit 130' INT TERM
if [ -t 1 ]; then
    while kill -0 "$pid" 2>/dev/null; do
        last=$(tail -n 1 "$log" | tr -d '\r' | sed 's/^ *//')
        printf '\r\033[K%s' "$(printf '%s (%d s) %s' "$what" "$SECONDS" "$last" | cut -c "1-$(($(tput cols 2>/dev/null || echo 80) - 1))")"
        sleep 1
    done
    printf '\r\033[K'
fi
wait "$pid"
status=$?
if [ "$status" -ne 0 ]; then
    echo "$what: failed with status $status after $SECONDS s; the end of $log:"
    tail -n 40 "$log"
elif [ -t 1 ]; then
    echo "$what: $SECONDS s"
fi
exit "$status"
