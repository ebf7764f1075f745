# SPDX-License-Identifier: Apache-2.0
"""The decorator that makes a kernel of a function, and the kernel: clear, encrypted, compiled."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, KernelError
from ringsmith.kernel.declare import Argument, Encrypted, Output
from ringsmith.kernel.location import Location, here
from ringsmith.kernel.numbers import as_array
from ringsmith.kernel.refusals import Refusing

if TYPE_CHECKING:
    from ringsmith.params.sets import ParamRequest
    from ringsmith.remote import AsyncRemote, Remote, RemoteKernel
    from ringsmith.run.program import Program

Array = NDArray[Any]
Shapes = Mapping[str, tuple[int, ...]]

SCHEMES = ("ckks", "bfv")
#: The keys that arguments may be encrypted under; an extended one is a public key over Q·P.
ENCRYPTIONS = ("public", "extended", "secret")
_DEFAULT_TOLERANCE = 2.0**-20


@dataclass(frozen=True, eq=False)
class Kernel:
    """A computation on encrypted data. Call it to run it encrypted; `clear` runs the same function on numpy arrays.

    `tolerance` is the wanted absolute error of a CKKS result; BFV is exact. A compiled program is used again until what
    the function computes has changed, be it by other values of what it captures from outside.
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
    params: str | ParamRequest | None = None
    plain_modulus: int | None = None
    sample: Callable[[np.random.Generator], Mapping[str, Array]] | None = None
    reference: Callable[..., Any] | None = None
    publish: bool = False
    encryption: str | None = None
    worst_case: bool = False
    _programs: dict[Any, tuple[bytes, Program]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Belong to the function's module: pickles look there."""
        object.__setattr__(self, "__module__", self.function.__module__)

    def __reduce__(self) -> str:
        """Pickle by name, as functions are."""
        return self.function.__qualname__

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """The function's own documentation."""
        return inspect.getdoc(self.function) or ""

    @property
    def where(self) -> Location:
        """Where the function is defined."""
        code = self.function.__code__
        return Location(code.co_filename, code.co_firstlineno, 0, 0)

    def options(self, **changes: Any) -> Kernel:
        """Return the kernel with other options (security, standard, allow_insecure, params, tolerance, ...)."""
        changed = replace(self, _programs={}, **changes)
        _check_options(changed, None)
        return changed

    def clear(self, *args: Any, **kwargs: Any) -> Array:
        """Compute on numpy arrays; a manual kernel computes on clear vectors of the compiled number of slots."""
        from ringsmith.kernel import clear

        arrays = self.bind(args, kwargs)
        if self.manual:
            return clear.manual(self, arrays, self.compile(**_shapes(arrays)).params.geometry)
        return clear.exact(self, arrays) if self.scheme == "bfv" else clear.real(self, arrays)

    def expected(self, arrays: Mapping[str, Array]) -> Array:
        """Return what the answer ought to be: the reference's where one is given, else the clear evaluation."""
        if self.reference is not None:
            return np.asarray(self.reference(*(arrays[name] for name in self.arguments)))
        return self.clear(**arrays)

    def compile(self, **shapes: tuple[int, ...]) -> Program:
        """Trace, choose parameters and return the program; `shapes` fill open first extents."""
        from ringsmith.run.compile import compile_kernel, traced_hash

        fixed = {name: argument.fix(name, shapes.get(name)) for name, argument in self.arguments.items()}
        unknown = sorted(set(shapes) - set(fixed))
        if unknown:
            raise InputError(f"kernel {self.name} has no argument {unknown[0]}; it has {', '.join(self.arguments)}")
        key = tuple(fixed.items())
        known = self._programs.get(key)
        if known is None or known[0] != traced_hash(self, fixed, known[1].params):
            program = compile_kernel(self, fixed)
            known = self._programs[key] = (traced_hash(self, fixed, program.params), program)
        return known[1]

    def __call__(self, *args: Any, **kwargs: Any) -> Array:
        """Encrypt, evaluate and decrypt with fresh keys; numpy in, numpy out."""
        arrays = self.bind(args, kwargs)
        program = self.compile(**_shapes(arrays))
        client = program.client()
        encrypted = {n: a for n, a in arrays.items() if self.arguments[n].encrypted}
        plain = {n: a for n, a in arrays.items() if not self.arguments[n].encrypted}
        result = program.server(client.evaluation_keys).evaluate(client.encrypt(**encrypted), **dict[str, Any](plain))
        return client.decrypt(result)

    def on(self, remote: Remote | AsyncRemote) -> RemoteKernel:
        """Return the kernel on a server (`rs.connect`): called as the kernel itself; its keys stay for all calls."""
        from ringsmith.remote.kernel import RemoteKernel

        return RemoteKernel(self, remote)

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


def _shapes(arrays: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in arrays.items()}


def kernel(
    *misplaced: Any,
    scheme: str = "ckks",
    tolerance: float | None = None,
    precision: float | None = None,
    security: int = 128,
    standard: str = "2024",
    allow_insecure: bool = False,
    params: str | ParamRequest | None = None,
    plain_modulus: int | None = None,
    mode: str = "auto",
    name: str | None = None,
    variant: str = "default",
    output: Output | None = None,
    sample: Callable[[np.random.Generator], Mapping[str, Array]] | None = None,
    reference: Callable[..., Any] | None = None,
    publish: bool = False,
    encryption: str | None = None,
    worst_case: bool = False,
    **arguments: Argument,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a kernel of the decorated function; `arguments` declares each of its parameters. All are given by name.

    `precision` in bits is another way to say `tolerance` (2^-precision). `plain_modulus` makes BFV compute modulo
    that prime; without it one is chosen so that no result wraps. `params` pins a named set or a ParamRequest.
    `publish` makes room for `client.decrypt(result, publish=True)`: tolerance (CKKS) and noise budget (BFV) then hold
    with the noise that hides what a decryption would tell about the key. `encryption` is "public", "extended" (a public
    key over Q·P: less noise, a larger key, more time) or "secret": the key that arguments are encrypted under; by
    default BFV's public and CKKS's secret one (ciphertexts half as long).
    `worst_case` makes room for any plain argument within its range, even one contrived to spread noise; without it
    such an argument is refused when the program runs.
    """

    if misplaced:
        raise KernelError("declare the arguments by name: @rs.kernel(x=rs.Encrypted(8, bound=1.0), ...)", here())

    def decorate(function: Callable[..., Any]) -> Kernel:
        made = Kernel(
            function, name or function.__name__.replace("_", "-"), variant, scheme, mode == "manual", {}, output,
            _tolerance(tolerance, precision), security, standard, allow_insecure, params, plain_modulus, sample,
            reference, publish, encryption, worst_case,
        )  # fmt: skip
        if mode not in ("auto", "manual"):
            raise KernelError(f"mode={mode!r}: auto or manual", made.where)
        _check_options(made, made.where)
        return replace(made, arguments=_arguments(made, arguments))

    return decorate


def _tolerance(tolerance: float | None, precision: float | None) -> float:
    if tolerance is not None and precision is not None:
        raise InputError("give tolerance or precision, not both")
    if precision is not None:
        tolerance = 2.0**-precision
    if tolerance is None:
        return _DEFAULT_TOLERANCE
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise InputError(f"tolerance {tolerance}: a positive number")
    return tolerance


def _check_options(made: Kernel, where: Location | None) -> None:
    """Refuse options outside their range; `where` is the kernel when its own file says so."""
    choices = (
        ("scheme", made.scheme, SCHEMES),
        ("security", made.security, (128, 192, 256)),
        ("standard", made.standard, ("2024", "2018")),
        ("encryption", made.encryption, (None, *ENCRYPTIONS)),
    )
    for option, value, allowed in choices:
        if value not in allowed:
            raise KernelError(f"{option}={value!r}: one of {', '.join(map(str, allowed))}", where)
    if made.manual and made.output is None:
        raise KernelError("a manual kernel declares output=rs.Output(shape..., packing=...)", where)
    if made.plain_modulus is not None and made.scheme != "bfv":
        raise KernelError("plain_modulus belongs to BFV", where)
    t = made.plain_modulus
    if t is not None and (not isinstance(t, int) or isinstance(t, bool) or t < 2):
        raise KernelError(f"plain_modulus={t!r}: a prime", where)


def _arguments(made: Kernel, arguments: Mapping[str, Argument]) -> dict[str, Argument]:
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
            raise KernelError(f"{name!r} is neither an option nor a parameter of {made.function.__name__}", made.where)
    if not any(isinstance(argument, Encrypted) for argument in arguments.values()):
        raise KernelError("at least one argument must be rs.Encrypted", made.where)
    if not made.manual and any(callable(argument.packing) for argument in arguments.values()):
        raise KernelError("a packing function needs mode='manual'", made.where)
    return {parameter: arguments[parameter] for parameter in parameters}
