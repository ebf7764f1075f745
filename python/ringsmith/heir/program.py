# SPDX-License-Identifier: Apache-2.0
"""`rs.from_heir`: a function of HEIR's text as a kernel. Its levels and scales are checked, ours are chosen anew."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from keyword import kwlist
from pathlib import Path
from typing import Any

import numpy as np

from ringsmith.errors import InputError, KernelError
from ringsmith.files import reason
from ringsmith.frontend.declare import Argument, Encrypted, Plain
from ringsmith.frontend.tensor import Tensor, chebyshev
from ringsmith.heir.rules import check_rules
from ringsmith.heir.text import Function, Module, Operation, Type, read_heir
from ringsmith.ir import evaluate
from ringsmith.runtime.kernel import Kernel, kernel
from ringsmith.scalars import is_number

#: Numbers of a constant at most.
MOST_NUMBERS = 1 << 20

#: Names that no argument of a kernel can have.
_TAKEN = frozenset(kwlist) | frozenset(signature(kernel).parameters)

Run = Callable[[Operation, list[Any]], Any]


def from_heir(path: Any, *, function: str | None = None, bound: float = 1.0, **options: Any) -> Kernel:
    """Return a function of a file that HEIR printed (ckks, bgv, lwe, orion) as a kernel over vectors of slots.

    Ciphertexts become encrypted arguments, tensors plain ones, of magnitude `bound` at most. A CKKS ciphertext of
    degree n is a vector of n/2 numbers, one of bgv an array of shape (2, n/2), computed exactly modulo the plaintext
    modulus. Parameters are chosen as for every kernel: secure ones, whatever the file has; `options` are those of
    `rs.kernel`.

    Raises:
        InputError: an operation that is not read, levels or scales that break HEIR's rules, with file and line.
    """
    module = read_heir(Path(path))
    return kernel_of(module, _picked(module, function), bound, options)


def kernels_of(path: Path) -> tuple[Kernel, ...]:
    """Return every function of a file as a kernel."""
    module = read_heir(path)
    return tuple(kernel_of(module, function, 1.0, {}) for function in module.functions)


def _picked(module: Module, name: str | None) -> Function:
    for function in module.functions:
        if name in (None, function.name):
            return function
    names = ", ".join(function.name for function in module.functions)
    raise InputError(f"{module.path}: no function {name!r}; there is {names}")


def kernel_of(module: Module, function: Function, bound: float, options: Mapping[str, Any]) -> Kernel:
    """Return one function as a kernel."""
    check_rules(module, function)
    ciphers = [one for one in function.arguments.values() if one.kind == "cipher"]
    if not ciphers:
        raise module.refusal(function.line, f"@{function.name} takes no ciphertext")
    exact = any(one.name.startswith("bgv.") for one in function.operations)
    arguments = {
        _name(name): _argument(module, function, one, bound, exact=exact) for name, one in function.arguments.items()
    }

    if len(arguments) < len(function.arguments):
        raise module.refusal(function.line, f"@{function.name} has two arguments of one name in Python")

    def program(*given: Any, **named: Any) -> Any:
        values = program.__signature__.bind(*given, **named).arguments  # type: ignore[attr-defined]
        return _computed(module, function, dict(zip(function.arguments, values.values(), strict=True)))

    program.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in arguments]
    )
    chosen: dict[str, Any] = {"scheme": "ckks"}
    if exact:
        chosen = {"scheme": "bfv", "plain_modulus": ciphers[0].modulus or None}
    given: dict[str, Any] = {**chosen, **options, **arguments}
    return kernel(name=function.name, **given)(program)


def _name(name: str) -> str:
    """Return an argument's name in Python: no keyword, and no option of a kernel."""
    plain = re.sub(r"\W", "_", name[1:])
    if plain in _TAKEN:
        return f"{plain}_"
    return f"v{plain}" if plain[:1].isdigit() else plain


def _argument(module: Module, function: Function, one: Type, bound: float, *, exact: bool) -> Argument:
    if not (is_number(bound) and bound > 0):
        raise InputError(f"from_heir: bound={bound!r} must be a positive finite number")
    whole: Any = math.ceil(bound) if exact else float(bound)
    if one.kind in ("cipher", "plain"):
        shape = (2, one.degree // 2) if exact else (one.degree // 2,)
        return (Encrypted if one.kind == "cipher" else Plain)(*shape, bound=whole)
    if one.kind == "tensor":
        return Plain(*one.shape, bound=whole)
    raise module.refusal(function.line, f"@{function.name} takes a {one.text[:60]}; ciphertexts and tensors are taken")


def _computed(module: Module, function: Function, values: dict[str, Any]) -> Any:
    """Return what the operations make of the arguments' values."""
    for one in function.operations:
        operands = [values[name] for name in one.operands]
        if one.name.endswith("return"):
            return operands[0] if len(operands) == 1 else np.stack(operands)
        try:
            values[one.result] = OPERATIONS[one.name](one, operands)
        except (IndexError, TypeError, ValueError, KernelError) as error:
            raise module.refusal(one.line, f"{one.name}: {reason(error)}") from None
    raise module.refusal(function.line, f"@{function.name} returns nothing")


def _number(one: Operation, name: str, default: float | None = None) -> float:
    found = re.search(rf"\b{name} = (-?[\d.]+(?:[eE][+-]?\d+)?)", one.attributes)
    if found is None and default is None:
        raise ValueError(f"it has no {name}")
    return float(found[1]) if found else float(default or 0)


def _numbers(one: Operation, name: str) -> list[float]:
    found = re.search(rf"\b{name} = (?:array<\w+: ?|\[)([^\]>]*)[\]>]", one.attributes)
    if found is None:
        raise ValueError(f"it has no {name}")
    return [float(item.partition(":")[0]) for item in found[1].split(",") if item.strip()]


def _rotate(one: Operation, operands: list[Any]) -> Any:
    steps = operands[1] if len(operands) > 1 else _number(one, "static_shift")
    return np.roll(operands[0], -int(steps), axis=-1)


def _transform(one: Operation, operands: list[Any]) -> Any:
    """Return the sum of the diagonals times the vector rotated by their indices."""
    x, diagonals = operands
    indices = [int(index) for index in _numbers(one, "diagonal_indices")]
    if diagonals.shape != (len(indices), *x.shape):
        raise ValueError(
            f"{len(indices)} diagonals of {x.shape[-1]} slots are needed, not a tensor of {diagonals.shape}"
        )
    return sum(diagonals[row] * np.roll(x, -index) for row, index in enumerate(indices))


def _chebyshev(one: Operation, operands: list[Any]) -> Any:
    coefficients = _numbers(one, "coefficients")
    low, high = _number(one, "domain_start", -1.0), _number(one, "domain_end", 1.0)
    if not (coefficients and low < high and np.isfinite([*coefficients, low, high]).all()):
        raise ValueError("finite coefficients and an interval are needed")
    take: Any = chebyshev if isinstance(operands[0], Tensor) else evaluate.chebyshev
    return take(operands[0], coefficients, low, high)


def _constant(one: Operation, _: list[Any]) -> Any:
    text = one.rest if not one.attributes else one.attributes
    if dense := re.match(r"dense<(.*)>", text.strip()):
        items = re.findall(r"-?\d[\d.]*(?:[eE][+-]?\d+)?", dense[1])
        if len(items) > MOST_NUMBERS or one.type is None or int(np.prod(one.type.shape)) > MOST_NUMBERS:
            raise ValueError(f"more than {MOST_NUMBERS} numbers")
        real = any(not item.lstrip("-").isdigit() for item in items)
        found = np.array([float(item) if real else int(item) for item in items])
        return np.broadcast_to(found, one.type.shape) if found.size == 1 else found.reshape(one.type.shape)
    return float(text.strip()) if re.search(r"[.eE]", text) else int(text.strip())


def _same(_: Operation, operands: list[Any]) -> Any:
    return operands[0]


_TWO: dict[str, Run] = {
    "add": lambda _, given: given[0] + given[1],
    "sub": lambda _, given: given[0] - given[1],
    "mul": lambda _, given: given[0] * given[1],
}
_BOTH: dict[str, Run] = {
    **_TWO,
    **{f"{name}_plain": run for name, run in _TWO.items()},
    "negate": lambda _, given: -given[0],
    "relinearize": _same,
}
#: The operations that are read, with what they compute on vectors of slots.
OPERATIONS: dict[str, Run] = {
    **{f"{dialect}.{name}": run for dialect in ("ckks", "bgv") for name, run in _BOTH.items()},
    "ckks.rotate": _rotate,
    "ckks.rescale": _same,
    "ckks.level_reduce": _same,
    "bgv.rotate_cols": _rotate,
    "bgv.rotate_rows": lambda _, given: given[0][::-1],
    "bgv.modulus_switch": _same,
    "bgv.level_reduce": _same,
    "lwe.rlwe_encode": _same,
    "orion.linear_transform": _transform,
    "orion.chebyshev": _chebyshev,
    "arith.constant": _constant,
}
