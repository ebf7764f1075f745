# SPDX-License-Identifier: Apache-2.0
"""Manual mode: the function handles ciphertexts itself, and each operation it writes is exactly one that runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import KernelError
from ringsmith.frontend.refusals import Refusing
from ringsmith.ir.circuit import Step
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Node
from ringsmith.ir.kinds import Kind
from ringsmith.ir.nodes import constant
from ringsmith.ir.slot_program import Plains, rotation
from ringsmith.location import Location, here
from ringsmith.scalars import is_number, whole

# Two scales this close (relatively) count as equal; the error it makes is far below any other.
SCALE_TOLERANCE = 2.0**-30


@dataclass(frozen=True)
class Chain:
    """Parameters of manual operations: data primes (first prime first) and log2 of the scale."""

    scheme: str
    slots: Slots
    moduli: tuple[int, ...]
    log2_scale: float
    #: Levels that a refresh takes and leaves, where the set has a bootstrapping.
    refresh: tuple[int, int] | None = None


class Recorder:
    """The circuit under construction."""

    def __init__(self, chain: Chain) -> None:
        """Start an empty circuit."""
        self.chain = chain
        self.steps: list[Step] = []
        self.plains = Plains()

    def emit(self, step: Step) -> Cipher:
        """Append an operation."""
        self.steps.append(step)
        return Cipher(self, len(self.steps) - 1)

    def fresh(self, where: Location) -> Cipher:
        """Append an input of the kernel defined at a place."""
        scale = 2.0**self.chain.log2_scale if self.chain.scheme == "ckks" else 1.0
        return self.emit(Step(Kind.INPUT, (), where, len(self.chain.moduli) - 1, scale, 2))


class _Handle(Refusing):
    """A value of a manual kernel. numpy's functions would take it for a scalar: they are refused."""

    def __array_function__(self, function: Any, _types: Any, _args: Any, _kwargs: Any) -> Any:
        """Refuse."""
        raise KernelError(
            f"numpy.{function.__name__} of a ciphertext is not supported; use its operators and rs", here()
        )


class PlainVector(_Handle):
    """A plaintext argument's vector, to be combined with ciphertexts."""

    # numpy arrays of these stay object arrays.
    __array_priority__ = 100.0

    @property
    def _is_encrypted(self) -> bool:
        return False

    def __init__(self, recorder: Recorder, number: int) -> None:
        """Wrap a plaintext of the circuit."""
        self.recorder = recorder
        self.number = number

    def __add__(self, other: Any) -> Any:
        """Add a ciphertext."""
        return other + self if isinstance(other, Cipher) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        """Multiply a ciphertext."""
        return other * self if isinstance(other, Cipher) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        """Subtract a ciphertext (its negation plus this)."""
        return -other + self if isinstance(other, Cipher) else NotImplemented


class Cipher(_Handle):
    """A ciphertext. `level`, `scale`, `size` and `slots` are known while tracing; the values are not."""

    __array_ufunc__ = None

    def __init__(self, recorder: Recorder, number: int) -> None:
        """Wrap a step of the circuit."""
        self.recorder = recorder
        self.number = number

    @property
    def step(self) -> Step:
        """The operation that makes this ciphertext."""
        return self.recorder.steps[self.number]

    @property
    def level(self) -> int:
        """Number of data primes left, minus one."""
        return self.step.level

    @property
    def scale(self) -> float:
        """Scale of the encoded values (1 for BFV)."""
        return self.step.scale

    @property
    def size(self) -> int:
        """Number of polynomials: 2, or 3 after a product."""
        return self.step.size

    @property
    def slots(self) -> int:
        """Number of values a ciphertext holds: n/2 in CKKS, n in BFV (two rows of n/2)."""
        return self.recorder.chain.slots.count

    def __add__(self, other: Any) -> Cipher:
        """Add a ciphertext or a plaintext."""
        return self._linear(Kind.ADD, Kind.ADD_PLAIN, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Cipher:
        """Subtract a ciphertext or a plaintext."""
        return self._linear(Kind.SUB, Kind.SUB_PLAIN, other)

    def __rsub__(self, other: Any) -> Cipher:
        """Subtract this from a plaintext."""
        return (-self).__add__(other)

    def __neg__(self) -> Cipher:
        """Negate."""
        return self._emit(Kind.NEGATE, self.level, self.scale, self.size)

    def __mul__(self, other: Any) -> Cipher:
        """Multiply with a ciphertext or a plaintext; nothing is relinearised or rescaled."""
        if not isinstance(other, Cipher):
            plain_scale = self._fresh_scale()
            number = self._plain(other)
            return self._emit(
                Kind.MULTIPLY_PLAIN,
                self.level,
                self.scale * plain_scale,
                self.size,
                plain=number,
                plain_scale=plain_scale,
            )
        if other.number == self.number:
            return self.square()
        self._needs_two("multiply", other)
        if self.level != other.level:
            self._fail("multiply", other, f"levels {self.level} and {other.level} differ; rs.mod_drop the higher one")
        return self._emit(Kind.MULTIPLY, self.level, self.scale * other.scale, 3, other)

    __rmul__ = __mul__

    def square(self) -> Cipher:
        """Multiply with itself."""
        self._needs_two("square", self)
        return self._emit(Kind.SQUARE, self.level, self.scale**2, 3)

    def rotate(self, steps: int, axis: int = -1) -> Cipher:
        """Rotate the slots of every row left by `steps` (a key switch)."""
        if axis not in (-1, 0):
            raise KernelError(f"a ciphertext has one axis, not {axis}", here())
        steps = rotation(whole("rotate: steps", steps), self.recorder.chain.slots)
        if steps == 0:
            return self
        self._needs_two("rotate", self)
        return self._emit(Kind.ROTATE, self.level, self.scale, 2, steps=steps)

    def swap_rows(self) -> Cipher:
        """Swap the two rows of slots of a BFV ciphertext (a key switch)."""
        if self.recorder.chain.slots.rows == 1:
            raise KernelError("swap_rows belongs to BFV; a CKKS ciphertext has one row of slots", here())
        self._needs_two("swap_rows", self)
        return self._emit(Kind.SWAP_ROWS, self.level, self.scale, 2)

    def relinearize(self) -> Cipher:
        """Bring a product back to two polynomials (a key switch)."""
        if self.size != 3:
            self._fail("relinearize", self, "it has two polynomials already; only a product needs relinearizing")
        return self._emit(Kind.RELINEARIZE, self.level, self.scale, 2)

    def rescale(self) -> Cipher:
        """Divide value and scale by the last prime, which is dropped."""
        chain = self.recorder.chain
        if chain.scheme != "ckks":
            raise KernelError("rescale belongs to CKKS; BFV needs none", here())
        if self.level == 0:
            self._fail("rescale", self, "no level is left; use parameters with one more data prime")
        return self._emit(Kind.RESCALE, self.level - 1, self.scale / chain.moduli[self.level], self.size)

    def bootstrap(self) -> Cipher:
        """Give the ciphertext new levels and the set's scale."""
        chain = self.recorder.chain
        if chain.refresh is None:
            raise KernelError("rs.bootstrap: the parameter set has no bootstrapping; give params= one that has", here())
        self._needs_two("bootstrap", self)
        if self.level < chain.refresh[0]:
            self._fail("bootstrap", self, f"level {chain.refresh[0]} is needed; refresh before the levels are used")
        return self._emit(Kind.BOOTSTRAP, chain.refresh[1], self._fresh_scale(), 2)

    def within(self, bound: float) -> Cipher:
        """Promise that the magnitude of every value that matters later is at most `bound`."""
        if not (is_number(bound) and bound > 0):
            raise KernelError(f"within: the bound {bound!r} must be a positive finite number", here())
        return self._emit(Kind.WITHIN, self.level, self.scale, self.size, bound=float(bound))

    def encrypt_zero(self) -> Cipher:
        """Encrypt zero under the public key, at this ciphertext's level and scale."""
        return self.recorder.emit(Step(Kind.ENCRYPT_ZERO, (), here(), self.level, self.scale, 2))

    def mod_drop(self, levels: int = 1) -> Cipher:
        """Drop the last primes; the value stays."""
        if not 0 <= whole("mod_drop: levels", levels) <= self.level:
            self._fail("mod_drop", self, f"cannot drop {levels} primes")
        return self if levels == 0 else self._emit(Kind.MOD_DROP, self.level - levels, self.scale, self.size)

    def _emit(self, kind: Kind, level: int, scale: float, size: int, *others: Cipher, **more: Any) -> Cipher:
        args = (self.number, *(other.number for other in others))
        return self.recorder.emit(Step(kind, args, here(), level, scale, size, **more))

    def _linear(self, kind: Kind, plain_kind: Kind, other: Any) -> Cipher:
        if not isinstance(other, Cipher):
            number = self._plain(other)
            return self._emit(plain_kind, self.level, self.scale, self.size, plain=number, plain_scale=self.scale)
        if self.level != other.level:
            self._fail(kind, other, f"levels {self.level} and {other.level} differ; rs.mod_drop the higher one")
        if not math.isclose(self.scale, other.scale, rel_tol=SCALE_TOLERANCE):
            larger = "left" if self.scale > other.scale else "right"
            self._fail(kind, other, f"scales differ; rs.rescale the {larger} operand, or multiply the other by 1")
        return self._emit(kind, self.level, self.scale, max(self.size, other.size), other)

    def _fresh_scale(self) -> float:
        chain = self.recorder.chain
        return 2.0**chain.log2_scale if chain.scheme == "ckks" else 1.0

    def _plain(self, value: Any) -> int:
        if isinstance(value, PlainVector):
            return value.number
        where = here()
        if isinstance(value, Refusing):
            raise KernelError(f"cannot combine a ciphertext with a {type(value).__name__}", where)
        node = constant(value, where, exact=self.recorder.chain.scheme == "bfv")
        return self.recorder.plains.number(node, _gather_of_constant(node, self.slots))

    def _needs_two(self, name: str, other: Cipher) -> None:
        if self.size != 2 or other.size != 2:
            self._fail(name, other, "an operand is a product of three polynomials; rs.relinearize it first")

    def _fail(self, name: str, other: Cipher, remedy: str) -> None:
        sides = [self] if other is self else [self, other]
        facts = " and ".join(
            f"(scale 2^{math.log2(side.scale):.2f}, level {side.level}, {side.size} polynomials)" for side in sides
        )
        raise KernelError(f"{name} of {facts}: {remedy}", here())


def _gather_of_constant(node: Node, slots: int) -> Index:
    """A scalar fills every slot, a vector the first ones."""
    if node.shape == ():
        return np.zeros(slots, dtype=np.intp)
    if len(node.shape) != 1 or node.shape[0] > slots:
        raise KernelError(f"a plaintext is a scalar or a vector of at most {slots} values, not {node.shape}", here())
    gather = np.full(slots, -1, dtype=np.intp)
    gather[: node.shape[0]] = np.arange(node.shape[0])
    return gather


def collect(result: Any) -> list[Cipher]:
    """Flatten a manual kernel's result into its ciphertexts, row-major."""
    if isinstance(result, Cipher):
        return [result]
    if isinstance(result, np.ndarray | Sequence):
        return [cipher for part in result for cipher in collect(part)]
    raise KernelError(f"a manual kernel returns ciphertexts, not a {type(result).__name__}", here())


Handles = NDArray[np.object_]
