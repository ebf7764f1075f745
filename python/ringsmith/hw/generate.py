# SPDX-License-Identifier: Apache-2.0
"""Write a preset as a hardware package: RTL, file list, FuseSoC core, register documents, driver notes, testbench."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from string import Template

from ringsmith import shipped
from ringsmith.errors import InputError, ParameterError, ToolError
from ringsmith.gen import isa_doc
from ringsmith.gen.isa import load_isa
from ringsmith.hw import registers, sources
from ringsmith.hw.device import UART_DIVISOR, build_hash, harness_files, top_of, top_parameters
from ringsmith.hw.firmware import constants, firmware
from ringsmith.hw.hosts import AXI4, SERIAL
from ringsmith.hw.process import run, say
from ringsmith.hw.toolchain import verilator
from ringsmith.hw.vectors import LaneVector, lane_vector, prime_below
from ringsmith.hw.verilator import BUILD_FLAGS, HARNESS, LINT_FLAGS, WAIVERS, own_check
from ringsmith.hw.written import SCRATCH, check_replaceable, files_of, is_empty, put_in_place, some, write_manifest
from ringsmith.presets import Preset

TEMPLATES = Path(__file__).parent / "templates"
# Headers of the testbench's harness.
_HEADERS = {
    "axi4": ("abi.h", "simulation.h", "coprocessor.h", "axil_master.h"),
    "serial": ("abi.h", "simulation.h", "coprocessor.h"),
}
LICENCE = "SPDX-License-Identifier: Apache-2.0"
# The testbench's transform: large enough for every stage kind, small enough for its definition and for a serial link.
LARGEST_TEST = 256


@dataclass(frozen=True)
class Package:
    """A written package: directory, its files in order, top module with its parameters, hash of the build."""

    directory: Path
    files: tuple[str, ...]
    top: str
    parameters: dict[str, int | str]
    build_hash: str


def generate(preset: Preset, directory: Path, *, force: bool = False) -> Package:
    """Write the package of a preset; what fails its own `make lint` is not written.

    `directory` is new or empty, or with `force` a package as it was written, which is replaced; files of the user's
    own beside it stay. Folders above it are made.

    Raises:
        InputError: it cannot be written there.
        ParameterError: the design cannot be elaborated.
    """
    target = _place(directory, force=force)
    try:
        work = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=_nearest(target)))
        try:
            package = _fill(preset, work, directory)
            _lint(preset, work)
            work.chmod(0o755)
            target.parent.mkdir(parents=True, exist_ok=True)
            kept = put_in_place(work, target, directory)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{directory} cannot be written: {error.strerror}") from None
    if kept:
        say(f"{directory}: not of the package, kept: {some(kept)}")
    return package


def _place(directory: Path, *, force: bool) -> Path:
    """Directory of the package, links followed; refused before anything is made."""
    try:
        target = directory.resolve()
        if target.exists() and not target.is_dir():
            raise InputError(f"{directory} is a file: name a directory")
        if not _nearest(target).is_dir():
            raise InputError(f"{directory}: {_nearest(target)} is a file: name another directory")
        if target.exists() and not is_empty(target) and not force:
            raise InputError(f"{directory} is not empty: name another directory, or replace a package with --force")
        if target.exists():
            check_replaceable(target, directory)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{directory} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return target


def _nearest(path: Path) -> Path:
    """The path itself or the closest above it that exists."""
    return next(place for place in (path, *path.parents) if place.exists())


def _lint(preset: Preset, work: Path) -> None:
    """Run the package's own lint. Raises ParameterError with the words of the elaboration check that refuses it."""
    say("[4/4] lint")
    finished = run(["make", "--no-print-directory", "lint"], cwd=work, env=verilator().environment(), timeout_s=600)
    if finished.status == 0:
        return
    refusal = own_check(finished.output)
    if refusal is None:
        raise ToolError(f"the package of {preset.name} fails its own lint:\n{finished.tail()}")
    raise ParameterError(f"preset {preset.name} cannot be built: {refusal}")


def _fill(preset: Preset, work: Path, directory: Path) -> Package:
    top, parameters = top_of(preset), top_parameters(preset)
    digest = build_hash(top, parameters)
    parameters["BuildHash"] = f"128'h{digest}"
    for folder in ("rtl", "tb", "include", "docs", "constraints"):
        (work / folder).mkdir()
    say(f"[1/4] RTL of {preset.name}")
    units = [*sources.design(top, parameters), *sources.closure("rs_reset_sync")]
    rtl = [_copy_rtl(path, work, top, parameters, preset) for path in units]
    say("[2/4] testbench and its known answers")
    harness = _testbench(preset, work)
    say("[3/4] documents")
    registers.html(work / "docs" / "registers")
    (work / "docs" / "registers.md").write_text(registers.page(registers.load()))
    for stem in registers.BLOCKS:
        (work / "include" / f"{stem}.h").write_text(registers.c_header(registers.load(stem)))
    names = _names(preset, top, digest)
    (work / "docs" / "driver.md").write_text(_template("driver.md", **names))
    (work / "docs" / "integration.md").write_text(_template("integration.md", **names))
    (work / "docs" / "isa.md").write_text(isa_doc.render(load_isa(shipped.root() / "spec" / "isa.yaml")))
    for name in ("isa.yaml", "latency.yaml"):
        shutil.copyfile(shipped.root() / "spec" / name, work / "docs" / name)
    shutil.copyfile(shipped.root() / "LICENSE", work / "LICENSE")
    if preset.controller != "none":
        _controller(preset, work)
    (work / "constraints" / f"{preset.name}.sdc").write_text(_template("constraints.sdc", **names))
    (work / f"{preset.name}.f").write_text("".join(f"{name}\n" for name in rtl))
    (work / "Makefile").write_text(_template("Makefile", **names, harness=" ".join(harness)))
    (work / f"{preset.name}.core").write_text(_core(names, rtl, work))
    write_manifest(work)
    return Package(directory, files_of(work), top, parameters, digest)


def _controller(preset: Preset, work: Path) -> None:
    """Firmware of the controller: image, source, link script; the licence of its processor."""
    folder = work / "firmware"
    folder.mkdir()
    (folder / "firmware.bin").write_bytes(firmware(preset))
    for name in ("firmware.rs", "firmware.ld"):
        shutil.copyfile(shipped.rtl() / "controller" / name, folder / name)
    (folder / "registers.rs").write_text(constants())
    shutil.copyfile(sources.processor()[0].parents[1] / "LICENSE", work / "rtl" / "LICENSE.serv")


def _copy_rtl(path: Path, work: Path, top: str, parameters: dict[str, int | str], preset: Preset) -> str:
    text = path.read_text()
    if not path.stem.startswith("rs_"):
        pass  # of a package, under its own licence
    elif LICENCE not in text:
        text = f"// {LICENCE}\n{text}"
    if path.stem == top:
        text = f"// Parameter defaults are those of the preset {preset.name}.\n{_with_defaults(text, parameters)}"
    (work / "rtl" / path.name).write_text(text)
    return f"rtl/{path.name}"


def _with_defaults(text: str, parameters: dict[str, int | str]) -> str:
    for name, value in parameters.items():
        literal = f"32'h{value:08x}" if name == "SinglePort" else value
        text, count = re.subn(rf"(parameter [^=\n]*\b{name} = )[^,\n]+", rf"\g<1>{literal}", text)
        if count != 1:
            raise AssertionError(f"the top has {count} parameters {name}")
    return text


def _testbench(preset: Preset, work: Path) -> list[str]:
    """Copy the harness, write the vectors; returns the C++ files to compile."""
    compiled = harness_files(preset)
    for name in (*compiled, *_HEADERS[preset.host]):
        shutil.copyfile(HARNESS / name, work / "tb" / name)
    shutil.copyfile(WAIVERS, work / "tb" / "lint.vlt")
    shutil.copyfile(TEMPLATES / "testbench.cpp", work / "tb" / "testbench.cpp")
    (work / "tb" / "vectors.h").write_text(_vectors(preset))
    # FuseSoC names the model after the top; the harness knows it as Vtop.
    (work / "tb" / "fusesoc").mkdir()
    (work / "tb" / "fusesoc" / "Vtop.h").write_text(_FUSESOC_MODEL.format(top=top_of(preset)))
    return [f"tb/{name}" for name in ("testbench.cpp", *compiled)]


def _vectors(preset: Preset) -> str:
    n = min(preset.n_max, LARGEST_TEST)
    bits = preset.lane_bits()
    moduli = [prime_below(b, preset.n_max, bits[:i].count(b)) for i, b in enumerate(bits)]
    lanes = [lane_vector(modulus, n, seed=i) for i, modulus in enumerate(moduli)]
    montgomery_bits = preset.n_max.bit_length()
    radix = 1
    if preset.reduction == "montgomery":
        radix = 1 << (montgomery_bits * -(-preset.word_bits // montgomery_bits))
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "// Known answers, from the transform's definition.",
        "#pragma once",
    ]
    lines += ["#include <cstdint>", "", f"constexpr uint64_t kLanes = {preset.lanes}, kLog2N = {n.bit_length() - 1};"]
    lines += [f"constexpr uint64_t kBytes = {n * preset.word_bytes}, kBufferBytes = {preset.buffer_bytes};"]
    lines += ["// Of a host buffer: bytes of a lane that lie together, and from them to the lane's next."]
    lines += [f"constexpr uint64_t kPieceBytes = {preset.piece_bytes}, kRowBytes = {preset.row_bytes};"]
    lines += [f"constexpr uint64_t kSlot = {min(2, preset.slots - 1)};"]
    lines.append(_words("kModulus", [v.modulus for v in lanes]))
    lines.append(_words("kReciprocal", [_reciprocal(preset, v, montgomery_bits) for v in lanes]))
    lines.append(_words("kReduction", [_reduction(preset, v, radix) for v in lanes]))
    tables = [tuple(t * radix % v.modulus for t in v.table) for v in lanes]
    for name, data in (
        ("kTable", tables),
        ("kInput", [v.values for v in lanes]),
        ("kTransform", [v.transform for v in lanes]),
    ):
        lines.append(_bytes(name, data, preset.word_bytes))
    return "\n".join(lines) + "\n"


def _reciprocal(preset: Preset, vector: LaneVector, montgomery_bits: int) -> int:
    if preset.reduction == "montgomery":
        return (vector.modulus - 1) >> montgomery_bits
    return int((1 << (vector.modulus.bit_length() + preset.word_bits + 2)) // vector.modulus)


def _reduction(preset: Preset, vector: LaneVector, radix: int) -> int:
    """Table 2: the bit length of the modulus (Barrett), or minus one in Montgomery form."""
    return -radix % vector.modulus if preset.reduction == "montgomery" else vector.modulus.bit_length()


def _words(name: str, values: list[int]) -> str:
    rows = ", ".join("{" + ", ".join(f"{v >> (32 * i) & 0xFFFFFFFF:#x}" for i in range(5)) + "}" for v in values)
    return f"const uint32_t {name}[kLanes][5] = {{{rows}}};"


def _bytes(name: str, lanes: list[tuple[int, ...]], size: int) -> str:
    rows = ",\n".join("{" + ",".join(str(b) for v in lane for b in v.to_bytes(size, "little")) + "}" for lane in lanes)
    return f"const uint8_t {name}[kLanes][kBytes] = {{{rows}}};"


def _core(names: dict[str, str], rtl: list[str], work: Path) -> str:
    tb = sorted(path for path in (work / "tb").iterdir() if path.suffix in (".cpp", ".h"))
    headers = [f"      - tb/{p.name}: {{is_include_file: true}}" for p in tb if p.suffix == ".h"]
    headers += [f"      - include/{stem}.h: {{is_include_file: true}}" for stem in registers.BLOCKS]
    headers.append("      - tb/fusesoc/Vtop.h: {is_include_file: true}")
    return _template(
        "core.txt",
        **names,
        version=version("ringsmith") if _installed() else "0.1.0",
        description=f"ringsmith co-processor, preset {names['name']}",
        rtl_files="\n".join(f"      - {name}" for name in rtl),
        tb_files="\n".join([*headers, *(f"      - tb/{p.name}" for p in tb if p.suffix == ".cpp")]),
        build_options="\n".join(f"          - {' '.join(flag)}" for flag in _options(BUILD_FLAGS)),
        lint_options=", ".join(LINT_FLAGS),
    )


def _installed() -> bool:
    try:
        return bool(version("ringsmith"))
    except ModuleNotFoundError:
        return False


def _names(preset: Preset, top: str, digest: str) -> dict[str, str]:
    """Values of the templates' placeholders."""
    rows = {
        "coefficient": f"{preset.word_bits} bits",
        "lanes": preset.lanes,
        "butterflies per lane": preset.butterflies,
        "ring degree": f"8 to {preset.n_max}",
        "slots": f"{preset.slots}; 0 to {preset.dual_port_slots - 1} dual-port, 0 and 1 the transforms' work slots",
        "moduli, constants per lane": f"{preset.moduli_slots}, {preset.constants}",
        "reduction": preset.reduction,
        "data port": _port(preset),
        "command queue": preset.fifo_depth,
    }
    serial = preset.host == "serial"
    montgomery = preset.reduction == "montgomery"
    return {
        "name": preset.name,
        "top": top,
        "build_hash": digest,
        "uart_divisor": str(UART_DIVISOR),
        "clock_mhz": f"{preset.clock_mhz[-1]:g}",
        "word_bytes": str(preset.word_bytes),
        "layout_note": _layout(preset),
        "shape": "\n".join(f"| {name} | {value} |" for name, value in rows.items()),
        "reciprocal_note": "The upper part is (m - 1) >> w."
        if montgomery
        else "The reciprocal is floor(2^(k+W+2) / m).",
        "reduction_entry": "-R mod m, R = 2^(w ceil(W/w))" if montgomery else "bit length k of m",
        "base_note": "The serial host needs no base address."
        if serial
        else _BASE_NOTE.format(bits=preset.address_bits, bytes=preset.buffer_bytes),
        "transfer_note": _SERIAL_NOTE if serial else "",
        "slots": str(preset.slots),
        "build_flags": " ".join(BUILD_FLAGS),
        "lint_flags": " ".join(LINT_FLAGS),
        **_integration(preset),
    }


_BASE_NOTE = """\
Write the address of host buffer 0, a multiple of 4096, to DMA_BASE while the core is idle. Addresses have {bits} bits
   (HOST_PORT.address_bits); higher bits of DMA_BASE read 0. Host buffer b takes {bytes} bytes from
   DMA_BASE + b * {bytes} on; a LOAD or STORE of one that ends beyond 2^{bits} stops the core with
   ERROR.cause 9 before it touches the bus."""


def _port(preset: Preset) -> str:
    if preset.host == "serial":
        return "bytes over the serial link"
    return "a word of every lane at a time (wide)" if preset.wide_port else "a word of one lane at a time"


def _layout(preset: Preset) -> str:
    """Layout of a lane's coefficients in a host buffer."""
    start = f"b * {preset.buffer_bytes} + l * {preset.piece_bytes}"
    if not preset.wide_port:
        return f"one after another: lane l of buffer b starts at {start} bytes"
    return (
        f"in pieces of {preset.butterflies} coefficients, side by side in rows.\n"
        f"  Piece j of lane l of buffer b starts at {start} + j * {preset.row_bytes} bytes; rows may end in padding"
    )


def _options(flags: Sequence[str]) -> list[list[str]]:
    """Flags with the values that follow them."""
    groups: list[list[str]] = []
    for flag in flags:
        if flag.startswith("-"):
            groups.append([])
        groups[-1].append(flag)
    return groups


def _integration(preset: Preset) -> dict[str, str]:
    """Clocks, reset and pins of a preset's host, in words and as constraints."""
    period = 1000 / preset.clock_mhz[-1]
    if preset.host == "axi4":
        host = {key: Template(text).substitute(port_bits=_port_bits(preset)) for key, text in AXI4.items()}
    else:
        sck = 1000 / preset.serial_mhz
        host = {
            key: Template(text).substitute(sck_ns=f"{sck:.3f}", sck_delay_ns=f"{0.3 * sck / 2:.3f}", **_uart(preset))
            for key, text in SERIAL.items()
        }
    return {"period_ns": f"{period:.3f}", "io_delay_ns": f"{0.3 * period:.3f}", **host}


def _port_bits(preset: Preset) -> int:
    """Data bits of the AXI4 master, as beat_bits of rs_core_pkg has them: a power of two, at most 1,024."""
    copies = preset.lanes if preset.wide_port else 1
    return min(1024, 1 << (copies * preset.butterflies * preset.word_bytes * 8 - 1).bit_length())


def _uart(preset: Preset) -> dict[str, str]:
    """Rate of the UART at the fastest clock."""
    clock = preset.clock_mhz[-1]
    return {
        "uart_divisor": str(UART_DIVISOR),
        "uart_baud": f"{clock * 1e6 / UART_DIVISOR:,.0f}",
        "clock_mhz": f"{clock:g}",
    }


_FUSESOC_MODEL = """// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "V{top}.h"
using Vtop = V{top};
"""

_SERIAL_NOTE = """
## Serial link
Frames as in `rtl/rs_serial_pkg.sv`. A LOAD or STORE waits until the host has moved its bytes: enable IRQ transfer, read
TRANSFER {valid, store, log2_n, buffer}, then send WriteData or ReadData frames for all lanes, lane 0 first.
"""


def _template(file: str, **names: str) -> str:
    return Template((TEMPLATES / file).read_text()).substitute(names)
