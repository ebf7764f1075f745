# SPDX-License-Identifier: Apache-2.0
"""7. Five models of scikit-learn score encrypted samples, each by the same three lines.

model = rs.from_sklearn(fitted, training_data)     # a kernel, calibrated
scores = model(samples)                            # encrypted, evaluated, decrypted
print(model.compare(samples, answers))             # in the clear, with polynomials, encrypted

.venv/bin/python examples/07_models.py             # 4 samples of each; --rows N for more
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import ringsmith as rs

TUMOURS, DIABETES = load_breast_cancer(return_X_y=True), load_diabetes(return_X_y=True, scaled=False)
SMALL = {"hidden_layer_sizes": (8,), "max_iter": 500, "random_state": 0}
MODELS = {
    "logistic regression": (LogisticRegression(), TUMOURS),
    "support vectors": (LinearSVC(), TUMOURS),
    "ridge regression": (Ridge(), DIABETES),
    "perceptron, classes": (MLPClassifier(activation="logistic", **SMALL), TUMOURS),
    "perceptron, values": (MLPRegressor(activation="tanh", solver="lbfgs", alpha=10.0, **SMALL), DIABETES),
}


def split(samples: Any, answers: Any) -> Any:
    """Return the samples to train with and those to test with, and the answers of both."""
    return train_test_split(samples, answers, test_size=0.25, random_state=1)


def converted(estimator: Any, samples: Any, answers: Any) -> Any:
    """Fit a model and read it."""
    fitted = make_pipeline(StandardScaler(), estimator).fit(samples, answers)
    return rs.from_sklearn(fitted, samples, margin=0.5, deviation=0.1, tolerance=0.01)


def main() -> int:
    """Fit each model, read it, compare."""
    parser = argparse.ArgumentParser(description="Five models of scikit-learn score encrypted samples.")
    parser.add_argument("--rows", type=int, default=4, help="encrypted samples for each model (4)")
    rows = parser.parse_args().rows
    right = True
    for name, (estimator, (samples, answers)) in MODELS.items():
        train, test, train_y, test_y = split(samples, answers)
        start = time.perf_counter()
        model = converted(estimator, train, train_y)
        found = model.compare(test, test_y, rows=rows)
        print(f"{name:<20} n = {model.program.params.n:<6}{found}  {time.perf_counter() - start:.1f} s")
        right &= found.difference <= 0.01
    print(f"scores of five models: {'correct' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
