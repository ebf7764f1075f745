# SPDX-License-Identifier: Apache-2.0
"""Models against scikit-learn and onnx's reference implementation, in the clear and encrypted; what is refused."""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from sklearn.datasets import load_diabetes  # type: ignore[import-untyped]
from sklearn.decomposition import PCA  # type: ignore[import-untyped]
from sklearn.linear_model import (  # type: ignore[import-untyped]
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.neural_network import MLPClassifier, MLPRegressor  # type: ignore[import-untyped]
from sklearn.pipeline import Pipeline, make_pipeline  # type: ignore[import-untyped]
from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]
from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

import ringsmith as rs
from ringsmith import progress
from ringsmith.models import from_onnx
from ringsmith.models.model import IntervalWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5)) * [1, 10, 0.1, 3, 1] + [0, 5, 0, -2, 1]
VALUES = X @ [1.0, 0.2, -5.0, 0.5, 0.0] + 0.3 * RNG.normal(size=120)
TWO = np.where(np.median(VALUES) < VALUES, "yes", "no")
THREE = np.digitize(VALUES, np.quantile(VALUES, [0.3, 0.6]))

CLASSIFIERS = [
    LogisticRegression(),
    LinearSVC(),
    RidgeClassifier(),
    MLPClassifier((6,), activation="tanh", solver="lbfgs", max_iter=200, random_state=0),
    MLPClassifier((6, 4), activation="logistic", solver="lbfgs", max_iter=200, random_state=0),
    MLPClassifier((6,), activation="identity", solver="lbfgs", max_iter=200, random_state=0),
]
REGRESSIONS = [
    LinearRegression(),
    Ridge(),
    LinearRegression(fit_intercept=False),
    MLPRegressor(hidden_layer_sizes=(5,), activation="relu", solver="lbfgs", max_iter=200, random_state=0),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("answers", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
def test_classes_in_the_clear_are_those_of_scikit_learn(estimator: Any, answers: Any, scaled: bool) -> None:
    fitted = (make_pipeline(StandardScaler(), estimator) if scaled else estimator).fit(X, answers)
    model = rs.from_sklearn(fitted, X, deviation=None)
    assert (model.labels(model.clear(X)) == fitted.predict(X)).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", REGRESSIONS, ids=str)
def test_values_in_the_clear_are_those_of_scikit_learn(estimator: Any) -> None:
    scaler = StandardScaler(with_mean=False)
    fitted = Pipeline([("a", Pipeline([("b", scaler)])), ("none", "passthrough"), ("c", estimator)]).fit(X, VALUES)
    model = rs.from_sklearn(fitted, X)
    found: Any = model.labels(model.clear(X))
    np.testing.assert_allclose(found, fitted.predict(X), rtol=1e-9)
    assert model.classes is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rows", [1, 4])
def test_encrypted_scores_are_those_of_the_polynomials(rows: int) -> None:
    estimator = MLPClassifier((4,), activation="tanh", solver="lbfgs", alpha=1.0, max_iter=200, random_state=0)
    fitted = make_pipeline(StandardScaler(), estimator).fit(X, TWO)
    model = rs.from_sklearn(fitted, X, degree=3, deviation=None, rows=rows, tolerance=0.01)
    scores = model(X[:3])
    np.testing.assert_allclose(scores, model.clear(X[:3], polynomial=True), atol=0.01)
    assert (model.predict(X[:1]) == model.labels(scores[:1])).all()
    (p,) = model.calibration.values()
    inner = fitted[0].transform(X) @ estimator.coefs_[0] + estimator.intercepts_[0]
    extent = inner.max() - inner.min()
    np.testing.assert_allclose([p.low, p.high], [inner.min() - 0.1 * extent, inner.max() + 0.1 * extent])


def test_the_three_accuracies_side_by_side() -> None:
    fitted = LogisticRegression().fit(X, TWO)
    found = rs.from_sklearn(fitted, X).compare(X, TWO, rows=3)
    assert (found.measure, found.rows, found.outside) == ("accuracy", 3, 0)
    assert found.clear == found.polynomial == found.encrypted == fitted.score(X[:3], TWO[:3])
    assert 0 < found.difference <= 1e-3
    assert repr(found).startswith(f"<accuracy of 3 rows: clear {found.clear:.4f}, polynomial {found.clear:.4f}, enc")


@pytest.mark.filterwarnings("ignore")
def test_rows_that_leave_an_interval_are_counted() -> None:
    fitted = MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=50, random_state=0).fit(X, VALUES)
    model = rs.from_sklearn(fitted, X[:60], margin=0.0)
    assert model._outside(X[:60]) == 0
    assert model._outside(X * 1.5) > 0


@pytest.mark.filterwarnings("ignore")
def test_a_model_that_no_degree_holds_is_refused_and_its_remedies_work() -> None:
    samples, answers = load_diabetes(return_X_y=True, scaled=False)
    kind = MLPRegressor(activation="tanh", hidden_layer_sizes=(8,), solver="lbfgs", max_iter=300, random_state=0)
    fitted = kind.fit(samples, answers)
    with pytest.raises(rs.InputError, match=r"degree 127, the largest tried, move .* of its extent") as caught:
        rs.from_sklearn(fitted, samples)
    allowed = float(str(caught.value).split("allow deviation=")[1])
    assert rs.from_sklearn(fitted, samples, deviation=allowed).share <= allowed


def test_options_of_a_kernel_are_taken() -> None:
    """Messages of the compiler name options of `rs.kernel`."""
    fitted = LogisticRegression().fit(X, TWO)
    model = rs.from_sklearn(fitted, X, keys_limit=75595776, guarantee="probable", name="own", precision=12)
    assert (model.kernel.keys_limit, model.kernel.guarantee, model.kernel.name) == (75595776, "probable", "own")
    assert model.kernel.tolerance == 2.0**-12
    with pytest.raises(rs.ParameterError, match="allow keys_limit=") as caught:
        _ = rs.from_sklearn(fitted, X, keys_limit=10).program
    limit = int(re.findall("keys_limit=([0-9]+) or more", str(caught.value))[0])
    assert rs.from_sklearn(fitted, X, keys_limit=limit).program.params.n > 0


@pytest.mark.filterwarnings("ignore")
def test_the_cost_is_told_before_keys_and_a_limit_of_memory_holds() -> None:
    fitted = LinearRegression().fit(X, VALUES)
    cost = rs.from_sklearn(fitted, X).cost()
    fits = rs.from_sklearn(fitted, X, memory_limit=cost.total_memory)
    assert fits.program.params.n == cost.n
    refused = rs.from_sklearn(fitted, X, memory_limit=cost.total_memory - 1)
    with pytest.raises(rs.InputError, match=f"or allow memory_limit={cost.total_memory}$"):
        refused(X[0])
    assert refused.cost() == cost, "the cost of what is refused is told too"
    for wrong in (0, -1, 1.5, "1 GB"):
        with pytest.raises(rs.InputError, match="memory_limit="):
            rs.from_sklearn(fitted, X, memory_limit=wrong)


def test_samples_that_leave_an_interval_are_told() -> None:
    fitted = MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=50, random_state=0).fit(X, VALUES)
    model = rs.from_sklearn(fitted, X[:60], margin=0.0, domain=(-60, 60), tolerance=0.1)
    far = np.array([[-50.0, 50, 50, -50, 50]])
    assert model._outside(far) == 1
    with pytest.warns(IntervalWarning, match="1 of 1 samples, the first in row 0, leave the interval of MLPRegressor"):
        model._warn(far)


MODEL = rs.from_sklearn(LogisticRegression().fit(X, TWO), X)


@pytest.mark.parametrize(
    ("use", "line"),
    [
        (lambda: MODEL(X[:1] + 1000), r"row 0, feature 0 is .*, outside the calibrated range \[.*\]; state the feat"),
        (lambda: MODEL(np.full((1, 5), np.nan)), "nan; every value must be finite"),
        (lambda: MODEL(X[:1, :4]), r"samples of shape \(1, 4\): the model takes 5 features a row"),
        (lambda: MODEL.compare(X[:2], TWO[:1]), "2 samples and 1 answers"),
        (lambda: MODEL.compare(X[:0], TWO[:0]), "0 samples and 0 answers"),
        (lambda: rs.from_sklearn(np.linalg, X), "module is not supported; a fitted estimator of scikit-learn"),
        (lambda: rs.from_sklearn(LogisticRegression(), X), "LogisticRegression is not fitted; call its fit"),
        (lambda: rs.from_sklearn(PCA(), X), "PCA is not fitted; call its fit"),
        (lambda: rs.from_sklearn(LogisticRegression().fit(X, TWO), X[:, :4]), r"data of shape \(120, 4\): rows of 5"),
        (lambda: rs.from_sklearn(LogisticRegression().fit(X, TWO), X[0]), r"data of shape \(5,\): rows of features"),
        (lambda: rs.from_sklearn(LogisticRegression().fit(X, TWO), X, margin=-1), "margin=-1: a number from 0"),
        (lambda: rs.from_sklearn(LogisticRegression().fit(X, TWO), X, rows=0), "rows=0: how many samples"),
        (lambda: rs.from_sklearn(LogisticRegression().fit(X, TWO), X, degree=3, error=1), "degree or error, not both"),
        (
            lambda: rs.from_sklearn(LogisticRegression().fit(X, TWO), X, degre=3),
            "unknown option degre; there are degree",
        ),
    ],
)
def test_bad_input(use: Callable[[], Any], line: str) -> None:
    with pytest.raises(rs.InputError, match=line) as caught:
        use()
    assert "\n" not in str(caught.value)


IMAGE = ("image", ["N", 2, 6, 6])


def network(*nodes: Any, outputs: int = 3, given: Any = IMAGE, dtype: int = TensorProto.FLOAT, **arrays: Any) -> Any:
    """A model of these nodes, from `given` to `scores`."""
    name, shape = given
    held = [
        numpy_helper.from_array(np.asarray(a, dtype=np.float32 if np.asarray(a).dtype.kind == "f" else np.int64), n)
        for n, a in arrays.items()
    ]
    graph = helper.make_graph(
        list(nodes), "network", [helper.make_tensor_value_info(name, dtype, shape)],
        [helper.make_tensor_value_info("scores", dtype, ["N", "M"])], held,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def node(op: str, inputs: str, output: str = "scores", **attributes: Any) -> Any:
    return helper.make_node(op, inputs.split(), [output], name=f"the_{op.lower()}", **attributes)


def normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape)


IMAGES = np.random.default_rng(1).uniform(-1, 1, (20, 2, 6, 6))
NETWORKS = {
    "convolution": network(
        node("Conv", "image w b", "a", strides=[2, 2], pads=[1, 1, 0, 0], dilations=[1, 1]),
        node("BatchNormalization", "a g h m v", "c"), node("Relu", "c", "d"),
        node("AveragePool", "d", "e", kernel_shape=[2, 2]), node("Flatten", "e", "f"), node("Gemm", "f x y", transB=1),
        w=normal(4, 2, 3, 3), b=normal(4), g=normal(4) + 2, h=normal(4), m=normal(4), v=np.ones(4), x=normal(3, 16),
        y=normal(3),
    ),
    "groups, global pool": network(
        node("Conv", "image w", "a", group=2, auto_pad="SAME_UPPER"), node("Tanh", "a", "b"),
        node("GlobalAveragePool", "b", "c"), node("Reshape", "c s", "d"), node("MatMul", "d x"),
        w=normal(4, 1, 3, 3), s=np.array([-1, 4]), x=normal(4, 3),
    ),
    "a residue": network(
        node("Flatten", "image", "a"), node("MatMul", "a x", "b"), node("Sigmoid", "b", "c"), node("Add", "c b", "d"),
        node("Mul", "d d", "e"), node("Sub", "e c", "f"), node("Add", "f one", "g"), node("Div", "g two"),
        x=normal(72, 3) / 10, one=np.float64(1.5), two=np.array([2.0, 4.0, -1.0]),
    ),
    # What PyTorch writes for x.view(x.size(0), -1).
    "a view": network(
        node("AveragePool", "image", "a", kernel_shape=[2, 2], strides=[2, 2]), node("Shape", "a", "s"),
        node("Gather", "s zero", "n"), node("Unsqueeze", "n axes", "m"), node("Concat", "m rest", "t", axis=0),
        node("Reshape", "a t", "b"), node("MatMul", "b x"),
        zero=np.array(0), axes=np.array([0]), rest=np.array([-1]), x=normal(18, 3),
    ),
    "an activation at once": network(
        node("Relu", "image", "a"), node("Flatten", "a", "b"), node("MatMul", "b x"), x=normal(72, 3)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_in_the_clear_are_those_of_the_reference(name: str) -> None:
    model = rs.from_onnx(NETWORKS[name], IMAGES)
    (expected,) = ReferenceEvaluator(NETWORKS[name]).run(None, {"image": IMAGES.astype(np.float32)})
    np.testing.assert_allclose(model.clear(IMAGES), np.asarray(expected), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["AveragePool", "GlobalAveragePool"])
def test_a_pooling_is_compared_with_the_reference_once(op: str) -> None:
    """The reference takes as long for each channel: a network of many was read in minutes."""
    attributes: dict[str, Any] = (
        {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]} if op == "AveragePool" else {}
    )
    graph = network(node(op, "image", "a", **attributes), node("Flatten", "a"))
    (expected,) = ReferenceEvaluator(graph).run(None, {"image": IMAGES.astype(np.float32)})
    np.testing.assert_allclose(rs.from_onnx(graph, IMAGES).clear(IMAGES), np.asarray(expected), atol=1e-6)
    asked = []
    original = from_onnx._Graph._run

    def counted(graph: Any, node: Any, inputs: Any) -> Any:
        asked.append(inputs["image"].shape)
        return original(graph, node, inputs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(from_onnx._Graph, "_run", counted)
        from_onnx._Graph.of(network(node(op, "image", **attributes))).result()
    # Zeros, and random numbers.
    assert asked == [(1, 2, 6, 6)] * 2


def test_a_network_of_a_file_encrypted(tmp_path: Path) -> None:
    onnx.save(NETWORKS["groups, global pool"], tmp_path / "network.onnx")
    model = rs.from_onnx(tmp_path / "network.onnx", IMAGES, classes="abc", degree=3, deviation=None, tolerance=0.01)
    np.testing.assert_allclose(model(IMAGES[:1]), model.clear(IMAGES[:1], polynomial=True), atol=0.01)
    assert set(model.labels(model.clear(IMAGES))) <= set("abc")
    assert list(model.calibration) == ["the_tanh"]


def test_the_reference_of_a_convolution_is_a_convolution() -> None:
    """The matrices are asked of onnx: one of them by the definition."""
    w = normal(1, 2, 3, 3)
    model = rs.from_onnx(network(node("Conv", "image w"), w=w), IMAGES)
    image = IMAGES[0]
    expected = [np.sum(image[:, i : i + 3, j : j + 3] * w[0]) for i in range(4) for j in range(4)]
    np.testing.assert_allclose(model.clear(IMAGES[:1])[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (
            network(node("Softmax", "image")),
            "operator Softmax of node the_softmax is not supported; end the model",
        ),
        (
            network(node("MaxPool", "image", kernel_shape=[2, 2])),
            "operator MaxPool of node the_maxpool.*; train with AveragePool",
        ),
        (
            network(node("LSTM", "image w r", hidden_size=2), w=normal(1, 8, 6), r=normal(1, 8, 2)),
            "operator LSTM of node the_lstm is not supported; its gates",
        ),
        (
            network(node("Reshape", "w r", output="v"), node("Add", "image v"), w=normal(3), r=np.array([2, 2])),
            r"node the_reshape \(Reshape\): .*; check the model",
        ),
        (
            network(node("Hardmax", "image")),
            "operator Hardmax of node the_hardmax is not supported; supported are Gemm",
        ),
        (network(node("Concat", "image image", axis=0)), r"node the_concat \(Concat\) changes the batch axis"),
        (
            network(node("Slice", "image s e"), s=np.array([0]), e=np.array([1])),
            r"node the_slice \(Slice\) changes the batch axis: two samples become 1",
        ),
        (network(node("Pow", "one image"), one=np.float64(2)), "node the_pow: Pow with a parameter that depends"),
        (network(node("Pow", "image p"), p=normal(6)), "node the_pow: 6 exponents; one for all elements"),
        (
            network(node("Transpose", "image", "t", perm=[0, 1, 3, 2]), node("Div", "image t")),
            "node the_div: Div of two encrypted values; Add, Sub or Mul",
        ),
        (network(node("Flatten", "image", axis=0)), r"node the_flatten \(Flatten\) changes the batch axis"),
        (network(node("Cast", "image", to=TensorProto.INT32)), r"node the_cast \(Cast\) rounds to integers"),
        (network(node("MatMul", "image w"), w=normal(5, 3)), r"node the_matmul \(MatMul\)"),
        (
            network(node("Tile", "image r"), r=np.array([1, 1, 10**5, 10**5])),
            "makes 720000000000 elements of a sample; at",
        ),
        (network(node("Expand", "image r"), r=np.array([1, 1, 10**5, 10**5])), r"the_expand \(Expand\)"),
        (
            network(node("Pad", "image p"), p=np.array([0, 0, 0, 0, 0, 0, 10**9, 0])),
            r"node the_pad \(Pad\) makes 12000000072 elements",
        ),
        (
            network(helper.make_node("Resize", ["image", "", "s"], ["scores"]), s=np.array([1, 1, 1e5, 1e5])),
            "makes 720000000000 elements",
        ),
        (
            network(node("ConstantOfShape", "r", "c"), node("Add", "image c"), r=np.array([10**6, 10**6])),
            r"the_constantofshape \(ConstantOfShape\) makes 1000000000000 elements",
        ),
        (
            network(
                node("Range", "a b c", "d"), node("Add", "image d"), a=np.array(0), b=np.array(10**12), c=np.array(1)
            ),
            r"the_range \(Range\) makes 1000000000000 elements",
        ),
        (
            network(node("Conv", "image w", pads=[10**6] * 4), w=normal(1, 2, 3, 3)),
            r"the_conv \(Conv\) makes 4000016000016 elements",
        ),
        (network(node("Identity", "image"), dtype=TensorProto.INT32), "input image is of dtype int32; float32"),
        (
            network(node("Identity", "image"), given=("image", ["N", 2, "H", 6])),
            r"has shape \(N, 2, H, 6\); a batch and fixed",
        ),
        (network(node("Identity", "w"), w=normal(3)), "output scores does not depend on input image"),
        (b"no model", "the model is no valid ONNX model"),
        ("missing.onnx", "missing.onnx: No such file"),
    ],
)
def test_networks_that_are_refused(model: Any, line: str) -> None:
    with pytest.raises(rs.InputError, match=line) as caught:
        rs.from_onnx(model, IMAGES)
    assert "\n" not in str(caught.value)


def test_nodes_of_one_name_have_ranges_of_their_own() -> None:
    given = network(
        node("Flatten", "image", "f"), node("Gemm", "f m", "a"), node("Tanh", "a", "b"), node("Gemm", "b l", "c"),
        node("Tanh", "c"), m=normal(72, 5) / 4, l=10 * normal(5, 3),
    )  # fmt: skip
    first, second = rs.from_onnx(given, IMAGES, degree=7, deviation=None).calibration.values()
    assert second.high > 2 * first.high


@pytest.mark.parametrize(
    ("data", "options", "line"),
    [
        (IMAGES[:, :1], {}, r"calibration data of shape \(20, 1, 6, 6\): the model's input takes \(rows, 2, 6, 6\)"),
        (IMAGES[0], {}, "calibration data of shape"),
        (IMAGES[:0], {}, "calibration data of shape"),
        (IMAGES, {"classes": [1, 2]}, "2 classes for 3 scores"),
        (IMAGES, {"depth": 2}, "unknown option depth"),
    ],
)
def test_data_and_options_that_are_refused(data: Any, options: Any, line: str) -> None:
    with pytest.raises(rs.InputError, match=line):
        rs.from_onnx(NETWORKS["convolution"], data, **options)


def test_held_out_rows_beyond_the_data_are_taken_with_a_domain_or_clipped() -> None:
    """A pixel that is constant in the calibration data moves in held-out ones."""
    data = np.random.default_rng(3).uniform(0, 1, (60, 4))
    data[:, 2] = 0.0
    fitted = LogisticRegression().fit(data, data[:, 0] > 0.5)
    held_out = np.column_stack([data[:5, :2], np.full(5, 0.9), data[:5, 3]])
    with pytest.raises(rs.InputError, match=r"row 0, feature 2 is 0.9, .*domain=\(0, 1\).*clip=True"):
        rs.from_sklearn(fitted, data).compare(held_out, fitted.predict(held_out))
    stated = rs.from_sklearn(fitted, data, domain=(0, 1))
    assert stated.compare(held_out, fitted.predict(held_out)).encrypted == 1.0
    clipped = rs.from_sklearn(fitted, data, clip=True)
    assert np.abs(clipped.encode(held_out)).max() == 1.0
    with pytest.raises(rs.InputError, match=r"feature 0 is 1.5, outside the domain \[0, 1\]; state a wider"):
        stated.encode(np.array([1.5, 0, 0, 0]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("activation", ["logistic", "tanh"])
def test_a_network_that_polynomials_move_too_far_is_refused_with_the_figure(activation: str) -> None:
    """At its defaults on values of other sizes: as far as a quarter of the extent without a word before."""
    samples, values = load_diabetes(return_X_y=True)
    network = MLPRegressor(activation=activation, random_state=0).fit(samples * 100, values)
    try:
        model = rs.from_sklearn(network, samples * 100)
    except rs.InputError as error:
        told = str(error)
    else:
        told = ""
        assert model.share <= 0.02
        moved = np.abs(model.clear(samples * 100) - model.clear(samples * 100, polynomial=True)).max()
        assert moved <= 0.02 * model.extent + 1e-9
    taken = rs.from_sklearn(network, samples * 100, deviation=None, degree=3)
    assert taken.share > 0.0
    with pytest.raises(rs.InputError, match=r"of degree 3 move a score .* of its extent \(2.0% is allowed\)"):
        rs.from_sklearn(network, samples * 100, degree=3)
    assert not told or "of its extent (2.0% is allowed)" in told


def test_a_conversion_shows_its_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    class Slow(LinearRegression):  # type: ignore[misc]
        def predict(self, x: Any) -> Any:
            while "from_sklearn" not in terminal.getvalue():
                time.sleep(0.001)
            return super().predict(x)

    terminal = Terminal()
    monkeypatch.setattr(progress, "_QUIET", 0.0)
    monkeypatch.setattr(progress, "_UPDATE", 0.001)
    monkeypatch.setattr(sys, "stderr", terminal)
    rows = np.arange(12.0).reshape(6, 2) ** 1.5
    rs.from_sklearn(Slow().fit(rows, rows @ [1, 2]), rows)
    assert "\rfrom_sklearn: ranges of the calibration data, 0 s" in terminal.getvalue()
