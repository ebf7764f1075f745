# SPDX-License-Identifier: Apache-2.0
"""A compiled program as data, with bytes and a hash: what client and server are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.compiler.compiled import Compiled
from ringsmith.compiler.params.choose import Rejected
from ringsmith.compiler.params.keys import Keys
from ringsmith.compiler.params.sets import ParameterSet, judge
from ringsmith.compiler.signature import Signature
from ringsmith.compiler.user_functions import UserFunctions
from ringsmith.errors import InputError
from ringsmith.files import replacing
from ringsmith.frontend.param_request import Bootstrapping
from ringsmith.frontend.trace import packed_rows
from ringsmith.ir.circuit import FREE, Circuit
from ringsmith.ir.index_map import taken
from ringsmith.ir.layout_note import LayoutNote
from ringsmith.ir.numbers import residues
from ringsmith.ir.reading import Reading
from ringsmith.limits import MAX_DEGREE
from ringsmith.runtime.canonical import digest
from ringsmith.runtime.identity import Identity, Label, Role
from ringsmith.runtime.recording import Recording
from ringsmith.runtime.scheme import Scheme, open_scheme
from ringsmith.scalars import whole

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ProgramData:
    """A kernel compiled for one parameter set; `ringsmith.runtime.program.Program` makes clients and servers of it.

    `native` is the program as the engine runs, writes and hashes it. `made_from`, `rejected` and
    `layouts` tell how it was made, `proven` which promises follow from the declared ranges; a program that was read
    from bytes has none of them.
    """

    signature: Signature
    params: ParameterSet
    native: _native.Program
    made_from: Circuit | None = None
    rejected: tuple[Rejected, ...] = ()
    functions: UserFunctions = field(default_factory=UserFunctions)
    device: _native.Backend | None = None
    recording: Recording | None = None
    layouts: tuple[LayoutNote, ...] = ()
    proven: frozenset[tuple[str, float]] = frozenset()

    @classmethod
    def of(cls, made: Compiled) -> Self:
        """Return the program that the compiler made."""
        return cls(
            made.signature, made.params, made.native, made.circuit, made.rejected, made.functions, layouts=made.layouts,
            proven=made.proven,
        )  # fmt: skip

    @classmethod
    def from_bytes(
        cls, data: bytes, *, security: int = 128, standard: str = "2024", allow_insecure: bool = False,
        max_degree: int = MAX_DEGREE,
    ) -> Self:  # fmt: skip
        """Read `to_bytes`, checked as a stranger's: FormatError, also for a ring of more than `max_degree`
        coefficients, or ParameterError for a set that is not secure."""
        policy: dict[str, Any] = {
            "security": whole("security", security), "table": f"{standard}-classical", "allow_insecure": allow_insecure,
            "max_degree": whole("max_degree", max_degree),
        }  # fmt: skip
        native = _native.Program.from_bytes(data, **policy)
        return cls(Signature.of(native), _parameters(native.context(), native, security, standard), native)

    def to_bytes(self) -> bytes:
        """Return the program as an object of the byte format (docs/format.md); InputError if functions belong to it."""
        if self.functions.names:
            raise InputError(
                f"{self.signature.name}: {' and '.join(self.functions.names)}: packed or read by a function that "
                "computes; only one that places elements can be written down (place elements there, compute outside)"
            )
        return bytes(self.native.to_bytes())

    def save(self, path: str | Path) -> None:
        """Write the bytes to a file; `ringsmith.load` reads it."""
        data = self.to_bytes()
        with replacing(Path(path)) as file:
            file.write(data)

    def __repr__(self) -> str:
        """Return the name and the parameters in short."""
        params, name = self.params, self.signature.name
        return f"<Program {name}: {params.scheme}, n = {params.n}, {params.split} bits, {self.native.steps} steps>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as bytes; functions of the user's travel by name."""
        judged = self.params.security
        policy = (judged.wanted, judged.table.split("-")[0], not judged.enough)
        return _unpickled, (type(self), bytes(self.native.to_bytes()), policy, self.signature, self.functions)

    @property
    def circuit(self) -> Circuit:
        """The circuit it was made from; AttributeError for a program that was read from bytes."""
        if self.made_from is None:
            raise AttributeError(f"program {self.signature.name} was read from bytes: `native` has all there is")
        return self.made_from

    @cached_property
    def result_bytes(self) -> int:
        """Bytes that its encrypted results take on their way, from above."""
        return sum(self._bytes_of(output) for output in self.native.outputs())

    def _bytes_of(self, output: Mapping[str, Any]) -> int:
        bits = sum(q.bit_length() for q in self.params.moduli[: output["level"] + 1])
        return 128 + int(output["size"] * self.params.n * bits / 8)

    @property
    def noise_bits(self) -> float:
        """CKKS: log2 of the error bound; BFV: bits of noise budget left."""
        return float(self.native.guarantee["bits"])

    @property
    def encryption(self) -> str:
        """Whether arguments are encrypted under the `public`, the `extended` public or the `secret` key."""
        return str(self.native.encryption)

    @property
    def counts(self) -> dict[str, int]:
        """Operations by name; `key_switch` is the sum of relinearisations, rotations and row swaps, those inside
        transforms too."""
        counts = {name: count for name, count in self.native.counts().items() if name not in FREE}
        counts["key_switch"] = self.native.key_switches
        return counts

    @property
    def rotation_keys(self) -> int:
        """Number of Galois keys: one for each rotation, one for the row swap."""
        return len(self.native.rotations()) + int(self.native.required_keys()["swap_rows"])

    @property
    def keys(self) -> Keys:
        """The evaluation keys: levels, number, bytes."""
        required = self.native.required_keys()
        primes = 0
        if required["public"]:
            primes = len(self.params.moduli) + (self.encryption == "extended") * len(self.params.special)
        return Keys(
            required["relinearization"], required["galois"], self.rotation_keys, primes, required["bootstrapping"]
        )

    @cached_property
    def identity(self) -> Identity:
        """The hash of all that ciphertexts and keys of this program must agree on."""
        sections = [(name, bytes(value)) for name, value in self.native.sections()]
        if self.functions.probes:
            sections.append(("packing functions", digest(self.functions.probes)))
        return Identity(tuple(sections))

    def label(self, role: Role, key: str) -> Label:
        """Return the label of an object of this program and of the secret key with the public identity `key`."""
        return Label(role, self.identity, key)

    def check_own(self, role: Role, given: Any, receiver: str) -> None:
        """Fail unless a label is of this program and role, whosever key it names."""
        self.label(role, getattr(given, "key", "")).check(given, receiver)

    def open(self) -> Scheme:
        """Return the engine's objects for this program's parameters."""
        return open_scheme(self.params, self.device)

    @cached_property
    def scheme(self) -> Scheme:
        """The same, made once: all servers of this program share its tables, with any keys."""
        return self.open()

    def packed(self, name: str, values: Array) -> Array:
        """Return one row of slots for each ciphertext of an encrypted argument."""
        slots, bound = self.native.slots, self._bound(name)
        if name in self.functions.pack:
            return packed_rows(name, self.functions.pack[name], values, slots, bound)
        return taken(self.native.packing(name), values).reshape(-1, slots)

    def numbers(self, values: Array) -> Array:
        """Return values as the engine takes them: doubles, or residues modulo t."""
        if self.params.scheme == "bfv":
            return np.ascontiguousarray(residues(values, self.params.plain_modulus), dtype=np.int64)
        return np.ascontiguousarray(values, dtype=np.float64)

    def plain(self, arrays: Mapping[str, Array]) -> list[Array]:
        """Return the plain arguments in order, as the engine takes them."""
        rows = {
            name: packed_rows(name, pack, arrays[name], self.native.slots, self._bound(name))
            for name, pack in self.functions.pack.items()
            if name in arrays
        }
        return [self.numbers(rows.get(name, array)).reshape(-1) for name, array in arrays.items()]

    def clear(self, **arguments: Any) -> Array:
        """Return what the program computes, on values in the clear: no keys, no noise."""
        arrays = {}
        for encrypted in (True, False):
            names = self.signature.names(encrypted=encrypted)
            arrays[encrypted] = self.signature.check(
                {
                    name: value
                    for name, value in arguments.items()
                    if (name in names) or (encrypted and name not in self.signature.declared)
                },
                encrypted=encrypted,
            )
        rows = [self.numbers(row) for name, array in arrays[True].items() for row in self.packed(name, array)]
        return self.unpacked(np.stack(self.native.clear(rows, self.plain(arrays[False]))))

    def _bound(self, name: str) -> Any:
        """Return the largest magnitude of what enters for an argument."""
        low, high = next((low, high) for own, _, _, low, high in self.native.arguments if own == name)
        return max(abs(low), abs(high))

    def unpacked(self, rows: Array) -> Array:
        """Return the result from the slots of the output ciphertexts, one row for each."""
        if self.functions.unpack is not None:
            return np.asarray(self.functions.unpack(rows)).reshape(self.functions.shape)
        result = np.asarray(rows.reshape(-1)[self.native.result].reshape(self.native.result_shape))
        return Reading.of(self.native).read(result)


def _parameters(context: Any, native: _native.Program, security: int, standard: str) -> ParameterSet:
    """Return the set of a program that was read."""
    moduli, special = tuple(context.moduli), tuple(context.special)
    log2_qp = float(sum(np.log2(float(q)) for q in (*moduli, *special)))
    secret, error, own = context.secret, context.error, native.bootstrapping
    return ParameterSet(
        scheme=native.scheme, n=native.n, moduli=moduli, special=special, dnum=context.dnum,
        log2_scale=float(np.log2(context.scale)) if native.scheme == "ckks" else 0.0,
        plain_modulus=0 if native.scheme == "ckks" else context.plain_modulus, secret=secret, error=error,
        security=judge(native.n, log2_qp, security, standard, secret, error), name="chosen",
        source="read with the program", bootstrapping=Bootstrapping(**own.values()) if own else None,
    )  # fmt: skip


def _unpickled(
    kind: type[ProgramData], data: bytes, policy: tuple[int, str, bool], signature: Signature, functions: UserFunctions
) -> ProgramData:
    security, standard, insecure = policy
    program = kind.from_bytes(data, security=security, standard=standard, allow_insecure=insecure)
    return replace(program, signature=signature, functions=functions)
