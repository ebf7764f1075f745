# SPDX-License-Identifier: Apache-2.0
"""Definition of a kernel: the function, its arguments and options, checked."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.errors import InputError, KernelError
from ringsmith.frontend.declare import FIXED_PACKINGS, Argument, Encrypted, Output
from ringsmith.frontend.param_request import BootstrapGoal, ParamRequest
from ringsmith.frontend.refusals import Refusing
from ringsmith.ir.numbers import as_array
from ringsmith.location import Location, here
from ringsmith.scalars import is_int, is_number

Array = NDArray[Any]
Shapes = Mapping[str, tuple[int, ...]]

SCHEMES = ("ckks", "bfv")
#: The keys that arguments may be encrypted under; an extended one is a public key over Q·P.
ENCRYPTIONS = ("public", "extended", "secret")
#: What a guarantee rests on: errors may all depend on each other, or draws are independent (docs/parameters.md).
CERTAIN, PROBABLE = GUARANTEES = ("certain", "probable")
#: A guarantee fails with probability below 2^-FAILURE_BITS unless a kernel says otherwise, and at most with that
#: where its results are published: who collects them must not find one that exceeds its bound.
FAILURE_BITS = _native.FAILURE_BITS
_MOST_FAILURE_BITS = 1024
_MOST_PRECISION = 1000
_DEFAULT_TOLERANCE = 2.0**-20
#: Bytes that a program's evaluation keys take at most, unless a kernel says otherwise: the largest blob of a server.
KEYS_LIMIT = 1 << 30


@dataclass(frozen=True, eq=False)
class Measured:
    """Ranges taken from `samples` samples: `bounds` of the graph's values by number, with the margin.

    `content` is the hash of the graph for the shapes that were measured.
    """

    samples: int
    margin: float
    shapes: Shapes
    content: bytes
    bounds: Mapping[int, Any]


@dataclass(frozen=True, eq=False)
class KernelDefinition:
    """A function with declared arguments and options; `ringsmith.runtime.kernel.Kernel` compiles and runs it.

    `tolerance` is the wanted absolute error of a CKKS result; BFV is exact.
    """

    function: Callable[..., Any]
    name: str
    variant: str
    scheme: str
    manual: bool
    arguments: Mapping[str, Argument]
    output: Output | None = None
    tolerance: float = _DEFAULT_TOLERANCE
    security: int = 128
    standard: str = "2024"
    allow_insecure: bool = False
    params: str | ParamRequest | BootstrapGoal | None = None
    plain_modulus: int | None = None
    sample: Callable[[np.random.Generator], Mapping[str, Array]] | None = None
    reference: Callable[..., Any] | None = None
    publish: bool = False
    encryption: str | None = None
    worst_case: bool = False
    keys_limit: int | None = KEYS_LIMIT
    guarantee: str = CERTAIN
    failure_bits: int = FAILURE_BITS
    measured: Measured | None = None

    def __post_init__(self) -> None:
        """Set `__module__` so that pickle finds the kernel."""
        object.__setattr__(self, "__module__", self.function.__module__)

    def __reduce__(self) -> str:
        """Pickle by name, as functions are."""
        return self.function.__qualname__

    @property
    def where(self) -> Location:
        """The source location of the function."""
        code = self.function.__code__
        return Location(code.co_filename, code.co_firstlineno, 0, 0)

    def options(self, **changes: Any) -> Self:
        """Return the kernel with other options (security, standard, allow_insecure, params, tolerance, ...)."""
        changed = replace(self, **changes)
        check_options(changed, None)
        return changed

    def shapes(self, **shapes: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """Return the shape of every argument; `shapes` fill open first extents."""
        unknown = sorted(set(shapes) - set(self.arguments))
        if unknown:
            raise InputError(f"kernel {self.name} has no argument {unknown[0]}; it has {', '.join(self.arguments)}")
        return {name: argument.fix(name, shapes.get(name)) for name, argument in self.arguments.items()}

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Array]:
        """Return the arguments by name as checked arrays: shape, type, finite, inside the declared range."""
        try:
            bound = inspect.signature(self.function).bind(*args, **kwargs)
        except TypeError as error:
            raise InputError(f"kernel {self.name}: {error}") from None
        return {name: self.check(name, value) for name, value in bound.arguments.items()}

    def check(self, name: str, value: Any) -> Array:
        """Return one argument as a checked array."""
        if isinstance(value, Refusing):
            raise KernelError(
                f"kernel {self.name} is called inside a kernel; call its function: kernel.function(x)", here()
            )
        argument = self.arguments[name]
        argument.fix(name, as_array(value, f"argument {name}").shape)
        return argument.check(name, value, exact=self.scheme == "bfv")


def tolerance_of(tolerance: float | None, precision: float | None) -> float:
    """Return the wanted error, said by itself or in bits."""
    if tolerance is not None and precision is not None:
        raise InputError("give tolerance or precision, not both")
    for name, value in {"tolerance": tolerance, "precision": precision}.items():
        if value is not None and not is_number(value):
            raise InputError(f"{name}={value!r}: a finite number")
    if precision is not None:
        if abs(precision) > _MOST_PRECISION:
            raise InputError(f"precision={precision}: bits after the point, at most {_MOST_PRECISION}")
        tolerance = 2.0**-precision
    if tolerance is None:
        return _DEFAULT_TOLERANCE
    if not tolerance > 0:
        raise InputError(f"tolerance {tolerance}: a positive number")
    return tolerance


def check_options(made: KernelDefinition, where: Location | None) -> None:
    """Refuse options outside their range; `where` is the kernel when its own file says so."""
    choices = (
        ("scheme", made.scheme, SCHEMES),
        ("security", made.security, (128, 192, 256)),
        ("standard", made.standard, ("2024", "2018")),
        ("encryption", made.encryption, (None, *ENCRYPTIONS)),
        ("guarantee", made.guarantee, GUARANTEES),
    )
    for option, value, allowed in choices:
        if value not in allowed:
            raise KernelError(f"{option}={value!r}: one of {', '.join(map(str, allowed))}", where)
    if made.manual and made.output is None:
        raise KernelError("a manual kernel declares output=rs.Output(shape..., packing=...)", where)
    if made.publish and made.guarantee == PROBABLE:
        raise KernelError(
            'publish=True needs guarantee="certain": the noise that hides a decryption has to cover the largest error '
            "there can be",
            where,
        )
    if made.plain_modulus is not None and made.scheme != "bfv":
        raise KernelError("plain_modulus belongs to BFV", where)
    limit = made.keys_limit
    if limit is not None and (not is_int(limit) or limit < 0):
        raise KernelError(f"keys_limit={limit!r}: a number of bytes, or None for no limit", where)
    least, bits = FAILURE_BITS if made.publish else 1, made.failure_bits
    if not is_int(bits) or not least <= bits <= _MOST_FAILURE_BITS:
        published = " where results are published" if made.publish else ""
        raise KernelError(f"failure_bits={bits!r}: a whole number of {least} to {_MOST_FAILURE_BITS}{published}", where)
    t = made.plain_modulus
    if t is not None and (not is_int(t) or t < 2):
        raise KernelError(f"plain_modulus={t!r}: a prime", where)


def declared_arguments(made: KernelDefinition, arguments: Mapping[str, Argument]) -> dict[str, Argument]:
    """Return the declarations in the order of the function's parameters; one with a default may go without."""
    found = inspect.signature(made.function).parameters
    parameters = [name for name, p in found.items() if name in arguments or p.default is inspect.Parameter.empty]
    for parameter in parameters:
        if not isinstance(arguments.get(parameter), Argument):
            raise KernelError(
                f"declare argument {parameter}: {parameter}=rs.Encrypted(...) or rs.Plain(...)", made.where
            )
    for name in arguments:
        if name not in parameters:
            known = [*made.__dataclass_fields__, "precision", "mode", *parameters]
            near = difflib.get_close_matches(name, known, 1)
            raise KernelError(
                f"{name!r} is neither an option nor a parameter of {made.function.__name__}"
                + (f"; is {near[0]} meant?" if near else ""),
                made.where,
            )
    if not any(isinstance(argument, Encrypted) for argument in arguments.values()):
        raise KernelError("at least one argument must be rs.Encrypted", made.where)
    if not made.manual and any(callable(argument.packing) for argument in arguments.values()):
        raise KernelError("a packing function needs mode='manual'", made.where)
    for name, argument in arguments.items():
        if argument.complex and (made.manual or made.scheme != "ckks"):
            raise KernelError(
                f"argument {name}: complex numbers need an automatic CKKS kernel; here declare both parts as arguments",
                made.where,
            )
        if made.manual and getattr(argument, "of", None) is not None:
            raise KernelError(f"argument {name}: the result of another kernel needs an automatic kernel", made.where)
        if made.manual and argument.packing == "transposed":
            raise KernelError(f"argument {name}: manual kernels pack by {', '.join(FIXED_PACKINGS)}", made.where)
    return {parameter: arguments[parameter] for parameter in parameters}
