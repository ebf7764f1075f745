# SPDX-License-Identifier: Apache-2.0
"""A bootstrapping of CKKS beside other libraries: seconds, precision, bytes, time for each slot and level.

    python bench/bootstrapping.py [--degrees 32768 65536] [--repeats 2] [--only LIBRARY ...] [--json]

`make bench WHAT=bootstrapping` runs all of it, on one thread and one process at a time. It takes twenty minutes and
22 GiB of memory, and wants a machine that does nothing else. Ours and OpenFHE's messages are real numbers in all slots,
Lattigo's complex ones, poulpy's a cosine and a sine. All have 128 bits; a sparse secret stands in for the set's own
while the modulus is raised. Lattigo (built here, where Go is installed) has its default sets for that, OpenFHE's wheel
(CPython 3.10) its own choice of primes at n = 2^16, poulpy-ckks (nightly Rust) the fastest preset of each degree whose
keys fit 24 GiB. `ours-17` and `ours-20` are sets of ours that are planned to state an error of 2^-17 and 2^-20: as
exact as poulpy's and Lattigo's at n = 2^16. Each refreshes messages and compares what it decrypts; the least time of
the repeats counts. Levels are those left for the application. RINGSMITH_SIMD=avx2 holds ours and poulpy's to AVX2, the
others have no code for more. A peer that cannot be had is named and left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT, PEERS = HERE.parent, HERE / "peers"
sys.path.insert(0, str(PEERS))

from run import UnavailableError, build_lattigo, build_poulpy, openfhe_python, sh  # noqa: E402

ONE_THREAD = {"GOMAXPROCS": "1", "OMP_NUM_THREADS": "1"}
COLUMNS = (
    "library", "set", "n", "slots", "levels", "seconds", "us a slot and level", "average bits", "least bits",
    "stated bits", "keys sent MiB", "keys made in s", "peak MiB",
)  # fmt: skip


def ours(degree: int, repeats: int) -> list[str]:
    """Return the command of this repository's example."""
    example = ["-p", "ringsmith-ckks", "--example", "bootstrap"]
    sh(["cargo", "build", "--release", "--locked", *example], cwd=ROOT)
    binary = ROOT / "target" / "release" / "examples" / "bootstrap"
    memory = {1 << 15: "1536", 1 << 16: "6144"}[degree]
    return [str(binary), "--degree", str(degree), "--memory", memory, "--repeats", str(repeats), "--json"]


def planned(bits: int) -> Callable[[int, int], list[str]]:
    """Return what gives the command of this repository's example with a set that states these bits."""

    def command(degree: int, repeats: int) -> list[str]:
        if degree != 1 << 16:
            raise UnavailableError("at n = 32768 our set is as exact as Lattigo's")
        return [*ours(degree, repeats), "--bits", str(bits)]

    return command


def lattigo(degree: int, repeats: int) -> list[str]:
    """Return the command of Lattigo's program."""
    (peer,) = build_lattigo()
    return [*peer.command, "bootstrap", str(degree.bit_length() - 1), str(repeats)]


def openfhe(degree: int, repeats: int) -> list[str]:
    """Return the command of OpenFHE's wheel, which has no 128 bits at n = 2^15 with ten levels left."""
    if degree != 1 << 16:
        raise UnavailableError("its default reduction leaves no levels at n = 32768")
    return [openfhe_python(), str(PEERS / "python" / "openfhe_bootstrap.py"), "16", str(repeats)]


def poulpy(degree: int, repeats: int) -> list[str]:
    """Return the command of poulpy's program."""
    return [build_poulpy(), str(degree.bit_length() - 1), str(repeats)]


LIBRARIES: dict[str, Callable[[int, int], list[str]]] = {
    "ours": ours,
    "ours-17": planned(17),
    "ours-20": planned(20),
    "lattigo": lattigo,
    "openfhe": openfhe,
    "poulpy": poulpy,
}


def measured(name: str, degree: int, repeats: int) -> dict[str, Any] | None:
    """Return what a library's program prints; None, and the reason on standard error, where it cannot be had."""
    try:
        command = LIBRARIES[name](degree, repeats)
        found: dict[str, Any] = json.loads(sh(command, env=ONE_THREAD).splitlines()[-1])
    except UnavailableError as error:
        print(f"left out: {name} at n = {degree}: {error}", file=sys.stderr)
        return None
    return found


def cells(row: dict[str, Any]) -> list[str]:
    """Return a row as text."""
    each = row["seconds"] / row["slots"] / row["levels"] * 1e6
    stated = f"{row['stated_bits']:.1f}" if "stated_bits" in row else ""
    return [
        row["library"], row["set"], str(row["n"]), str(row["slots"]), str(row["levels"]), f"{row['seconds']:.2f}",
        f"{each:.1f}", f"{row['average_bits']:.1f}", f"{row['least_bits']:.1f}", stated,
        str(row["wire_bytes"] >> 20), f"{row['key_seconds']:.0f}", str(row["peak_bytes"] >> 20),
    ]  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="A bootstrapping of CKKS beside other libraries.")
    parser.add_argument("--degrees", type=int, nargs="+", choices=(1 << 15, 1 << 16), default=(1 << 15, 1 << 16))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=LIBRARIES, default=tuple(LIBRARIES))
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error(f"--repeats {options.repeats}: 1 or more")
    if not options.json:
        print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS), flush=True)
    for degree in options.degrees:
        for name in options.only:
            if row := measured(name, degree, options.repeats):
                print(json.dumps(row) if options.json else "| " + " | ".join(cells(row)) + " |", flush=True)


if __name__ == "__main__":
    main()
