# SPDX-License-Identifier: Apache-2.0
"""The controller's firmware: built from source, held to its memory, and what is missing is named."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith.cli import application
from ringsmith.errors import ParameterError, ToolError
from ringsmith.hw import firmware, sources
from ringsmith.presets import load_preset


def _has_target() -> bool:
    rustc = shutil.which("rustc")
    if rustc is None:
        return False
    root = subprocess.run([rustc, "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
    return (Path(root) / "lib" / "rustlib" / firmware.TARGET).is_dir()


needs_rust = pytest.mark.skipif(not _has_target(), reason=f"rustup target add {firmware.TARGET}")
pytestmark = pytest.mark.hw


@needs_rust
def test_firmware_is_built_and_kept() -> None:
    image = firmware.build()
    assert 100 < len(image) < 512
    assert len(image) % 4 == 0
    assert firmware.build() == image
    # auipc sp, 0: the first instruction points the stack behind the code.
    assert int.from_bytes(image[:4], "little") & 0xFFF == 0x117


def test_a_build_without_controller_needs_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringsmith.hw.firmware.build", lambda: pytest.fail("compiled"))
    assert firmware.firmware(load_preset("tiny")) == b""


def test_firmware_larger_than_its_memory_is_refused() -> None:
    preset = load_preset("tiny", {"controller": "riscv", "controller_words": 64})
    firmware.check(bytes(248), preset)
    with pytest.raises(ParameterError) as refused:
        firmware.check(bytes(252), preset)
    assert "260 bytes, its memory 256 (controller_words = 64): --set controller_words=128" in str(refused.value)
    with pytest.raises(ParameterError, match="controller_words=2048"):
        firmware.check(bytes(4096), preset)


@needs_rust
def test_firmware_that_grows_is_refused_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    large = firmware.build() + bytes(300)
    monkeypatch.setattr("ringsmith.hw.firmware.build", lambda: large)
    settings = ["--set", "controller=riscv", "--set", "controller_words=64"]
    done = CliRunner().invoke(application(), ["simulate", "tiny", "ntt", "--n", "64", *settings])
    assert isinstance(done.exception, ParameterError)
    assert "the controller's firmware and one instruction have" in str(done.exception)


@needs_rust
def test_firmware_that_does_not_compile_is_told(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.rs"
    wrong.write_text("#![no_std]\n#![no_main]\nfn main() { missing() }\n")
    with pytest.raises(ToolError, match=r"does not compile:(.|\n)*missing"):
        firmware.build(wrong)


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match="rustup target add riscv32i-unknown-none-elf"):
        firmware.build()


def test_a_missing_target_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rustc = tmp_path / "rustc"
    rustc.write_text(
        '#!/bin/sh\ncase $1 in --version) echo rustc 0;; *) echo "can\'t find crate for \\`core\\`"; exit 1;; esac\n'
    )
    rustc.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(ToolError, match="rustup target add"):
        firmware.build()


def test_a_missing_processor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringsmith.hw.sources.find_spec", lambda name: None)
    # A build without controller has no file of either.
    names = [path.stem for path in sources.design("rs_top_serial", {"Controller": 0})]
    assert "rs_controller" not in names
    with pytest.raises(ToolError, match=r"pythondata-cpu-serv, is not installed: pip install 'ringsmith\[hw\]'"):
        sources.design("rs_top_serial", {"Controller": 1})
