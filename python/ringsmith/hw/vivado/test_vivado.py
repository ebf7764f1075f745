# SPDX-License-Identifier: Apache-2.0
"""Projects for Vivado, without it: scripts run with commands that record, the rest is read as its readers do."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from ringsmith import shipped
from ringsmith.cli import application
from ringsmith.errors import InputError, ParameterError
from ringsmith.hw import generate as generating
from ringsmith.hw.generate import generate
from ringsmith.hw.process import run
from ringsmith.hw.toolchain import verilator
from ringsmith.hw.verilator import LINT_FLAGS
from ringsmith.hw.vivado import load_platform, platform_names
from ringsmith.hw.vivado.component import NAMESPACE
from ringsmith.presets import load_preset

#: Runs a script with commands that record what they are asked in place of Vivado's, one a line, fields apart by tabs.
RECORDER = r"""
proc record {args} { puts [join $args "\t"] }
proc unknown {args} {
  record {*}$args
  set asked [lindex $args end]
  switch -glob [lindex $args 0] {
    get_ipdefs { return [string map {* 1.0} $asked] }
    get_property { return [expr {[lindex $args 1] eq "PROGRESS" ? "100%" : 0.25}] }
    create_bd_cell - get_* { return $asked }
  }
  return ""
}
set argv bitstream
source $script
"""
Records = list[list[str]]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("package") / "tiny"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generating, "_lint", lambda *_: None)
        generate(
            load_preset("tiny", {"cores": 2}), target, platforms=[load_platform(name) for name in platform_names()]
        )
    return target


def recorded(script: Path) -> Records:
    """What a script asks of Vivado."""
    text = f"set script {{{script}}}\n{RECORDER}"
    command = ["tclsh"]
    if not shutil.which("tclsh"):
        pytest.importorskip("tkinter")
        command = [sys.executable, "-c", "import sys, tkinter; tkinter.Tcl().eval(sys.stdin.read())"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split("\t") for line in done.stdout.splitlines()]


def asked(records: Records, command: str) -> Records:
    return [record[1:] for record in records if record[0] == command]


def settings(records: Records) -> dict[str, dict[str, str]]:
    """Settings of each cell."""
    found: dict[str, dict[str, str]] = {}
    for flag, values, cell in [record for record in asked(records, "set_property") if record[0] == "-dict"]:
        assert flag == "-dict"
        words = values.split()
        found.setdefault(cell, {}).update(zip(words[::2], words[1::2], strict=True))
    return found


#: Inputs that a cell of the vendor's needs, and the address spaces in which each platform has to place something.
NEEDED = {
    "processing_system7": ["M_AXI_GP0_ACLK", "S_AXI_HP0_ACLK", "IRQ_F2P"],
    "zynq_ultra_ps_e": ["maxihpm0_fpd_aclk", "saxihp0_fpd_aclk", "pl_ps_irq0"],
    "proc_sys_reset": ["slowest_sync_clk", "ext_reset_in"],
    "xdma": ["sys_clk", "sys_clk_gt", "usr_irq_req"],
    "ddr4": ["sys_rst", "c0_ddr4_aresetn", "C0_DDR4_S_AXI"],
    "clk_wiz": ["clk_in1", "resetn"],
    "util_vector_logic": ["Op1"],
    "tiny_ip": ["aclk", "aresetn", "s_axil", "m_axi"],
}
SPACES = {"ps": ["ps/Data", "core/m_axi"], "dma": ["dma/M_AXI_LITE", "dma/M_AXI", "core/m_axi"]}


def needed(records: Records) -> list[str]:
    """Inputs of all cells of a design that have to be driven."""
    found, values = [], settings(records)
    for *_, kind, cell in asked(records, "create_bd_cell"):
        name = kind.split(":")[2] if ":" in kind else kind
        found += [f"{cell}/{pin}" for pin in NEEDED.get(name, [])]
        if name == "smartconnect":
            sides = {key: int(values[cell].get(f"CONFIG.NUM_{key}", "1")) for key in ("SI", "MI", "CLKS")}
            found += [f"{cell}/S{index:02}_AXI" for index in range(sides["SI"])]
            found += [f"{cell}/M{index:02}_AXI" for index in range(sides["MI"])]
            found += [f"{cell}/aclk{index or ''}" for index in range(sides["CLKS"])] + [f"{cell}/aresetn"]
    return found


def placed(records: Records) -> dict[tuple[str, str], tuple[int, str]]:
    """Offset and range of each pair of an address space and a segment."""
    found = {}
    for record in asked(records, "assign_bd_address"):
        if "-offset" in record:
            found[record[5], record[6]] = (int(record[1], 0), record[3])
    return found


def problems(records: Records) -> list[str]:
    """Pins of unknown cells, inputs driven twice or not at all, an interrupt without end, spaces without a slave."""
    cells = {record[-1] for record in asked(records, "create_bd_cell")}
    wires, buses = asked(records, "connect_bd_net"), asked(records, "connect_bd_intf_net")
    ends = Counter(to for _, to in wires) + Counter(end for pair in buses for end in pair)
    starts = {start for start, _ in wires}
    found = [f"{pin}: no such cell" for pin in {*ends, *starts} if pin.split("/")[0] not in cells]
    found += [f"{pin}: driven twice" for pin, times in ends.items() if times > 1]
    found += [f"{pin}: open" for pin in needed(records) if pin not in ends]
    found += [] if "core/irq" in starts else ["core/irq: open"]
    spaces = {space for space, _ in placed(records)}
    host = next(host for host in SPACES if host in cells)
    return found + [f"{space}: nothing is placed" for space in SPACES[host] if space not in spaces]


@pytest.mark.parametrize("name", platform_names())
def test_the_script_makes_a_whole_design(package: Path, name: str) -> None:
    platform, folder = load_platform(name), package / "vivado" / name
    records = recorded(folder / "project.tcl")
    assert problems(records) == []
    assert asked(records, "create_project") == [[f"tiny-{name}", str(folder / "build"), "-part", platform.part]]
    files = [Path(name) for name in asked(records, "add_files")[0][-1].split()]
    assert files == [package / line for line in (package / "tiny.f").read_text().split()] + [
        package / "vivado/tiny_ip.v"
    ]
    assert all(file.exists() for file in [*files, folder / "constraints.xdc"])
    ours = ["-type", "module", "-reference", "tiny_ip", "core"]
    assert ours in asked(records, "create_bd_cell")
    where = placed(records)
    registers = "ps/Data" if platform.is_linux else "dma/M_AXI_LITE"
    assert where[registers, "core/s_axil/reg0"] == (platform.registers, "8192")
    [memory] = [value for (space, _), value in where.items() if space == "core/m_axi"]
    assert memory == (0, str(1 << platform.memory_bits))
    clock = {"zynq7000": "PCW_FPGA0_PERIPHERAL_FREQMHZ", "zynqmp": "PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ"}
    values = {key: value for cell in settings(records).values() for key, value in cell.items()}
    asked_for = values["CONFIG." + clock.get(platform.kind, "CLKOUT1_REQUESTED_OUT_FREQ")]
    assert float(asked_for) == platform.clock_mhz
    assert asked(records, "write_hw_platform")


#: A wire to a pin that is high where nothing drives it.
SPARE = {"clock/locked reset/dcm_locked"}


@pytest.mark.parametrize("name", platform_names())
def test_each_wire_bus_and_address_is_missed(package: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(package / "vivado" / name, tmp_path / "vivado" / name)
    design = tmp_path / "vivado" / name / "design.tcl"
    lines = design.read_text().splitlines()
    tried = 0
    for at, line in enumerate(lines):
        words = line.split()
        ends = range(2, len(words)) if words[:1] == ["wire"] else range(1) if words[:1] in (["bus"], ["place"]) else []
        for end in ends:
            pair = f"{words[1]} {words[end]}"
            less = "" if words[0] != "wire" else " ".join(words[:end] + words[end + 1 :]) if len(words) > 3 else ""
            design.write_text("\n".join([*lines[:at], less, *lines[at + 1 :]]))
            assert problems(recorded(design.with_name("project.tcl"))) or pair in SPARE, line
            tried += 1
    assert tried > 15


def test_the_ip_elaborates_with_the_core(package: Path) -> None:
    sources = [*(package / "tiny.f").read_text().split(), "vivado/tiny_ip.v"]
    tool = verilator()
    flags = ["--lint-only", *LINT_FLAGS, "-Wno-PINCONNECTEMPTY", "tb/lint.vlt", "--top-module", "tiny_ip"]
    command: list[str | Path] = [tool.command, *flags, *sources]
    finished = run(command, cwd=package, env=tool.environment(), timeout_s=300)
    assert finished.status == 0, finished.tail()
    # What the constraint names is there.
    assert "*u_reset/line_q_reg*/CLR" in (package / "vivado/zcu104/constraints.xdc").read_text()
    assert "rs_reset_sync u_reset" in (package / "vivado/tiny_ip.v").read_text()
    assert "line_q" in (package / "rtl/rs_reset_sync.sv").read_text()


def test_the_description_has_the_ports_the_registers_and_the_files(package: Path) -> None:
    root = ET.parse(package / "vivado/component.xml").getroot()
    space = {"i": NAMESPACE}
    ports = {port.findtext("i:name", "", space): port for port in root.iterfind(".//i:ports/i:port", space)}
    verilog = (package / "vivado/tiny_ip.v").read_text()
    declared = re.findall(r"^  (in|out)put wire (?:\[(\d+):0\] )?(\w+)", verilog, re.M)
    assert {name for _, _, name in declared} == ports.keys()
    for direction, left, name in declared:
        assert ports[name].findtext(".//i:direction", "", space) == direction
        assert ports[name].findtext(".//i:left", "", space) == left
    mapped = [pin.text for pin in root.iterfind(".//i:physicalPort/i:name", space)]
    assert set(mapped) == ports.keys() - {"irq"}
    blocks = root.findall(".//i:addressBlock", space)
    assert [block.findtext("i:baseAddress", "", space) for block in blocks] == ["'h0", "'h1000"]
    header = (package / "include/registers.h").read_text()
    for register in blocks[0].iterfind("i:register", space):
        name, offset = (register.findtext(f"i:{tag}", "", space) for tag in ("name", "addressOffset"))
        digits = offset.removeprefix("'h")
        assert re.search(rf"#define RS_{name.upper()}\b.*0x0*{digits}u\b", header), name
    files = [file.text or "" for file in root.iterfind(".//i:file/i:name", space)]
    assert len(files) > 50
    assert all((package / "vivado" / name).exists() for name in files)


def test_the_device_tree_has_the_platforms_figures(package: Path) -> None:
    text = (package / "vivado/zcu104/overlay.dts").read_text()
    for words in ("ringsmith@a0000000", "<0x0 0xa0000000 0x0 0x2000>", "<0 89 4>", "dma-mask = <31>", "&gic"):
        assert words in text
    text = (package / "vivado/pynq-z2/overlay.dts").read_text()
    for words in ("reg = <0x43c00000 0x2000>", "<0 29 4>", "dma-mask = <29>", "&intc", "#address-cells = <1>"):
        assert words in text
    assert not (package / "vivado/alveo-u200/overlay.dts").exists()


def test_a_package_says_what_it_holds(package: Path) -> None:
    assert "`vivado/README.md`" in (package / "README.md").read_text()
    assert "`pynq-z2/`" in (package / "vivado/README.md").read_text()
    assert "vivado/zcu104/project.tcl" in (package / "MANIFEST.sha256").read_text()


def test_what_cannot_stand_on_a_platform_is_refused(tmp_path: Path) -> None:
    def said(*words: str) -> str:
        done = CliRunner().invoke(application(), ["generate", *words, "-o", str(tmp_path / "out")])
        assert isinstance(done.exception, InputError)
        assert not (tmp_path / "out").exists()
        return str(done.exception)

    assert "no platform 'zcu999'; platforms: alveo-u200, pynq-z2, zcu102, zcu104" in said(
        "tiny", "--platform", "zcu999"
    )
    assert "zynq-pn3 has no AXI4 buses for a platform" in said("zynq-pn3", "--platform", "zcu104")
    with pytest.raises(InputError, match="ulx3s has no AXI4 buses"):
        generate(load_preset("ulx3s"), tmp_path / "out", platforms=[load_platform("zcu104")])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('kind = "zynqmp"', 'kind = "versal"', "kind must be zynq7000, zynqmp, xdma, got 'versal'"),
        ('part = "xc', 'part = "; exec x', "part is none of the vendor's names"),
        ('board = "zcu104"', 'board = "*"', "board is none of the vendor's names"),
        ("clock_mhz = 200.0", "clock_mhz = nan", "clock_mhz must be from 1 to 1000, got nan"),
        ("registers = 0xa0000000", "registers = 0xa0000004", "registers must be a multiple of 4096 below 2.40"),
        ("interrupt = 89", "interrupt = 0", "interrupt must be 1 to 987, or 0 on PCIe, got 0"),
        ('kind = "zynqmp"', "", "lacks kind"),
    ],
)
def test_a_file_that_describes_no_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, words: str
) -> None:
    text = (shipped.root() / "spec" / "platforms" / "zcu104.toml").read_text()
    assert old in text
    (tmp_path / "rtl").mkdir()
    (tmp_path / "spec" / "platforms").mkdir(parents=True)
    (tmp_path / "spec" / "platforms" / "zcu104.toml").write_text(text.replace(old, new))
    monkeypatch.setenv("RINGSMITH_ROOT", str(tmp_path))
    with pytest.raises(ParameterError, match=words):
        load_platform("zcu104")
