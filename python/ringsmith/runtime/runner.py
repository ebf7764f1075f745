# SPDX-License-Identifier: Apache-2.0
"""A whole run: compile, make keys, encrypt, evaluate, decrypt, compare with the clear answer, report."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.compiler.compile import compile_kernel
from ringsmith.compiler.params.choose import CPU_TOWER_BITS
from ringsmith.compiler.rounds import ClientAidedError
from ringsmith.compiler.signature import Signature
from ringsmith.errors import InputError
from ringsmith.frontend.declare import Argument
from ringsmith.ir.numbers import as_array
from ringsmith.ir.reading import Reading
from ringsmith.progress import telling
from ringsmith.runtime.client import Client
from ringsmith.runtime.engine import Elsewhere, Engine, Evaluator, Timed, WideTowers
from ringsmith.runtime.engines import open_engine
from ringsmith.runtime.expected import Expected, deviation, expected_of
from ringsmith.runtime.kernel import Kernel
from ringsmith.runtime.program import Program
from ringsmith.runtime.randomness import derive_seed
from ringsmith.runtime.report import Report
from ringsmith.runtime.rounds import Rounds
from ringsmith.runtime.run_trace import Step
from ringsmith.runtime.talk import Talk
from ringsmith.scalars import count

Array = NDArray[Any]
#: Told the name of each step as it begins.
Progress = Callable[[str], None]


@dataclass
class _Clock:
    """Milliseconds by step, and the progress display."""

    progress: Progress
    times: dict[str, float] = field(default_factory=dict)
    begun: dict[str, float] = field(default_factory=dict)

    def step(self, name: str, action: Callable[[], Any]) -> Any:
        self.progress(name)
        self.begun[name] = time.perf_counter()
        result = action()
        self.times[name] = (time.perf_counter() - self.begun[name]) * 1e3
        return result

    def share(self, done: int, total: int) -> None:
        """Report how much of the evaluation is done."""
        self.progress(f"evaluate {100 * done // max(total, 1)} %")


def sample_inputs(kernel: Kernel, seed: str | None, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Return the kernel's own sample data, or random data inside the declared ranges."""
    rng = _generator(seed)
    if kernel.sample is not None:
        return {name: np.asarray(array) for name, array in kernel.sample(rng).items()}
    arrays = {}
    for name, argument in kernel.arguments.items():
        shape = argument.fix(name, shapes.get(name, tuple(4 if e is None else e for e in argument.shape)))
        arrays[name] = _drawn(rng, argument, name, shape, kernel.scheme == "bfv")
    return arrays


def _generator(seed: str | None) -> np.random.Generator:
    """Return what sample data are drawn from."""
    source = int.from_bytes(derive_seed("0" if seed is None else seed, b"", "sample data")[:8], "little")
    return np.random.default_rng(source)


def _drawn(rng: np.random.Generator, argument: Argument, name: str, shape: tuple[int, ...], exact: bool) -> Array:
    """Return random values inside an argument's declared range."""
    if argument.complex:
        real, imag = (_drawn(rng, argument.real_part(), name, shape, exact) for _ in range(2))
        return np.asarray(real + 1j * imag)
    low, high = argument.range(name, exact=exact).tolist()
    if exact and max(abs(low), abs(high)) >= 2**53:
        return _large_integers(rng, low, high, shape)
    values = rng.uniform(low, high, shape)
    return np.round(values).astype(np.int64) if exact else values


def _large_integers(rng: np.random.Generator, low: int, high: int, shape: tuple[int, ...]) -> Array:
    """Return integers that float64 would round."""
    drawn = np.empty(shape, dtype=object)
    width = high - low + 1
    for place in np.ndindex(shape):
        drawn[place] = low + int.from_bytes(rng.bytes(width.bit_length() // 8 + 9), "little") % width
    return drawn


def complete_inputs(kernel: Kernel, given: Mapping[str, Array], seed: str | None) -> dict[str, Array]:
    """Return an array for every argument: those given, and sample data for the others."""
    unknown = sorted(set(given) - set(kernel.arguments))
    if unknown:
        raise InputError(f"kernel {kernel.name} has no argument {unknown[0]}; it has {', '.join(kernel.arguments)}")
    missing = set(kernel.arguments) - set(given)
    drawn = sample_inputs(kernel, seed, {name: array.shape for name, array in given.items()}) if missing else {}
    absent = sorted(missing - set(drawn))
    if absent:
        raise InputError(f"the sample data of kernel {kernel.name} lack argument {absent[0]}")
    arrays = {name: given[name] if name in given else drawn[name] for name in kernel.arguments}
    return {name: kernel.check(name, array) for name, array in arrays.items()}


def run(
    kernel: Kernel,
    inputs: Mapping[str, Any] | None = None,
    *,
    seed: str | None = None,
    engine: str | Engine = "cpu",
    encryption: str | None = None,
    variants: Mapping[str, Kernel] | None = None,
    progress: Progress | None = None,
    key_memory: int | None = None,
) -> Report:
    """Run a kernel encrypted and compare with the clear answer, and its polynomials with the functions they stand for.

    `inputs` may leave arguments out: they come from the kernel's sample data. With a `seed` the same keys and the same
    ciphertexts come out again, and inputs of one's own raise a `SeedWarning`. `variants` are other packings of the
    kernel, whose operations are counted beside it. `key_memory`: bytes that the keys of refreshes may take (`Server`).
    """
    with telling(progress) as told:
        return _run(kernel, inputs, seed, engine, encryption, variants or {}, told, key_memory)


def _run(
    kernel: Kernel, inputs: Mapping[str, Any] | None, seed: str | None, engine: str | Engine, encryption: str | None,
    variants: Mapping[str, Kernel], progress: Progress, key_memory: int | None,
) -> Report:  # fmt: skip
    clock = _Clock(progress)
    used = open_engine(engine) if isinstance(engine, str) else engine
    _check_key_memory(used, key_memory)
    tower_bits = used.tower_bits if isinstance(used, WideTowers) else CPU_TOWER_BITS
    given = {name: as_array(value, f"argument {name}") for name, value in (inputs or {}).items()}
    arrays = clock.step("inputs", lambda: complete_inputs(kernel, given, seed))
    shapes = {name: array.shape for name, array in arrays.items()}
    title = (kernel.__doc__ or "").split("\n")[0]
    try:
        with telling(lambda text: progress(f"compile: {text}")):
            compiled = clock.step("compile", lambda: compile_kernel(kernel, shapes, encryption, tower_bits))
    except ClientAidedError:
        aided = kernel.options(encryption=encryption or kernel.encryption)
        rounds = clock.step("compile", lambda: aided.rounds(**shapes))
        expected = clock.step("clear", lambda: expected_of(kernel, arrays))
        return _aided(rounds, arrays, _Run(expected, used, clock, seed, sample_data=not given, title=title))
    program = Program.of(compiled)
    expected = clock.step("clear", lambda: expected_of(kernel, arrays))
    others = {name: Program.of(compile_kernel(other, shapes, encryption)) for name, other in variants.items()}
    counts = {name: other.counts for name, other in others.items()}
    whole = _Run(
        expected, used, clock, seed, sample_data=not given, title=title, variants=counts, key_memory=key_memory
    )
    return _evaluated(program, arrays, whole)


def run_program(
    program: Program,
    inputs: Mapping[str, Any] | None = None,
    *,
    seed: str | None = None,
    engine: str | Engine = "cpu",
    progress: Progress | None = None,
    key_memory: int | None = None,
) -> Report:
    """Run a program encrypted and compare with the same program on values in the clear.

    Arguments that `inputs` leave out are drawn from their declared ranges. `key_memory`: see `run`.
    """
    taken = program.signature.producers
    if taken:
        own = next(iter(taken))
        raise InputError(
            f"{program.signature.name} takes {own}, the result of {taken[own][0]}, which no client encrypts: run it "
            f"where that result is, program.server(keys).evaluate(..., {program.signature.taken[0]}=result)"
        )
    used = open_engine(engine) if isinstance(engine, str) else engine
    _check_key_memory(used, key_memory)
    given = {name: as_array(value, f"argument {name}") for name, value in (inputs or {}).items()}
    with telling(progress) as told:
        clock = _Clock(told)
        arrays = clock.step("inputs", lambda: drawn_inputs(program, given, seed))
        expected = clock.step("clear", lambda: Expected(program.clear(**arrays)))
        whole = _Run(expected, used, clock, seed, sample_data=not given, key_memory=key_memory)
        return _evaluated(program, arrays, whole)


def _check_key_memory(used: Engine, key_memory: int | None) -> None:
    """Refuse a limit on memory for an engine whose keys are elsewhere."""
    if key_memory is None:
        return
    count("key_memory", key_memory)
    if isinstance(used, Elsewhere):
        raise InputError(
            f"key_memory={key_memory} limits this process, and {used.name} evaluates elsewhere; leave it out"
        )


def drawn_inputs(program: Program, given: Mapping[str, Array], seed: str | None) -> dict[str, Array]:
    """Return an array for every argument: those given, and random ones for the others."""
    names = program.signature.declared
    unknown = sorted(set(given) - set(names))
    if unknown:
        known = ", ".join(names)
        raise InputError(f"program {program.signature.name} has no argument {unknown[0]}; it has {known}")
    rng = _generator(seed)
    exact = program.params.scheme == "bfv"
    return {
        name: given[name] if name in given else _drawn(rng, argument, name, argument.fix(name, None), exact)
        for name, argument in names.items()
    }


@dataclass
class _Run:
    """What a run is made with, and its report."""

    expected: Expected
    used: Engine
    clock: _Clock
    seed: str | None
    sample_data: bool
    title: str = ""
    variants: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    key_memory: int | None = None
    begun: float = field(default_factory=time.perf_counter)

    def report(
        self, program: Program, signature: Signature, output: Array, tolerance: float, guarantee: float, **facts: Any
    ) -> Report:
        """Compare an output with the answer in the clear; `facts` are further fields of the report."""
        error = deviation(output, self.expected.values)
        report = Report(
            kernel=signature.name,
            variant=signature.variant,
            title=self.title,
            engine=self.used.name,
            program=program,
            correct=error <= tolerance and self.expected.holds,
            max_abs_error=error,
            function_error=self.expected.function_error(output),
            approximated=self.expected.uses,
            tolerance=tolerance,
            guarantee=guarantee,
            time_ms=self.clock.times,
            output=output,
            peak_memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            variants=self.variants,
            engine_facts=self.used.report(time.perf_counter() - self.begun),
            **facts,
        )
        _tell(self.used, report, self.clock)
        return report


def _parts(signature: Signature, arrays: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the arrays that are encrypted, and those that are not."""
    encrypted, plain = ({name: arrays[name] for name in signature.names(encrypted=kind)} for kind in (True, False))
    return encrypted, plain


def _evaluated(compiled: Program, arrays: Mapping[str, Array], run: _Run) -> Report:
    """Encrypt, evaluate, decrypt, compare, report."""
    signature, used, clock = compiled.signature, run.used, run.clock
    program = replace(compiled, device=used.device, recording=used.recording)

    def made() -> Client:
        return program.client(run.seed, sample_data=run.sample_data)

    client = clock.step("keygen", lambda: used.client(program, made) if isinstance(used, Elsewhere) else made())
    encrypted, plain = _parts(signature, arrays)
    sent = clock.step("encrypt", lambda: client.encrypt(**encrypted))

    def loaded() -> Evaluator:
        return program.server(client.evaluation_keys, key_memory=run.key_memory)

    server = used.server(client) if isinstance(used, Elsewhere) else loaded()
    done = clock.step("evaluate", lambda: server.run(sent, plain, run.seed, clock.share))
    output = clock.step("decrypt", lambda: client.decrypt(done.result))
    exact = program.params.scheme == "bfv"
    return run.report(
        compiled,
        signature,
        output,
        Reading.of(program.native).tolerance(run.expected.values) if exact else signature.tolerance,
        program.noise_bits if exact else 2.0**program.noise_bits,
        operations=program.counts,
        bytes={
            "ciphertexts_in": sent.nbytes,
            "ciphertexts_out": done.result.nbytes,
            "keys": client.evaluation_keys.nbytes,
        },
        ciphertexts={"in": len(sent.ciphertexts), "out": len(done.result.ciphertexts)},
        digest=done.result.digest(),
        evaluation_ms={name: seconds * 1e3 for name, seconds in done.seconds.items()},
    )


def _aided(rounds: Rounds, arrays: Mapping[str, Array], run: _Run) -> Report:
    """Run a client-aided program; the report tells each round."""
    signature, used, clock = rounds.signature, run.used, run.clock
    if isinstance(used, Elsewhere) and used.keeps_client:
        raise InputError(f"{signature.name} needs its client in every round: leave --client out")
    client = clock.step("keygen", lambda: rounds.client(run.seed, on=used, sample_data=run.sample_data))
    talked = Talk(rounds.on(used), client, used, run.key_memory)
    encrypted, plain = _parts(signature, arrays)
    output = clock.step("rounds", lambda: talked.run(encrypted, plain, run.seed, clock.share))
    clock.times |= talked.split()
    promised = [program.noise_bits for program in rounds.programs]
    exact = signature.scheme == "bfv"
    return run.report(
        rounds.deepest,
        signature,
        output,
        0.0 if exact else signature.tolerance,
        min(promised) if exact else 2.0 ** max(promised),
        operations=rounds.counts,
        bytes={
            "ciphertexts_in": sum(one.sent for one in talked.rounds),
            "ciphertexts_out": sum(one.received for one in talked.rounds),
            "keys": sum(keys.nbytes for keys in client.evaluation_keys),
        },
        ciphertexts={
            "in": sum(one.ciphertexts[0] for one in talked.rounds),
            "out": sum(one.ciphertexts[1] for one in talked.rounds),
        },
        digest=talked.digest,
        rounds=tuple(one.json() for one in talked.rounds),
    )


def _tell(used: Engine, report: Report, clock: _Clock) -> None:
    """Pass the steps of the run and their parts to an engine that takes them."""
    if not isinstance(used, Timed):
        return
    # The rounds of a client-aided run are one step; what the client and the server took of it stand beside it.
    rounds = {name: report.time_ms[name] for name in ("client", "wire", "server") if report.rounds}
    parts = {"evaluate": report.evaluation_ms, "rounds": rounds}
    used.timed(
        report.kernel,
        [Step(name, begun, clock.times[name], parts.get(name, {})) for name, begun in clock.begun.items()],
    )
