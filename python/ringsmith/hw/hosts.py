# SPDX-License-Identifier: Apache-2.0
"""Texts on the host's clocks, reset and pins, for `docs/integration.md` and the constraints."""

from __future__ import annotations

AXI4 = {
    "clock_notes": "- `clk_i`, the only clock: core, registers and both buses.",
    "reset_notes": "- Reset the bus behind `m_axi` together with this design, or let it come to rest before.",
    "pin_notes": """\
- `s_axil_*`: AXI4-Lite slave, 32 bits, the registers of core c at c * 4096 and following; `m_axi_*`:
  AXI4 master, $port_bits data bits, INCR bursts of whole beats, one ID.
- `irq_o`: level, in the clock's domain. `ev_*_o`, `cycles_o`: events for a timeline; may stay open.""",
    "inputs": "s_axil_*_i m_axi_*_i",
    "outputs": "s_axil_*_o m_axi_*_o",
    "serial_constraints": "",
}
SERIAL = {
    "clock_notes": """\
- `clk_i`: core, registers, UART and byte port.
- `spi_sck_i`: the SPI slave's shift registers, asynchronous to `clk_i`. Bytes cross by a toggle through three
  flip-flops each way, beside data that has been stable since; a byte takes 8 cycles of `clk_i` or more. Nothing else
  crosses.""",
    "reset_notes": """\
- Keep `spi_csn_i` high and `spi_sck_i` still while `rst_ni` rises: it also resets registers of the SPI clock.""",
    "pin_notes": """\
- `spi_sck_i`, `spi_mosi_i`, `spi_miso_o`: SPI mode 0. `spi_csn_i`: asynchronous reset of the SPI clock's shift
  registers, and synchronised to `clk_i`.
- `uart_rx_i`: asynchronous, synchronised inside; `uart_tx_o`: from a register. 8 data bits, no parity, one
  stop bit; a bit takes UartDivisor cycles of `clk_i`, here $uart_divisor: $uart_baud baud at $clock_mhz MHz. Set the
  parameter for another rate.
- `byte_in_*`, `byte_out_*`: valid and ready in the clock's domain. `irq_o`: level. `ev_*_o`, `cycles_o` may stay
  open.""",
    "inputs": "byte_in_valid_i byte_in_data_i byte_out_ready_i",
    "outputs": "uart_tx_o byte_in_ready_o byte_out_valid_o byte_out_data_o",
    "serial_constraints": """
# The SPI clock knows nothing of the core's: bytes cross by toggles. Data leaves at the falling edge.
create_clock -name spi_sck -period $sck_ns [get_ports spi_sck_i]
set_clock_groups -asynchronous -group {clk} -group {spi_sck}
set_input_delay $sck_delay_ns -clock spi_sck [get_ports spi_mosi_i]
set_output_delay $sck_delay_ns -clock spi_sck [get_ports spi_miso_o]
set_false_path -from [get_ports {spi_csn_i uart_rx_i}]
""",
}
