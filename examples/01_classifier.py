# SPDX-License-Identifier: Apache-2.0
"""1. An encrypted classifier: is this tumour malignant?

A hospital (the client) wants its patients scored by a model that a laboratory (the server) keeps. The hospital
encrypts the thirty measurements of every patient; the laboratory multiplies by its weights, sums, applies a
polynomial in place of the logistic function and returns scores it cannot read.

The data are the 569 patients of the Wisconsin breast-cancer set. Logistic regression is trained in the clear on one
half; the other half is scored encrypted and compared with the same model in the clear.

    make run                        # the 285 patients of the second half
    make run INPUT=patients.csv     # your own: thirty numbers a row, in the set's order, a header line if you like
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import ringsmith as rs
from ringsmith.runtime.inputs import read_table

Array = npt.NDArray[np.float64]
FEATURES = 30
CLIP = 4.0  # measurements further than this many standard deviations out are pulled in
REACH = 10.0  # the polynomial follows the logistic function for scores in -REACH..REACH


def logistic(score: Array) -> Array:
    """The logistic function: a score to a probability."""
    return 1 / (1 + np.exp(-score))


def fitted_logistic(degree: int = 7) -> list[float]:
    """Coefficients, lowest first, of the least-squares polynomial in score / REACH over -1..1: odd terms beside 1/2."""
    at = np.cos(np.linspace(0, np.pi, 1001))
    powers = np.arange(1, degree + 1, 2)
    odd, *_ = np.linalg.lstsq(at[:, None] ** powers, logistic(REACH * at) - 0.5, rcond=None)
    coefficients = np.zeros(degree + 1)
    coefficients[0] = 0.5
    coefficients[powers] = odd
    return [float(c) for c in coefficients]


LOGISTIC = fitted_logistic()


@rs.kernel(
    scheme="ckks",
    x=rs.Encrypted(None, FEATURES, bound=CLIP),
    weights=rs.Plain(FEATURES, bound=0.1),
    bias=rs.Plain(1, bound=0.2),
    tolerance=1e-3,
)
def probability(x, weights, bias):
    """Probability that each patient's tumour is malignant; weights and bias come divided by REACH."""
    return rs.polynomial(rs.within(x @ weights + bias, 1.0), LOGISTIC)


@dataclass(frozen=True)
class Model:
    """What the laboratory learned: how to standardise a measurement, and the weights."""

    mean: Array
    deviation: Array
    weights: Array
    bias: Array

    def standardise(self, measurements: Array) -> Array:
        """Measurements in standard deviations from the mean, outliers pulled in to +-CLIP."""
        return np.clip((measurements - self.mean) / self.deviation, -CLIP, CLIP)

    def probabilities(self, standardised: Array) -> Array:
        """The model in the clear, with the true logistic function."""
        return logistic(standardised @ self.weights + self.bias)


@dataclass
class Clock:
    """Seconds spent in each named step, in the order of the steps."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time the body under this name."""
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start


def train(measurements: Array, malignant: npt.NDArray[np.bool_]) -> Model:
    """Logistic regression; regularised so that scores stay where the polynomial follows the logistic function."""
    mean, deviation = measurements.mean(axis=0), measurements.std(axis=0)
    standardised = np.clip((measurements - mean) / deviation, -CLIP, CLIP)
    fit = LogisticRegression(C=0.03, max_iter=1000).fit(standardised, malignant)
    return Model(mean, deviation, fit.coef_[0], fit.intercept_)


def encrypted_probabilities(model: Model, standardised: Array, seed: str | None, clock: Clock) -> tuple[Array, Table]:
    """Client, server, client: the probabilities, and a table of what was sent."""
    with clock.step("choose parameters, compile"):
        program = probability.compile(x=standardised.shape)
    with clock.step("client: make keys"):
        client = program.client(seed=seed, sample_data=True)
    with clock.step("client: encode, encrypt"):
        sent = client.encrypt(x=standardised)
    with clock.step("server: score encrypted"):
        server = program.server(client.evaluation_keys)
        answer = server.evaluate(sent, weights=model.weights / REACH, bias=model.bias / REACH)
    with clock.step("client: decrypt, decode"):
        result = client.decrypt(answer)
    print(program.box())
    return result, bytes_table(client.evaluation_keys.nbytes, sent, answer, len(standardised))


def bytes_table(keys: int, sent: rs.Encryptions, answer: rs.Encryptions, patients: int) -> Table:
    """What went over the wire."""
    table = Table("sent", "bytes", "ciphertexts", "bytes per patient")
    table.add_row("evaluation keys, once", f"{keys:,}", "", "")
    for label, part in (("encrypted patients", sent), ("encrypted answers", answer)):
        table.add_row(label, f"{part.nbytes:,}", f"{len(part.ciphertexts)}", f"{part.nbytes / patients:,.0f}")
    return table


def times_table(clock: Clock) -> Table:
    """Where the time went."""
    table = Table("step", "ms")
    for name, seconds in clock.seconds.items():
        table.add_row(name, f"{1000 * seconds:,.1f}")
    return table


def answers_table(clear: Array, encrypted: Array, malignant: npt.NDArray[np.bool_] | None, shown: int = 20) -> Table:
    """The first answers side by side."""
    table = Table("row", "clear", "encrypted", "decision", *(["truth"] if malignant is not None else []))
    for row in range(min(shown, len(clear))):
        truth = [name(malignant[row])] if malignant is not None else []
        shown_score = f"{np.clip(encrypted[row], 0, 1):.4f}"  # the polynomial overshoots a little at both ends
        table.add_row(str(row + 1), f"{clear[row]:.4f}", shown_score, name(encrypted[row] > 0.5), *truth)
    return table


def name(malignant: bool | np.bool_) -> str:
    """The diagnosis in words."""
    return "malignant" if malignant else "benign"


def verdict_table(clear: Array, polynomial: Array, encrypted: Array, malignant: npt.NDArray[np.bool_] | None) -> Table:
    """The encrypted answers against the clear ones."""
    table = Table("encrypted against clear", "")
    if malignant is not None:
        table.add_row("accuracy, clear", f"{np.mean((clear > 0.5) == malignant):.2%}")
        table.add_row("accuracy, encrypted", f"{np.mean((encrypted > 0.5) == malignant):.2%}")
    table.add_row("decisions that differ", f"{np.sum((clear > 0.5) != (encrypted > 0.5))} of {len(clear)}")
    table.add_row("largest error of the encryption", f"{np.abs(encrypted - polynomial).max():.2e}")
    table.add_row("largest error of the polynomial", f"{np.abs(polynomial - clear).max():.2e}")
    return table


def read_patients(path: Path) -> Array:
    """The user's own rows; wrong shapes and cells are refused with their place."""
    rows = read_table(path)
    if rows.ndim != 2 or rows.shape[1] != FEATURES:
        raise rs.InputError(f"{path}: {FEATURES} columns expected, found {rows.shape[-1]}")
    return rows


def main() -> int:
    """Train, score encrypted, compare; 1 if an encrypted answer strays from the clear one."""
    parser = argparse.ArgumentParser(description="Score patients encrypted.")
    parser.add_argument("--input", type=Path, help="CSV or .npy of your own patients, thirty measurements a row")
    parser.add_argument("--output", type=Path, help="write the encrypted scores of all rows to this CSV")
    parser.add_argument("--seed", help="make the run reproducible to the byte; never for real data")
    arguments = parser.parse_args()

    clock = Clock()
    data = load_breast_cancer()
    diagnosis = data.target == 0
    order = np.random.default_rng(2).permutation(len(diagnosis))
    half = len(order) // 2
    with clock.step("laboratory: train in the clear"):
        model = train(data.data[order[:half]], diagnosis[order[:half]])
    malignant = None if arguments.input else diagnosis[order[half:]]
    patients = read_patients(arguments.input) if arguments.input else data.data[order[half:]]

    standardised = model.standardise(patients)
    encrypted, sent = encrypted_probabilities(model, standardised, arguments.seed, clock)
    clear = model.probabilities(standardised)
    polynomial = probability.clear(standardised, model.weights / REACH, model.bias / REACH)

    console = Console()
    for table in (answers_table(clear, encrypted, malignant, shown=10 if malignant is not None else 50), sent):
        console.print(table)
    console.print(times_table(clock))
    console.print(verdict_table(clear, polynomial, encrypted, malignant))
    if arguments.output:
        np.savetxt(arguments.output, np.clip(encrypted, 0, 1), fmt="%.6f", header="probability_malignant", comments="")
    good = bool(np.abs(encrypted - polynomial).max() <= probability.tolerance)
    console.print(f"{len(patients)} patients scored encrypted: " + ("correct" if good else "WRONG"))
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except rs.RingsmithError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
