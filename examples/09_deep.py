# SPDX-License-Identifier: Apache-2.0
"""9. Deeper than any ring: a model trained on encrypted rows until it converges.

A hospital sends 512 rows of scikit-learn's breast cancer data, encrypted. The server trains a logistic regression on
them, 24 steps of gradient descent, and sends back encrypted coefficients; it sees neither rows nor coefficients, and
asks nothing in between. Each step multiplies what the step before gave, so the depth grows with the steps: far more
levels than any secure ring has. The kernel says nothing of that; the compiler places refreshes (bootstrappings) where
levels run out.

One thing the kernel does say. A guarantee adds up what errors may do, and along 24 steps that grows without end. But
gradient descent on a strictly convex loss forgets: an error in the coefficients shrinks by a factor of 1 - RATE * RIDGE
or more in every step, because the sigmoid rises. If a step adds an error of at most e, as a vector, that of all steps
together stays below e / (RATE * RIDGE), however many there are: with two refreshes a step, each off by 2^-9.6 at most
as the box says, e is below 0.005. `rs.within(..., error=...)` promises what follows from that, and the box names it as
taken on trust.

What the evaluation costs is told before keys are made. With `--keep FOLDER` keys and encrypted rows are kept there, and
after each refresh what the server has made: a run that was killed goes on from its last refresh when it is called
again. The result is compared with the same steps in the clear, and with scikit-learn's own fit.

    python examples/09_deep.py --small               # 64 rows, 6 steps in a small ring, which is not secure: seconds
    python examples/09_deep.py                       # 512 rows, 24 steps, 128 bits: minutes, some GiB
    python examples/09_deep.py --keep trained.d      # the same; called again after a kill, it goes on
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import ringsmith as rs
from ringsmith.errors import InputError, RingsmithError
from ringsmith.progress import telling

#: Ridge, length of a step, and what the client cuts its standardised values at.
RIDGE, RATE, CUT = 0.2, 1.0, 3.0
#: Coefficients stay within 2, the scores of rows within 6: both are sent through the ring as numbers within 1.
COEFFICIENT, SCORE = 2.0, 6.0
#: What is promised of the errors of coefficients, in these units.
ERROR = 0.03
#: From this score on the polynomial need not be near the sigmoid.
REACH = 3.5


@dataclass(frozen=True)
class Size:
    """Rows to train on, principal components, steps."""

    rows: int
    components: int
    steps: int


SMALL, WHOLE = Size(64, 3, 6), Size(512, 7, 24)
#: A ring for tests, with six levels between two refreshes.
RING = rs.ParamRequest(
    n=1 << 9, data_bits=(50, 40, 40, *(40,) * 6, *(50,) * 10), special_bits=(50,) * 5, dnum=4, log2_scale=40,
    bootstrapping=rs.Bootstrapping(slots_to_coeffs=2, coeffs_to_slots=2), name="small",
)  # fmt: skip


def falling() -> tuple[float, float, float, float]:
    """Coefficients of 1 / (1 + exp(z)), z = SCORE * u, as a cubic in u: a constant and odd powers."""
    u = REACH / SCORE * np.cos(np.pi * (np.arange(64) + 0.5) / 64)
    odd, *_ = np.linalg.lstsq(np.column_stack([u, u**3]), 1 / (1 + np.exp(SCORE * u)) - 0.5, rcond=None)
    return 0.5, float(odd[0]), 0.0, float(odd[1])


def trainer(size: Size) -> rs.Kernel:
    """The kernel: rows times their labels in, coefficients out."""
    # How far a row moves the coefficients.
    cubic = [RATE * CUT / COEFFICIENT / size.rows * value for value in falling()]

    def train(x: Any) -> Any:
        # Coefficients stand beside every row, scores in every column: all slots hold what is promised of them.
        over_columns = np.ones((size.components + 1, size.components + 1))
        # All coefficients are 0 before the first step, and every row is as likely of either class.
        w = rs.within(rs.sum(cubic[0] * x, axis=0), 1.0, error=ERROR)
        for _ in range(size.steps - 1):
            scores = rs.within((x * w) @ over_columns, 1.0)
            pull = rs.sum(rs.polynomial(scores, cubic) * x, axis=0)
            w = rs.within(w * (1 - RATE * RIDGE) + pull, 1.0, error=ERROR)
        return w

    argument = rs.Encrypted(size.rows, size.components + 1, bound=1.0)
    # Without a name the compiler comes to the same set, after it has tried all that have no refreshes.
    options: dict[str, Any] = {"params": "ckks-refreshed-32768"}
    if size is SMALL:
        options = {"params": RING, "allow_insecure": True}
    return rs.kernel(x=argument, tolerance=1.25 * ERROR, **options)(train)


def prepared(size: Size) -> tuple[Any, Any, Any, Any]:
    """Rows and labels, to train on and to try: standardised, turned to principal components of variance 1, cut, with a
    column of ones."""
    x, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(x))
    x, y = x[order], y[order]
    train = slice(0, size.rows)
    x = (x - x[train].mean(axis=0)) / x[train].std(axis=0)
    _, lengths, axes = np.linalg.svd(x[train], full_matrices=False)
    count = size.components
    x = x @ axes[:count].T / lengths[:count] * np.sqrt(size.rows)
    x = np.column_stack([np.clip(x, -CUT, CUT), np.ones(len(x))])
    test = slice(size.rows, None)
    return x[train], y[train], x[test], y[test]


def reference(x: Any, y: Any) -> Any:
    """Coefficients that scikit-learn finds with the same ridge."""
    model = LogisticRegression(C=1 / (RIDGE * len(x)), fit_intercept=False, tol=1e-10)
    return model.fit(x, y).coef_[0]


def shown(w: Any) -> str:
    """Coefficients in a line."""
    return "  ".join(f"{value:6.3f}" for value in w)


def sides(program: Any, rows: Any, keep: Path | None) -> tuple[Any, Any]:
    """The client and its encrypted rows: those in the folder, if it has them, else new ones, which are left there."""
    if keep is None:
        client = program.client()
        return client, client.encrypt(x=rows)
    secret, message = keep / "client.rsc", keep / "rows.rse"
    if not secret.exists():
        program.client().save(secret)
        message.unlink(missing_ok=True)
    client = rs.load(secret)
    if not isinstance(client, rs.Client) or client.program.to_bytes() != program.to_bytes():
        raise InputError(f"{secret}: not a client of this program; name another folder with --keep")
    if not message.exists():
        client.encrypt(x=rows).save(message)
    return client, rs.load(message)


def evaluated(server: Any, sent: Any, keep: Path | None) -> Any:
    """The encrypted coefficients; how far the server is stands on the terminal."""
    state = None if keep is None else keep / "state"
    if state is not None and state.exists():
        print(f"{state}: goes on from the last refresh", file=sys.stderr)
    with telling(None) as told:

        def progress(done: int, total: int) -> None:
            told(f"training: {done} of {total} steps of the program")

        done = server.run(sent, {}, progress=progress, state=state)
    return done.result


def main(size: Size, threads: int, keep: Path | None, as_json: bool) -> None:
    """Train encrypted, in the clear and with scikit-learn; compare coefficients and answers."""
    out = sys.stderr if as_json else sys.stdout
    if keep is not None:
        if keep.exists() and not keep.is_dir():
            raise InputError(f"--keep {keep}: not a folder; name a folder, or one that is not there yet")
        keep.mkdir(exist_ok=True)
    x, y, others, answers = prepared(size)
    signed = x * (2 * y - 1)[:, None] / CUT
    kernel = trainer(size)
    start = time.perf_counter()
    program = kernel.compile()
    compiling = time.perf_counter() - start
    print(f"{size.steps} steps on {size.rows} encrypted rows of {size.components + 1} columns, compiled in "
          f"{compiling:.1f} s", file=out)  # fmt: skip
    cost = program.cost()
    print(cost, file=out, flush=True)

    client, sent = sides(program, signed, keep)
    server = program.server(client.evaluation_keys, threads=threads)
    start = time.perf_counter()
    result = evaluated(server, sent, keep)
    training = time.perf_counter() - start
    print(f"trained in {training:.1f} s, threads: {threads}", file=out)

    clear = kernel.clear(x=signed) * COEFFICIENT
    trained = client.decrypt(result) * COEFFICIENT
    ways = {"encrypted": trained, "in the clear": clear, "scikit-learn": reference(x, y)}
    right = {name: float(np.mean((others @ w > 0) == answers)) for name, w in ways.items()}
    for name, w in ways.items():
        print(f"  {name:<13} {shown(w)}   {right[name]:.1%} of {len(answers)} other rows right", file=out)
    off = float(np.abs(trained - clear).max())
    print(f"largest difference to the same steps in the clear {off:.5f}, promised {ERROR * COEFFICIENT:g}", file=out)
    assert off < ERROR * COEFFICIENT
    assert np.mean((others @ trained > 0) == (others @ clear > 0)) > 0.99
    print("trained encrypted as in the clear: correct", file=out)
    if as_json:
        print(json.dumps({
            "cost": cost.to_json(), "compile_seconds": compiling, "seconds": training, "threads": threads,
            "coefficients": {name: [float(value) for value in w] for name, w in ways.items()}, "right": right,
            "difference": off, "promised": ERROR * COEFFICIENT,
        }))  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="train a logistic regression on encrypted rows")
    parser.add_argument("--small", action="store_true", help="a small ring without security, few rows, few steps")
    parser.add_argument("--threads", type=int, default=1, help="threads of the server")
    parser.add_argument("--keep", type=Path, help="a folder for keys, rows and state: a killed run goes on from there")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout, all else on stderr")
    chosen = parser.parse_args()
    try:
        main(SMALL if chosen.small else WHOLE, chosen.threads, chosen.keep, chosen.json)
    except (RingsmithError, OSError) as error:
        print(f"09_deep.py: {error}", file=sys.stderr)
        sys.exit(2)
