# SPDX-License-Identifier: Apache-2.0
"""Every estimator of the installed scikit-learn: converted and right, or refused by one clear line."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit  # type: ignore[import-untyped]
from sklearn import (  # type: ignore[import-untyped]
    compose,
    ensemble,
    feature_selection,
    linear_model,
    multiclass,
    multioutput,
    svm,
)
from sklearn.calibration import CalibratedClassifierCV  # type: ignore[import-untyped]
from sklearn.decomposition import PCA  # type: ignore[import-untyped]
from sklearn.frozen import FrozenEstimator  # type: ignore[import-untyped]
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge  # type: ignore[import-untyped]
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV  # type: ignore[import-untyped]
from sklearn.naive_bayes import GaussianNB  # type: ignore[import-untyped]
from sklearn.neural_network import MLPClassifier  # type: ignore[import-untyped]
from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
from sklearn.preprocessing import (  # type: ignore[import-untyped]
    MinMaxScaler,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier  # type: ignore[import-untyped]
from sklearn.utils import all_estimators  # type: ignore[import-untyped]
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import ringsmith as rs
from ringsmith.models import remedies

RNG = np.random.default_rng(0)
X = RNG.gamma(2.0, 1.0, (80, 4))
HELD_OUT = np.clip(RNG.gamma(2.0, 1.0, (40, 4)), X.min(axis=0), X.max(axis=0))
VALUES = X @ [1.0, -0.5, 0.3, 0.0] + 0.1 * RNG.normal(size=80)
TWO = np.where(np.median(VALUES) < VALUES, "yes", "no")
THREE = np.digitize(VALUES, np.quantile(VALUES, [0.3, 0.6]))
LABELS = np.column_stack([VALUES > 1, X[:, 0] > 2]).astype(int)
#: Answers to fit to, until one is taken.
SEVERAL = (np.column_stack([VALUES, X[:, 0]]), np.column_stack([THREE, THREE > 1]))
ANSWERS = (THREE, TWO, VALUES, np.exp(VALUES), *SEVERAL, None)

PAIR = [("a", LogisticRegression()), ("b", svm.LinearSVC())]
VALUE_PAIR = [("a", Ridge()), ("b", Lasso())]
#: Estimators that are made with arguments, or that one other choice makes a polynomial.
MADE: dict[str, Callable[[Any], Any]] = {
    "ColumnTransformer": lambda of: of([("a", StandardScaler(), [0, 1]), ("b", "passthrough", [2, 3])]),
    "FeatureUnion": lambda of: of([("a", PCA(2)), ("b", StandardScaler())]),
    "FixedThresholdClassifier": lambda of: of(LogisticRegression(), threshold=0.3, response_method="predict_proba"),
    "FrozenEstimator": lambda of: of(LogisticRegression().fit(X, THREE)),
    "GridSearchCV": lambda of: of(Ridge(), {"alpha": [1, 2]}),
    **dict.fromkeys(("GaussianRandomProjection", "SparseRandomProjection"), lambda of: of(2)),
    "LocalOutlierFactor": lambda of: of(novelty=True),
    "Pipeline": lambda of: of([("a", StandardScaler()), ("b", LogisticRegression())]),
    "RandomizedSearchCV": lambda of: of(Ridge(), {"alpha": [1, 2]}, n_iter=2),
    "SparseCoder": lambda of: of(np.eye(4)),
    "StackingClassifier": lambda of: of(PAIR, stack_method="decision_function"),
    "StackingRegressor": lambda of: of(VALUE_PAIR),
    "VotingClassifier": lambda of: of(PAIR),
    "VotingRegressor": lambda of: of(VALUE_PAIR),
    **dict.fromkeys(
        ("MultiOutputRegressor", "RFE", "RFECV", "RegressorChain", "SelectFromModel", "SequentialFeatureSelector"),
        lambda of: of(Ridge()),
    ),
    **dict.fromkeys(
        ("ClassifierChain", "MultiOutputClassifier", "OneVsRestClassifier", "OutputCodeClassifier",
         "SelfTrainingClassifier", "TunedThresholdClassifierCV"),
        lambda of: of(LogisticRegression()),
    ),
    "OneVsOneClassifier": lambda of: of(svm.LinearSVC()),
    "SVR": lambda of: of(kernel="linear"),
    "SVC": lambda of: of(kernel="poly"),
    "NuSVC": lambda of: of(kernel="linear", nu=0.2),
    "NuSVR": lambda of: of(kernel="poly"),
    "OneClassSVM": lambda of: of(kernel="linear"),
    "KernelRidge": lambda of: of(kernel="poly", degree=2),
    "MLPClassifier": lambda of: of((6,), activation="tanh", random_state=0),
    "MLPRegressor": lambda of: of(hidden_layer_sizes=(6,), random_state=0),
    "RBFSampler": lambda of: of(n_components=10, random_state=0),
    "HistGradientBoostingClassifier": lambda of: of(max_iter=5),
    "HistGradientBoostingRegressor": lambda of: of(max_iter=5),
}  # fmt: skip
#: No polynomial of low degree, or nothing for new samples: refused.
REFUSED = frozenset(
    name
    for line in """
    AdaBoostClassifier AdaBoostRegressor AdditiveChi2Sampler AgglomerativeClustering BaggingClassifier BaggingRegressor
    BernoulliNB BernoulliRBM Binarizer BisectingKMeans CategoricalNB ClassifierChain
    CountVectorizer DBSCAN DecisionTreeClassifier DecisionTreeRegressor DictVectorizer DictionaryLearning
    EmpiricalCovariance ExtraTreeClassifier ExtraTreeRegressor ExtraTreesClassifier ExtraTreesRegressor FeatureHasher
    GaussianProcessClassifier GaussianProcessRegressor GradientBoostingClassifier GradientBoostingRegressor
    GraphicalLasso GraphicalLassoCV HDBSCAN HashingVectorizer HistGradientBoostingClassifier
    HistGradientBoostingRegressor IsolationForest Isomap IsotonicRegression KBinsDiscretizer KNeighborsClassifier
    KNeighborsRegressor KNeighborsTransformer KernelDensity LabelBinarizer LabelEncoder LabelPropagation
    LabelSpreading LatentDirichletAllocation LedoitWolf LocalOutlierFactor LocallyLinearEmbedding MDS MinCovDet
    MiniBatchDictionaryLearning MiniBatchNMF MissingIndicator MultiLabelBinarizer NMF NearestNeighbors Normalizer
    Nystroem OAS OPTICS OneHotEncoder OrdinalEncoder PatchExtractor PowerTransformer
    QuantileTransformer RadiusNeighborsClassifier RadiusNeighborsRegressor RadiusNeighborsTransformer
    RandomForestClassifier RandomForestRegressor RandomTreesEmbedding ShrunkCovariance SkewedChi2Sampler SparseCoder
    SpectralBiclustering SpectralClustering SpectralCoclustering SpectralEmbedding SplineTransformer TSNE TargetEncoder
    TfidfTransformer TfidfVectorizer
    """.splitlines()
    for name in line.split()
)
#: Fitted to something else than rows of numbers.
OTHERWISE: dict[str, tuple[Any, ...]] = {
    "CountVectorizer": (["one word", "two words"] * 40,),
    "TfidfVectorizer": (["one word", "two words"] * 40,),
    "DictVectorizer": ([{"a": 1, "b": 2}] * 80,),
    "IsotonicRegression": (X[:, 0], VALUES),
    "KernelCenterer": (X @ X.T,),
    "LabelBinarizer": (THREE,),
    "LabelEncoder": (THREE,),
    "MultiLabelBinarizer": ([(1, 2), (3,)] * 40,),
}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        yield


def fitted(estimator: Any, name: str) -> Any:
    """Fit to the first answers that the estimator takes."""
    if name in OTHERWISE:
        return estimator.fit(*OTHERWISE[name])
    for answers in ANSWERS:
        try:
            return estimator.fit(X, answers)
        except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
            last = error
    raise AssertionError(f"{name} takes none of the answers") from last


def said(estimator: Any, rows: Any) -> Any:
    """Return what the estimator itself says of rows."""
    found = (getattr(estimator, "predict", None) or estimator.transform)(rows)
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found)


def agrees(model: rs.Model, estimator: Any, rows: Any) -> None:
    if model.shares is not None:
        np.testing.assert_allclose(model.probabilities(model.clear(rows)), estimator.predict_proba(rows), atol=1e-6)
    found, expected = np.asarray(model.labels(model.clear(rows))), said(estimator, rows)
    found = found.reshape(expected.shape)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    else:
        assert (found == expected).all()


@pytest.mark.parametrize(("name", "kind"), all_estimators(), ids=lambda one: one if isinstance(one, str) else "")
def test_every_estimator_is_right_or_refused(name: str, kind: Any) -> None:
    estimator = fitted(MADE.get(name, lambda of: of())(kind), name)
    data, held_out = (X @ X.T, HELD_OUT @ X.T) if name == "KernelCenterer" else (X, HELD_OUT)
    if name not in REFUSED:
        agrees(rs.from_sklearn(estimator, data, deviation=None), estimator, held_out)
        return
    with pytest.raises(rs.InputError, match=rf"{name}.*(would do|client)") as refused:
        rs.from_sklearn(estimator, data, deviation=None)
    assert "\n" not in str(refused.value)


VARIANTS: dict[str, tuple[Any, Any]] = {
    "sparse coefficients": (LogisticRegression().fit(X, TWO).sparsify(), None),
    "one-vs-rest of polynomial kernels": (multiclass.OneVsRestClassifier(svm.SVC(kernel="poly", degree=2)), THREE),
    "several labels": (multiclass.OneVsRestClassifier(LogisticRegression()), LABELS),
    "several labels of ridge": (linear_model.RidgeClassifier(), LABELS),
    "several targets": (multioutput.MultiOutputClassifier(LogisticRegression()), np.column_stack([TWO, THREE])),
    "several values": (LinearRegression(), np.column_stack([VALUES, X[:, 1]])),
    "pairs, ties broken": (svm.SVC(kernel="linear", break_ties=True), THREE),
    "pairs of classes": (svm.SVC(kernel="poly", degree=2, decision_function_shape="ovo"), THREE),
    "a threshold on probabilities": (
        FixedThresholdClassifier(LogisticRegression(), threshold=0.8, response_method="predict_proba"),
        TWO,
    ),
    "a transformed target": (
        compose.TransformedTargetRegressor(Ridge(), func=np.cbrt, inverse_func=lambda y: y**3),
        VALUES,
    ),
    "squares before a linear model": (make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge()), VALUES),
    "cubes before a linear model": (make_pipeline(StandardScaler(), PolynomialFeatures(3), Ridge()), VALUES),
    "selected features": (make_pipeline(feature_selection.SelectKBest(k=2), Ridge()), VALUES),
    "a frozen scaler": (make_pipeline(FrozenEstimator(StandardScaler().fit(X)), LogisticRegression()), THREE),
    "a search over a pipeline": (GridSearchCV(make_pipeline(PCA(2), Ridge()), {"ridge__alpha": [0.1, 1]}), VALUES),
    "a bag of linear models": (ensemble.BaggingRegressor(Ridge(), 3), VALUES),
    "calibrated, a member a fold": (CalibratedClassifierCV(svm.LinearSVC(), cv=3), THREE),
    "calibrated by steps": (CalibratedClassifierCV(LogisticRegression(), cv=3, method="isotonic"), TWO),
    "calibrated, one member": (CalibratedClassifierCV(svm.LinearSVC(), cv=3, ensemble=False), THREE),
    "a calibrated pipeline": (CalibratedClassifierCV(make_pipeline(StandardScaler(), svm.LinearSVC())), TWO),
    "calibrated pairs of classes": (CalibratedClassifierCV(svm.SVC(kernel="poly", degree=2), cv=2), THREE),
    "a calibrated search": (CalibratedClassifierCV(GridSearchCV(LogisticRegression(), {"C": [1, 10]}), cv=2), THREE),
    "a calibrated bag": (CalibratedClassifierCV(ensemble.BaggingClassifier(LogisticRegression(), 2), cv=2), TWO),
    "a vote of probabilities": (
        ensemble.VotingClassifier([("a", LogisticRegression()), ("b", GaussianNB())], voting="soft", weights=[1, 3]),
        THREE,
    ),
    "a vote with a perceptron": (
        ensemble.VotingClassifier(
            [("a", LogisticRegression()), ("b", MLPClassifier((6,), activation="tanh", random_state=0))],
            voting="soft",
        ),
        TWO,
    ),
    "a vote with a search": (
        ensemble.VotingClassifier(
            [("a", GridSearchCV(linear_model.SGDClassifier(loss="modified_huber", random_state=0), {"alpha": [1e-3]}))],
            voting="soft",
        ),
        THREE,
    ),
    "a bag of some features each": (
        ensemble.BaggingClassifier(LogisticRegression(), 3, max_features=2, n_jobs=2, random_state=0),
        THREE,
    ),
    "stacked probabilities": (
        ensemble.StackingClassifier([("a", LogisticRegression()), ("b", GaussianNB())], DecisionTreeClassifier()),
        THREE,
    ),
    "a boosted linear model": (ensemble.AdaBoostClassifier(LogisticRegression(), n_estimators=3), THREE),
    "a boosted regression": (ensemble.AdaBoostRegressor(Ridge(), n_estimators=3, random_state=0), VALUES),
    "an average of exponentials": (
        ensemble.VotingRegressor([("a", Ridge()), ("b", linear_model.PoissonRegressor())]),
        np.exp(VALUES),
    ),
    "one class in training": (
        multiclass.OneVsRestClassifier(LogisticRegression()),
        np.column_stack([THREE > 0, TWO == TWO]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_are_what_scikit_learn_says(name: str) -> None:
    estimator, answers = VARIANTS[name]
    estimator = estimator if answers is None else estimator.fit(X, answers)
    model = rs.from_sklearn(estimator, X)
    agrees(model, estimator, HELD_OUT)


HAVE_PROBABILITIES = (
    "CalibratedClassifierCV",
    "GaussianNB",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "MLPClassifier",
    "QuadraticDiscriminantAnalysis",
)


@pytest.mark.parametrize("name", HAVE_PROBABILITIES)
def test_probabilities_are_the_estimator_s_own(name: str) -> None:
    estimator = dict(all_estimators())[name]().fit(X, THREE)
    model = rs.from_sklearn(estimator, X, deviation=None)
    assert model.shares is not None
    agrees(model, estimator, HELD_OUT)


def test_a_bag_is_not_taken_for_its_decision_function() -> None:
    """Which is the average of its members': on most points it has the same class as the average of probabilities."""
    estimator = ensemble.BaggingClassifier(LogisticRegression(), 3, random_state=0).fit(X, THREE)
    assert rs.from_sklearn(estimator, X).result.size == 3 * 3


def test_probabilities_of_encrypted_samples() -> None:
    estimator = CalibratedClassifierCV(svm.LinearSVC(), cv=3).fit(X, THREE)
    model = rs.from_sklearn(estimator, X)
    np.testing.assert_allclose(model.predict_proba(HELD_OUT[:3]), estimator.predict_proba(HELD_OUT[:3]), atol=1e-3)
    assert (model.predict(HELD_OUT[:3]) == estimator.predict(HELD_OUT[:3])).all()


def test_a_model_without_probabilities_says_what_has_some() -> None:
    model = rs.from_sklearn(svm.LinearSVC().fit(X, THREE), X)
    refusal = "linearsvc: no probabilities follow from its scores; a LogisticRegression, or a CalibratedClassifierCV"
    with pytest.raises(rs.InputError, match=refusal):
        model.probabilities(np.zeros((1, 3)))
    with pytest.raises(rs.InputError, match=refusal):
        model.predict_proba(X[:1])


@pytest.mark.parametrize(
    "estimator",
    [
        CalibratedClassifierCV(DecisionTreeClassifier(), cv=2),
        ensemble.VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier())]),
        ensemble.StackingClassifier([("a", LogisticRegression())], passthrough=True),
    ],
    ids=["trees", "a tree among others", "features passed on"],
)
def test_ensembles_of_what_no_polynomial_does_are_refused(estimator: Any) -> None:
    with pytest.raises(rs.InputError, match=rf"{type(estimator).__name__} is not supported: .* would do$"):
        rs.from_sklearn(estimator.fit(X, THREE), X)


def test_weights_one_feature_and_names_of_classes() -> None:
    estimator = LogisticRegression().fit(X[:, :1], TWO, sample_weight=np.arange(80) + 1)
    model = rs.from_sklearn(estimator, X[:, :1])
    agrees(model, estimator, HELD_OUT[:, :1])
    assert set(model.labels(model(HELD_OUT[:3, :1]))) <= {"yes", "no"}


def test_a_function_that_clips_is_not_taken_for_a_line() -> None:
    """Between the ends of the data it is affine; beyond, where the margin reaches, it is not."""
    with pytest.raises(rs.InputError, match=r"MinMaxScaler is not supported: its transform is not affine"):
        rs.from_sklearn(MinMaxScaler(clip=True).fit(X), X)
    assert rs.from_sklearn(MinMaxScaler(clip=True).fit(X), X, margin=0.0).features == 4


def test_an_estimator_of_no_known_class_is_taken_by_what_it_computes() -> None:
    class Own:
        def fit(self) -> None: ...

        def predict(self, rows: Any) -> Any:
            return 3 * rows[:, 0] - rows[:, 1] * rows[:, 2] + 1

    agrees(rs.from_sklearn(Own(), X), Own(), HELD_OUT)


def test_an_estimator_whose_probabilities_fail_is_taken_without_them() -> None:
    class Own(LogisticRegression):  # type: ignore[misc]
        def predict_proba(self, rows: Any) -> Any:
            raise NotImplementedError

    model = rs.from_sklearn(Own().fit(X, THREE), X)
    assert model.shares is None
    agrees(model, Own().fit(X, THREE), HELD_OUT)


def test_an_own_classifier_without_a_place_for_attributes_is_taken() -> None:
    class Own:
        __slots__ = ()
        classes_ = np.array(["no", "yes"])

        def fit(self) -> None: ...

        def decision_function(self, rows: Any) -> Any:
            return 3 * rows[:, 0] - rows[:, 1] - 2

        def predict(self, rows: Any) -> Any:
            return self.classes_[(self.decision_function(rows) > 0).astype(int)]

        def predict_proba(self, rows: Any) -> Any:
            return np.column_stack([expit(-self.decision_function(rows)), expit(self.decision_function(rows))])

    model = rs.from_sklearn(Own(), X)
    assert model.shares is not None
    agrees(model, Own(), HELD_OUT)


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), svm.SVC(kernel="poly")),
        make_pipeline(StandardScaler(), PCA(3)),
        svm.SVC(kernel="linear"),
        linear_model.PoissonRegressor(),
    ],
    ids=str,
)
def test_encrypted_answers_are_those_of_the_estimator(estimator: Any) -> None:
    estimator.fit(X, np.exp(VALUES) if isinstance(estimator, linear_model.PoissonRegressor) else THREE)
    model = rs.from_sklearn(estimator, X)
    scores = model(HELD_OUT[:3])
    np.testing.assert_allclose(scores, model.clear(HELD_OUT[:3]), atol=model.tolerance)
    found = np.asarray(model.labels(scores))
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, said(estimator, HELD_OUT[:3]), atol=0.05)
    else:
        assert (found == said(estimator, HELD_OUT[:3])).all()


def test_the_client_computes_what_is_refused() -> None:
    """The remedy of the message, as it is given."""
    model, data = make_pipeline(StandardScaler(), PowerTransformer(), LogisticRegression()).fit(X, THREE), X
    with pytest.raises(rs.InputError, match=r"PowerTransformer .step powertransformer. is not supported") as caught:
        rs.from_sklearn(model, data)
    found = eval(str(caught.value).split("computes it: ")[1], {"rs": rs, "model": model, "data": data})
    assert (found.labels(found.clear(model[:2].transform(HELD_OUT))) == model.predict(HELD_OUT)).all()


_CALLED = r"\b([A-Z]{2,}\w*|[A-Z][a-z]+[A-Z]\w*|Ridge)\b(\(kernel='poly'\))?"
#: Estimators in messages, with the arguments that are written after them.
NAMED = {
    found
    for node in ast.walk(ast.parse(Path(remedies.__file__).read_text()))
    if isinstance(node, ast.Constant) and isinstance(node.value, str)
    for found in re.findall(_CALLED, node.value)
}


@pytest.mark.parametrize(("name", "given"), sorted(NAMED))
def test_an_estimator_that_a_refusal_names_is_taken(name: str, given: str) -> None:
    known = dict(all_estimators())
    assert name in known, f"{name} is no estimator"
    estimator = eval(f"made{given or '()'}", {"made": known[name]})
    step = make_pipeline(estimator, svm.LinearSVC()) if not hasattr(estimator, "predict") else estimator
    fitted = step.fit(X, THREE if not name.endswith(("SVR", "Regressor")) else VALUES)
    found = rs.from_sklearn(fitted, X)
    assert np.isfinite(found.clear(HELD_OUT[:3])).all()
