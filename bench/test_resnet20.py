# SPDX-License-Identifier: Apache-2.0
"""A residual network of the benchmark's kind, small: onnx's numbers, refreshes in a tiny ring, the whole way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import resnet20
from onnx.reference import ReferenceEvaluator

import ringsmith as rs
from ringsmith.models.typical import SAFETY, Noise, Promises, Refreshes, excess

#: Blocks with and without a shortcut of their own, a stride of two.
SMALL = resnet20.Shape(side=8, given=1, widths=(4, 8), blocks=1)


@pytest.fixture(scope="module")
def small() -> tuple[Any, Any]:
    made, images, _, _ = resnet20.network(SMALL, "square")
    return made, images


def tiny() -> rs.ParamRequest:
    """Return an insecure set with six levels between two refreshes."""
    data = (50, 40, 40, *(40,) * 6, *(50,) * 10)
    return rs.ParamRequest(
        n=1 << 10, data_bits=data, special_bits=(50,) * 5, dnum=-(-len(data) // 5), log2_scale=40,
        bootstrapping=rs.Bootstrapping(slots_to_coeffs=2, coeffs_to_slots=2), name="tiny",
    )  # fmt: skip


def test_branches_shortcuts_and_strides_are_those_of_the_reference(small: tuple[Any, Any]) -> None:
    made, images = small
    (expected,) = ReferenceEvaluator(made).run(None, {"image": images[:5]})
    model = rs.from_onnx(made, images, classes=list(range(10)), domain=(0, 1))
    np.testing.assert_allclose(model.clear(images[:5]), np.asarray(expected), rtol=1e-6, atol=1e-6)


def test_simulated_errors_are_as_large_as_they_are_asked_for(small: tuple[Any, Any]) -> None:
    _, images = small
    made = resnet20.network(SMALL, "silu")[0]
    model = rs.from_onnx(made, images, classes=list(range(10)), domain=(0, 1), degree=7, deviation=None)
    clear = model.clear(images[:4], polynomial=True)
    np.testing.assert_allclose(resnet20.simulated(model, images[:4], 0.0), clear, atol=1e-12)
    moved = [np.abs(resnet20.simulated(model, images[:4], error) - clear).max() for error in (1e-6, 1e-4)]
    assert 30 < moved[1] / moved[0] < 300


def test_the_trained_weights_are_those_of_the_shape() -> None:
    weights = np.load(resnet20.WEIGHTS)
    made = resnet20.Network(np.zeros((1, 3, 32, 32)), "silu", weights)
    resnet20.trunk(made, resnet20.Shape())
    assert {name.removesuffix(".weight") for name in weights if name.endswith(".weight")} == {
        node.name for node in made.nodes if node.op_type == "Conv"
    }
    assert resnet20.WEIGHTS.stat().st_size < 600_000


def test_a_residual_network_is_refreshed_and_gives_the_answers_of_the_clear(small: tuple[Any, Any]) -> None:
    made, images = small
    model = rs.from_onnx(
        made, images, classes=list(range(10)), domain=(0, 1), tolerance=1e3, guarantee="probable", params=tiny(),
        allow_insecure=True,
    )  # fmt: skip
    cost = model.cost()
    assert cost.refreshes >= 1
    assert cost.key_memory > cost.key_bytes > 0
    found = model(images[:2])
    np.testing.assert_allclose(found, model.clear(images[:2]), atol=1e-3)
    assert (found.argmax(axis=1) == model.clear(images[:2]).argmax(axis=1)).all()


def test_errors_of_refreshes_are_simulated_where_they_are_placed(small: tuple[Any, Any]) -> None:
    _, images = small
    made = resnet20.network(SMALL, "silu")[0]
    model = rs.from_onnx(
        made, images, classes=list(range(10)), domain=(0, 1), tolerance=1e3, guarantee="probable", params=tiny(),
        allow_insecure=True, degree=7, deviation=None, inner_error=1e-2,
    )  # fmt: skip
    program, promises = model.program, Promises(1e-2)
    added, scale = program.native.bootstrapping.added(128), program.params.log2_scale
    own = Refreshes.of(program.circuit, added, 128, scale)
    assert added / 13.4 < own.deviation < added / 10
    fits = model.calibration.items()
    known = {(max(-fit.low, fit.high), promises.argument(fit.low, fit.high)) for _, fit in fits}
    assert own.before
    assert own.before <= known | {promises.result(layer, fit) for layer, fit in fits} | {Refreshes.END}
    given = model._form, model.encode(model.sample), model.calibration, model.squares, promises
    noise = Noise.of(program.params.n, scale)
    without, found = excess(*given, noise), excess(*given, noise, own)
    assert found > 100 * without
    assert excess(*given, noise, replace(own, deviation=2 * own.deviation)) == pytest.approx(2 * found, rel=0.1)
    # Behind the last promise nothing is promised.
    assert excess(*given, noise, replace(own, before=frozenset({Refreshes.END}))) < 10 * without
    # Errors of a whole run are within what is promised, and what refreshes break is refused with what would do.
    np.testing.assert_allclose(model(images[:1]), model.clear(images[:1], polynomial=True), atol=1e-2)
    strict = replace(model, options=replace(model.options, inner_error=1e-6))
    with pytest.raises(rs.InputError, match="what inner_error=1e-06 promises, in a simulation") as caught:
        _ = strict.program
    allowed = float(str(caught.value).split("allow inner_error=")[1])
    assert allowed == pytest.approx(SAFETY * found * 1e-2, rel=0.1)


#: Of an evaluation in the tiny set.
TINY = {"tolerance": 1e3, "guarantee": "probable", "allow_insecure": True, "inner_error": None}


def test_client_and_server_are_processes_that_share_files_alone(
    small: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    made, images = small
    monkeypatch.setattr(resnet20, "FOLDER", tmp_path)
    found = resnet20.run(resnet20.Task(made, images, images[:2], None, TINY | {"params": tiny()}), 2, 1)
    assert found["correct"]
    assert found["error"] < 1e-3
    assert found["refreshes"] + 1 == len(found["parts"])
    assert sum(part["seconds"] for part in found["parts"]) < 1.1 * max(found["evaluation_seconds"], 1)
    assert found["evaluation_seconds"] <= found["average_seconds"]
    assert 0 < found["server_load_peak_bytes"] <= found["server_peak_bytes"]
    assert found["keys_file_bytes"] > found["program_file_bytes"] > 0
    # Nothing stays behind, the secret key least of all.
    assert list(tmp_path.iterdir()) == []
    resnet20.show(found)
    assert f"\n{len(found['parts']):4}  " in capfd.readouterr().out


def test_a_run_goes_on_with_the_images_that_have_no_result_yet(
    small: tuple[Any, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made, images = small
    task = resnet20.Task(made, images, images[:2], None, TINY | {"params": tiny()})
    assert resnet20.run(task, 1, 1, tmp_path)["correct"]
    assert "image 1 of 1" in capfd.readouterr().err
    first = (tmp_path / "result-0").read_bytes()
    found = resnet20.run(task, 2, 1, tmp_path)
    assert found["correct"]
    told = capfd.readouterr().err
    assert "image 2 of 2" in told
    assert "image 1 of 2" not in told
    assert (tmp_path / "result-0").read_bytes() == first
    assert not (tmp_path / "state").exists()
    other = replace(task, options=task.options | {"tolerance": 900})
    with pytest.raises(SystemExit) as caught:
        resnet20.run(other, 1, 1, tmp_path)
    assert caught.value.code == 2
    assert "another network or other options; name another" in capfd.readouterr().err
    assert (tmp_path / "result-0").read_bytes() == first


def test_a_server_that_refuses_ends_the_run(tmp_path: Path, small: tuple[Any, Any]) -> None:
    (tmp_path / "state").write_bytes(b"not one")
    made, images = small
    task = resnet20.Task(made, images, images[:1], None, TINY | {"params": tiny()})
    with pytest.raises(SystemExit, match=r"the server ended with status 1$"):
        resnet20.run(task, 1, 1, tmp_path)


def test_the_network_has_the_shape_of_resnet_20() -> None:
    nodes = {"Conv": 0, "Relu": 0, "Add": 0}
    images = np.random.default_rng(0).uniform(size=(2, 3, 32, 32))
    made = resnet20.Network(images, "relu")
    last = resnet20.trunk(made, resnet20.Shape())
    for own in made.nodes:
        nodes[own.op_type] += 1
    assert nodes == {"Conv": 21, "Relu": 19, "Add": 9}
    assert made.values[last].shape == (2, 64, 8, 8)
