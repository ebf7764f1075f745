# SPDX-License-Identifier: Apache-2.0
"""A compiled program: data, with bytes and a hash; what client and server are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.files import replacing
from ringsmith.kernel.circuit import Circuit
from ringsmith.kernel.declare import Argument, Encrypted, Plain
from ringsmith.kernel.index_map import taken
from ringsmith.kernel.numbers import as_array, residues
from ringsmith.kernel.trace import packed_rows
from ringsmith.params.choose import Rejected
from ringsmith.params.sets import ParameterSet, judge
from ringsmith.run.assemble import assemble
from ringsmith.run.canonical import digest
from ringsmith.run.identity import Identity, Label, Role
from ringsmith.run.messages import Keys, PublicKey
from ringsmith.run.randomness import Seed
from ringsmith.run.scheme import Scheme, open_scheme

if TYPE_CHECKING:
    from ringsmith.run.client import Client, Encryptor
    from ringsmith.run.recording import Recording
    from ringsmith.run.server import Server

Array = NDArray[Any]


@dataclass(frozen=True)
class Signature:
    """What a program keeps of its kernel: name, variant, scheme, tolerance; shape, secrecy and range of arguments."""

    name: str
    variant: str
    scheme: str
    tolerance: float
    arguments: Mapping[str, tuple[tuple[int, ...], bool, float, float]]
    publish: bool = False

    @classmethod
    def of(cls, native: _native.Program) -> Signature:
        """Return what a program read from bytes says."""
        arguments = {name: (tuple(shape), secret, low, high) for name, shape, secret, low, high in native.arguments}
        promised = native.guarantee
        return cls(native.name, native.variant, native.scheme, promised["tolerance"], arguments, promised["publish"])

    def argument(self, name: str) -> Argument:
        """Return an argument's declaration again."""
        shape, encrypted, low, high = self.arguments[name]
        return (Encrypted if encrypted else Plain)(*shape, low=low, high=high)

    def names(self, *, encrypted: bool) -> list[str]:
        """Return the names of the encrypted or of the plain arguments."""
        return [name for name, entry in self.arguments.items() if entry[1] is encrypted]

    def check(self, given: Mapping[str, Any], *, encrypted: bool) -> dict[str, Array]:
        """Return checked arrays for exactly the encrypted or the plain arguments."""
        wanted = self.names(encrypted=encrypted)
        if sorted(given) != sorted(wanted):
            kind = "encrypted" if encrypted else "plain"
            have, got = ", ".join(wanted) or "(none)", ", ".join(given) or "(none)"
            raise InputError(f"{self.name} takes the {kind} arguments {have}, not {got}")
        checked = {}
        for name in wanted:
            argument = self.argument(name)
            argument.fix(name, as_array(given[name], f"argument {name}").shape)
            checked[name] = argument.check(name, given[name], exact=self.scheme == "bfv")
        return checked


@dataclass(frozen=True, eq=False)
class Functions:
    """Functions of the user's that compute what enters or leaves: they are no data, so they stay in this process.

    `pack` has one for each argument that is more than placed, `unpack` makes a result of `shape`; two sides compare
    them by `probes`, their answers.
    """

    pack: Mapping[str, Callable[[Array, int], Array]] = field(default_factory=dict)
    unpack: Callable[[Array], Array] | None = None
    shape: tuple[int, ...] = ()
    probes: tuple[Any, ...] = ()

    @classmethod
    def of(cls, circuit: Circuit) -> Functions:
        """Return the functions of a circuit."""
        packings = {name: packing for name, packing in circuit.inputs.items() if packing.pack is not None}
        pack = {name: packing.pack for name, packing in packings.items()}
        probes = [(name, packing.trace) for name, packing in packings.items()]
        for plain in circuit.plains:
            attributes = plain.node.attributes
            if attributes.get("pack") is not None and attributes["name"] not in pack:
                pack[attributes["name"]] = attributes["pack"]
                probes.append((attributes["name"], attributes["trace"]))
        if circuit.output.unpack is not None:
            probes.append(("the result", circuit.output.trace))
        return cls(pack, circuit.output.unpack, circuit.output.shape, tuple(probes))

    @property
    def names(self) -> list[str]:
        """What they belong to, for messages."""
        return [f"argument {name}" for name in self.pack] + (["the result"] if self.unpack is not None else [])


@dataclass(frozen=True, eq=False)
class Program:
    """A kernel compiled for one parameter set.

    `native` is the program as the engine runs, writes and hashes it. `made_from` and `rejected` tell how it was made; a
    program that was read from bytes has neither.
    """

    signature: Signature
    params: ParameterSet
    native: _native.Program
    made_from: Circuit | None = None
    rejected: tuple[Rejected, ...] = ()
    functions: Functions = Functions()
    device: _native.Device | None = None
    recording: Recording | None = None

    @classmethod
    def assembled(
        cls,
        signature: Signature,
        params: ParameterSet,
        circuit: Circuit,
        noise_bits: float,
        rejected: tuple[Rejected, ...],
        encryption: str,
    ) -> Program:
        """Return the program of a circuit."""
        native = assemble(signature, params, circuit, noise_bits, encryption)
        return cls(signature, params, native, circuit, rejected, Functions.of(circuit))

    @classmethod
    def from_bytes(
        cls, data: bytes, *, security: int = 128, standard: str = "2024", allow_insecure: bool = False
    ) -> Program:
        """Read `to_bytes`, checked as a stranger's: FormatError, or ParameterError for a set that is not secure."""
        policy: dict[str, Any] = {
            "security": security, "table": f"{standard}-classical", "allow_insecure": allow_insecure,
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
        return _unpickled, (bytes(self.native.to_bytes()), policy, self.signature, self.functions)

    @property
    def circuit(self) -> Circuit:
        """The circuit it was made from; AttributeError for a program that was read from bytes."""
        if self.made_from is None:
            raise AttributeError(f"program {self.signature.name} was read from bytes: `native` has all there is")
        return self.made_from

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
        counts = {name: count for name, count in self.native.counts().items() if name not in ("input", "within")}
        counts["key_switch"] = self.native.key_switches
        return counts

    @property
    def rotation_keys(self) -> int:
        """Number of Galois keys: one for each rotation, one for the row swap."""
        return len(self.native.rotations()) + int(self.native.required_keys()["swap_rows"])

    def box(self) -> str:
        """Return the parameter box as text."""
        from ringsmith.params.box import box

        return box(self)

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

    def client(self, seed: Seed = None, **options: bool) -> Client:
        """Generate keys; with a seed all the client does is reproducible to the byte. `options`: those of `Client`."""
        from ringsmith.run.client import Client

        return Client(self, seed, **options)

    def encryptor(self, public_key: PublicKey, seed: Seed = None, **options: bool) -> Encryptor:
        """Return a side that only encrypts, for the client whose public key this is. `options`: see `Encryptor`."""
        from ringsmith.run.client import Encryptor

        return Encryptor(self, public_key, seed, **options)

    def server(self, evaluation_keys: Keys, *, threads: int | None = None) -> Server:
        """Return the side that evaluates; it never sees the secret key. `threads`: by default one for each core."""
        from ringsmith.run.server import Server

        return Server(self, evaluation_keys, threads=threads)

    def open(self) -> Scheme:
        """Return the engine's objects for this program's parameters."""
        return open_scheme(self.params, self.device)

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
                    if (name in names) or (encrypted and name not in self.signature.arguments)
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
        return np.asarray(rows.reshape(-1)[self.native.result].reshape(self.native.result_shape))


def _parameters(context: Any, native: _native.Program, security: int, standard: str) -> ParameterSet:
    """Return the set of a program that was read."""
    moduli, special = tuple(context.moduli), tuple(context.special)
    log2_qp = float(sum(np.log2(float(q)) for q in (*moduli, *special)))
    secret, error = context.secret, context.error
    return ParameterSet(
        scheme=native.scheme, n=native.n, moduli=moduli, special=special, dnum=context.dnum,
        log2_scale=float(np.log2(context.scale)) if native.scheme == "ckks" else 0.0,
        plain_modulus=0 if native.scheme == "ckks" else context.plain_modulus, secret=secret, error=error,
        security=judge(native.n, log2_qp, security, standard, secret, error), name="chosen",
        source="read with the program",
    )  # fmt: skip


def _unpickled(data: bytes, policy: tuple[int, str, bool], signature: Signature, functions: Functions) -> Program:
    security, standard, insecure = policy
    program = Program.from_bytes(data, security=security, standard=standard, allow_insecure=insecure)
    return replace(program, signature=signature, functions=functions)
