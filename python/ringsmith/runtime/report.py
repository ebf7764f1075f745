# SPDX-License-Identifier: Apache-2.0
"""The report of a run, as plain facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from numpy.typing import NDArray

from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.frontend.fidelity import Use
from ringsmith.runtime.program import Program


@dataclass(frozen=True, eq=False)
class Report:
    """Report of a run: times in ms by step, sizes in bytes (`peak_memory` of the process); `engine_facts` by engine.

    `variants` holds the operation counts of the kernel's other packings, `guarantee` the static bound: CKKS the
    largest possible error, BFV the noise budget in bits that is sure to be left. A client-aided run tells its `rounds`;
    `program` is then the deepest of them. `max_abs_error` is the difference from the clear answer, which has the same
    polynomials in place of functions (`rs.approximate`); `function_error` is the one from what the functions themselves
    give, `approximated` tells how far each polynomial is from its function on the values of this run. A polynomial that
    is further from it than it states makes the run incorrect.
    """

    kernel: str
    variant: str
    title: str
    engine: str
    program: Program
    operations: Mapping[str, int]
    correct: bool
    max_abs_error: float
    tolerance: float
    guarantee: float
    time_ms: Mapping[str, float]
    bytes: Mapping[str, int]
    output: NDArray[Any]
    ciphertexts: Mapping[str, int]
    digest: str
    peak_memory: int
    evaluation_ms: Mapping[str, float] = field(default_factory=dict)
    variants: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    engine_facts: Mapping[str, Any] = field(default_factory=dict)
    rounds: Sequence[Mapping[str, Any]] = ()
    function_error: float | None = None
    approximated: Sequence[Use] = ()

    @property
    def params(self) -> ParameterSet:
        """The parameter set of the run."""
        return self.program.params

    def json(self) -> dict[str, Any]:
        """Return the report as one JSON object."""
        return {
            "kernel": self.kernel,
            "variant": self.variant,
            "engine": self.engine,
            "scheme": self.params.scheme,
            "params": params_json(self.params),
            "operations": dict(self.operations),
            "correct": self.correct,
            "max_abs_error": self.max_abs_error,
            **self._functions(),
            "tolerance": self.tolerance,
            "guarantee": self.guarantee,
            "time_ms": _rounded(self.time_ms),
            "evaluation_ms": _rounded(self.evaluation_ms),
            "bytes": dict(self.bytes),
            "ciphertexts": dict(self.ciphertexts),
            "peak_memory_bytes": self.peak_memory,
            "output_shape": list(self.output.shape),
            "output_sha256": self.digest,
            "variants": {name: dict(counts) for name, counts in self.variants.items()},
            **({"rounds": [dict(one) for one in self.rounds]} if self.rounds else {}),
            **self.engine_facts,
        }

    def _repr_html_(self) -> str:
        """Return the report as a table for notebooks: verdict, sizes in bytes, times in ms."""
        verdict = "correct" if self.correct else "WRONG"
        params = self.params
        scheme, security = params.scheme.upper(), params.security.bits
        rows = {
            "result": f"{verdict}, largest error {self.max_abs_error:.3g}, tolerance {self.tolerance:.3g}",
            "engine": self.engine,
            "parameters": f"{scheme}, n = {params.n}, {security:.0f} bits of security",
            "operations": ", ".join(f"{count} {name}" for name, count in self.operations.items()),
            **{f"{name}, ms": f"{ms:,.1f}" for name, ms in self.time_ms.items()},
            **{f"{name}, bytes": f"{size:,}" for name, size in self.bytes.items()},
        }
        body = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows.items())
        return f"<table><caption>{escape(self.title or self.kernel)}</caption>{body}</table>"

    def _functions(self) -> dict[str, Any]:
        if not self.approximated:
            return {}
        return {"function_error": self.function_error, "approximated": [use.json() for use in self.approximated]}


def params_json(params: ParameterSet) -> dict[str, Any]:
    """Return a parameter set as JSON; `moduli` lists the data primes first, then the special ones."""
    facts: dict[str, Any] = {
        "name": params.name,
        "n": params.n,
        "slots": params.slots,
        "log2_q": round(params.log2_q, 3),
        "log2_p": round(params.log2_p, 3),
        "log2_qp": round(params.log2_qp, 3),
        "moduli": [*params.moduli, *params.special],
        "moduli_bits": list(params.moduli_bits),
        "special_primes": len(params.special),
        "dnum": params.dnum,
        "log2_scale": params.log2_scale if params.scheme == "ckks" else None,
        "plain_modulus": params.plain_modulus if params.scheme == "bfv" else None,
        "security_bits": round(params.security.bits, 1),
        "security_source": params.security.source,
        "insecure": not params.security.enough,
    }
    return facts


def _rounded(times: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in times.items()}
