# SPDX-License-Identifier: Apache-2.0
"""`ringsmith simulate`: cycles of one instruction or operation on the generated RTL, beside the model's prediction."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from ringsmith import _native
from ringsmith.cli import simulate_host
from ringsmith.cli.common import console, print_json
from ringsmith.cli.measure import (
    KEY_SWITCH,
    ONE_AFTER_THE_OTHER,
    PRIMES,
    RELINEARIZE,
    ROTATE,
    WHOLE,
    Whole,
    is_key_switch,
    is_whole,
    measure,
    switches_keys,
)
from ringsmith.cli.simulate_board import is_board, measured_on_board, show_board
from ringsmith.cli.simulate_report import report_of, show, whole_of
from ringsmith.errors import InputError, ParameterError
from ringsmith.files import check_place
from ringsmith.presets import CONVERSIONS, OPERATIONS, SYSTEM, AnyPreset, Preset, load_any, parse_overrides, room
from ringsmith.report.batch import batch_report, half_of, steady_report
from ringsmith.runtime.devices import KINDS, OpenDevice, open_device
from ringsmith.runtime.timeline import write_trace
from ringsmith.specs import shown

# Slots of a measurement: the transforms' two work slots, and operands a, b, c.
SLOTS_NEEDED = 5
BATCHES = (*WHOLE, KEY_SWITCH)
MOST_BATCH = 1024

EXAMPLES = """Examples:

ringsmith simulate cofhee ntt --n 4096

ringsmith simulate bfv-client zero-encrypt --json

ringsmith simulate tiny tensor --set butterflies=4 --trace tensor.pftrace

ringsmith simulate heaws scale-lift

ringsmith simulate heaws multiply --allow-insecure

ringsmith simulate heaws-x6 multiply --batch 24 --allow-insecure --on model

ringsmith simulate coxhe-zcu102-p8 zero-encrypt

ringsmith simulate coxhe-zcu102-p8 rotate --n 8192 --primes 3

ringsmith simulate coxhe-zcu102-p8 key-switch --n 8192 --primes 3 --batch 8 --on model

ringsmith simulate coxhe-zcu102-p8 relinearize-rescale --n 8192 --primes 3 --on model

ringsmith simulate cofhee tensor --set controller=riscv

ringsmith simulate heax-a-x6 key-switch --batch 48 --on model

ringsmith simulate zynq-pn3 encrypt (8-point accelerators: ntt, intt, encrypt)

OP is an instruction in lower case (ntt, pmodmul, memcpy, ...) or one of these operations:

polymul, tensor, key-switch; zero-encrypt with delta-m-decrypt (BFV) or decrypt (CKKS).

With base conversion: scale-lift (BFV's whole scaling), decomp (the digits of a relinearisation), multiply (a BFV
multiplication with relinearisation, t = 33, on fresh ciphertexts). multiply has a data prime for each lane but one, or
--primes of them; operands, keys and result lie in the host's memory and all transfers count. Operations that the build
leaves to the host are counted, without cycles.

With moves between lanes: rotate (a fresh CKKS ciphertext, with its key switch), key-switch (one such rotation, or
--batch in flight), relinearize-rescale (one division for both steps, beside two). They take --primes data primes and
--special ones of the widest secure size, in digits of --digit-primes. --digit-major is the order of HEAX.

With controller=riscv the operation runs a second time, fed by the host; both counts of cycles and accesses are printed.

Cycles run from the first start to the last write, with operands on chip. PRESET needs five slots: two work slots and
three for operands.
"""

N = Annotated[int | None, typer.Option("--n", help="ring degree (default: the preset's, at most 4096)")]
Overrides = Annotated[list[str] | None, typer.Option("--set", help="key=value of the preset; may be repeated")]
Insecure = Annotated[bool, typer.Option("--allow-insecure", help="whole operations: accept a set below 128 bits")]
Primes = Annotated[int | None, typer.Option("--primes", help="whole operations: data primes", min=1, max=32)]
Special = Annotated[
    int, typer.Option("--special", help="rotate, key-switch, relinearize-rescale: special primes", min=1, max=16)
]
DigitPrimes = Annotated[int, typer.Option("--digit-primes", help="the same: data primes of a digit", min=1, max=16)]
DataBits = Annotated[
    int | None, typer.Option("--data-bits", help="the same: bits of a data prime, if shorter than special ones")
]
Count = Annotated[int, typer.Option("--count", help="rotate: rotations of one ciphertext", min=1, max=64)]
Batch = Annotated[
    int | None, typer.Option("--batch", help="whole operations: how many to run, on all cores (default 1)")
]
DigitMajor = Annotated[
    bool, typer.Option("--digit-major", help="rotate, key-switch: digits and halves one after another, as HEAX")
]
Trace = Annotated[Path | None, typer.Option("--trace", help="write a Perfetto timeline to this file")]
Assembly = Annotated[bool, typer.Option("--assembly", help="print the program instead of running it")]
AsJson = Annotated[bool, typer.Option("--json", help="print one JSON object on stdout")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="simulate", epilog=EXAMPLES)(simulate)


def simulate(
    preset: Annotated[str, typer.Argument(help="name of a preset, or a .toml file")],
    op: Annotated[str, typer.Argument(help="instruction or operation")],
    n: N = None,
    overrides: Overrides = None,
    on: Annotated[
        str, typer.Option("--on", help="rtl, model (no simulation), or board:PORT, which holds the preset's bitstream")
    ] = "rtl",
    allow_insecure: Insecure = False,
    primes: Primes = None,
    special: Special = 1,
    digit_primes: DigitPrimes = 1,
    data_bits: DataBits = None,
    count: Count = 1,
    batch: Batch = None,
    digit_major: DigitMajor = False,
    trace: Trace = None,
    assembly: Assembly = False,
    json: AsJson = False,
) -> None:
    """Simulate one instruction or operation on the RTL of a preset and check its result."""
    if trace is not None:
        check_place(trace)
    if on not in KINDS and not is_board(on):
        raise InputError(f"--on {shown(on)}: {', '.join(KINDS)} or board:PORT")
    whole = Whole(
        allow_insecure=allow_insecure, batch=batch or 1, primes=primes, special=special, digit_primes=digit_primes,
        data_bits=data_bits, purpose=RELINEARIZE if op == RELINEARIZE else "rotation",
        count=count if op == ROTATE else 1, digit_major=digit_major,
    )  # fmt: skip
    made = load_any(preset, parse_overrides(overrides or []))
    shipped = not overrides and not preset.endswith(".toml")
    request = Request(op, n, on, whole, batch, trace, assembly, json, shipped)
    measured: Callable[[Any, Request], int] = _system if made.top == SYSTEM else _other
    raise typer.Exit(measured(made, request))


@dataclass(frozen=True)
class Request:
    """What is measured and how it is told. `batch`: as given; `shipped`: the preset is one of ours, unchanged."""

    op: str
    n: int | None
    on: str
    whole: Whole
    batch: int | None
    trace: Path | None
    assembly: bool
    json: bool
    shipped: bool

    def check(self, made: Preset) -> None:
        """Refuse operations that are not there, and options that do not go with the operation."""
        op, whole, batch = self.op, self.whole, self.batch
        every = (*OPERATIONS, *CONVERSIONS, *WHOLE)
        if op not in {mnemonic for mnemonic, _, _ in _native.instruction_set()} and op not in every:
            raise InputError(f"{shown(op)} is no instruction or operation; operations: {', '.join(every)}")
        if batch is not None and not is_whole(op, made.moves):
            raise InputError(
                f"--batch {batch} goes with {', '.join(BATCHES)}, which work on all cores; {op} runs once, on one"
            )
        if whole.digit_major and op != ROTATE and not is_key_switch(op, made.moves):
            raise InputError(f"--digit-major goes with {ROTATE} and {KEY_SWITCH} of builds with moves, not with {op}")
        if (whole.special, whole.digit_primes, whole.data_bits) != (1, 1, None) and not switches_keys(op, made.moves):
            raise InputError(
                f"--special, --digit-primes and --data-bits go with {ROTATE}, {KEY_SWITCH} and {RELINEARIZE} of builds "
                f"with moves, not with {op}"
            )
        if batch is not None and not 1 <= batch <= MOST_BATCH:
            raise InputError(f"--batch {batch} must be 1 to {MOST_BATCH}")
        self._check_lanes(made)

    def _check_lanes(self, made: Preset) -> None:
        primes = self.whole.primes or PRIMES
        needed = primes + self.whole.special
        if is_key_switch(self.op, made.moves) and made.lanes < needed and self.batch is None:
            raise ParameterError(
                f"--primes {primes}: a key switch by itself takes {needed} lanes, one for each prime, special "
                f"ones too; preset {made.name} has {made.lanes}: fewer primes, more lanes by --set, or several in "
                "flight by --batch"
            )

    def degree(self, made: Preset) -> int:
        """Return the ring degree: the one asked for, or the preset's up to 4096."""
        return min(made.n_max, 4096) if self.n is None else _ring_degree(self.n)


def _other(made: AnyPreset, request: Request) -> int:
    """Measure a device that is no co-processor; returns the exit status."""
    if request.on != "rtl" or request.trace is not None or request.assembly:
        raise InputError(f"{made.name} is {made.what}: without --on model, --trace and --assembly")
    whole_table = request.op == "encrypt" and request.shipped and not request.json
    measured = room(made.top, "measure").measured
    status: int = measured(made, request.op, request.n, every_variant=whole_table, json=request.json)
    return status


def _system(made: Preset, request: Request) -> int:
    """Measure a co-processor; returns the exit status."""
    op, degree = request.op, request.degree(made)
    request.check(made)
    model = open_device("model", made)
    if request.assembly:
        _print_program(made.name, op, degree, model)
        return 0
    if made.slots < SLOTS_NEEDED:
        raise ParameterError(
            f"preset {made.name} has {made.slots} slots; simulate needs {SLOTS_NEEDED}: two work slots, three operands"
        )
    if request.on == "rtl":
        # The model refuses what the hardware refuses: check before building it.
        measure(model, op, degree, replace(request.whole, batch=1))
    on_board = is_board(request.on)
    report = _on_board(made, request, degree) if on_board else _measured(made, request, degree)
    if request.json:
        print_json(report)
    elif on_board:
        show_board(report)
    else:
        show(report)
    return 0 if report["correct"] else 1


def _measured(made: Preset, request: Request, degree: int) -> dict[str, Any]:
    """Build the device, run the operation and what it is compared with, and return the report."""
    op, what = request.op, request.whole
    with console().status(Text(f"{request.on}: {made.name}: building")) as status:
        device = open_device(request.on, made)
        status.update(Text(f"{device.name}: {op}, n = {degree}"))
        begin = time.perf_counter()
        outcome = measure(device, op, degree, what)
        comparisons = _comparisons(device, request, degree, outcome)
        wall = time.perf_counter() - begin
    report = report_of(device, op, degree, outcome, wall) | comparisons
    report["correct"] = outcome["correct"] and comparisons.get("correct", True)
    if request.on == "rtl" and simulate_host.applies(made, op, degree):
        with console().status(Text(f"{device.name}: {op}, fed by host and controller over every line")):
            report["feeding"] = simulate_host.compare(made, op, degree)
        report["correct"] = report["correct"] and all(row["correct"] for row in report["feeding"])
    if request.trace is not None:
        write_trace(request.trace, f"{device.name} {op}", outcome["profile"], device.clock_mhz, outcome["assembly"])
        report["trace"] = str(request.trace)
    return report


def _on_board(made: Preset, request: Request, degree: int) -> dict[str, Any]:
    """Run the operation on a board and return the report."""
    if request.trace is not None:
        raise InputError("a board records no instructions: --on board:PORT takes no --trace, rtl does")
    with console().status(Text(f"{request.on}: {request.op}, n = {degree}")):
        return measured_on_board(made, request.on, request.op, degree, request.whole)


def _comparisons(device: OpenDevice, request: Request, degree: int, outcome: dict[str, Any]) -> dict[str, Any]:
    """Run what an operation is compared with: half a batch, the other order, two divisions in place of one."""
    op, what = request.op, request.whole
    found: dict[str, Any] = {}
    if request.batch is not None:
        found["batch"] = batch_report(outcome["shift"], what.batch, device.clock_mhz)
    if is_key_switch(op, device.preset.moves) and what.batch > device.preset.cores:
        found["steady"] = _steady(device, op, degree, what, outcome)
    own = whole_of(outcome)["work_cycles"] if switches_keys(op, device.preset.moves) else 0
    if what.digit_major and request.batch is None:
        other = measure(device, op, degree, replace(what, digit_major=False))
        less = whole_of(other)["work_cycles"]
        found["orders"] = {"digit_major_cycles": own, "cycles": less, "saved_percent": 100 * (1 - less / own)}
        found["correct"] = other["correct"]
    if op == RELINEARIZE:
        apart = measure(device, op, degree, replace(what, purpose=ONE_AFTER_THE_OTHER))
        parts = {"cycles": apart["cycles"], "work_cycles": whole_of(apart)["work_cycles"]}
        found["one_after_the_other"] = parts | {"ratio": own / parts["work_cycles"]}
        found["correct"] = found.get("correct", True) and apart["correct"]
    return found


def _ring_degree(n: int) -> int:
    if not (8 <= n <= 32768 and n & (n - 1) == 0):
        raise InputError(f"n = {shown(n)} is no ring degree: a power of two from 8 to 32768")
    return n


def _steady(device: OpenDevice, op: str, degree: int, what: Whole, outcome: dict[str, Any]) -> dict[str, Any]:
    """Return what an operation of the second half of a batch takes, once the first one fills the pipelines."""
    cores = device.preset.cores
    half = half_of(what.batch, cores)
    first = measure(device, op, degree, replace(what, batch=cores))
    before = first if half == cores else measure(device, op, degree, replace(what, batch=half))
    return steady_report(outcome, before, what.batch - half, first["shift"]["cycles"])


def _print_program(preset: str, op: str, n: int, device: OpenDevice) -> None:
    if op not in OPERATIONS:
        raise InputError(
            f"--assembly prints the program of an operation: {', '.join(OPERATIONS)}; {op} is one instruction"
        )
    moduli = _native.default_moduli(list(device.preset.lane_bits()), n, device.preset.n_max)
    program = device.native.program(op, moduli, n, values=device.preset.values)
    print(f"; {op} on {preset}, n = {n}\n{program}", end="")
