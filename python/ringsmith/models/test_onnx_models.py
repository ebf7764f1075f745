# SPDX-License-Identifier: Apache-2.0
"""The models that onnx is tested with, those that PyTorch has exported among them: right, or refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import ringsmith as rs
from ringsmith.errors import InputError

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
ROWS = 6
#: By element type: the type, and what scores may differ by.
DTYPES = {1: (np.float32, 1e-3), 10: (np.float16, 1e-2), 11: (np.float64, 1e-6)}


def outcome(path: Path) -> str | None:
    """Return how a model is read: "right", "refused" or what is wrong; None if its input is no batch of reals."""
    model = onnx.load(path)
    known = {one.name for one in model.graph.initializer}
    inputs = [one for one in model.graph.input if one.name not in known]
    kind = inputs[0].type.tensor_type if len(inputs) == 1 else None
    shape = [one.dim_value for one in kind.shape.dim] if kind is not None else []
    if kind is None or kind.elem_type not in DTYPES or len(shape) < 2 or min(shape) < 1:
        return None
    rows = np.random.default_rng(1).uniform(0.1, 0.9, (ROWS, *shape[1:]))
    try:
        found = rs.from_onnx(model, rows, deviation=None).clear(rows)
    except InputError as error:
        return "refused" if "\n" not in str(error) else f"refused in several lines: {error}"
    dtype, tolerance = DTYPES[kind.elem_type]
    expected = np.stack([_first(model, inputs[0].name, row, shape[0], dtype) for row in rows])
    if found.shape != expected.shape:
        return f"{found.shape} for {expected.shape}"
    near = np.allclose(found, expected, rtol=tolerance, atol=1e-3)
    return "right" if near else f"wrong by {np.abs(found - expected).max():.3g}"


def _first(model: Any, name: str, row: Any, count: int, dtype: Any) -> Any:
    """Return the reference's scores of a row, which stands in each place of the model's batch."""
    given = np.broadcast_to(row, (count, *row.shape)).astype(dtype)
    (found, *_) = ReferenceEvaluator(model).run(None, {name: given})
    return np.asarray(found[0], dtype=np.float64).reshape(-1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("folder", "least"),
    [("pytorch-operator", 12), ("pytorch-converted", 40), pytest.param("node", 60, marks=pytest.mark.slow)],
)
def test_models_are_right_or_refused(folder: str, least: int) -> None:
    found = {path.parent.name: outcome(path) for path in sorted((DATA / folder).glob("*/model.onnx"))}
    told = {name: one for name, one in found.items() if one not in (None, "right", "refused")}
    assert not told
    assert sum(one == "right" for one in found.values()) >= least
