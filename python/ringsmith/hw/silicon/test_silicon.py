# SPDX-License-Identifier: Apache-2.0
"""Cell libraries, netlists, waveforms, activities, memories and scaling; what is refused, and with which words."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ringsmith.cli import application
from ringsmith.errors import InputError, RingsmithError, ToolError
from ringsmith.hw.silicon import library as libraries
from ringsmith.hw.silicon import memories, sta
from ringsmith.hw.silicon.activity import Activity, of_saif, of_samples
from ringsmith.hw.silicon.library import Library, expression, load_library
from ringsmith.hw.silicon.mapping import FANOUT, Mapped, Memory
from ringsmith.hw.silicon.netlist import Netlist, evaluated, read_netlist, write_behaviour, write_structure
from ringsmith.hw.silicon.scaling import Node, scaled
from ringsmith.hw.silicon.waveform import read_samples

TABLE = 'internal_power() { related_pin : "A"; rise_power(t) { values("1"); } }'
LIBERTY = f"""
/* a comment with }} in it */
library (toy) {{
  nom_voltage : 2.0; capacitive_load_unit (1,pf);
  cell (INV) {{ area : 2; cell_leakage_power : 1; pin (A) {{ direction : input; capacitance : 0.5; }}
    pin (Y) {{ direction : output; function : "A'"; {TABLE} }} }}
  cell (BUF) {{ area : 3; cell_leakage_power : 1; pin (A) {{ direction : input; capacitance : 0.5; }}
    pin (Y) {{ direction : output; function : "A"; max_capacitance : 4; }} }}
  cell (AOI) {{ area : 4; cell_leakage_power : 1; pin (A) {{ direction : input; }} pin (B) {{ direction : input; }}
    pin (C) {{ direction : input; }} pin (Y) {{ direction : output; function : "!((A B)+C)"; }} }}
  cell (LATCH) {{ latch (Q1, Q2) {{ enable : "G"; }} pin (G) {{ direction : input; }}
    pin (Q) {{ direction : output; function : "Q1"; }} }}
  cell (DFF) {{ area : 10; cell_leakage_power : 1; ff (IQ, IQN) {{ clocked_on : "C"; next_state : "D"; }}
    pin (C) {{ direction : input; clock : true; }} pin (D) {{ direction : input; }}
    pin (Q) {{ direction : output; function : "IQ"; }} pin (QN) {{ direction : output; function : "IQN"; }} }}
}}
"""


@pytest.fixture
def toy(tmp_path: Path) -> Library:
    path = tmp_path / "toy.lib"
    path.write_text(LIBERTY)
    return load_library(path)


def folded(tmp_path: Path, cells: dict[str, tuple[str, dict[str, int]]], names: dict[str, list[int]]) -> Mapped:
    """A mapped design `top` of cells {name: (kind, {pin: net})}; nets 2 clk_i, 3 in_i, 4 out_o."""
    ports = {
        "clk_i": {"direction": "input", "bits": [2]},
        "in_i": {"direction": "input", "bits": [3]},
        "out_o": {"direction": "output", "bits": [4]},
    }
    made = {
        name: {"type": kind, "connections": {p: [n] for p, n in pins.items()}, "port_directions": {}}
        for name, (kind, pins) in cells.items()
    }
    wires = {name: {"bits": bits} for name, bits in {"clk_i": [2], "in_i": [3], "out_o": [4], **names}.items()}
    text = json.dumps({"modules": {"top": {"ports": ports, "cells": made, "netnames": wires}}})
    (tmp_path / "netlist.json").write_text(text)
    return Mapped("top", tmp_path, {"top": {"u_a": "leaf"}, "leaf": {}}, {})


@pytest.fixture
def chain(tmp_path: Path, toy: Library) -> Netlist:
    """in_i -> register q -> inverter -> register r -> out_o."""
    cells = {
        "u_a.$1": ("DFF", {"C": 2, "D": 3, "Q": 5}),
        "$2": ("INV", {"A": 5, "Y": 6}),
        "$3": ("DFF", {"C": 2, "D": 6, "Q": 4}),
    }
    mapped = folded(tmp_path, cells, {"u_a.q_q": [5], "r_q": [4]})
    assert mapped.module_of("u_a.$1") == "leaf"
    assert mapped.module_of("$2") == "top"
    return read_netlist(mapped, toy)


def vcd(cycles: list[tuple[int, int, int]], *, scope: str = "top", clocked: bool = False) -> str:
    """A waveform of in_i, u_a.q_q and r_q: values by cycle, or with a clock that rises where a cycle ends."""
    lines = [f"$scope module {scope} $end", "$var wire 1 ! clk_i $end", "$var wire 1 a in_i $end"]
    lines += ["$scope module u_a $end", "$var wire 1 b q_q $end", "$upscope $end", "$var wire 1 c r_q $end"]
    lines += ["$upscope $end", "$enddefinitions $end"]
    for at, values in enumerate(cycles):
        lines.append(f"#{10 * at + 10 if clocked else at}")
        if clocked and at:
            lines.append("1!")
        lines += [f"{value}{code}" for value, code in zip(values, "abc", strict=True)]
        if clocked:
            lines += [f"#{10 * at + 15}", "0!"]
    return "\n".join([*lines, *(["#9999", "1!"] if clocked else []), ""])


def run_of(length: int) -> list[tuple[int, int, int]]:
    rng = random.Random(length)
    q = r = 0
    found = []
    for _ in range(length):
        given = rng.randrange(2)
        found.append((given, q, r))
        q, r = given, 1 - q
    return found


@pytest.mark.parametrize(
    "text", ["A'", "!A B", "(A B)+C'", "A*B^C", "!(A+B) & C", "A B' + A' B", "(A|B)(B|C)", "0 + A", "1 * B"]
)
def test_functions_mean_what_liberty_says(text: str) -> None:
    """Against Python's own operators, in the same order of precedence: not, and, exclusive or, or."""
    plain = {"A'": "not A", "!A B": "(not A) and B", "(A B)+C'": "(A and B) or not C", "A*B^C": "(A and B) != C"}
    plain |= {"!(A+B) & C": "not (A or B) and C", "A B' + A' B": "A != B", "(A|B)(B|C)": "(A or B) and (B or C)"}
    plain |= {"0 + A": "A", "1 * B": "B"}
    found = expression(text, "here")
    for bits in itertools.product((0, 1), repeat=3):
        pins = dict(zip("ABC", bits, strict=True))
        words = {pin: np.array([bit], dtype=np.uint64) for pin, bit in pins.items()}
        assert int(evaluated(found, words)[0]) & 1 == int(bool(eval(plain[text], {}, pins)))


@pytest.mark.parametrize("text", ["A B)", "(A", "A +", "", "A;B", "__import__('os')", "A ? B"])
def test_what_is_no_function_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"here: .* is no function"):
        expression(text, "here")


def test_a_library_is_read_without_latches(toy: Library) -> None:
    assert set(toy.cells) == {"INV", "BUF", "AOI", "DFF"}
    assert toy.voltage == 2.0
    assert toy.cells["DFF"].functions == {"Q": "Q", "QN": "~Q"}
    assert toy.cells["DFF"].edge == ("C", True)
    buffer = toy.buffer()
    assert buffer is not None
    assert buffer.name == "BUF"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (TABLE, "", "no power tables"),
        ("cell_leakage_power : 1;", "", "no leakage"),
        ("ff (IQ, IQN)", "ffx (IQ, IQN)", "no flip-flop"),
        ("nom_voltage : 2.0", "nom_voltage : high", "nom_voltage must be a voltage"),
        ("nom_voltage : 2.0;", "", "got nothing"),
        ("\n}", "\n", "not a whole liberty file"),
        ('function : "A\'"', 'function : "A ("', "is no function of its pins"),
        ("library (toy)", "libary (toy)", "not a liberty file"),
    ],
)
def test_a_library_unfit_for_power_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "bad.lib"
    path.write_text(LIBERTY.replace(old, new))
    with pytest.raises(InputError, match=words):
        load_library(path)


def test_without_the_open_library_the_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(libraries, "OSU018", tmp_path / "none.lib")
    with pytest.raises(ToolError, match="apt install qflow-tech-osu018"):
        libraries.default_library()


def test_without_opensta_the_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(application(), ["synth", "butterfly", "--cells"])
    assert isinstance(result.exception, ToolError)
    assert str(result.exception) == "OpenSTA (sta) is missing: install it (Debian and Ubuntu: apt install opensta)"


@pytest.mark.parametrize("clocked", [False, True])
@pytest.mark.parametrize("length", [3, 64, 65, 200])
def test_activity_of_a_waveform(tmp_path: Path, chain: Netlist, length: int, clocked: bool) -> None:
    """Counted by hand, over more cycles than a word has bits."""
    cycles = run_of(length)
    path = tmp_path / "a.vcd"
    path.write_text(vcd(cycles, clocked=clocked))
    found = of_samples(chain, read_samples(path, chain), path)
    assert found.cycles == length - 1
    nets = {"in_i": 0, "u_a.q_q": 1, "r_q": 2}
    for name, column in nets.items():
        changes = sum(a[column] != b[column] for a, b in itertools.pairwise(cycles))
        assert found.changes[chain.names[name][0]] == changes / (length - 1)
    inverter = chain.pins[1]
    assert found.changes[inverter["Y"]] == found.changes[inverter["A"]]
    assert found.ones[inverter["Y"]] == pytest.approx(1 - found.ones[inverter["A"]])


def test_a_waveform_of_other_behaviour_is_refused(tmp_path: Path, chain: Netlist) -> None:
    cycles = run_of(100)
    cycles[50] = (cycles[50][0], cycles[50][1], 1 - cycles[50][2])
    path = tmp_path / "a.vcd"
    path.write_text(vcd(cycles))
    with pytest.raises(InputError, match=r"does not match the netlist: \d of 198 values"):
        of_samples(chain, read_samples(path, chain), path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has \\$enddefinitions"),
        ("nonsense\n" * 10, "has \\$enddefinitions"),
        (vcd(run_of(9), scope="other"), "waveform of another design"),
        (vcd(run_of(9)).replace("r_q", "s_q"), "r_q is not|registers, inputs"),
        (vcd(run_of(1)), "no two consecutive cycles"),
        (vcd([]), "no two consecutive cycles"),
        ("\n".join(line for line in vcd(run_of(9)).split("\n") if line[:1] != "#" or int(line[1:]) % 2), "consecutive"),
    ],
)
def test_waveforms_of_nothing_are_refused(tmp_path: Path, chain: Netlist, text: str, words: str) -> None:
    path = tmp_path / "a.vcd"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        read_samples(path, chain)


def test_a_narrower_signal_is_of_another_build(tmp_path: Path, toy: Library) -> None:
    cells = {"$1": ("DFF", {"C": 2, "D": 3, "Q": 5}), "$3": ("DFF", {"C": 2, "D": 5, "Q": 4})}
    netlist = read_netlist(folded(tmp_path, cells, {"u_a.q_q": [5, 4]}), toy)
    path = tmp_path / "a.vcd"
    path.write_text(vcd(run_of(9)))
    with pytest.raises(InputError, match=r"u_a\.q_q has 1 bits, in the netlist of top 2"):
        read_samples(path, netlist)


def test_a_simulators_counts_are_read(tmp_path: Path, chain: Netlist) -> None:
    chain.group()
    lines = [f"(n{net} (T0 6) (T1 4) (TZ 0) (TX 0) (TB 0) (TC {net}))" for net in range(chain.nets)]
    path = tmp_path / "a.saif"
    path.write_text("\n".join(lines))
    found = of_saif(chain, path)
    assert found.cycles == 10
    assert found.changes[5] == 0.5
    assert found.ones[5] == 0.4
    path.write_text("\n".join(lines[:2]))
    with pytest.raises(ToolError, match=r"2 of \d+ nets"):
        of_saif(chain, path)


def test_large_nets_are_split_and_mean_the_same(tmp_path: Path, toy: Library) -> None:
    """Every load of a net with 1,000 loads sees its value, no net has more than FANOUT."""
    cells = {f"$l{i}": ("INV", {"A": 3, "Y": 100 + i}) for i in range(1000)}
    netlist = read_netlist(folded(tmp_path, {**cells, "$r": ("DFF", {"C": 2, "D": 100, "Q": 4})}, {}), toy)
    assert netlist.buffer_large_nets() == 63 + 4
    loads: dict[int, int] = {}
    for kind, pins in zip(netlist.kinds, netlist.pins, strict=True):
        if kind != "DFF":
            loads[pins["A"]] = loads.get(pins["A"], 0) + 1
    assert max(loads.values()) <= FANOUT
    netlist.group()
    values = np.zeros((netlist.nets, 1), dtype=np.uint64)
    given = netlist.ports["in_i"][1][0]
    values[given] = 0x123456789ABCDEF0
    netlist.evaluate(values)
    outputs = [pins["Y"] for kind, pins in zip(netlist.kinds, netlist.pins, strict=True) if kind == "INV"]
    assert set(values[outputs].ravel().tolist()) == {0xFFFFFFFFFFFFFFFF ^ 0x123456789ABCDEF0}


def test_gates_in_a_circle_are_refused(tmp_path: Path, toy: Library) -> None:
    cells = {"$1": ("INV", {"A": 5, "Y": 6}), "$2": ("INV", {"A": 6, "Y": 5}), "$3": ("DFF", {"C": 2, "D": 5, "Q": 4})}
    netlist = read_netlist(folded(tmp_path, cells, {}), toy)
    netlist.group()
    with pytest.raises(ToolError, match="in a circle"):
        netlist.evaluate(np.zeros((netlist.nets, 1), dtype=np.uint64))


def test_an_unknown_cell_is_named(tmp_path: Path, toy: Library) -> None:
    with pytest.raises(ToolError, match="cell MYSTERY at u_x"):
        read_netlist(folded(tmp_path, {"u_x": ("MYSTERY", {"A": 3})}, {}), toy)


def test_a_memory_is_made_of_published_macros() -> None:
    """By hand from the data sheets: 40 bits are five macros side by side; 1,024 words two on top, one of them works."""
    small, large = memories.tiled(8, 64), memories.tiled(40, 1024)
    assert small.read_pj == pytest.approx(168.6798)
    assert large.read_pj == pytest.approx(5 * 206.352)
    assert large.write_pj == pytest.approx(5 * 225.126)
    assert large.area_um2 == pytest.approx(10 * 209400.2768)
    assert memories.tiled(1, 2).area_um2 == small.area_um2
    assert memories.tiled(9, 65).read_pj == pytest.approx(2 * 177.5466)


def test_a_scaling_is_the_rule_it_names() -> None:
    report = {
        "area_um2": 36e6,
        "memories": [{"area_um2": 18e6}],
        "power": {"cells_uj": 81.0, "memories_uj": 40.5, "cycles": 10},
    }
    found = scaled(report, Node(180, 1.8), Node(60, 0.6))
    assert found["energy_factor"] == pytest.approx(1 / 27)
    assert found["area_mm2"] == pytest.approx(4)
    assert found["total_uj"] == pytest.approx(4.5)
    assert found["total_mm2"] == pytest.approx(6)
    assert "cells_uj" not in scaled({**report, "power": {}}, Node(180, 1.8), Node(60, 0.6))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["butterfly", "--operation", "ntt"], "go with --cells"),
        (["butterfly", "--route", "netlist"], "go with --cells"),
        (["butterfly", "--cells", "--place"], "is no FPGA"),
        (["butterfly", "--cells", "--board", "zcu102"], "is no FPGA"),
        (["butterfly", "--cells", "--operation", "ntt"], "runs no operation"),
        (["zynq-pn3", "--cells", "--operation", "ntt"], "runs no operation"),
        (["tiny", "--cells", "--route", "guess"], "rtl or netlist"),
        (["tiny", "--cells", "--waveform", "/nonexistent.vcd"], "no such file"),
        (["tiny", "--cells", "--waveform", "/dev/null", "--operation", "ntt"], "without --operation"),
        (["tiny", "--cells", "--operation", "fly"], "no instruction or operation|instruction"),
        (["tiny", "--cells", "--n", "100"], "power of two"),
        (["tiny", "--cells", "--scale", "28"], "as in 28,0.64"),
        (["tiny", "--cells", "--scale", "360,1.8"], "as in 28,0.64"),
        (["tiny", "--cells", "--scale", "28,0.64", "--liberty", "mine.lib"], "the node is not known"),
        (["butterfly", "--cells", "--liberty", "/nonexistent.lib"], "no such file"),
        (["heaws", "--cells", "--operation", "multiply"], "insecure"),
    ],
)
def test_the_command_line_refuses(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(application(), ["synth", *arguments])
    assert isinstance(result.exception, RingsmithError), result.output
    assert len(str(result.exception).splitlines()) == 1
    with pytest.raises(RingsmithError, match=words):
        raise result.exception


def figures() -> Library:
    """The open library, with OpenSTA; a test that needs them is left out where they are not installed."""
    if not libraries.OSU018.is_file():
        pytest.skip("no cell library: install the Debian package qflow-tech-osu018")
    try:
        sta.require()
    except ToolError:
        pytest.skip("no OpenSTA: install the Debian package opensta")
    return load_library(libraries.OSU018)


def test_energy_on_a_net_is_half_c_v_squared(tmp_path: Path) -> None:
    """An inverter between registers that loads three gates: by hand from the library's capacitances."""
    library = figures()
    cells = {
        "$r": ("DFFPOSX1", {"CLK": 2, "D": 3, "Q": 5}),
        "$i": ("INVX1", {"A": 5, "Y": 6}),
        **{f"$n{i}": ("NAND2X1", {"A": 6, "B": 3, "Y": 10 + i}) for i in range(3)},
        "$s": ("DFFPOSX1", {"CLK": 2, "D": 10, "Q": 4}),
    }
    netlist = read_netlist(folded(tmp_path, cells, {"u_a.q_q": [5], "r_q": [4]}), library)
    netlist.group()
    changes = np.zeros(netlist.nets)
    changes[netlist.pins[1]["Y"]] = 0.25
    structure = tmp_path / "structure.v"
    write_structure(netlist, structure)
    path, power = sta.analyse(
        netlist, library, structure, tmp_path, Activity(changes, np.full(netlist.nets, 0.5), 1, "rtl")
    )
    assert path is not None
    assert [kind for _, _, kind in path.cells] == ["DFFPOSX1", "INVX1", "NAND2X1", "DFFPOSX1"]
    assert 0.3 < path.ns < 2
    assert power is not None
    load = 3 * library.cells["NAND2X1"].inputs["A"] * 1e-12
    assert power.switching[1] == pytest.approx(0.25 * load * library.voltage**2 / 2, rel=1e-4, abs=0)
    assert power.switching[2:].sum() == 0
    assert power.internal[1] > 0
    assert power.internal[2] == 0
    assert power.leakage[1] == pytest.approx(2.2174e-11, rel=1e-3, abs=0)


def test_the_simulated_netlist_is_the_netlist(tmp_path: Path, chain: Netlist) -> None:
    path = tmp_path / "top.v"
    chain.group()
    write_behaviour(chain, path)
    text = path.read_text()
    assert "assign n" in text
    assert text.count("always @(posedge n") == 2
    assert Memory("m", 8, 4).words == 4


def test_activities_are_taken_as_given(tmp_path: Path) -> None:
    """Random netlists: OpenSTA keeps every activity, behind inputs, resets, constants and registers alike."""
    library = figures()
    rng = random.Random(5)
    kinds = ["INVX1", "NAND2X1", "XOR2X1", "AOI21X1", "BUFX4", "DFFPOSX1"]
    nets, cells = [3], {"$r0": ("DFFSR", {"CLK": 2, "D": 3, "Q": 5, "R": 7, "S": 8})}
    for at in range(300):
        cell = library.cells[rng.choice(kinds)]
        pins = {pin: 2 if pin == cell.edge[0] else rng.choice([*nets[-40:], 3, 7, 5]) for pin in cell.inputs}
        cells[f"$c{at}"] = (cell.name, {**pins, next(iter(cell.functions)): 100 + at})
        nets.append(100 + at)
    cells["$r1"] = ("DFFPOSX1", {"CLK": 2, "D": nets[-1], "Q": 4})
    netlist = read_netlist(folded(tmp_path, cells, {}), library)
    netlist.ports["rst_ni"] = ("input", [netlist.pins[0]["R"]])
    netlist.ports["in2_i"] = ("input", [netlist.pins[0]["S"]])
    netlist.group()
    drawn = np.array([rng.random() for _ in range(netlist.nets)])
    structure = tmp_path / "structure.v"
    write_structure(netlist, structure)
    _, power = sta.analyse(netlist, library, structure, tmp_path, Activity(drawn, drawn / 2, 1, "rtl"))
    assert power is not None
    assert power.missing == 0
    loads = np.zeros(netlist.nets)
    for kind, joined in zip(netlist.kinds, netlist.pins, strict=True):
        for pin, capacitance in library.cells[kind].inputs.items():
            loads[joined[pin]] += capacitance
    for place, (kind, joined) in enumerate(zip(netlist.kinds, netlist.pins, strict=True)):
        net = joined[next(iter(library.cells[kind].functions))]
        by_hand = drawn[net] * loads[net] * 1e-12 * library.voltage**2 / 2
        assert power.switching[place] == pytest.approx(by_hand, rel=0.02, abs=1e-20), (kind, joined)


@pytest.mark.hw
@pytest.mark.slow
def test_two_routes_to_the_energy_of_a_transform_agree() -> None:
    """Counted on the simulated netlist, and evaluated from the RTL's waveform: within 25 %, each module too."""
    figures()
    build = ["--set", "lanes=1", "--set", "butterflies=1", "--set", "word_bits=16", "--set", "n_max=64"]
    reports = {}
    for route in ("rtl", "netlist"):
        result = CliRunner().invoke(application(), ["synth", "tiny", *build, "--cells", "--route", route, "--json"])
        assert result.exit_code == 0, result.exception
        reports[route] = json.loads(result.stdout)
    rtl, netlist = (reports[route]["power"] for route in ("rtl", "netlist"))
    assert (rtl["route"], netlist["route"]) == ("rtl", "netlist")
    for key in ("internal_pj_per_cycle", "switching_pj_per_cycle", "memory_pj_per_cycle"):
        assert rtl[key] == pytest.approx(netlist[key], rel=0.25)
    modules = {row["module"]: row["pj_per_cycle"] for row in reports["netlist"]["modules"]}
    for row in reports["rtl"]["modules"]:
        assert row["pj_per_cycle"] == pytest.approx(modules[row["module"]], rel=0.25, abs=1)
