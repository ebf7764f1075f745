# SPDX-License-Identifier: Apache-2.0
"""Networks that PyTorch exported (tests/pytorch/export.py), against what PyTorch itself says of five images."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ringsmith as rs

FILES = sorted((Path(__file__).parent / "pytorch").glob("*.onnx"))
CALIBRATION = np.random.default_rng(0).normal(size=(50, 1, 8, 8))


def test_both_exporters_are_there() -> None:
    assert [path.stem for path in FILES] == ["sequence-dynamo", "sequence-script", "view-dynamo", "view-script"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_exported_network_in_the_clear(path: Path) -> None:
    known = np.load(path.with_name(path.stem.split("-")[0] + ".npz"))
    model = rs.from_onnx(path, CALIBRATION)
    np.testing.assert_allclose(model.clear(known["images"]), known["scores"], atol=1e-6)


def test_an_exported_network_encrypted() -> None:
    path = FILES[-1]
    images = np.load(path.with_name("view.npz"))["images"][:1]
    model = rs.from_onnx(path, np.concatenate([CALIBRATION, images]), degree=3, deviation=None, tolerance=0.01)
    np.testing.assert_allclose(model(images), model.clear(images, polynomial=True), atol=0.01)
