# SPDX-License-Identifier: Apache-2.0
"""The bound on the error beside the largest error of many runs, for kernels with several parameter sets each.

Each run has its own keys, noise and inputs, drawn by its seed from the declared ranges. `bound` is what the search and
the compiler state; `apart` is how many bits it is above the largest error of any result in all runs.
Exit status 1 if an error exceeds its bound.

    .venv/bin/python bench/errors.py [--runs 100] [--sets 4] [KERNEL ...]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ringsmith.cli.common import load_kernels
from ringsmith.explore.parameters import Candidate, candidates
from ringsmith.runtime.program import Program
from ringsmith.runtime.runner import complete_inputs, run_program

KERNELS = Path(__file__).parents[1] / "examples" / "kernels"
#: Of the nine: a product with a constant, one of ciphertexts, sums by rotations, both; our packing where there is one.
NAMES = ("dot-plain-batch-axis", "dot-cipher-batch-axis", "matmul-plain-1x10", "matmul-plain-100x10")
#: No set is refused for its error.
TOLERANCE = 1.0


def sets(name: str, most: int) -> Iterator[Candidate]:
    """Yield some parameter sets of a search of a kernel."""
    file = load_kernels(KERNELS / f"{name}.py")
    variants = {kernel.variant: kernel for kernel in file.kernels}
    kernel = variants.get("ours", file.kernels[0]).options(tolerance=TOLERANCE)
    shapes = {argument: array.shape for argument, array in complete_inputs(kernel, {}, None).items()}
    able = (one for one in candidates(kernel, shapes) if isinstance(one, Candidate))
    yield from islice(able, most)


def largest(one: Candidate, runs: int) -> float:
    """Return the largest error of any result in `runs` runs."""
    program = Program.of(one.compiled)
    return max(run_program(program, {}, seed=str(seed)).max_abs_error for seed in range(runs))


def main() -> None:
    """Print a row for each kernel and set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", default=NAMES)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--sets", type=int, default=4)
    wanted = parser.parse_args()
    print("| kernel | set | runs | bound | largest error | apart, bits |\n|---|---|---|---|---|---|")
    right = True
    for name in wanted.kernels:
        for one in sets(name, wanted.sets):
            error = largest(one, wanted.runs)
            apart = one.error_bits - math.log2(error) if error else math.inf
            right &= apart >= 0
            print(
                f"| {name} | `{one.name}` | {wanted.runs} | 2^{one.error_bits:.1f} | 2^{math.log2(error):.1f} "
                f"| {apart:.1f} |",
                flush=True,
            )
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
