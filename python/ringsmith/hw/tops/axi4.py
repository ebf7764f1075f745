# SPDX-License-Identifier: Apache-2.0
"""The co-processor behind AXI4: AXI4-Lite registers, an AXI4 master for polynomials."""

from __future__ import annotations

from ringsmith.hw.tops.system import System


class Axi4(System):
    """`rs_top_axi`."""

    module = "rs_top_axi"
    harness = ("coprocessor.cpp", "axi_host.cpp")
    headers = ("coprocessor.h", "axil_master.h")

    def texts(self) -> dict[str, str]:
        """What driver and integrator read."""
        preset = self.preset
        return {
            **super().texts(),
            "bus_note": _BUS,
            "port_note": _PORT,
            "base_note": _BASE.format(bits=preset.address_bits, bytes=preset.buffer_bytes),
            "transfer_note": "",
            "clock_notes": "- `clk_i`, the only clock: core, registers and both buses.",
            "reset_notes": _RESET,
            "pin_notes": _PINS.format(port_bits=self.port_bits()),
            "inputs": "s_axil_*_i m_axi_*_i",
            "outputs": "irq_o ev_*_o cycles_o s_axil_*_o m_axi_*_o",
            "more_constraints": "",
        }

    def data_port(self) -> str:
        """How polynomials travel."""
        return f"a word of {'every lane' if self.preset.wide_port else 'one lane'} at a time"

    def port_bits(self) -> int:
        """Data bits of the AXI4 master, as beat_bits of rs_core_pkg has them: a power of two, at most 1,024."""
        preset = self.preset
        copies = preset.lanes if preset.wide_port else 1
        return min(1024, 1 << (copies * preset.butterflies * preset.word_bytes * 8 - 1).bit_length())


_PORT = """\
This page is for a driver of your own. ringsmith's runs programs on it: `ringsmith run KERNEL.py --on ADDRESS`, where
ADDRESS is `board:uio:ringsmith` in a Zynq, with the device tree's overlay as `ringsmith generate --platform` writes it,
and `board:xdma:0` on a PCIe card with AMD's XDMA; another name is the device tree's, another number the card's."""

_BUS = """\
- On AXI4-Lite bytes whose WSTRB is 0 keep their value, and an action of CONTROL or a clearing 1 in IRQ_STATUS acts only
  in a byte that is enabled; COMMAND_HI pushes when any byte is. A write to a register that only reads is answered OKAY
  and does nothing; an address that holds no register is answered SLVERR."""

_BASE = """\
Write the address of host buffer 0, a multiple of 4096, to DMA_BASE while the core is idle. Addresses have {bits} bits
   (HOST_PORT.address_bits); higher bits of DMA_BASE read 0. Host buffer b takes {bytes} bytes from
   DMA_BASE + b * {bytes} on; a LOAD or STORE of one that ends beyond 2^{bits} stops the core with
   ERROR.cause 9 before it touches the bus."""

_RESET = """
- Reset the bus behind `m_axi` together with this design, or let it come to rest before."""

_PINS = """\
- `s_axil_*`: AXI4-Lite slave, 32 bits, the registers of core c at c * 4096 and following; `m_axi_*`:
  AXI4 master, {port_bits} data bits, INCR bursts of whole beats, one ID.
- `irq_o`: level, in the clock's domain. `ev_*_o`, `cycles_o`: events for a timeline; may stay open."""
