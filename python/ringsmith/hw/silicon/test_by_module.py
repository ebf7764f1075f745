# SPDX-License-Identifier: Apache-2.0
"""Modules mapped and evaluated once for all their instances: waveforms, loads, the cache; beside the flat route."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ringsmith.cli import application
from ringsmith.cli.synth_cells import CellOptions, operation_of
from ringsmith.errors import InputError, RingsmithError
from ringsmith.hw.silicon import by_module, modules
from ringsmith.hw.silicon.activity import Compared, compare_samples
from ringsmith.hw.silicon.by_module import loads
from ringsmith.hw.silicon.library import Library, load_library
from ringsmith.hw.silicon.mapping import Memory
from ringsmith.hw.silicon.modules import Modules, map_modules
from ringsmith.hw.silicon.netlist import Netlist, read_module
from ringsmith.hw.silicon.test_silicon import LIBERTY, figures
from ringsmith.hw.silicon.waveform import read_instances
from ringsmith.hw.synth.job import Design
from ringsmith.hw.synth.targets import design_of
from ringsmith.presets import load_preset

Cycle = tuple[int, int, int]
CELLS = {
    "$1": ("DFF", {"C": 2, "D": 3, "Q": 5}),
    "$2": ("INV", {"A": 5, "Y": 6}),
    "$3": ("DFF", {"C": 2, "D": 6, "Q": 4}),
}
NAMES = {"clk_i": [2], "in_i": [3], "out_o": [4], "q_q": [5], "r_q": [4]}


@pytest.fixture
def toy(tmp_path: Path) -> Library:
    path = tmp_path / "toy.lib"
    path.write_text(LIBERTY)
    return load_library(path)


def module(
    folder: Path, library: Library, names: Mapping[str, Sequence[int | str]], boxes: dict[str, dict[str, int]]
) -> Netlist:
    """A register, an inverter and a register from in_i to out_o, with boxes {name: {pin: net}} of kind `leaf`."""
    ports = {
        "clk_i": {"direction": "input", "bits": [2]},
        "in_i": {"direction": "input", "bits": [3]},
        "out_o": {"direction": "output", "bits": [4]},
    }
    made = {
        name: {"type": kind, "connections": {p: [n] for p, n in pins.items()}, "port_directions": {}}
        for name, (kind, pins) in CELLS.items()
    }
    directions = {"a_i": "input", "y_o": "output", "wr_en_i": "input"}
    for name, pins in boxes.items():
        joined = {p: [n] for p, n in pins.items()}
        made[name] = {"type": "leaf", "connections": joined, "port_directions": {p: directions[p] for p in pins}}
    wires = {name: {"bits": bits} for name, bits in names.items()}
    file = folder / "module.json"
    file.write_text(json.dumps({"modules": {"pair": {"ports": ports, "cells": made, "netnames": wires}}}))
    return read_module(file, "pair", {"leaf"}, library)


def drawn(seed: int, length: int) -> list[Cycle]:
    rng, q, r, found = random.Random(seed), 0, 0, []
    for _ in range(length):
        given = rng.randrange(2)
        found.append((given, q, r))
        q, r = given, 1 - q
    return found


def vcd(instances: dict[str, list[Cycle]]) -> str:
    """A waveform of instances of the module below `top`: values of in_i, q_q and r_q by cycle."""
    lines = ["$scope module top $end", "$var wire 1 ! clk_i $end"]
    codes = iter("abcdefghijklmnopqrstuvwxyz")
    by_place = {place: [next(codes) for _ in range(3)] for place in instances}
    for place, three in by_place.items():
        names = zip(("in_i", "q_q", "r_q"), three, strict=True)
        declared = [f"$var wire 1 {code} {name} $end" for name, code in names]
        lines += [f"$scope module {place} $end", "$var wire 1 ! clk_i $end", *declared, "$upscope $end"]
    lines += ["$upscope $end", "$enddefinitions $end"]
    for at in range(len(next(iter(instances.values())))):
        lines.append(f"#{at}")
        for place, cycles in instances.items():
            lines += [f"{value}{code}" for value, code in zip(cycles[at], by_place[place], strict=True)]
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("length", [3, 65, 100])
def test_all_instances_count(tmp_path: Path, toy: Library, length: int) -> None:
    """By hand: changes a cycle are the mean over instances, also where their pairs share a word."""
    netlist = module(tmp_path, toy, NAMES, {})
    netlist.group()
    runs = {f"u_{name}": drawn(seed, length) for seed, name in enumerate("abc")}
    path = tmp_path / "a.vcd"
    path.write_text(vcd(runs))
    (samples,) = read_instances(path, "top", [(netlist, list(runs))])
    activity, compared = compare_samples(netlist, samples)
    assert samples.pairs == 3 * (length - 1)
    assert compared == Compared(values=2 * samples.pairs)
    for name, column in {"in_i": 0, "q_q": 1, "r_q": 2}.items():
        changes = sum(a[column] != b[column] for run in runs.values() for a, b in itertools.pairwise(run))
        assert activity.changes[netlist.names[name][0]] == pytest.approx(changes / samples.pairs)


def test_an_instance_of_another_design_is_refused(tmp_path: Path, toy: Library) -> None:
    """One wrong value of one instance in a hundred cycles is too much, and named; an absent instance too."""
    netlist = module(tmp_path, toy, NAMES, {})
    netlist.group()
    runs = {f"u_{name}": drawn(seed, 100) for seed, name in enumerate("ab")}
    given, q, r = runs["u_b"][40]
    runs["u_b"][40] = given, 1 - q, r
    path = tmp_path / "a.vcd"
    path.write_text(vcd(runs))
    _, own = compare_samples(netlist, *read_instances(path, "top", [(netlist, list(runs))]))
    total = Compared()
    total.add(own, "pair.")
    with pytest.raises(InputError, match=r"\d of 396 values of registers of top \(one in pair\.\$1\)"):
        total.check("top", path)
    with pytest.raises(InputError, match=r"u_c\.\w+ is not: a waveform of another build"):
        list(read_instances(path, "top", [(netlist, ["u_c"])]))


@pytest.mark.parametrize("padding", [[], ["x"], ["0", "0"]])
def test_arrays_and_structures_that_are_not_packed(tmp_path: Path, toy: Library, padding: list[int | str]) -> None:
    """An array's first element is its lowest, a structure's first member its highest; the array may bear its name.

    Words that only the netlist's wire has are padding.
    """
    names: dict[str, list[int | str]] = {"clk_i": [2], "in_i": [3], "out_o": [4], "total[0]": [5, 4, *padding]}
    netlist = module(tmp_path, toy, names, {})
    netlist.group()
    head = "$scope module top $end\n$var wire 1 ! clk_i $end\n$var wire 1 a in_i $end\n"
    array = "$var wire 1 b total[0] $end\n$var wire 1 c total[1] $end\n"
    structure = "$scope module total[0] $end\n$var wire 1 c high $end\n$var wire 1 b low $end\n$upscope $end\n"
    cycles = drawn(7, 70)
    values = "".join(f"#{at}\n{a}a\n{b}b\n{c}c\n" for at, (a, b, c) in enumerate(cycles))
    for declared in (array, structure):
        path = tmp_path / "a.vcd"
        path.write_text(f"{head}{declared}$upscope $end\n$enddefinitions $end\n{values}")
        activity, compared = compare_samples(netlist, *read_instances(path, "top", [(netlist, [""])]))
        assert compared == Compared(values=2 * 69)
        for net, column in ((5, 1), (4, 2)):
            changes = sum(a[column] != b[column] for a, b in itertools.pairwise(cycles))
            place = netlist.names["total[0]"][(5, 4).index(net)]
            assert activity.changes[place] == pytest.approx(changes / 69)


def test_a_net_loads_the_pins_in_its_module(tmp_path: Path) -> None:
    """By hand from the library: gates, and a memory's pins as flip-flops; what a module takes counts in the module."""
    library = figures()
    swapped = {"DFF": "DFFPOSX1", "INV": "INVX1"}
    kept = {name: (swapped[kind], pins) for name, (kind, pins) in CELLS.items()}
    kept = {n: (k, {("CLK" if p == "C" else p): net for p, net in pins.items()}) for n, (k, pins) in kept.items()}
    original = dict(CELLS)
    try:
        CELLS.update(kept)
        netlist = module(tmp_path, library, NAMES, {"u_x": {"a_i": 6, "y_o": 9}})
    finally:
        CELLS.update(original)
    netlist.group()
    data = library.cells["DFFPOSX1"].inputs["D"] * 1e-12
    gate = library.cells["INVX1"].inputs["A"] * 1e-12
    nets = {name: netlist.names[name][0] for name in ("in_i", "q_q", "r_q", "clk_i")}
    inverted = netlist.pins[1]["Y"]
    alone, with_memory = loads(netlist, {}), loads(netlist, {"leaf": Memory("leaf", 8, 64)})
    assert alone[nets["in_i"]] == pytest.approx(data, abs=0)
    assert alone[nets["q_q"]] == pytest.approx(gate, abs=0)
    assert (alone[nets["r_q"]], alone[nets["clk_i"]]) == (0, 0)
    assert alone[inverted] == pytest.approx(data, abs=0)
    assert with_memory[inverted] == pytest.approx(2 * data, abs=0)
    assert float(np.sum(with_memory - alone)) == pytest.approx(data, abs=0)


def test_places_of_modules() -> None:
    children = {"top": {"u_a": "lane", "u_b": "lane", "u_m": "ram"}, "lane": {"u_x": "leaf", "u_m": "ram"}, "leaf": {}}
    found = Modules("top", {}, children, {"ram": Memory("ram", 1, 2)}).places()
    assert found == {"top": [""], "lane": ["u_a", "u_b"], "leaf": ["u_a.u_x", "u_b.u_x"]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["butterfly", "--by-module"], "go with --cells"),
        (["tiny", "--cells", "--by-module", "--route", "netlist"], "without --route netlist"),
        (["tiny", "--cells", "--by-module", "--waveform", "/nonexistent.vcd"], "no such file"),
    ],
)
def test_the_command_line_refuses(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(application(), ["synth", *arguments])
    assert isinstance(result.exception, RingsmithError), result.output
    with pytest.raises(RingsmithError, match=words):
        raise result.exception


@pytest.mark.parametrize("unit", ["(0,pf)", "(1,uf)", "(one,pf)"])
def test_a_unit_of_capacitance_that_is_none_is_refused(tmp_path: Path, unit: str) -> None:
    path = tmp_path / "bad.lib"
    path.write_text(LIBERTY.replace("(1,pf)", unit))
    with pytest.raises(InputError, match="capacitive_load_unit must be as in"):
        load_library(path)


@pytest.mark.hw
def test_an_interrupted_mapping_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was mapped stays, a module that is missing is made again, the same to the byte."""
    library = figures()
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path))
    design = design_of("butterfly", ["word_bits=20"])
    made: list[str] = []
    plain = modules._make

    def noted(name: str, text: str, library: Library, file: Path) -> None:
        made.append(name)
        if name == "rs_butterfly" and made.count(name) == 1:
            raise KeyboardInterrupt
        plain(name, text, library, file)

    monkeypatch.setattr(modules, "_make", noted)
    with pytest.raises(KeyboardInterrupt):
        map_modules(design, library, quiet=True)
    first = list(made)
    found = map_modules(design, library, quiet=True)
    assert made[len(first) :] == ["rs_butterfly"]
    assert set(found.netlists) == set(found.children) == set(first)
    assert len(first) > 1
    kept = found.netlists["rs_butterfly"].read_bytes()
    found.netlists["rs_butterfly"].unlink()
    assert map_modules(design, library, quiet=True).netlists["rs_butterfly"].read_bytes() == kept
    report = by_module.estimate_by_module(design, library, quiet=True)
    assert "power" not in report
    assert report["critical"] is None
    assert report["area_um2"] == pytest.approx(sum(row["area_um2"] for row in report["modules"]))


@pytest.mark.hw
def test_an_array_of_registers_has_as_many_words_in_the_netlist_as_in_the_design() -> None:
    """The three sums of six partial products: Yosys's wire of them has four words."""
    library = figures()
    design = Design(name="product", top="rs_mul_tiled", parameters={"AWidth": 36, "BWidth": 36})
    found = map_modules(design, library, quiet=True)
    netlist = read_module(found.netlists[design.top], design.top, {*found.children[design.top].values()}, library)
    sums = netlist.names["gen_tiles.gen_tree.gen_level[1].total[0]"]
    assert 2 * 72 < len(sums) <= 3 * 72


@pytest.mark.hw
@pytest.mark.slow
def test_by_module_is_as_flat() -> None:
    """Two lanes of two butterflies, flat and by module: energies within 5 %; those of a module within 5 % of its own or
    0.6 % of that of all cells, since a module that is mapped alone shares no gates with what is around it."""
    figures()
    build = ["--set", "butterflies=2", "--set", "word_bits=16", "--set", "n_max=64", "--set", "reduction=montgomery"]
    build += ["--set", "modulus_bits_min=14"]
    reports = {}
    for route in ((), ("--by-module",)):
        result = CliRunner().invoke(application(), ["synth", "tiny", *build, "--cells", *route, "--json"])
        assert result.exit_code == 0, result.exception
        reports[bool(route)] = json.loads(result.stdout)
    flat, apart = reports[False], reports[True]
    for key in ("internal_pj_per_cycle", "switching_pj_per_cycle", "memory_pj_per_cycle", "leakage_mw"):
        assert apart["power"][key] == pytest.approx(flat["power"][key], rel=0.05)
    assert apart["area_um2"] == pytest.approx(flat["area_um2"], rel=0.02)
    whole = sum(row["pj_per_cycle"] for row in flat["modules"])
    modules_apart = {row["module"]: row["pj_per_cycle"] for row in apart["modules"]}
    for row in flat["modules"]:
        assert modules_apart[row["module"]] == pytest.approx(row["pj_per_cycle"], rel=0.05, abs=0.006 * whole)


def test_an_operation_has_the_instructions_of_the_cycles_that_it_is_measured_in() -> None:
    """A transform alone has no transfers in its cycles; of a key switch's many overlap with work, not all."""
    alone = operation_of(load_preset("tiny"), CellOptions(operation="ntt", n=256))
    assert alone.executed == {"ntt": {"count": 1, "coefficients": 256, "reads": 256}}
    # Operands and results of a tensor cross in submissions of their own.
    tensor = operation_of(load_preset("tiny", {"dual_port_slots": 6}), CellOptions(operation="tensor", n=256))
    assert tensor.executed.keys() == {"intt", "ntt", "pmac", "pmodmul"}
    preset = load_preset("coxhe-zcu104-a1")
    switch = operation_of(preset, CellOptions(operation="key-switch", n=2048, primes=2, allow_insecure=True))
    assert switch.cycles == 9168
    assert switch.executed["ntt"] == {"count": 3, "coefficients": 3 * 2048, "reads": 3 * 2048}
    assert switch.executed["pmac"]["reads"] == 3 * 2048
    assert 0 < switch.executed["load"]["count"] < 4
    assert switch.executed["load"]["coefficients"] == pytest.approx(2048 * switch.executed["load"]["count"], rel=1e-3)
