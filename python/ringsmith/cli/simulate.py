# SPDX-License-Identifier: Apache-2.0
"""`ringsmith simulate`: cycles of one instruction or operation on the generated RTL, beside the model's prediction."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from ringsmith import _native
from ringsmith.cli import simulate_host
from ringsmith.cli.common import console, print_json
from ringsmith.cli.simulate_ntt8 import simulate_ntt8
from ringsmith.errors import InputError, ParameterError
from ringsmith.files import check_place
from ringsmith.presets import CONVERSIONS, OPERATIONS, Ntt8Preset, load_any, parse_overrides
from ringsmith.report import simulation
from ringsmith.report.batch import batch_report, batch_rows, half_of, steady_report, steady_rows
from ringsmith.runtime.devices import KINDS, OpenDevice, open_device
from ringsmith.runtime.timeline import summary, write_trace
from ringsmith.specs import shown

# Slots of a measurement: the transforms' two work slots, and operands a, b, c.
SLOTS_NEEDED = 5

# Conversions that are instructions where a build has moves.
MOVES = ("decomp",)

# Operations that bring their own parameter set, keys and ciphertexts; a key switch does so where a build has moves.
MULTIPLY, ROTATE, KEY_SWITCH = "multiply", "rotate", "key-switch"
# A product of ciphertexts, back to two parts and divided by its last prime.
RELINEARIZE = "relinearize-rescale"
ONE_AFTER_THE_OTHER = "relinearize-then-rescale"
WHOLE = (MULTIPLY, ROTATE, RELINEARIZE)
BATCHES = (MULTIPLY, ROTATE, KEY_SWITCH, RELINEARIZE)
MOST_BATCH = 1024
# Data primes of a key switch.
PRIMES = 2


@dataclass(frozen=True, kw_only=True)
class Whole:
    """Settings of a whole operation: policy, how many on all cores, data primes; of key switches the rest.

    Without `primes` a multiplication has one for each lane but one, a key switch `PRIMES`.
    """

    allow_insecure: bool = False
    batch: int = 1
    primes: int | None = None
    special: int = 1
    digit_primes: int = 1
    data_bits: int | None = None
    purpose: str = "rotation"
    count: int = 1
    digit_major: bool = False


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

OP is an instruction in lower case (ntt, pmodmul, memcpy, ...) or an operation: polymul, tensor, zero-encrypt,
delta-m-decrypt (BFV) or decrypt (CKKS), key-switch; what zero-encrypt gives are values where the preset's scheme is
ckks. With base conversion also scale-lift (BFV's whole scaling), decomp (the digits of a relinearisation) and multiply
(a whole BFV multiplication with relinearisation, t = 33, on fresh ciphertexts of a set that has a
data prime for each lane but one: operands, keys and result in the host's memory, all transfers counted;
--primes: so many instead, more than the lanes in turn, and what the build cannot convert on the host, whose operations
are counted and take no cycles; --batch: many of them, shared out to all cores).
With moves between lanes: rotate, a fresh CKKS ciphertext rotated, key switch included, over --primes data primes and
--special ones, of the widest size up to the preset's that is secure, in digits of --digit-primes; --count rotations
share its decomposition. There key-switch is one such rotation by itself, its latency, and with --batch several in
flight; --digit-major is the order of HEAX: one digit after another, one half of the sum after the other.
relinearize-rescale takes a product of ciphertexts back to two parts and divides it by its last prime, with one
division, beside the same one after the other.
With controller=riscv an operation is also fed by the host, in the same build without one: cycles from the host's first
register access to the one that sees the end, and how many it takes, over every line.
Cycles run from the first start to the last write; operands are on chip before. PRESET
needs five slots: two work slots and three for operands.
"""


_ONE = Whole()


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command(name="simulate", epilog=EXAMPLES)(simulate)


def simulate(
    preset: Annotated[str, typer.Argument(help="name of a preset, or a .toml file")],
    op: Annotated[str, typer.Argument(help="instruction or operation")],
    n: Annotated[int | None, typer.Option("--n", help="ring degree (default: the preset's, at most 4096)")] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="key=value of the preset; may be repeated")
    ] = None,
    on: Annotated[str, typer.Option("--on", help="rtl, or model (no simulation)")] = "rtl",
    allow_insecure: Annotated[
        bool, typer.Option("--allow-insecure", help="whole operations: accept a set below 128 bits")
    ] = False,
    primes: Annotated[int | None, typer.Option("--primes", help="whole operations: data primes", min=1, max=32)] = None,
    special: Annotated[
        int, typer.Option("--special", help="rotate, key-switch, relinearize-rescale: special primes", min=1, max=16)
    ] = 1,
    digit_primes: Annotated[
        int, typer.Option("--digit-primes", help="the same: data primes of a digit", min=1, max=16)
    ] = 1,
    data_bits: Annotated[
        int | None, typer.Option("--data-bits", help="the same: bits of a data prime, if shorter than special ones")
    ] = None,
    count: Annotated[int, typer.Option("--count", help="rotate: rotations of one ciphertext", min=1, max=64)] = 1,
    batch: Annotated[
        int | None, typer.Option("--batch", help="whole operations: so many, on all cores (default 1)")
    ] = None,
    digit_major: Annotated[
        bool, typer.Option("--digit-major", help="rotate, key-switch: digits and halves one after another, as HEAX")
    ] = False,
    trace: Annotated[Path | None, typer.Option("--trace", help="write a Perfetto timeline to this file")] = None,
    assembly: Annotated[bool, typer.Option("--assembly", help="print the program instead of running it")] = False,
    json: Annotated[bool, typer.Option("--json", help="print one JSON object on stdout")] = False,
) -> None:
    """Simulate one instruction or operation on the RTL of a preset and check its result."""
    if trace is not None:
        check_place(trace)
    if on not in KINDS:
        raise InputError(f"--on {shown(on)}: {' or '.join(KINDS)}")
    made = load_any(preset, parse_overrides(overrides or []))
    if isinstance(made, Ntt8Preset):
        if on != "rtl" or trace is not None or assembly:
            raise InputError(f"{made.name} is an 8-point accelerator: without --on model, --trace and --assembly")
        whole_table = op == "encrypt" and not overrides and not json and not preset.endswith(".toml")
        raise typer.Exit(simulate_ntt8(made, op, n, every_variant=whole_table, json=json))
    degree = min(made.n_max, 4096) if n is None else _ring_degree(n)
    known = {mnemonic for mnemonic, _, _ in _native.instruction_set()}
    every_operation = (*OPERATIONS, *CONVERSIONS, *WHOLE)
    if op not in known and op not in every_operation:
        every = ", ".join(every_operation)
        raise InputError(f"{shown(op)} is no instruction or operation; operations: {every}")
    if batch is not None and not _is_whole(op, made.moves):
        raise InputError(
            f"--batch {batch} goes with {', '.join(BATCHES)}, which work on all cores; {op} runs once, on one"
        )
    if digit_major and op != ROTATE and not _is_key_switch(op, made.moves):
        raise InputError(f"--digit-major goes with {ROTATE} and {KEY_SWITCH} of builds with moves, not with {op}")
    if (special, digit_primes, data_bits) != (1, 1, None) and not _switches_keys(op, made.moves):
        raise InputError(
            f"--special, --digit-primes and --data-bits go with {ROTATE}, {KEY_SWITCH} and {RELINEARIZE} of builds "
            f"with moves, not with {op}"
        )
    if batch is not None and not 1 <= batch <= MOST_BATCH:
        raise InputError(f"--batch {batch} must be 1 to {MOST_BATCH}")
    needed = (primes or PRIMES) + special
    if _is_key_switch(op, made.moves) and made.lanes < needed and batch is None:
        raise ParameterError(
            f"--primes {needed - special}: a key switch by itself takes {needed} lanes, one for each prime, special "
            f"ones too; preset {made.name} has {made.lanes}: fewer primes, more lanes by --set, or several in "
            "flight by --batch"
        )
    what = Whole(
        allow_insecure=allow_insecure,
        batch=batch or 1,
        primes=primes,
        special=special,
        digit_primes=digit_primes,
        data_bits=data_bits,
        purpose=RELINEARIZE if op == RELINEARIZE else "rotation",
        count=count if op == ROTATE else 1,
        digit_major=digit_major,
    )
    model = open_device("model", made)
    if assembly:
        _print_program(made.name, op, degree, model)
        return
    if made.slots < SLOTS_NEEDED:
        raise ParameterError(
            f"preset {made.name} has {made.slots} slots; simulate needs {SLOTS_NEEDED}: two work slots, three operands"
        )
    if on == "rtl":
        # The model refuses what the hardware refuses: check before building it.
        measure(model, op, degree, replace(what, batch=1))
    with console().status(Text(f"{on}:{made.name}: building")) as status:
        device = open_device(on, made)
        status.update(Text(f"{device.name}: {op}, n = {degree}"))
        begin = time.perf_counter()
        outcome = measure(device, op, degree, what)
        steady = other = apart = None
        if _is_key_switch(op, made.moves) and what.batch > device.preset.cores:
            steady = _steady(device, op, degree, what, outcome)
        if digit_major and batch is None:
            other = measure(device, op, degree, replace(what, digit_major=False))
        if op == RELINEARIZE:
            apart = measure(device, op, degree, replace(what, purpose=ONE_AFTER_THE_OTHER))
        wall = time.perf_counter() - begin
    report = _report(device, op, degree, outcome, wall)
    if batch is not None:
        report["batch"] = batch_report(outcome["shift"], what.batch, device.clock_mhz)
    if steady is not None:
        report["steady"] = steady
    if other is not None:
        own, less = _whole(outcome)["work_cycles"], _whole(other)["work_cycles"]
        report["orders"] = {"digit_major_cycles": own, "cycles": less, "saved_percent": 100 * (1 - less / own)}
        report["correct"] = report["correct"] and other["correct"]
    if apart is not None:
        parts = {"cycles": apart["cycles"], "work_cycles": _whole(apart)["work_cycles"]}
        report["one_after_the_other"] = parts | {"ratio": _whole(outcome)["work_cycles"] / parts["work_cycles"]}
        report["correct"] = report["correct"] and apart["correct"]
    if on == "rtl" and simulate_host.applies(made, op, degree):
        with console().status(Text(f"{device.name}: {op}, fed by host and controller over every line")):
            report["feeding"] = simulate_host.compare(made, op, degree)
        report["correct"] = report["correct"] and all(row["correct"] for row in report["feeding"])
    if trace is not None:
        write_trace(trace, f"{device.name} {op}", outcome["profile"], device.clock_mhz, outcome["assembly"])
        report["trace"] = str(trace)
    if json:
        print_json(report)
    else:
        _print(report)
    raise typer.Exit(0 if report["correct"] else 1)


def measure(device: OpenDevice, op: str, n: int, what: Whole = _ONE) -> dict[str, Any]:
    """Run one instruction or operation on random operands and return cycles, prediction, check and timelines."""
    native, bits = device.native, min(device.preset.lane_bits())
    if op == MULTIPLY:
        return native.simulate_multiplication(
            bits, n, primes=what.primes, allow_insecure=what.allow_insecure, batch=what.batch
        )
    if _switches_keys(op, device.preset.moves):
        return native.simulate_key_switch(bits, n, **asdict(what) | {"primes": what.primes or PRIMES})
    moduli = _native.default_moduli(list(device.preset.lane_bits()), n, device.preset.n_max)
    if op in OPERATIONS:
        if op not in device.preset.operations:
            able = ", ".join(device.preset.operations)
            raise InputError(f"preset {device.preset.name} does not take {op}; it takes {able}")
        return device.native.simulate_operation(op, moduli, n, values=device.preset.values)
    # With moves the digit is an instruction.
    if op in CONVERSIONS and not (op in MOVES and device.preset.moves):
        return device.native.simulate_conversion(op, moduli, n)
    return device.native.simulate_instruction(op, moduli, n)


def _is_key_switch(op: str, moves: int) -> bool:
    """Whether it is a whole key switch; a build without moves measures the products of one."""
    return op == KEY_SWITCH and moves != 0


def _switches_keys(op: str, moves: int) -> bool:
    return op in (ROTATE, RELINEARIZE) or _is_key_switch(op, moves)


def _is_whole(op: str, moves: int) -> bool:
    return op in WHOLE or _is_key_switch(op, moves)


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


def _report(device: OpenDevice, op: str, n: int, outcome: dict[str, Any], wall: float) -> dict[str, Any]:
    profile, usage = outcome["profile"], outcome["usage"]
    in_parts = n > device.preset.n_max
    title = f"{device.name} {op}, n = {n}" + (", last of its parts" if in_parts else "")
    return {
        **simulation.head(device.preset, device.name, op, n, outcome),
        "moduli_bits": list(device.preset.lane_bits()),
        "busy": {"compute": profile["busy_compute"], "memory": profile["busy_memory"], "rns": profile["busy_rns"]},
        "stall": {"slot": profile["stall_hazard"], "unit": profile["stall_unit"]},
        "send": {**usage["send"], "ms": device.link_ms(usage["send"]["bytes"], usage["send"]["cycles"])},
        "memory": _memory(device),
        "receive": {**usage["receive"], "ms": device.link_ms(usage["receive"]["bytes"], usage["receive"]["cycles"])},
        "simulation": simulation.speed(wall, device.native.simulated_cycles()),
        "in_parts": in_parts,
        "summary": summary(title, profile, device.clock_mhz),
        "includes": (
            "everything between operands and keys in the host's memory and the result there; transfers beside work"
            if _is_whole(op, device.preset.moves)
            else "the work between operands on chip and results on chip; send and receive stand apart"
        ),
        **({"multiplication": _whole(outcome) | {"plain_modulus": 33}} if op == MULTIPLY else {}),
        **({"rotation": _whole(outcome)} if op == ROTATE else {}),
        **({"relinearization": _whole(outcome)} if op == RELINEARIZE else {}),
        **({"key_switch": _whole(outcome)} if _is_key_switch(op, device.preset.moves) else {}),
    }


def _whole(outcome: dict[str, Any]) -> dict[str, Any]:
    """Return the usage of a whole operation, and its cycles from the first transform to the last result on chip.

    Of several submissions the timelines are the last one's: then all cycles count.
    """
    events = outcome["profile"]["events"]
    begin = min(event[3] for event in events if event[2] == "compute")
    end = max(event[4] for event in events if event[2] in ("compute", "rns"))
    usage = outcome["usage"]
    kept = ("submissions", "instructions", "conversions", "host_operations", "transfer_cycles", "hidden_cycles")
    return {
        "data_primes": outcome["data_primes"],
        "auxiliary_primes": outcome["auxiliary"],
        "work_cycles": end - begin if usage["submissions"] == 1 else outcome["cycles"],
        **{key: usage[key] for key in kept},
    }


def _memory(device: OpenDevice) -> dict[str, Any] | None:
    """The memory behind the data port, as asked for and in cycles; None where a link is in between."""
    if device.preset.host != "axi4":
        return None
    info = device.native.info()
    return {
        "gbs": device.preset.memory_gbs or None,
        "latency_ns": device.preset.memory_latency_ns or None,
        "bytes_per_cycle": info["memory_bytes_per_kilocycle"] / 1000 or None,
        "read_latency_cycles": info["memory_read_latency"],
        "write_latency_cycles": info["memory_write_latency"],
    }


def _print_program(preset: str, op: str, n: int, device: OpenDevice) -> None:
    if op not in OPERATIONS:
        raise InputError(
            f"--assembly prints the program of an operation: {', '.join(OPERATIONS)}; {op} is one instruction"
        )
    moduli = _native.default_moduli(list(device.preset.lane_bits()), n, device.preset.n_max)
    program = device.native.program(op, moduli, n, values=device.preset.values)
    print(f"; {op} on {preset}, n = {n}\n{program}", end="")


def _print(report: dict[str, Any]) -> None:
    rows = {"send / receive": f"{report['send']['ms']:.3f} / {report['receive']['ms']:.3f} ms"}
    if report["memory"]:
        rows["memory"] = _memory_text(report["memory"])
    if report.get("multiplication", {}).get("host_operations"):
        rows["left to the host"] = f"{report['multiplication']['host_operations']:,} operations, without their time"
    for whole in ("rotation", "relinearization", "key_switch"):
        if whole in report and "batch" not in report:
            rows["first transform to last result on chip"] = f"{report[whole]['work_cycles']:,} cycles"
    if "batch" in report:
        rows |= batch_rows(report["batch"])
    if "orders" in report:
        rows["all digits at a time"] = "{cycles:,} cycles, {saved_percent:.1f} % less".format(**report["orders"])
    if "one_after_the_other" in report:
        rows["relinearised, then rescaled"] = "{work_cycles:,} cycles; with one division {ratio:.2f} of it".format(
            **report["one_after_the_other"]
        )
    if "steady" in report:
        rows |= steady_rows(report["steady"])
    if "feeding" in report:
        rows |= simulate_host.text_rows(report["feeding"])
    simulation.show(report, rows)
    for line in report["summary"]:
        print(line)


def _memory_text(memory: dict[str, Any]) -> str:
    rate = f"{memory['bytes_per_cycle']:g} bytes a cycle" if memory["gbs"] else "a beat every cycle"
    reads, writes = memory["read_latency_cycles"], memory["write_latency_cycles"]
    return f"{rate}, reads answered after {reads} cycles, writes after {writes}"
