# SPDX-License-Identifier: Apache-2.0
"""Sizes of keys and ciphertexts, and the peak memory of key generation, encryption, one product and decryption."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from run import Peer

# `nothing` is the program before it computes anything: the interpreter, the libraries.
SCHEMES = ("nothing", "bfv", "ckks")
OBJECTS = ("public_key", "relin_key", "rotation_key", "ciphertext")
KIB = 1024


def measure_memory(peers: Iterable[Peer]) -> list[dict]:
    """One row per library and scheme, each from a process of its own."""
    rows: list[dict] = []
    for peer in peers:
        print(f"sizes of {peer.name}", file=sys.stderr, flush=True)
        for scheme in peer.schemes:
            done = subprocess.run([*peer.memory, scheme], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                rows.append(json.loads(done.stdout))
            else:
                print(f"  left out: {scheme}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    started = {row["library"]: row["peak_rss_bytes"] for row in rows if row["scheme"] == "nothing"}
    return [{**row, "start_rss_bytes": started.get(row["library"], 0)} for row in rows if row["scheme"] != "nothing"]


def cell(size: dict) -> str:
    """`memory / serialized` in KiB; `-` where the library does not say."""
    parts = (size["memory_bytes"], size["serialized_bytes"])
    return " / ".join("-" if part is None else f"{part / KIB:.0f}" for part in parts)


def print_memory(rows: list[dict]) -> None:
    """One line per library and scheme."""
    if not rows:
        return
    table = Table(title="KiB, in memory / as bytes; peak of the process, and what it had before it computed")
    for name in ("scheme", "n", "library", *(name.replace("_", " ") for name in OBJECTS), "peak", "start"):
        table.add_column(name, justify="left" if name in ("scheme", "library") else "right")
    for row in sorted(rows, key=lambda row: (row["scheme"], row["library"])):
        sizes = [cell(row["objects"][name]) for name in OBJECTS]
        process = [f"{row[key] / KIB:.0f}" for key in ("peak_rss_bytes", "start_rss_bytes")]
        table.add_row(row["scheme"], str(row["n"]), row["library"], *sizes, *process)
    Console(width=140).print(table)
