# SPDX-License-Identifier: Apache-2.0
"""What a program costs, before any key is made: parameters, keys, messages, memory and time of an evaluation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ringsmith.runtime.box import depth_of
from ringsmith.runtime.prices import LABEL, MOST_BITS, prices
from ringsmith.runtime.program_data import ProgramData
from ringsmith.runtime.server import KEPT_BYTES

#: Bytes around the polynomials of a ciphertext, from above.
_AROUND = 128
#: Words of tables and scratch for each coefficient of each prime.
_TABLE_WORDS = 8


@dataclass(frozen=True)
class Cost:
    """What an evaluation takes, told before keys are made.

    `n`, `slots`, `moduli_bits` (those of special primes last, `special` of them) and `security` bits are the
    parameters; `levels` are the primes that the deepest path drops. `key_bytes` is what a client sends once,
    `key_memory` what these keys take in the evaluator's memory, `memory` what a run on one thread takes at its fullest
    beside them, with the tables of the primes, and `plaintext_memory` what a server keeps of encoded plaintexts for the
    next run, by default (`memory=` of `Server`); all of them are `plaintext_bytes`.
    `input_bytes` and `result_bytes` are the ciphertexts of each run, from above.
    `seconds` is the time of one thread of this processor for a run, from the number of operations and their measured
    price; the first run encodes plaintexts besides.
    """

    kernel: str
    scheme: str
    n: int
    slots: int
    moduli_bits: tuple[int, ...]
    special: int
    security: float
    levels: int
    refreshes: int
    key_switches: int
    rotation_keys: int
    key_bytes: int
    key_memory: int
    memory: int
    plaintext_bytes: int
    plaintext_memory: int
    input_bytes: int
    result_bytes: int
    seconds: float

    @property
    def total_memory(self) -> int:
        """Bytes of the evaluator: keys, tables, plaintexts that are kept, and the fullest moment of a run."""
        return self.key_memory + self.memory + self.plaintext_memory

    def to_json(self) -> dict[str, Any]:
        """Return all as one JSON object."""
        return asdict(self) | {"moduli_bits": list(self.moduli_bits), "total_memory": self.total_memory}

    def __str__(self) -> str:
        """Return it in lines."""
        bits = f"{sum(self.moduli_bits)} bits in {len(self.moduli_bits)} primes"
        drops = f"{self.levels} level{'' if self.levels == 1 else 's'}"
        fresh = f"{self.refreshes} refresh{'' if self.refreshes == 1 else 'es'}"
        sent = amount(self.key_bytes)
        return "\n".join([
            f"{self.kernel}: {self.scheme.upper()}, n = {self.n}, {bits}, {self.security:.0f} bits of security",
            f"circuit: {drops}, {fresh}, {self.key_switches} key switches",
            f"keys: {self.rotation_keys} of rotations; {sent} sent, {amount(self.key_memory)} in memory",
            f"messages: {amount(self.input_bytes)} in, {amount(self.result_bytes)} out",
            f"memory: about {amount(self.total_memory)}: {amount(self.key_memory)} for keys, {amount(self.memory)} at "
            f"the fullest step, {amount(self.plaintext_memory)} for plaintexts kept, of {amount(self.plaintext_bytes)}",
            f"time: about {self.seconds:.2g} s a run (prices of operations: {LABEL})",
        ])  # fmt: skip


def cost_of(program: ProgramData) -> Cost:
    """Return what a program costs; the prices of its ring are measured the first time, in a fraction of a second."""
    params, engine = program.params, program.native.cost()
    return Cost(
        kernel=program.signature.name,
        scheme=params.scheme,
        n=params.n,
        slots=params.slots,
        moduli_bits=tuple(params.moduli_bits),
        special=len(params.special),
        security=float(params.security.bits),
        levels=depth_of(program),
        refreshes=program.native.refreshes,
        key_switches=program.native.key_switches,
        rotation_keys=program.rotation_keys,
        key_bytes=program.keys.nbytes(params),
        key_memory=int(engine["keys"]),
        memory=int(engine["memory"]) + tables(program),
        plaintext_bytes=int(engine["plaintexts"]),
        plaintext_memory=min(int(engine["plaintexts"]), KEPT_BYTES),
        input_bytes=input_bytes(program),
        result_bytes=program.result_bytes,
        seconds=int(engine["work"]) * prices(params.n, min(max(params.moduli_bits), MOST_BITS))["transforms"] / 1e9,
    )


def tables(program: ProgramData) -> int:
    """Return the bytes of what each prime needs: roots, their inverses and quotients, room to work; generously."""
    params = program.params
    return (len(params.moduli) + len(params.special)) * params.n * 8 * _TABLE_WORDS


def input_bytes(program: ProgramData) -> int:
    """Return the bytes of the encrypted arguments of a run, from above.

    Under the secret key the random half of a ciphertext is a seed.
    """
    halves = 1 if program.encryption == "secret" else 2
    each = [sum(q.bit_length() for q in program.params.moduli[: one["level"] + 1]) for one in program.native.inputs()]
    return sum(_AROUND + (halves * program.params.n * bits + 7) // 8 for bits in each)


def amount(count: int) -> str:
    """Return a number of bytes in words, three digits."""
    for name, unit in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} bytes"
