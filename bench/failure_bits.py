# SPDX-License-Identifier: Apache-2.0
"""What a rarer failure costs: the sets that the kernels of the examples take with 2^-40 and with 2^-128.

    python bench/failure_bits.py [NAME ...]

The table of docs/parameters.md. Needs scikit-learn and onnx; a set is ring degree, data and special primes, log2 QP.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits  # type: ignore[import-untyped]

import ringsmith as rs
from ringsmith.compiler.rounds import ClientAidedError

ROOT = Path(__file__).resolve().parent.parent
RARE, RARER = 40, 128
#: Rows of an argument whose first extent is open: the patients of the classifier.
ROWS = 285


def kernels() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the kernels by name, each behind a call that trains or reads what it needs."""
    for file in ("01_classifier", "02_votes"):
        made = runpy.run_path(str(ROOT / "examples" / f"{file}.py"))
        yield f"`{file}.py`", lambda made=made: next(one for one in made.values() if isinstance(one, rs.Kernel))
    digits = runpy.run_path(str(ROOT / "examples/06_digits.py"))
    images, labels = load_digits(return_X_y=True)
    yield "`06_digits.py`", lambda: digits["network"](images[::2].reshape(-1, 8, 8) / 16, labels[::2]).kernel
    models = runpy.run_path(str(ROOT / "examples/07_models.py"))
    for name, (estimator, (samples, answers)) in models["MODELS"].items():
        train, _, values, _ = models["split"](samples, answers)
        given = (estimator, train, values)
        yield f"`07_models.py`: {name}", lambda given=given: models["converted"](*given).kernel
    aided = runpy.run_path(str(ROOT / "examples/08_client_aided.py"))
    yield "`08_client_aided.py`, first round", lambda: aided["neighbours"]
    sys.path.insert(0, str(ROOT / "bench"))
    for kernel in runpy.run_path(str(ROOT / "bench/kernels.py"))["KERNELS"]:
        yield f"{kernel.name} (`bench/kernels.py`)", lambda kernel=kernel: kernel


def params(kernel: Any, failure_bits: int) -> Any:
    """Return the set that a kernel takes."""
    made = kernel.options(failure_bits=failure_bits)
    shapes = {name: (ROWS, *one.shape[1:]) for name, one in made.arguments.items() if one.shape[:1] == (None,)}
    try:
        return made.compile(**shapes).params
    except ClientAidedError:
        return made.rounds(**shapes).programs[0].params


def row(kernel: Any) -> str:
    """Return the sets of a kernel, the second in short where it is the first."""
    sets = [params(kernel, bits) for bits in (RARE, RARER)]
    told = [f"{one.n}, {len(one.moduli)} + {len(one.special)}, {one.log2_qp:.0f}" for one in sets]
    return f"{told[0]} | {told[1] if told[0] != told[1] else 'the same'}"


def main() -> None:
    """Compile each kernel twice and print the table."""
    parser = argparse.ArgumentParser(description="Sets of the examples, failing with 2^-40 and with 2^-128.")
    parser.add_argument("names", nargs="*", help="rows whose name has one of these in it (default: all)")
    names = parser.parse_args().names
    print(f"| kernel | 2^-{RARE}: n, primes, log2 QP | 2^-{RARER} |\n|---|---|---|")
    for name, make in kernels():
        if not names or any(one in name for one in names):
            print(f"| {name} | {row(make())} |", flush=True)


if __name__ == "__main__":
    main()
