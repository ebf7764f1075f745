# SPDX-License-Identifier: Apache-2.0
"""Registers at the pins of a design: one chain through all of them, by a netlist of a few pins."""

from __future__ import annotations

from typing import Any

from ringsmith.hw.synth.pins import behind_registers, pins_of, top_of

NETLIST: dict[str, Any] = {
    "creator": "by hand",
    "modules": {
        "part": {"attributes": {}, "ports": {}, "cells": {}, "netnames": {}},
        "design": {
            "attributes": {"top": "1".zfill(32), "keep": "1"},
            "ports": {
                "clk_i": {"direction": "input", "bits": [2]},
                "rst_ni": {"direction": "input", "bits": [3]},
                "out_o": {"direction": "output", "bits": [4, 5]},
                "in_i": {"direction": "input", "bits": [6, 7, 8]},
            },
            "cells": {},
            "netnames": {},
        },
    },
}


def chained() -> tuple[dict[str, Any], dict[str, Any]]:
    """The module around the design, and the design's connections in it."""
    found = behind_registers(NETLIST)
    top = found["modules"][top_of(found)]
    return top, top["cells"]["design"]["connections"]


def next_of(top: dict[str, Any], net: int) -> dict[str, Any]:
    """The register that takes a net of the chain, or the parity before it."""
    cells = [cell for cell in top["cells"].values() if cell["type"] != "design"]
    takers = [cell for cell in cells if any(cell["connections"].get(pin) == [net] for pin in ("DI", "B"))]
    assert len(takers) == 1, net
    return dict(takers[0])


def test_one_chain_goes_through_inputs_and_outputs() -> None:
    """From its input to its output; at outputs a parity of the chain and the output."""
    top, design = chained()
    net, driven, observed = top["ports"]["chain_i"]["bits"][0], [], []
    while net != top["ports"]["chain_o"]["bits"][0]:
        cell = next_of(top, net)
        if cell["type"] == "LUT4":
            table = cell["parameters"]["INIT"]
            # The last digit is that of A = B = 0; A counts once, B twice, the others are tied to zero.
            assert [int(table[-1 - (a + 2 * b)]) for b in (0, 1) for a in (0, 1)] == [0, 1, 1, 0]
            assert cell["connections"]["C"] == cell["connections"]["D"] == ["0"]
            observed += cell["connections"]["A"]
            (net,) = cell["connections"]["Z"]
            cell = next_of(top, net)
        assert cell["type"] == "TRELLIS_FF"
        assert cell["connections"]["CLK"] == design["clk_i"] == top["ports"]["clk_i"]["bits"]
        (net,) = cell["connections"]["Q"]
        driven.append(net)
    assert driven[:3] == design["in_i"]
    assert observed == design["out_o"]
    assert len(driven) == 5


def test_only_clock_reset_and_the_ends_stay_pins() -> None:
    top, design = chained()
    assert pins_of(NETLIST) == 7
    assert set(top["ports"]) == {"clk_i", "rst_ni", "chain_i", "chain_o"}
    assert top["ports"]["rst_ni"]["bits"] == design["rst_ni"]
    nets = [net for bits in design.values() for net in bits]
    assert len(nets) == len(set(nets))


def test_the_design_is_a_module_as_before() -> None:
    found = behind_registers(NETLIST)
    before, after = NETLIST["modules"]["design"], found["modules"]["design"]
    assert after == {**before, "attributes": {"keep": "1"}}
    assert found["modules"]["part"] == NETLIST["modules"]["part"]
    assert top_of(found) != top_of(NETLIST) == "design"
