# SPDX-License-Identifier: Apache-2.0
"""Firmware of the on-chip controller: built from `rtl/controller/firmware.rs` by rustc, kept in the cache."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

from ringsmith import shipped
from ringsmith.errors import ParameterError, ToolError
from ringsmith.hw import paths, registers
from ringsmith.hw.process import run
from ringsmith.presets import Preset

#: What rustc builds for: 32 registers, no multiplier, no compressed instructions.
TARGET = "riscv32i-unknown-none-elf"
_FLAGS = ("--edition", "2024", "--target", TARGET, "-C", "opt-level=s", "-C", "panic=abort")


def firmware(preset: Preset) -> bytes:
    """The firmware for the controller of a preset, from address 0 of its memory on; b"" where it has none.

    Raises ParameterError where it leaves no room for an instruction in the memory, ToolError without a compiler.
    """
    if preset.controller == "none":
        return b""
    image = build()
    check(image, preset)
    return image


def check(image: bytes, preset: Preset) -> None:
    """Raise ParameterError unless the memory of the preset's controller holds the image and an instruction."""
    needed, size = len(image) + 8, 4 * preset.controller_words
    if needed > size:
        words = 1 << max((needed + 3) // 4 - 1, 63).bit_length()
        raise ParameterError(
            f"preset {preset.name}: the controller's firmware and one instruction have {needed:,} bytes, its memory "
            f"{size:,} (controller_words = {preset.controller_words}): --set controller_words={words}"
        )


def build(source: Path | None = None) -> bytes:
    """Compile a firmware (default: ours); whole words. Raises ToolError where the compiler is missing or refuses it."""
    folder = shipped.rtl() / "controller"
    source = source or folder / "firmware.rs"
    addresses = constants()
    version = _run(["rustc", "--version", "--verbose"])
    inputs = [addresses, version, *_FLAGS, source.read_text(), (folder / "firmware.ld").read_text()]
    target = paths.cache("firmware") / f"{hashlib.sha256(chr(0).join(inputs).encode()).hexdigest()[:24]}.bin"
    if target.exists():
        return target.read_bytes()
    work = Path(tempfile.mkdtemp(prefix=".firmware-", dir=target.parent))
    try:
        (work / "registers.rs").write_text(addresses)
        link = [f"link-arg=-T{folder / 'firmware.ld'}", "link-arg=--oformat=binary"]
        command: list[str | Path] = ["rustc", *_FLAGS, "-o", work / "firmware.bin"]
        command += [word for option in link for word in ("-C", option)]
        _run([*command, source], registers=work / "registers.rs")
        image = work / "firmware.bin"
        image.write_bytes(image.read_bytes() + bytes(-image.stat().st_size % 4))
        image.replace(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target.read_bytes()


def constants() -> str:
    """Rust constants of the registers that the firmware sees."""
    return "\n".join(map(registers.rust_constants, map(registers.load, registers.BLOCKS))).replace("//!", "//")


def _run(command: list[str | Path] | list[str], registers: Path | None = None) -> str:
    needed = f"the controller's firmware needs rustc with its target {TARGET}: rustup target add {TARGET}"
    if shutil.which("rustc") is None:
        raise ToolError(needed)
    done = run(command, timeout_s=300, env={"RINGSMITH_REGISTERS": str(registers)} if registers else None)
    if done.status != 0:
        missing = "can't find crate for `core`" in done.output or "target may not be installed" in done.output
        raise ToolError(needed if missing else f"the controller's firmware does not compile:\n{done.tail()}")
    return done.output
