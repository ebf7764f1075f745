# SPDX-License-Identifier: Apache-2.0
"""Python's True is an int to `isinstance`: no number that a public function takes is given by it."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.errors import InputError
from ringsmith.heir.test_heir import SQUARE, written
from ringsmith.models.options import Options
from ringsmith.runtime.test_refreshes import SMALL, small
from ringsmith.scalars import is_int, is_number, is_whole, seconds, whole

X = np.ones((2, 4))


@cache
def program() -> rs.Program:
    return rs.kernel(x=rs.Encrypted(4, bound=1.0), tolerance=1e-2)(lambda x: x + 1).compile()


@cache
def rounds() -> rs.Rounds:
    return rs.kernel(x=rs.Encrypted(4, bound=1.0), tolerance=1e-2)(lambda x: rs.refresh(x + 1) * 2).rounds()


def keys() -> Any:
    return program().client().evaluation_keys


def evaluated(**options: Any) -> Any:
    return program().evaluate_many(keys(), [], **options)


def traced(call: Callable[[Any], Any]) -> Any:
    return rs.kernel(x=rs.Encrypted(2, 4, bound=1.0))(lambda x: call(x)).compile()


def manual(call: Callable[[Any], Any]) -> Any:
    output = rs.Output(8, packing="rows")
    return rs.kernel(mode="manual", output=output, x=rs.Encrypted(8, bound=1.0))(lambda x: call(x)).compile()


def made(**options: Any) -> Any:
    return rs.kernel(x=rs.Encrypted(4, bound=1.0), **options)(lambda x: x + 1).compile()


def exact(**options: Any) -> Any:
    return rs.kernel(scheme="bfv", x=rs.Encrypted(4, bound=1), **options)(lambda x: x + 1).compile()


def restored(**changed: Any) -> Any:
    request = small(own=replace(SMALL, **changed))
    return rs.kernel(x=rs.Encrypted(8, bound=1.0), params=request, tolerance=1e-3, allow_insecure=True)(
        lambda x: rs.bootstrap(x) * 2
    ).compile()


TRUE: Any = True
REQUEST: dict[str, Any] = {"n": 8192, "data_bits": (50, 40), "special_bits": (50,), "log2_scale": 40}


def aimed(**changed: Any) -> Any:
    """Compile for a set that is planned."""
    return made(params=rs.BootstrapGoal(**{"n": 32768, "log2_error": -10.0} | changed), tolerance=1e-2)


def pinned(**changed: Any) -> Any:
    return made(params=rs.ParamRequest(**{**REQUEST, **changed}), tolerance=1e-2)


#: A call with True for every number by its name, `function.parameter`.
CALLS: dict[str, Callable[[], Any]] = {
    "Cipher.mod_drop.levels": lambda: manual(lambda x: rs.mod_drop(x, TRUE)),
    "Cipher.rotate.steps": lambda: manual(lambda x: rs.rotate(x, TRUE)),
    "Cipher.within.bound": lambda: manual(lambda x: rs.within(x, TRUE)),
    "Encrypted.shape": lambda: rs.Encrypted(TRUE, bound=1),
    **{
        f"{kind.__name__}.{name}": partial(kind, 4, **{"low": -1, "high": 2, name: TRUE})
        for kind in (rs.Encrypted, rs.Plain)
        for name in ("low", "high")
    },
    "Encrypted.bound": lambda: rs.Encrypted(4, bound=TRUE),
    "Plain.bound": lambda: rs.Plain(4, bound=TRUE),
    "Plain.shape": lambda: rs.Plain(TRUE, bound=1),
    "Output.shape": lambda: rs.Output(TRUE),
    "Model.compare.rows": lambda: rs.Model.compare(object(), X, X, rows=TRUE),  # type: ignore[arg-type]
    "ParamRequest.n": lambda: pinned(n=TRUE),
    "ParamRequest.data_bits": lambda: pinned(data_bits=(50, TRUE)),
    "ParamRequest.special_bits": lambda: pinned(special_bits=(TRUE,)),
    "ParamRequest.moduli": lambda: pinned(data_bits=(), moduli=(TRUE,)),
    "ParamRequest.special": lambda: pinned(special_bits=(), special=(TRUE,)),
    "ParamRequest.dnum": lambda: pinned(dnum=TRUE),
    "ParamRequest.log2_scale": lambda: pinned(log2_scale=TRUE),
    "ParamRequest.plain_modulus": lambda: pinned(plain_modulus=TRUE),
    **{
        f"Program.evaluate_many.{name}": partial(evaluated, **{name: TRUE})
        for name in ("workers", "threads")
    },
    "Program.from_bytes.max_degree": lambda: rs.Program.from_bytes(program().to_bytes(), max_degree=TRUE),
    "Program.from_bytes.security": lambda: rs.Program.from_bytes(program().to_bytes(), security=TRUE),
    "run.key_memory": lambda: rs.run(made(), key_memory=TRUE),
    "Program.server.threads": lambda: program().server(keys(), threads=TRUE),
    "Server.key_memory": lambda: rs.Server(program(), keys(), key_memory=TRUE),
    "Server.memory": lambda: rs.Server(program(), keys(), memory=TRUE),
    "Server.threads": lambda: rs.Server(program(), keys(), threads=TRUE),
    "Rounds.server.threads": lambda: rounds().server(rounds().client().evaluation_keys, threads=TRUE),
    "Rounds.server.key_memory": lambda: rounds().server(rounds().client().evaluation_keys, key_memory=TRUE),
    "RoundsServer.key_memory": lambda: rs.RoundsServer(rounds(), rounds().client().evaluation_keys, key_memory=TRUE),
    "RoundsServer.threads": lambda: rs.RoundsServer(rounds(), rounds().client().evaluation_keys, threads=TRUE),
    "Tensor.rotate.steps": lambda: traced(lambda x: x.rotate(TRUE)),
    "Tensor.var.ddof": lambda: traced(lambda x: x.var(ddof=TRUE)),
    **{
        f"approximate.{name}": partial(rs.approximate, np.sin, **{"low": -1, "high": 2, name: TRUE})
        for name in ("low", "high", "degree", "error")
    },
    "approximate.gap": lambda: rs.approximate("sign", -1, 1, gap=TRUE),
    "calibrate.margin": lambda: rs.calibrate(made_kernel(), {"x": np.ones((3, 4))}, margin=TRUE),
    "connect.patience": lambda: rs.connect("http://127.0.0.1:1", "key", patience=TRUE),
    "connect_async.patience": lambda: rs.connect_async("http://127.0.0.1:1", "key", patience=TRUE),
    "kernel.tolerance": lambda: made(tolerance=TRUE),
    "kernel.precision": lambda: made(precision=TRUE),
    "kernel.security": lambda: made(security=TRUE),
    "kernel.plain_modulus": lambda: exact(plain_modulus=TRUE),
    "kernel.failure_bits": lambda: made(failure_bits=TRUE),
    "kernel.keys_limit": lambda: made(keys_limit=TRUE),
    "mod_drop.levels": lambda: rs.mod_drop(X, TRUE),
    "rotate.steps": lambda: rs.rotate(X, TRUE),
    "refresh.low": lambda: traced(lambda x: rs.refresh(x, np.sin, low=TRUE, high=2)),
    "refresh.high": lambda: traced(lambda x: rs.refresh(x, np.sin, low=-1, high=TRUE)),
    "refresh.bound": lambda: traced(lambda x: rs.refresh(x, np.sin, bound=TRUE)),
    "within.bound": lambda: rs.within(X, TRUE),
    "within.error": lambda: rs.within(X, 1.0, error=TRUE),
    "within.low": lambda: rs.within(X, low=TRUE, high=2),
    "within.high": lambda: rs.within(X, low=-1, high=TRUE),
    "Program.server.memory": lambda: program().server(keys(), memory=TRUE),
    "Program.server.key_memory": lambda: program().server(keys(), key_memory=TRUE),
    "from_heir.bound": lambda: rs.from_heir(written(Path(tempfile.mkdtemp()), SQUARE + "return %r : !ct1"), bound=TRUE),
    "load.scale": lambda: rs.load("parms.seal", scale=TRUE),
    **{
        f"BootstrapGoal.{field.name}": partial(aimed, **{field.name: TRUE})
        for field in fields(rs.BootstrapGoal)
    },
    **{f"Bootstrapping.{field.name}": partial(restored, **{field.name: TRUE}) for field in fields(rs.Bootstrapping)},
    **{
        f"Options.{name}": partial(Options, **{name: TRUE})
        for name in ("deviation", "inner_error", "margin", "rows", "most_entries", "memory_limit")
    },
}  # fmt: skip

#: Numbers that ringsmith makes itself, and those whose meaning is numpy's: an axis, an offset.
OWN = {
    "Accuracy",
    "Program",
    "Approximation",
    "Composition",
    "Keys",
    "Model",
    "ParameterSet",
    "PlainVector",
    "Kernel",
    "Cipher",
}
NUMPYS = {"axis", "axis1", "axis2", "offset"}
#: Options of a model that `approximate` and `kernel` check.
PASSED_ON = {"Options.degree", "Options.error", "Options.tolerance"}
#: Shapes are compared with those declared.
SHAPES = {
    "Kernel.compile.shapes",
    "Kernel.rounds.shapes",
    "Kernel.shapes.shapes",
    "Encrypted.fix.shape",
    "Plain.fix.shape",
}


def made_kernel() -> rs.Kernel:
    return rs.kernel(x=rs.Encrypted(4, bound=1.0))(lambda x: x + 1)


def numbers() -> Iterator[str]:
    """Yield the parameters of public functions and methods that are annotated as numbers."""
    for name in [*rs.__all__, "Options"]:
        found = Options if name == "Options" else getattr(rs, name)
        functions = {name: found} if not inspect.isclass(found) else {}
        if inspect.isclass(found) and not issubclass(found, Exception):
            functions = {f"{name}.{own}": part for own, part in inspect.getmembers(found, callable) if own[0] != "_"}
            functions |= {name: found} if name not in OWN else {}
        for own, function in functions.items():
            try:
                parameters = inspect.signature(function).parameters.values()
            except (TypeError, ValueError):
                continue
            yield from (f"{own}.{p.name}" for p in parameters if {"int", "float"} & set(_words(str(p.annotation))))


def _words(annotation: str) -> list[str]:
    return annotation.replace("[", " ").replace("]", " ").replace(",", " ").split()


def test_every_number_of_the_public_names_is_tried() -> None:
    found = {one for one in numbers() if one.rpartition(".")[2] not in NUMPYS} - SHAPES
    found -= PASSED_ON
    assert found == set(CALLS), found ^ set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_true_is_no_number(name: str) -> None:
    with pytest.raises(rs.RingsmithError) as refused:
        CALLS[name]()
    assert "True" in str(refused.value) or name.rpartition(".")[2] in str(refused.value), refused.value


def test_kinds_of_numbers() -> None:
    kinds = (is_int, is_whole, is_number)
    numbers: tuple[tuple[Any, tuple[bool, ...]], ...] = (
        (3, (True, True, True)), (np.int8(3), (False, True, True)), (2.0, (False, False, True)), (10**400, (True,) * 3),
        (np.float32(2), (False, False, True)),
    )  # fmt: skip
    for value, fits in numbers:
        assert tuple(kind(value) for kind in kinds) == fits
    others: tuple[Any, ...] = (True, False, np.True_, None, "3", [3], np.nan, np.inf, 3j, np.array(3))
    for value in others:
        assert not any(kind(value) for kind in kinds), value
    assert whole("rows", np.int64(3)) == 3
    odd: tuple[Any, ...] = (True, 1.0, "1", None)
    for wrong in odd:
        with pytest.raises(rs.InputError, match=r"rows .*: a whole number is needed"):
            whole("rows", wrong)
    odd = (True, -1, np.nan, "1")
    for value in odd:
        with pytest.raises(rs.InputError, match=r"patience .*: seconds, at least 0"):
            seconds("patience", value)


@pytest.mark.parametrize("name", ["threads", "memory"])
@pytest.mark.parametrize("value", [-1, 1 << 63, 1.5, "2"])
def test_a_count_out_of_range_is_the_callers_mistake(name: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"^{name} "):
        rs.Server(program(), keys(), **{name: value})  # type: ignore[arg-type]
