# SPDX-License-Identifier: Apache-2.0
"""Errors promised inside a network: simulated, kept by the scale, listed as taken on trust, refused where not kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.models.model import Model
from ringsmith.models.test_models import IMAGES, network, node, normal
from ringsmith.models.test_operators import LENET
from ringsmith.models.typical import SAFETY, Noise, Promises, excess, with_scale
from ringsmith.runtime.trust import taken_on_trust

OPTIONS: dict[str, Any] = {"domain": (-1, 1), "tolerance": 0.05, "guarantee": "probable"}


def excess_of(model: Model, log2_scale: float, share: float = 1e-5, n: int = 8192) -> float:
    noise = Noise.of(n, log2_scale)
    return excess(model._form, model.encode(model.sample), model.calibration, model.squares, Promises(share), noise)


def test_the_simulation_follows_scale_and_promise() -> None:
    model = rs.from_onnx(LENET, IMAGES, inner_error=1e-5, **OPTIONS)
    fine, coarse = excess_of(model, 40), excess_of(model, 30)
    assert coarse / fine == pytest.approx(2**10, rel=0.05)
    assert excess_of(model, 30, share=1e-3) == pytest.approx(coarse / 100, rel=1e-6)
    assert excess_of(model, 30, n=32768) > 3 * coarse


def test_promised_errors_are_kept_and_told() -> None:
    model = rs.from_onnx(LENET, IMAGES, inner_error=1e-5, **OPTIONS)
    program = model.program
    assert excess_of(model, program.params.log2_scale, n=program.params.n) * SAFETY <= 1
    told = [line for line in taken_on_trust(program) if line.startswith("errors at")]
    assert len(told) == 2
    assert all("(rs.within)" in line for line in told)
    np.testing.assert_allclose(model(IMAGES[:1]), model.clear(IMAGES[:1]), atol=0.01)


def test_a_scale_that_does_not_keep_them_is_made_larger() -> None:
    given = network(
        node("Flatten", "image", "f"), node("Gemm", "f m", "a"), node("Mul", "a a", "b"), node("Gemm", "b l"),
        m=normal(72, 12) / 8, l=normal(12, 3) / 4,
    )  # fmt: skip
    loose, tight = (rs.from_onnx(given, IMAGES, inner_error=share, **OPTIONS) for share in (1e-4, 1e-6))
    assert excess_of(tight, loose.program.params.log2_scale, 1e-6, loose.program.params.n) * SAFETY > 1
    params = tight.program.params
    assert params.log2_scale > loose.program.params.log2_scale
    assert excess_of(tight, params.log2_scale, 1e-6, params.n) * SAFETY <= 1


def test_activations_have_promises_before_and_after() -> None:
    given = network(
        node("Flatten", "image", "f"), node("Gemm", "f m", "a"), node("Relu", "a", "b"), node("Gemm", "b l"),
        m=normal(72, 6) / 8, l=normal(6, 3) / 4,
    )  # fmt: skip
    model = rs.from_onnx(given, IMAGES, inner_error=1e-3, sign=(7,), deviation=None, **OPTIONS)
    told = [line for line in taken_on_trust(model.program) if line.startswith("errors at")]
    assert len(told) == 2
    expected = model.clear(IMAGES[:1], polynomial=True)
    np.testing.assert_allclose(model(IMAGES[:1]), expected, atol=0.05)


def test_what_is_not_kept_is_refused_with_what_would_do() -> None:
    params = rs.from_onnx(LENET, IMAGES, inner_error=1e-3, **OPTIONS).program.params
    pinned = with_scale(params, 4 * params.n, params.dnum, 0)
    model = rs.from_onnx(LENET, IMAGES, inner_error=1e-7, params=pinned, **{**OPTIONS, "tolerance": 50.0})
    with pytest.raises(rs.InputError, match="what inner_error=1e-07 promises, in a simulation") as caught:
        _ = model.program
    allowed = float(str(caught.value).split("allow inner_error=")[1])
    assert replace(model, options=replace(model.options, inner_error=allowed * 1.05)).program.params.n == pinned.n
    with pytest.raises(rs.InputError, match="inner_error= is taken on trust, and publish=True takes proven bounds"):
        rs.from_onnx(LENET, IMAGES, inner_error=1e-3, publish=True)
    for wrong in (0, 1, -1e-3, "little", True, np.nan):
        with pytest.raises(rs.InputError, match=r"inner_error=.*: a part of the extent of inner values"):
            rs.from_onnx(LENET, IMAGES, inner_error=wrong)
