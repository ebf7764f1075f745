# SPDX-License-Identifier: Apache-2.0
"""numpy's functions on traced tensors, one by one and keyword by keyword, against numpy itself.

A traced call is evaluated on known numbers; a result must be numpy's in shape and values, or the call is refused.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith.errors import KernelError
from ringsmith.frontend import numpy_functions
from ringsmith.frontend.numpy_functions import FUNCTIONS, GENERAL, UFUNCS, signature_of
from ringsmith.frontend.tensor import Tensor
from ringsmith.ir.evaluate import evaluate
from ringsmith.ir.graph import Graph, Node, Op, frozen
from ringsmith.location import Location

Array = NDArray[Any]
SHAPES: list[tuple[int, ...]] = [(), (3,), (1,), (2, 3), (4, 1), (2, 3, 4), (1, 2, 1, 3), (2, 1, 3, 2)]

#: Values to try for each keyword, whatever the function; what numpy refuses must be refused.
SAMPLES: dict[str, list[Any]] = {
    "axis": [None, 0, 1, -1, -2, 3, (0,), (0, 1), (-1, 0), (0, 0), (), 9, "a"],
    "axes": [None, (0, 1), (1, 0), (-1, 0), (2, 0, 1), (3, 1, 0, 2), (0, 0)],
    "axis1": [0, 1, -1, 7],
    "axis2": [1, 0, -2],
    "casting": ["unsafe", "same_kind"],
    "append": [0],
    "constant_values": [0, 2, -1.5, (1, 2)],
    "copy": [None, True],
    "correction": [0, 1],
    "ddof": [0, 1, 0.5, 3, 100, -1],
    "destination": [0, -1, (1, 0)],
    "dtype": [None, np.int8, float],
    "indices": [0, -1, [0, 0], np.array([[0], [1]]), 5],
    "indices_or_sections": [1, 2, 3, [1], [1, 2]],
    "initial": [0, 3, -1],
    "k": [0, 1, 2, -1, 5],
    "keepdims": [False, True],
    "mean": [np.zeros(3)],
    "mode": ["raise", "wrap", "clip", "constant", "edge", "reflect", "symmetric", "mean", "linear_ramp"],
    "n": [0, 1, 2, 5, -1],
    "new_shape": [(2,), 5, (2, 4), (0,)],
    "newshape": [None, (-1,)],
    "norm": [None, "ortho", "forward", "backward", "other"],
    "obj": [0, -1, [0, 1], slice(0, 1)],
    "offset": [0, 1, -1, 2],
    "order": ["C", "F", "A", "K"],
    "out": [None, np.zeros(3), np.zeros(())],
    "pad_width": [0, 1, (1, 2), ((1, 0), (0, 2)), ((1, 1), (2, 0), (0, 1)), -1],
    "prepend": [0],
    "repeats": [1, 2, [1, 2, 0], [2]],
    "reps": [1, 2, (2, 1), (1, 2, 1)],
    "shape": [(-1,), -1, (1, -1), (3, -1), (2, 3), (2, 3, 1), (4, 2, 3), (2, 2)],
    "shift": [0, 1, -1, 5, (1, 2)],
    "source": [0, -1, (0, 1)],
    "start": [0, 1, 2],
    "subok": [False, True],
    "returned": [False, True],
    "weights": [None, np.array([1.0, 2.0, 3.0]), np.array([[1.0, 2.0, 5.0], [0.5, 0.25, 4.0]]), np.array([1.0, 3.0])],
    "window_shape": [1, 2, (2,), (1, 2), (2, 1, 1), 0, 9],
    "writeable": [False, True],
    "where": [True, False, np.array([True, False, True]), np.array([[True], [False]]), [1, 0, 1]],
}


def tensor_of(values: Array, name: str, *, encrypted: bool = True) -> Tensor:
    """Return an input; `value_of` evaluates what is traced from it."""
    bound = np.full(values.shape, 1000, dtype=values.dtype)
    where = Location(__file__, 0, 0, 0)
    node = Node(Op.INPUT, (), values.shape, encrypted, -bound, bound, where, frozen({"name": name}))
    return Tensor(node, owns=False)


def value_of(result: Any, inputs: dict[str, Array]) -> Any:
    """Evaluate a traced result, part by part."""
    if isinstance(result, list | tuple):
        return [value_of(part, inputs) for part in result]
    if not isinstance(result, Tensor):
        return result
    value = evaluate(Graph("test", {}, result.node).nodes(), inputs)[id(result.node)]
    assert value.shape == result.shape
    assert (value <= result.node.high + 1e-9).all()
    assert (value >= result.node.low - 1e-9).all()
    return value


def outcome(call: Callable[[], Any]) -> Any:
    """Return a call's value or the exception it raises."""
    try:
        return call()
    except Exception as error:
        return error


def agree(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, list | tuple) and wanted and isinstance(wanted[0], np.ndarray):
        return len(found) == len(wanted) and all(agree(a, b) for a, b in zip(found, wanted, strict=True))
    return np.shape(found) == np.shape(wanted) and bool(np.allclose(found, wanted))


def data(shape: tuple[int, ...], seed: int = 0) -> Array:
    return np.asarray(np.random.default_rng(seed).integers(-9, 10, shape), dtype=np.float64)


def limited(error: KernelError) -> bool:
    """Return whether a refusal states one of the documented limits, beyond what numpy refuses."""
    limits = (
        "in memory",
        "with 0 axes",
        "leaves no element",
        "a common inner extent",
        "where= leaves no",
        "leaves nothing of",
        "is not supported in kernels; constant, edge",
        "is one number here",
        "array of booleans",
    )
    return any(words in str(error) for words in limits) or "numbers; where=" in str(error)


def check(call: Callable[..., Any], arrays: list[Array], given: dict[str, Any], refused: set[str]) -> bool:
    """Compare a call on tensors with numpy; return whether there was a value to compare."""
    names = [f"x{number}" for number in range(len(arrays))]
    inputs = dict(zip(names, arrays, strict=True))
    with np.errstate(all="ignore"):
        wanted = outcome(lambda: call(*arrays, **given))
        tensors = [tensor_of(array, name) for name, array in inputs.items()]
        found = outcome(lambda: value_of(call(*tensors, **given), inputs))
    if isinstance(found, KernelError):
        assert found.where is not None
        assert found.where.file == inspect.getsourcefile(call)
        named = any(f"{keyword}=" in str(found) for keyword in refused)
        assert isinstance(wanted, Exception) or named or limited(found), (given, str(found))
        return False
    assert not isinstance(found, Exception), (given, repr(found))
    assert not refused, f"{refused} had no effect and was not refused"
    assert not isinstance(wanted, Exception), f"numpy refuses: {wanted}"
    assert agree(found, wanted), (given, found, wanted)
    return True


def keyword_sets(function: Any, skip: int) -> Iterator[dict[str, Any]]:
    """Yield keywords: none, each with each of its values, and all pairs of two."""
    parameters = list(signature_of(function).parameters.values())[skip:]
    needed = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    free = [p.name for p in parameters if p not in needed]
    for values in itertools.product(*(SAMPLES[p.name] for p in needed)):
        base = {p.name: value for p, value in zip(needed, values, strict=True)}
        yield base
        for count in (1, 2):
            for names in itertools.combinations(free, count):
                for chosen in itertools.product(*(SAMPLES[name] for name in names)):
                    yield base | dict(zip(names, chosen, strict=True))


def changing(function: Any, given: dict[str, Any]) -> set[str]:
    """Return the keywords that are not supported and not at the value that changes nothing."""
    parameters = signature_of(function).parameters
    unsupported = {name for name in given if name not in FUNCTIONS[function].keywords and given[name] is not None}
    return {name for name in unsupported if not np.array_equal(given[name], parameters[name].default)}


JOINS = (np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack)
TWO = (
    np.append,
    np.dot,
    np.inner,
    np.outer,
    np.where,
    np.take_along_axis,
    np.kron,
    np.convolve,
    np.correlate,
    np.einsum,
    np.linalg.matrix_power,
    np.linalg.vecdot,
    np.insert,
    np.block,
    np.atleast_1d,
    np.atleast_2d,
    np.atleast_3d,
)
#: Those of test_numpy_calculus.py.
CALCULUS = (np.polyval, np.gradient, np.cov, np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft)  # fmt: skip
ONE = [function for function in FUNCTIONS if function not in (*JOINS, *TWO, *CALCULUS)]


def test_every_supported_function_is_in_a_table() -> None:
    assert set(ONE) | set(JOINS) | set(TWO) | set(CALCULUS) == set(FUNCTIONS)


@pytest.mark.parametrize("function", ONE, ids=lambda f: f.__name__)
def test_functions_of_one_array(function: Any) -> None:
    def call(x: Any, **given: Any) -> Any:
        return function(x, **given)

    compared = dict.fromkeys(FUNCTIONS[function].keywords[1:], 0)
    count = 0
    for given in keyword_sets(function, 1):
        if function is np.cumsum and given.get("out") is not None:
            continue  # numpy ends the process where its shape does not fit
        for shape in SHAPES if len(given) < 3 else SHAPES[3:6]:
            if check(call, [data(shape)], given, changing(function, given)):
                count += 1
                for name in given:
                    compared[name] = compared.get(name, 0) + 1
    assert count
    assert all(compared.values()), compared


@pytest.mark.parametrize("function", JOINS, ids=lambda f: f.__name__)
def test_joins(function: Any) -> None:
    def call(*parts: Any, **given: Any) -> Any:
        return function(list(parts), **given)

    count = 0
    for given in keyword_sets(function, 1):
        for first, second in itertools.product(SHAPES, SHAPES) if len(given) < 2 else zip(SHAPES, SHAPES, strict=True):
            count += check(call, [data(first), data(second, 1)], given, changing(function, given))
    assert count
    check(lambda x: function([x, np.ones(3), [4, 5, 6]]), [data((3,))], {}, set())


@pytest.mark.parametrize(
    "function",
    [np.dot, np.inner, np.outer, np.append, np.kron, np.convolve, np.correlate, np.linalg.vecdot],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("side", ["both", "left", "right"])
def test_functions_of_two_arrays(function: Any, side: str) -> None:
    count = 0
    for given in keyword_sets(function, 2):
        for first, second in itertools.product(SHAPES, SHAPES):
            a, b = data(first), data(second, 1)
            calls: dict[str, tuple[Callable[..., Any], list[Array]]] = {
                "both": (lambda x, y, **more: function(x, y, **more), [a, b]),
                "left": (lambda x, b=b, **more: function(x, b, **more), [a]),
                "right": (lambda y, a=a, **more: function(a, y, **more), [b]),
            }
            call, arrays = calls[side]
            count += check(call, arrays, given, changing(function, given))
    assert count


@pytest.mark.parametrize("function", GENERAL, ids=lambda f: f.__name__)
def test_products_of_vectors(function: Any) -> None:
    count = 0
    shapes = [*SHAPES, (3, 2), (3, 3), (2, 3, 3), (2, 1, 3, 3)]
    for first, second in itertools.product(shapes, shapes):
        for given in [{}, *({"axis": axis} for axis in (0, -1, -2, 1, 9) if function is np.vecdot)]:
            a, b = data(first), data(second, 1)
            count += check(lambda x, y, **more: function(x, y, **more), [a, b], given, set())
            check(lambda x, b=b, **more: function(x, b, **more), [a], given, set())
            check(lambda y, a=a, **more: function(a, y, **more), [b], given, set())
    assert count > 5


def test_insertions() -> None:
    count = 0
    for shape, axis in itertools.product(SHAPES, (None, 0, -1, 1)):
        for obj in (0, -1, [0, 1], [1], slice(0, 1), 9):
            for values in (7, data((2,)), data((1, 2))):
                count += check(
                    lambda x, v=values, **more: np.insert(x, values=v, **more),
                    [data(shape)],
                    {"obj": obj, "axis": axis},
                    set(),
                )
    assert count > 50
    assert check(lambda x, y: np.insert(x, [0, 2], y), [data((3,)), data((2,), 1)], {}, set())


def test_blocks() -> None:
    x, y, z = data((2, 3)), data((2, 1), 1), data((3,), 2)
    for call in (
        lambda x, y, z: np.block([[x, y], [z, 7]]), lambda x, y, z: np.block([x, y]), lambda x, y, z: np.block(x),
        lambda x, y, z: np.block([z, z]), lambda x, y, z: np.block([[[z]], [[z]]]),
        lambda x, y, z: np.block([[x, np.ones((2, 2))], [np.zeros((1, 5))]]),
    ):  # fmt: skip
        assert check(call, [x, y, z], {}, set())
    for call in (lambda x, y, z: np.block([[x], y]), lambda x, y, z: np.block([[x], [y]])):
        assert not check(call, [x, y, z], {}, set())


@pytest.mark.parametrize("function", [np.atleast_1d, np.atleast_2d, np.atleast_3d], ids=lambda f: f.__name__)
def test_axes_at_least(function: Any) -> None:
    for shape in SHAPES:
        assert check(lambda x: function(x), [data(shape)], {}, set())
        assert check(lambda x: function(x, [1, 2], 3), [data(shape)], {}, set())


SUBSCRIPTS: list[tuple[str, list[tuple[int, ...]]]] = [
    ("ij,jk", [(2, 3), (3, 4)]),
    ("ij->ji", [(2, 3)]),
    ("ii", [(3, 3)]),
    ("ii->i", [(3, 3)]),
    ("ij,j->i", [(2, 3), (3,)]),
    ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
    ("i,j->ij", [(2,), (3,)]),
    ("i,i", [(3,), (3,)]),
    ("ij,kj->ik", [(2, 3), (4, 3)]),
    ("ij,jk,kl->il", [(2, 3), (3, 2), (2, 4)]),
    ("ij,ij->ij", [(2, 3), (2, 3)]),
    ("ijk->j", [(2, 3, 4)]),
    ("i,ij,j", [(2,), (2, 3), (3,)]),
    ("iij,jk->k", [(2, 2, 3), (3, 2)]),
    ("ij , jk", [(1, 2), (2, 1)]),
    (",i", [(), (3,)]),
    ("ij,jk", [(2, 3), (4, 2)]),
    ("ij", [(3,)]),
    ("ij->k", [(2, 2)]),
    ("ij->ii", [(2, 2)]),
    ("i,j", [(2,)]),
]


@pytest.mark.parametrize(("subscripts", "shapes"), SUBSCRIPTS, ids=lambda value: value if type(value) is str else "")
def test_einsum(subscripts: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [data(shape, number) for number, shape in enumerate(shapes)]
    compared = check(lambda *parts: np.einsum(subscripts, *parts), arrays, {}, set())
    check(lambda x: np.einsum(subscripts, x, *arrays[1:]), arrays[:1], {}, set())
    wanted = outcome(lambda: np.einsum(subscripts, *arrays))
    assert compared is not isinstance(wanted, Exception)


def test_einsum_takes_letters_alone() -> None:
    x = tensor_of(data((2, 2)), "x")
    for call in (lambda: np.einsum("...i->i", x), lambda: np.einsum(x, [0, 1], [1, 0])):
        assert isinstance(outcome(call), KernelError)


def test_powers_of_matrices() -> None:
    for shape in ((2, 2), (3, 2, 2), (1, 1)):
        for exponent in (1, 2, 3, 6):
            assert check(lambda x, n=exponent: np.linalg.matrix_power(x, n), [data(shape)], {}, set())
    refused: list[tuple[Any, str]] = [(0, "from 1 on"), (-1, "from 1 on"), (1.5, "int")]
    for power, told in refused:
        error = outcome(partial(np.linalg.matrix_power, tensor_of(data((2, 2)), "x"), power))
        assert isinstance(error, KernelError)
        assert told in str(error)


def test_selections_by_known_arrays() -> None:
    for shape in SHAPES:
        x, y = data(shape), data(shape, 1)
        mask = data(shape, 2) > 0
        assert check(lambda x, y, m=mask: np.where(m, x, y), [x, y], {}, set())
        assert check(lambda x, m=mask: np.where(m, x, 7), [x], {}, set())
        for axis in range(len(shape)):
            order = np.argsort(x, axis=axis)
            assert check(lambda x, o=order, a=axis: np.take_along_axis(x, o, a), [x], {}, set())
    assert check(lambda x: np.where([[True], [False]], x, -x), [data((3,))], {}, set())


BASIC = [0, -1, slice(None), slice(None, None, -1), slice(3, 0, -2), Ellipsis, None, [0, 1], [[1], [0]], True]
ODD = [9, 1.5, "a", [5], np.array([True, False]), slice(2, 2), slice(0, 1, 0), [True, False, True]]


def test_indexing() -> None:
    count = 0
    for shape in SHAPES:
        x = data(shape)
        masks = [x > 0, x[..., 0] > 0] if shape else [x > 0]
        indices = [*BASIC, *ODD, *masks, *itertools.product(BASIC, repeat=2), (None, 0, ..., [0]), (0, [0, 1], 0)]
        for index in [*indices, ()]:
            count += check(lambda x, i=index: x[i], [x], {}, set())
    assert count > 300


NUMBERS = [3, -2.5, True, np.float32(1.5), np.int8(-3), np.uint8(200), np.array(2.0), np.float16(0.5), [1, 2, 3]]


@pytest.mark.parametrize("ufunc", [u for u in UFUNCS if u not in GENERAL], ids=lambda f: f.__name__)
def test_supported_ufuncs(ufunc: Any) -> None:
    count = 0
    for shape in SHAPES:
        if ufunc.nin == 1:
            count += check(lambda x: ufunc(x), [data(shape)], {}, set())
            continue
        if ufunc is np.power:
            count += sum(check(lambda x, e=e: ufunc(x, e), [data(shape)], {}, set()) for e in (0, 1, 2, 5))
            continue
        for other in [*map(data, SHAPES), *NUMBERS]:
            if ufunc is not np.divide or np.asarray(other).all():
                count += check(lambda x, o=other: ufunc(x, o), [data(shape)], {}, set())
            if ufunc is not np.divide:
                count += check(lambda x, o=other: ufunc(o, x), [data(shape)], {}, set())
    assert count


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda f: f.__name__)
def test_keywords_and_methods_of_ufuncs(ufunc: Any) -> None:
    x = tensor_of(data((3,)), "x")
    args = (x,) if ufunc.nin == 1 else (x, np.ones(3))
    for keyword, value in {
        "out": np.zeros(3), "where": [True, False, True], "dtype": np.int8, "casting": "unsafe", "order": "F",
        "subok": False, "axes": [0, 0], "axis": 0, "keepdims": True, "signature": "d->d",
    }.items():  # fmt: skip
        if ufunc is np.vecdot and keyword == "axis":
            continue
        refused = outcome(partial(ufunc, *args, **{keyword: value}))
        assert isinstance(refused, KernelError | TypeError), keyword
        assert f"{keyword}" in str(refused)
    for method in ("reduce", "accumulate", "reduceat", "outer", "at"):
        refused = outcome(partial(getattr(ufunc, method), x, [0], *args[1:]))
        assert isinstance(refused, KernelError | TypeError | ValueError | RuntimeError), method


def public_functions() -> list[tuple[str, Any]]:
    """Return numpy's public functions of arrays that are not supported."""
    return [
        (f"{prefix}{name}", getattr(module, name))
        for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft))
        for name in sorted(module.__all__)
        if callable(getattr(module, name)) and not isinstance(getattr(module, name), type)
        and getattr(module, name) not in FUNCTIONS and getattr(module, name) not in UFUNCS
    ]  # fmt: skip


#: Functions that tell a true fact about a tensor or do not take arrays.
HARMLESS = {
    "isscalar", "iterable", "info", "typename", "show_config", "show_runtime", "get_include", "get_printoptions",
    "test", "set_printoptions", "printoptions", "geterr", "seterr", "geterrcall", "seterrcall", "getbufsize",
    "setbufsize",
    "frompyfunc", "asmatrix", "bmat", "nested_iters", "mintypecode", "diag_indices", "row_stack",
}  # fmt: skip


#: Functions that do not look at their second argument for some first ones.
UNUSED = {"real_if_close", "linalg.matrix_rank"}


@pytest.mark.parametrize(
    ("name", "function"), public_functions(), ids=lambda value: value if type(value) is str else ""
)
def test_all_other_functions_are_refused(name: str, function: Any) -> None:
    if name in HARMLESS:
        return
    refused = []
    for shape in ((3,), (2, 2)):
        x, known = tensor_of(data(shape), "x"), data(shape)
        for args in ((x,), (x, x), (x, 1), (known, x), (1, x), (x, x, x), ([x, x],)):
            result = outcome(partial(function, *args))
            unused = name in UNUSED and args[0] is not x
            assert isinstance(result, Exception) or unused, f"{args}: {result!r}"
            refused += [result] if isinstance(result, KernelError) else []
    if isinstance(function, np.ufunc) or type(function).__name__ == "_ArrayFunctionDispatcher":
        assert refused or name == "put_along_axis", "never reached"
    for error in refused:
        assert error.where is not None
        assert error.where.file == __file__, error.where
        assert ";" in error.message, f"no remedy: {error.message}"


METHODS = [name for name in dir(np.ndarray) if not name.startswith("__")]
SUPPORTED = {
    "T", "copy", "diagonal", "dot", "flatten", "mT", "mean", "ndim", "ravel", "repeat", "reshape", "shape", "size",
    "squeeze", "sum", "swapaxes", "take", "transpose", "var", "cumsum", "real",
    "imag", "conj", "conjugate",
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_methods_and_attributes(name: str) -> None:
    x = tensor_of(data((2, 3)), "x")
    if name not in SUPPORTED:
        with pytest.raises(KernelError, match=rf"ndarray.{name} is not supported in kernels; [`\w]+"):
            getattr(x, name)
    with pytest.raises(KernelError, match="not changed in place"):
        setattr(x, name, 0)


@pytest.mark.parametrize(
    ("name", "function", "arguments"),
    [
        ("sum", np.sum, [(), (0,), (-1,), ((0, 1),)]),
        ("mean", np.mean, [(), (0,), (-1,)]),
        ("var", np.var, [(), (0,), (-1,)]),
        ("cumsum", np.cumsum, [(), (0,), (-1,)]),
        ("reshape", np.reshape, [((3, 2),), (-1,)]),
        ("transpose", np.transpose, [(), ((1, 0),)]),
        ("squeeze", np.squeeze, [()]),
        ("swapaxes", np.swapaxes, [(0, 1)]),
        ("repeat", np.repeat, [(2,), (2, 1)]),
        ("take", np.take, [(0,), ([0, 1], 1)]),
        ("diagonal", np.diagonal, [(), (1,)]),
        ("dot", np.dot, [(np.ones(3),)]),
        ("ravel", np.ravel, [(), ("F",)]),
        ("copy", np.copy, [(), ("F",)]),
    ],
)
def test_methods_agree_with_functions(name: str, function: Any, arguments: Any) -> None:
    for args in arguments:
        assert check(lambda x, a=args: getattr(x, name)(*a), [data((2, 3))], {}, set())
    options = {name: SAMPLES[name][1] for name in signature_of(function).parameters if name in ("keepdims", "initial")}
    assert check(lambda x, **more: getattr(x, name)(*arguments[-1], **more), [data((2, 3))], options, set())


def test_methods_with_several_arguments() -> None:
    for call in (
        lambda x: x.reshape(3, 2), lambda x: x.reshape(3, 2, order="F"), lambda x: x.flatten("F"), lambda x: x.T,
        lambda x: x.mT, lambda x: x.transpose(1, 0), lambda x: x.sum(axis=1, keepdims=True), lambda x: list(x),
        lambda x: list(reversed(x)), lambda x: sum(x), lambda x: x.mean(0, keepdims=True),
    ):  # fmt: skip
        assert check(call, [data((2, 3))], {}, set())


def test_the_documented_list_is_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "python.md"
    assert numpy_functions.documented() in " ".join(page.read_text().split()), numpy_functions.documented()
