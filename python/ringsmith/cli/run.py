# SPDX-License-Identifier: Apache-2.0
"""`ringsmith run`: a kernel or a program encrypted end to end, checked against the clear answer."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.text import Text

from ringsmith.cli.common import HEIR, console, load_kernels, option_changes, policy, print_json, user_code
from ringsmith.cli.fhetch import SUFFIX, TraceRun, run_trace
from ringsmith.cli.remote import AtOption, HttpOption, KeyOption, connected
from ringsmith.compiler.compile import compile_kernel
from ringsmith.errors import InputError, SeedWarning
from ringsmith.files import check_place
from ringsmith.frontend.declare import Argument
from ringsmith.frontend.definition import ENCRYPTIONS
from ringsmith.remote.engine import RemoteEngine
from ringsmith.report.table import render
from ringsmith.report.terminal import plain_console
from ringsmith.runtime.box import box
from ringsmith.runtime.engine import Engine, EngineOptions
from ringsmith.runtime.engines import open_engine
from ringsmith.runtime.inputs import read_arguments
from ringsmith.runtime.kernel import Array
from ringsmith.runtime.objects import kind_of, load
from ringsmith.runtime.outputs import check_output, write_output
from ringsmith.runtime.program import Program
from ringsmith.runtime.report import Report
from ringsmith.runtime.runner import Progress, complete_inputs, drawn_inputs, run_program
from ringsmith.runtime.runner import run as run_kernel

EXAMPLES = """Examples:

ringsmith run examples/kernels/matmul-plain-1x10.py

ringsmith run kernel.py --input data.csv --output result.csv --seed 7 --json

ringsmith run kernel.py --variant ours --params seal-ckks-8192

ringsmith run kernel.py --input x=x.npy --input w=weights.npy --on cpu

ringsmith run program.rsp --input x=x.npy

ringsmith run kernel.py --on model:coxhe-zcu104-f1 --device-only

ringsmith run kernel.py --on record:steps.txt --polynomial

ringsmith run steps.txt.fhetch --output residues.npy

ringsmith run steps.txt.fhetch --on model:cofhee --trace timeline.pftrace

ringsmith run network.mlir --input ct=image.npy --input arg0=weights.npy

ringsmith run kernel.py --at https://host:8470 --api-key-file key --client mine.rsc

Exit status: 0 the answer is right, 1 it is wrong, 2 the input is bad.
"""


File = Annotated[
    Path,
    typer.Argument(
        help="Python file with a kernel, a .mlir file of HEIR, a program of ringsmith compile, a .fhetch trace"
    ),
]
Inputs = Annotated[
    list[str] | None, typer.Option("--input", help="FILE or ARGUMENT=FILE (.npy, .npz, .csv); may be repeated")
]
Insecure = Annotated[
    bool, typer.Option("--allow-insecure", help="accept parameters below the wanted security, and say so")
]
Encrypt = Annotated[str | None, typer.Option("--encrypt", help="public, extended or secret: the key to encrypt under")]
Overrides = Annotated[list[str] | None, typer.Option("--set", help="key=value of the engine's preset; may be repeated")]
DeviceOnly = Annotated[
    bool, typer.Option("--device-only", help="with --on model:, rtl:: refuse what would leave work to the host")
]
Trace = Annotated[
    str | None,
    typer.Option("--trace", help="write a Perfetto timeline: the steps of the run, and all that a co-processor ran"),
]
Polynomial = Annotated[bool, typer.Option("--polynomial", help="with record:FILE: write the polynomial operations too")]
ClientFile = Annotated[
    Path | None, typer.Option("--client", help="with --at: the client with its secret key; made if not there")
]
KeyMemory = Annotated[
    int | None,
    typer.Option(
        "--key-memory", min=1, help="most MiB of the keys of refreshes; the rest is grown at each use, slower"
    ),
]
Detach = Annotated[bool, typer.Option("--detach", help="with --at: submit and end; ringsmith jobs fetches the result")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="run", epilog=EXAMPLES)(run)


def run(
    file: File,
    kernel: Annotated[str | None, typer.Option("--kernel", help="name of the kernel (default: the first)")] = None,
    variant: Annotated[str | None, typer.Option("--variant", help="packing of the kernel (default: the first)")] = None,
    on: Annotated[
        str, typer.Option("--on", help="engine: cpu, model:PRESET, rtl:PRESET, board:PORT, record:FILE")
    ] = "cpu",
    inputs: Inputs = None,
    output: Annotated[Path | None, typer.Option("--output", help="write the decrypted result (.npy, .csv)")] = None,
    seed: Annotated[str | None, typer.Option("--seed", help="reproduce a run to the byte; never for real data")] = None,
    params: Annotated[str | None, typer.Option("--params", help="a named parameter set (default: chosen)")] = None,
    security: Annotated[int | None, typer.Option("--security", help="wanted bits: 128, 192 or 256")] = None,
    standard: Annotated[str | None, typer.Option("--standard", help="security table: 2024 or 2018")] = None,
    allow_insecure: Insecure = False,
    encrypt: Encrypt = None,
    overrides: Overrides = None,
    device_only: DeviceOnly = False,
    trace: Trace = None,
    polynomial: Polynomial = False,
    at: AtOption = None,
    api_key_file: KeyOption = None,
    allow_http: HttpOption = False,
    client: ClientFile = None,
    detach: Detach = False,
    key_memory: KeyMemory = None,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object on stdout")] = False,
) -> None:
    """Encrypt, evaluate and decrypt a kernel or a compiled program, and compare with the clear answer."""
    options = RunOptions(
        file, kernel, variant, tuple(inputs or ()), seed, params, security, standard, allow_insecure, encrypt,
        key_memory,
    )  # fmt: skip
    if encrypt not in (None, *ENCRYPTIONS):
        raise InputError(f"--encrypt {encrypt}: {', '.join(ENCRYPTIONS)}")
    if output is not None:
        check_output(output)
    if file.suffix == SUFFIX:
        flags = {"--polynomial": polynomial, "--detach": detach}
        options.refuse_for_trace(
            {"--at": at, "--client": client} | {name: flag or None for name, flag in flags.items()}
        )
        how = TraceRun(on, options.inputs, seed, output, tuple(overrides or ()), trace, device_only)
        raise typer.Exit(run_trace(file, how, json=json))
    if trace is not None:
        check_place(Path(trace))
    _check_at(at, on, trace, client, key_memory, detach=detach)
    there = None if at is None else connected(at, api_key_file, allow_http)
    engine: Engine = open_engine(
        on, EngineOptions(tuple(overrides or ()), trace, device_only, {"polynomial": polynomial})
    )
    if there is not None:
        engine = RemoteEngine(there, client)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeedWarning)  # Said by `_read`, in a line.
        taken = options.kernel_run if file.suffix in (".py", HEIR) else options.program_run
        report = taken(engine, client if detach else None)
    _answer(report, output, as_json=json)


def _answer(report: Report, output: Path | None, *, as_json: bool) -> NoReturn:
    """Write the result, print the report and end: 0 where the answer is right, else 1."""
    if output is not None:
        write_output(output, report.output)
    print(box(report.program), file=sys.stderr)
    if as_json:
        print_json(report.json())
    else:
        plain_console().print(render(report))
    raise typer.Exit(0 if report.correct else 1)


def _check_at(
    at: str | None, on: str, trace: str | None, client: Path | None, key_memory: int | None, *, detach: bool
) -> None:
    """Refuse options of a server without one, and those of an engine of this machine beside one."""
    if at is None and (client is not None or detach):
        raise InputError("--client and --detach go with --at URL")
    if detach and client is None:
        raise InputError("--detach needs --client FILE: what decrypts the result later")
    if at is not None and on != "cpu":
        raise InputError("--on chooses an engine of this machine, --at a server; give one of them")
    if at is not None and trace is not None:
        raise InputError("--trace shows a run on this machine, --at evaluates on a server; give one of them")
    if at is not None and key_memory is not None:
        raise InputError("--key-memory limits this machine, --at evaluates on a server; give one of them")


@dataclass(frozen=True)
class RunOptions:
    """What is run, on which inputs, with which parameters."""

    file: Path
    kernel: str | None
    variant: str | None
    inputs: tuple[str, ...]
    seed: str | None
    params: str | None
    security: int | None
    standard: str | None
    allow_insecure: bool
    encrypt: str | None
    #: In MiB.
    key_memory: int | None

    @property
    def key_bytes(self) -> int | None:
        """Most bytes in memory of the keys of refreshes."""
        return None if self.key_memory is None else self.key_memory << 20

    def refuse_for_trace(self, others: Mapping[str, object]) -> None:
        """Refuse options that mean nothing for a trace."""
        own = {name: getattr(self, name) for name in ("kernel", "variant", "params", "security", "standard", "encrypt")}
        given = {**{f"--{name}": value for name, value in own.items()}, "--key-memory": self.key_memory, **others}
        wrong = [name for name, value in given.items() if value is not None]
        if self.allow_insecure:
            wrong.append("--allow-insecure")
        if wrong:
            raise InputError(
                f"{self.file} is a trace of residues, which has no {wrong[0]}; it takes --input, --seed, "
                "--output, --json, --on, --set, --trace and --device-only"
            )

    def kernel_run(self, engine: Engine, detached: Path | None) -> Report:
        """Run the kernel of a Python file; with the file of a client submit a job, and end."""
        kernels = load_kernels(self.file)
        changes = option_changes(self.params, self.security, self.standard, self.allow_insecure)
        picked = kernels.pick(self.kernel, self.variant)
        chosen = picked.options(**changes)
        others = {name: other.options(**changes) for name, other in kernels.others(picked).items()}
        given = _read(self.inputs, chosen.name, chosen.arguments, self.seed)
        with _steps(chosen.name) as progress:
            if detached is not None:
                with user_code(self.file):
                    arrays = complete_inputs(chosen, given, self.seed)
                    shapes = {name: array.shape for name, array in arrays.items()}
                    compiled = Program.of(compile_kernel(chosen, shapes, self.encrypt))
                _detached(engine, compiled, arrays, detached)
            with user_code(self.file):
                return run_kernel(
                    chosen, given, seed=self.seed, engine=engine, encryption=self.encrypt, variants=others,
                    progress=progress, key_memory=self.key_bytes,
                )  # fmt: skip

    def program_run(self, engine: Engine, detached: Path | None) -> Report:
        """Run a compiled program; with the file of a client submit a job, and end."""
        unused = {
            "--kernel": self.kernel, "--variant": self.variant, "--params": self.params, "--encrypt": self.encrypt
        }  # fmt: skip
        program = _program(self.file, unused, self.security, self.standard, self.allow_insecure)
        signature = program.signature
        read = _read(self.inputs, signature.name, dict(signature.declared), self.seed)
        with _steps(signature.name) as progress:
            if detached is not None:
                _detached(engine, program, drawn_inputs(program, read, self.seed), detached)
            return run_program(
                program, read, seed=self.seed, engine=engine, progress=progress, key_memory=self.key_bytes
            )


@contextmanager
def _steps(what: str) -> Iterator[Progress]:
    """Show each step of a run on the terminal as it begins."""
    with console().status("") as status:
        yield lambda step: status.update(Text(f"{what}: {step}"))


def _detached(engine: Engine, program: Program, arrays: Mapping[str, Array], client: Path) -> NoReturn:
    """Submit a job that outlives this process, and end."""
    assert isinstance(engine, RemoteEngine)
    job = engine.submit(program, arrays)
    print_json({"job": job, "client": str(client), "program": program.native.hash().hex()})
    raise typer.Exit(0)


def _program(
    file: Path, unused: dict[str, str | None], security: int | None, standard: str | None, allow_insecure: bool
) -> Program:
    """Return the program of a file; options that choose what it was compiled from mean nothing for it."""
    wrong = [option for option, value in unused.items() if value is not None]
    if wrong:
        raise InputError(
            f"{file} is a program: {wrong[0]} is for a kernel's .py file; compile it anew with that option"
        )
    kind = kind_of(file) or "no file of ringsmith"
    if kind == "message":
        kind = "keys, ciphertexts or a client-aided program, whose functions are not in the file"
    if kind != "program":
        raise InputError(f"{file}: {kind}; a kernel (.py) or a program (ringsmith compile) is run")
    program: Program = load(file, **policy(security, standard, allow_insecure))
    return program


def _read(inputs: Sequence[str], what: str, arguments: Mapping[str, Argument], seed: str | None) -> dict[str, Array]:
    """Return the arrays of the --input options by argument; a bare file feeds the first encrypted argument."""
    first = next(name for name, argument in arguments.items() if argument.encrypted)
    found: dict[str, Array] = {}
    for entry in inputs:
        name, mark, path = entry.partition("=")
        if not mark:
            name, path = first, entry
        if name not in arguments:
            raise InputError(f"--input {entry}: {what} has no argument {name!r}; it has {', '.join(arguments)}")
        for key, array in read_arguments(path).items():
            found[key or name] = _fitted(array, arguments.get(key or name))
    if found and seed is not None:
        # Sample data are made up; what --input reads may be real.
        print(
            "warning: --seed with --input: anyone who guesses the seed has the secret key and the data", file=sys.stderr
        )
    return found


def _fitted(array: Array, argument: Argument | None) -> Array:
    """A csv file is always a table: drop axes of one row or column that the declaration does not have."""
    if argument is not None and array.ndim == 2 and len(argument.shape) == 1 and 1 in array.shape:
        return array.reshape(-1)
    if argument is not None and argument.shape == () and array.size == 1:
        return array.reshape(())
    return array
