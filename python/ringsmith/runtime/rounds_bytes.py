# SPDX-License-Identifier: Apache-2.0
"""A client-aided program as bytes: its rounds as JSON, then the program of each round (docs/format.md).

A file has no function, only its name, shape and range. What is read is checked as a stranger's: every source is there
before it is used, every shape is that of the round's own program.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ringsmith import _native
from ringsmith.compiler.rounds import Applied, Plan, Round, Source
from ringsmith.compiler.signature import Signature
from ringsmith.errors import FormatError
from ringsmith.ir.clear_function import ClearFunction
from ringsmith.runtime.identity import Role
from ringsmith.runtime.program import Program
from ringsmith.scalars import is_int, is_number

#: Fills the field of a key that the format requires and no client has.
_NO_KEY = "0" * 32
_MOST_ROUNDS = 4096


def encoded(signature: Signature, programs: Sequence[Program], plan: Plan) -> bytes:
    """Return the bytes."""
    rounds = [
        {
            "inputs": dict(one.inputs),
            "values": [list(shape) for shape in one.values],
            "applied": [_applied(applied) for applied in one.applied],
        }
        for one in plan.rounds
    ]
    facts = {
        "name": signature.name,
        "variant": signature.variant,
        "scheme": signature.scheme,
        "tolerance": signature.tolerance,
        "arguments": {name: [list(shape), *rest] for name, (shape, *rest) in signature.arguments.items()},
        "rounds": rounds,
        "result": plan.result,
    }
    parts = [json.dumps(facts).encode(), *(program.to_bytes() for program in programs)]
    label = [("rounds", hashlib.sha256(b"".join(parts)).digest()[:16])]
    return bytes(_native.message_to_bytes(Role.ROUNDS.name, label, _NO_KEY, parts))


def _applied(applied: Applied) -> dict[str, Any]:
    function = applied.function
    return {
        "name": function.name, "of": applied.of, "shape": list(function.shape), "low": function.low,
        "high": function.high,
    }  # fmt: skip


def decoded(parts: Sequence[bytes], policy: Mapping[str, Any]) -> tuple[Signature, tuple[Program, ...], Plan]:
    """Return what the parts of such a message hold; `policy` judges the parameters of the programs.

    Raises:
        FormatError: the rounds do not fit together, or do not fit their programs.
    """
    try:
        facts = json.loads(parts[0].decode()) if parts else _refuse("no rounds")
        return _Reader(facts, [Program.from_bytes(part, **policy) for part in parts[1:]]).read()
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        _refuse(f"no description of rounds ({type(error).__name__})")


def _refuse(what: str) -> NoReturn:
    raise FormatError(f"a client-aided program with {what}")


class _Reader:
    """Rounds on their way out of JSON."""

    def __init__(self, facts: Any, programs: list[Program]) -> None:
        self.facts, self.programs = facts, programs
        self.values: list[tuple[int, ...]] = []

    def read(self) -> tuple[Signature, tuple[Program, ...], Plan]:
        facts = self.facts
        arguments = {str(name): _argument(entry) for name, entry in facts["arguments"].items()}
        signature = Signature(
            str(facts["name"]), str(facts["variant"]), str(facts["scheme"]), _real(facts["tolerance"]), arguments
        )
        rounds = facts["rounds"]
        if not 1 <= len(rounds) <= _MOST_ROUNDS or len(rounds) != len(self.programs):
            _refuse(f"{len(rounds)} rounds and {len(self.programs)} programs")
        if (
            len({program.params for program in self.programs}) != 1
            or self.programs[0].params.scheme != signature.scheme
        ):
            _refuse("programs of several parameter sets")
        plan = tuple(self._round(signature, *each) for each in zip(rounds, self.programs, strict=True))
        return signature, tuple(self.programs), Plan(plan, self._value(facts["result"]))

    def _round(self, signature: Signature, facts: Any, program: Program) -> Round:
        own = program.signature
        inputs = {str(name): self._source(signature, source) for name, source in facts["inputs"].items()}
        if sorted(inputs) != sorted(own.names(encrypted=True)):
            _refuse(f"inputs that {own.name} does not take")
        for name, source in inputs.items():
            shape = signature.arguments[source][0] if isinstance(source, str) else self.values[source]
            if shape != own.arguments[name][0]:
                _refuse(f"an input {name} of shape {shape}, its program takes {own.arguments[name][0]}")
        for name in own.names(encrypted=False):
            if signature.arguments.get(name, ((), True))[:2] != own.arguments[name][:2]:
                _refuse(f"a plain argument {name} that the kernel does not have so")
        values = tuple(_shape(shape) for shape in facts["values"])
        if sum(map(math.prod, values)) != math.prod(program.native.result_shape):
            _refuse("values that its program does not give")
        self.values += values
        return Round(inputs, values, tuple(self._applied(own.scheme, one) for one in facts["applied"]))

    def _applied(self, scheme: str, facts: Any) -> Applied:
        exact = scheme == "bfv"
        low, high = (_integer(facts[end]) if exact else _real(facts[end]) for end in ("low", "high"))
        function = ClearFunction(str(facts["name"]), _shape(facts["shape"]), low, high, exact)
        of = self._value(facts["of"])
        if not function.name and function.shape != self.values[of]:
            _refuse("a refreshed value of another shape")
        self.values.append(function.shape)
        return Applied(function, of)

    def _source(self, signature: Signature, source: Any) -> Source:
        if isinstance(source, str):
            if source not in signature.names(encrypted=True):
                _refuse("an input of an argument that the kernel does not have")
            return source
        return self._value(source)

    def _value(self, number: Any) -> int:
        if not is_int(number) or not 0 <= number < len(self.values):
            _refuse("a value that is not there yet")
        return number


def _argument(entry: Any) -> tuple[tuple[int, ...], bool, float, float]:
    shape, encrypted, low, high = entry
    if not isinstance(encrypted, bool):
        _refuse("an argument neither encrypted nor plain")
    return _shape(shape), encrypted, _real(low), _real(high)


def _shape(extents: Any) -> tuple[int, ...]:
    shape = tuple(extents)
    if not all(is_int(extent) and 1 <= extent < 1 << 32 for extent in shape):
        _refuse("an invalid shape")
    return shape


def _real(value: Any) -> Any:
    if not is_number(value) or abs(value) > sys.float_info.max:
        _refuse("an invalid number")
    return value


def _integer(value: Any) -> int:
    if not is_int(value):
        _refuse("an invalid integer")
    return int(value)
