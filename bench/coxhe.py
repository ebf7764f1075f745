# SPDX-License-Identifier: Apache-2.0
"""coxHE's Table III beside ours: the kernel its figures match (g), at its degree, primes, butterflies and board.

Each of the twelve points has two data primes and a special one of the length given, n and P of the table; the scale is
the largest that the compiler takes, a whole number of bits. What the table leaves open (lanes, slots, ...) is searched.
`same` is the packing of the paper, 400 key switches, `ours` all rows in one ciphertext. The error is the largest of the
kernel's 100 results on the CPU, whose residues are those of every engine; security counts the special prime.

With --space BOARD its own space of 1,410 points, five degrees, primes of 14 to 60 bits, 1 to 32 butterflies, at 128
bits of security and the kernel's tolerance, what it leaves open searched: how many do, and how long it takes.

    .venv/bin/python bench/coxhe.py [--json] [--space BOARD [--packing published]]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ringsmith.cli.common import load_kernels
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.parameters import Candidate, Refused, candidates, request_of
from ringsmith.explore.search import Search, explore, packed
from ringsmith.explore.space import values_with
from ringsmith.explore.store import Results
from ringsmith.hw.synth import load_board
from ringsmith.hw.synth.cells import Resources
from ringsmith.parallel import workers
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.runner import complete_inputs, run

KERNEL = Path(__file__).parents[1] / "examples" / "kernels" / "matmul-plain-100x10.py"
#: No point is refused for its error: the table tells it.
TOLERANCE = 100.0


class Published(NamedTuple):
    """A row of Table III."""

    name: str
    n: int
    bits: int
    board: str
    butterflies: int
    latency_ms: float
    error: float
    security: int


TABLE = (
    Published("A1", 2048, 18, "zcu104", 8, 7.5008, 4.68e-2, 128),
    Published("A2", 2048, 18, "zcu102", 16, 5.63, 4.68e-2, 128),
    Published("B1", 4096, 25, "zcu104", 8, 15.1632, 4.88e-4, 192),
    Published("B2", 4096, 25, "zcu102", 16, 9.3292, 4.88e-4, 192),
    Published("C1", 4096, 33, "zcu104", 8, 15.127, 9.65e-6, 128),
    Published("C2", 4096, 33, "zcu102", 16, 8.17, 9.65e-6, 128),
    Published("D1", 8192, 25, "zcu104", 8, 33.9432, 4.88e-4, 256),
    Published("D2", 8192, 25, "zcu102", 16, 17.5857, 4.88e-4, 256),
    Published("E1", 8192, 33, "zcu104", 8, 34.5601, 9.65e-6, 256),
    Published("E2", 8192, 33, "zcu102", 16, 20.7656, 9.65e-6, 256),
    Published("F1", 8192, 43, "zcu104", 4, 67.3475, 1.86e-8, 192),
    Published("F2", 8192, 43, "zcu102", 16, 20.8008, 1.86e-8, 192),
)


#: What the table leaves open: values that fast designs have.
TRIED = ["lanes=1,2,3,6", "dual_port_slots=5,6,8,12", "single_port_slots=0", "moduli_slots=2,4", "moves=16"]
TRIED += ["wide_port=1", "cores=1,2,3,4,5,6,7,8"]


def candidate(kernel: Kernel, n: int, bits: int) -> Candidate | Refused:
    """Return the set of two data primes and a special one at the largest scale that compiles, or why none does."""
    shapes = {name: array.shape for name, array in complete_inputs(kernel, {}, None).items()}
    found: Candidate | Refused = Refused("", "no scale was tried")
    for scale in range(bits, bits - 8, -1):
        (found,) = candidates(kernel, shapes, [f"n{n}q{bits}x2p{bits}d2s{scale}"])
        if isinstance(found, Candidate) or "security" in found.reason:
            break
    return found


def fastest(one: Candidate, row: Published) -> Search:
    """Search the builds of a row's board with its number of butterflies."""
    values = values_with([*TRIED, "rns_rate=0", f"butterflies={row.butterflies}"])
    with Evaluator(packed([one]), workers()) as evaluator:
        return explore([one], values, load_board(row.board), Results(), evaluator)


def measured(kernel: Kernel, one: Candidate) -> float:
    """Return the largest error of a run on this machine."""
    return run(kernel.options(params=request_of(one.params)), seed="1").max_abs_error


def compared() -> Iterator[dict[str, Any]]:
    """Yield each row with both packings of ours."""
    file = load_kernels(KERNEL)
    for row in TABLE:
        values: dict[str, Any] = {"published": row._asdict()}
        for packing in ("published", "ours"):
            kernel = file.pick(None, packing).options(tolerance=TOLERANCE)
            one = candidate(kernel, row.n, row.bits)
            values[packing if packing == "ours" else "same"] = (
                {"refused": one.reason} if isinstance(one, Refused) else figures(kernel, one, row)
            )
        yield values


def figures(kernel: Kernel, one: Candidate, row: Published) -> dict[str, Any]:
    """Return the fastest design for a row with one packing."""
    search = fastest(one, row)
    if not search.front:
        return {"refused": search.infeasible.most_common(1)[0][0]}
    best, board = search.front[0], search.board
    taken = Resources(**best.resources)  # type: ignore[arg-type]
    shares = {name: percent for name, _, _, percent in board.utilisation(taken)}
    return {
        "name": best.name, "latency_ms": best.device_ms, "error": measured(kernel, one), "bound_bits": one.error_bits,
        "security_bits": best.security_bits, "host_operations": best.host_operations, "percent": shares,
    }  # fmt: skip


#: The paper's space: degrees, bits of the primes, butterflies.
DEGREES, BITS, BUTTERFLIES = (2048, 4096, 8192, 16384, 32768), range(14, 61), (1, 2, 4, 8, 16, 32)
#: What the paper's points leave open, a few values of each.
OPEN = ["lanes=1,3,6", "dual_port_slots=6,8", "single_port_slots=0", "moduli_slots=1,4", "moves=16", "wide_port=1"]


def space(board: str, packing: str) -> str:
    """Search the paper's space on a board and say what came of it."""
    began = time.perf_counter()
    kernel = load_kernels(KERNEL).pick(None, packing)
    found = [candidate(kernel, n, bits) for n in DEGREES for bits in BITS]
    able = [one for one in found if isinstance(one, Candidate)]
    compiled = time.perf_counter() - began
    values = values_with([*OPEN, "cores=1", "rns_rate=0", f"butterflies={','.join(map(str, BUTTERFLIES))}"])
    with Evaluator(packed(able), workers()) as evaluator:
        search = explore(found, values, load_board(board), Results(Path(":memory:")), evaluator)
    seconds = time.perf_counter() - began
    raw, valid = len(found) * len(BUTTERFLIES), len(able) * len(BUTTERFLIES)
    best = search.front[0] if search.front else None
    fastest = f"{best.device_ms:.3g} ms, {best.name}" if best else "none"
    return (
        f"{kernel.name}, {packing}, on {board}: {raw:,} points, of which {valid:,} have a parameter set; with what "
        f"they leave open {search.total:,}: {sum(search.infeasible.values()):,} infeasible, {search.pruned:,} "
        f"superfluous, {len(search.points):,} evaluated, {len(search.front)} on the front; fastest {fastest}; "
        f"{seconds:.1f} s, {compiled:.1f} of them parameter sets"
    )


def line(values: dict[str, Any]) -> str:
    """Return a row of the table in Markdown."""
    row = Published(**values["published"])
    cells = [row.name, f"{row.n}, {row.bits}", f"{row.board}, {row.butterflies}", f"{row.latency_ms:.3g}"]
    cells += [f"{row.error:.2g}", str(row.security)]
    same, ours = values["same"], values["ours"]
    if "refused" in same:
        reason = same["refused"].split(";")[0].split("(")[0].strip()
        return "| " + " | ".join([*cells, f"none: {reason}", "", "", "", "", ""]) + " |"
    percent = same["percent"]
    shares = (percent[name] for name in ("dsp", "ff", "lut", "bram36", "uram"))
    taken = "/".join("–" if share is None else f"{share:.0f}" for share in shares)
    name = same["name"].rpartition("-")[2]
    cells += [f"{same['latency_ms']:.3g}", f"`{name}`", f"{same['error']:.2g}", f"{same['security_bits']:.0f}", taken]
    cells.append(ours.get("refused") or f"{ours['latency_ms']:.3g}")
    return "| " + " | ".join(cells) + " |"


COLUMNS = (
    "point", "n, bits", "board, P", "theirs: ms", "error", "bits", "same packing: ms", "design", "error", "bits",
    "DSP/FF/LUT/BRAM/URAM %", "our packing: ms",
)  # fmt: skip


def main() -> None:
    """Print the table as it grows, or all of it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--space", metavar="BOARD", help="search the space that the paper searched")
    parser.add_argument("--packing", default="ours", help="of --space: ours or published")
    wanted = parser.parse_args()
    if wanted.space:
        print(space(wanted.space, wanted.packing))
        return
    if wanted.json:
        print(json.dumps({"rows": list(compared())}))
        return
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for values in compared():
        print(line(values), flush=True)


if __name__ == "__main__":
    main()
