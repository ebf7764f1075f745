# SPDX-License-Identifier: Apache-2.0
"""The decorator that makes a kernel of a function, and the kernel: clear, encrypted, compiled."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ringsmith.compiler.compile import compile_kernel, layouts_of, traced_hash
from ringsmith.compiler.rounds import ClientAidedError, cut
from ringsmith.errors import KernelError
from ringsmith.frontend import clear
from ringsmith.frontend.declare import Argument, Output
from ringsmith.frontend.definition import (
    CERTAIN,
    FAILURE_BITS,
    KEYS_LIMIT,
    KernelDefinition,
    check_options,
    declared_arguments,
    tolerance_of,
)
from ringsmith.frontend.measured import held
from ringsmith.frontend.param_request import BootstrapGoal, ParamRequest
from ringsmith.frontend.trace import trace
from ringsmith.ir.geometry import slots_of
from ringsmith.ir.graph import content_hash
from ringsmith.location import here
from ringsmith.progress import Told, telling
from ringsmith.runtime.program import Program
from ringsmith.runtime.rounds import Rounds, compile_rounds
from ringsmith.shown import Shown

Array = NDArray[Any]
There = TypeVar("There", covariant=True)

#: Forms of one function are compared at this degree.
_PRICED_DEGREE = 1 << 14


class Place(Protocol[There]):
    """A place where kernels can run, such as a server (`ringsmith.remote`)."""

    def kernel(self, kernel: Kernel) -> There:
        """Return what takes the place of the kernel there."""


@dataclass(frozen=True, eq=False)
class Kernel(KernelDefinition, Shown):
    """A computation on encrypted data. Call it to run it encrypted; `clear` runs the same function on numpy arrays.

    A compiled program is used again until what the function computes has changed, be it by other values of what it
    captures from outside.
    """

    _programs: dict[Any, tuple[bytes, Program]] = field(default_factory=dict, init=False, repr=False)
    _rounds: dict[Any, tuple[bytes, Rounds]] = field(default_factory=dict, init=False, repr=False)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """The function's own documentation."""
        return inspect.getdoc(self.function) or ""

    def __repr__(self) -> str:
        """Return name, scheme and arguments in short."""
        return f"<Kernel {self.name}: {self.scheme}, {', '.join(self.arguments)}>"

    def _facts(self) -> list[tuple[str, str]]:
        declared = [(name, repr(argument)) for name, argument in self.arguments.items()]
        return [*declared, ("tolerance", f"{self.tolerance:g}")] if self.scheme == "ckks" else declared

    def clear(self, *args: Any, **kwargs: Any) -> Array:
        """Compute on numpy arrays; a manual kernel computes on clear vectors of the compiled number of slots."""
        arrays = self.bind(args, kwargs)
        held(self, arrays)
        if self.manual:
            return clear.manual(self, arrays, self.compile(**_shapes(arrays)).params.geometry)
        return clear.exact(self, arrays) if self.scheme == "bfv" else clear.real(self, arrays)

    def expected(self, arrays: Mapping[str, Array]) -> Array:
        """Return the expected answer: the reference's where one is given, else the clear evaluation."""
        if self.reference is not None:
            return np.asarray(self.reference(*(arrays[name] for name in self.arguments)))
        return self.clear(**arrays)

    def compile(self, progress: Told | None = None, /, **shapes: tuple[int, ...]) -> Program:
        """Trace, choose parameters and return the program; `shapes` fill open first extents.

        `progress` is told in words what is done, in a compilation that takes long. A kernel with `rs.refresh` is
        several programs: `rounds`.
        """
        with telling(progress):
            return self._compiled(self.shapes(**shapes))

    def _compiled(self, fixed: dict[str, tuple[int, ...]]) -> Program:
        key = tuple(fixed.items())
        known = self._programs.get(key)
        if known is None or known[0] != traced_hash(self, fixed, known[1].params):
            program = Program.of(compile_kernel(self, fixed))
            known = self._programs[key] = (traced_hash(self, fixed, program.params), program)
        return known[1]

    def rounds(self, **shapes: tuple[int, ...]) -> Rounds:
        """Return the client-aided program: a program for each round, cut at every `rs.refresh`."""
        fixed = self.shapes(**shapes)
        graph = trace(self, fixed)
        key, content = tuple(fixed.items()), content_hash(graph.nodes())
        known = self._rounds.get(key)
        if known is None or known[0] != content:
            known = self._rounds[key] = content, compile_rounds(self, fixed, graph)
        # Functions are those of this trace: they may have captured something else.
        return replace(known[1], plan=cut(self, graph)[1])

    def __call__(self, *args: Any, **kwargs: Any) -> Array:
        """Encrypt, evaluate and decrypt with fresh keys; numpy in, numpy out."""
        arrays = self.bind(args, kwargs)
        encrypted = {n: a for n, a in arrays.items() if self.arguments[n].encrypted}
        plain = {n: a for n, a in arrays.items() if not self.arguments[n].encrypted}
        try:
            program = self.compile(**_shapes(arrays))
        except ClientAidedError:
            return self.rounds(**_shapes(arrays)).run(encrypted, plain)
        client = program.client()
        result = program.server(client.evaluation_keys).evaluate(client.encrypt(**encrypted), **dict[str, Any](plain))
        return client.decrypt(result)

    def on(self, place: Place[There]) -> There:
        """Return the kernel on a server (`rs.connect`): called as the kernel itself; its keys stay for all calls."""
        return place.kernel(self)


def layout_price(kernel: Kernel) -> float:
    """Return the price of a kernel's cheapest layouts at a middling degree, in rotations: what forms of one function
    are compared by."""
    search = layouts_of(kernel, kernel.shapes())
    slots = slots_of(kernel.scheme, _PRICED_DEGREE)
    search(slots)
    return search.found[slots].layouts[0].price


def _shapes(arrays: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in arrays.items()}


def _check_function(function: Any) -> None:
    if not inspect.isfunction(function):
        raise KernelError(
            f"a kernel is a function written with def or lambda, not of type {type(function).__name__}: "
            "@rs.kernel(...) def of_x(x): return it(x)",
            here(),
        )


def kernel(
    *misplaced: Any,
    scheme: str = "ckks",
    tolerance: float | None = None,
    precision: float | None = None,
    security: int = 128,
    standard: str = "2024",
    allow_insecure: bool = False,
    params: str | ParamRequest | BootstrapGoal | None = None,
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
    keys_limit: int | None = KEYS_LIMIT,
    guarantee: str = CERTAIN,
    failure_bits: int = FAILURE_BITS,
    **arguments: Argument,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a kernel of the decorated function; `arguments` declares each of its parameters. All are given by name.

    `precision` in bits is another way to say `tolerance` (2^-precision). `plain_modulus` makes BFV compute modulo
    that prime; without it one is chosen so that no result wraps. `params` pins a named set, a ParamRequest, or a set
    that is planned for a BootstrapGoal.
    `publish` makes room for `client.decrypt(result, publish=True)`: tolerance (CKKS) and noise budget (BFV) then hold
    with the noise that hides what a decryption would tell about the key. `encryption` is "public", "extended" (a public
    key over Q·P: less noise, a larger key, more time) or "secret": the key that arguments are encrypted under; by
    default BFV's public and CKKS's secret one (ciphertexts half as long).
    `worst_case` makes room for any plain argument within its range, even one contrived to spread noise; without it
    such an argument is refused when the program runs. `keys_limit`: bytes that the evaluation keys which a client sends
    may take (1 GiB; None: any); beyond it, rotations used least are made of powers of two, and layouts of fewer keys
    are tried. It does not bind manual kernels.
    `guarantee`: what tolerance (CKKS) and decryption (BFV) are held to: "certain", errors may all depend on each other,
    or "probable", what operations draw is independent, so errors add as deviations do: smaller sets. Either fails with
    probability below 2^-failure_bits: 128 is as seldom as a key is guessed; 40, which many libraries promise, takes
    smaller sets, and is for results that only their owner sees.
    """

    if misplaced:
        raise KernelError("declare the arguments by name: @rs.kernel(x=rs.Encrypted(8, bound=1.0), ...)", here())

    def decorate(function: Callable[..., Any]) -> Kernel:
        _check_function(function)
        made = Kernel(
            function, name or function.__name__.replace("_", "-"), variant, scheme, mode == "manual", {}, output,
            tolerance_of(tolerance, precision), security, standard, allow_insecure, params, plain_modulus, sample,
            reference, publish, encryption, worst_case, keys_limit, guarantee, failure_bits,
        )  # fmt: skip
        if mode not in ("auto", "manual"):
            raise KernelError(f"mode={mode!r}: auto or manual", made.where)
        check_options(made, made.where)
        return replace(made, arguments=declared_arguments(made, arguments))

    return decorate
