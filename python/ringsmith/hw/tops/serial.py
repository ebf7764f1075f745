# SPDX-License-Identifier: Apache-2.0
"""The co-processor behind serial lines: SPI, UART and a byte-wide port."""

from __future__ import annotations

from ringsmith.hw import serial_frames
from ringsmith.hw.tops.system import System
from ringsmith.knobs import AXI4_PARAMETERS


class Serial(System):
    """`rs_top_serial`."""

    module = "rs_top_serial"
    harness = ("coprocessor.cpp", "serial_host.cpp")
    headers = ("coprocessor.h", "serial_lines.h", "uart_line.h")

    def parameters(self, *, clock_mhz: float | None = None) -> dict[str, int | str]:
        """Knobs of the preset and the clocks."""
        shared = super().parameters(clock_mhz=clock_mhz)
        lines = {"SerialKhz": round(self.preset.serial_mhz * 1000), "UartDivisor": self.uart_divisor}
        return {name: value for name, value in shared.items() if name not in AXI4_PARAMETERS} | lines

    def c_headers(self) -> dict[str, str]:
        """Also the frames' numbers."""
        return {**super().c_headers(), "serial_frames.h": serial_frames.c_header()}

    def texts(self) -> dict[str, str]:
        """What driver and integrator read."""
        sck = 1000 / self.preset.serial_mhz
        return {
            **super().texts(),
            "bus_note": _BUS,
            "port_note": _PORT.format(baud=round(self.clock_mhz * 1e6 / self.uart_divisor)),
            "base_note": "The serial host needs no base address.",
            "transfer_note": _TRANSFER,
            "clock_notes": _CLOCKS,
            "reset_notes": _RESET,
            "pin_notes": _PINS.format(
                divisor=self.uart_divisor,
                baud=f"{self.clock_mhz * 1e6 / self.uart_divisor:,.0f}",
                clock=f"{self.clock_mhz:g}",
            ),
            "inputs": "byte_in_valid_i byte_in_data_i byte_out_ready_i",
            "outputs": "irq_o ev_*_o cycles_o uart_tx_o byte_in_ready_o byte_out_valid_o byte_out_data_o",
            "more_constraints": _CONSTRAINTS.format(sck=f"{sck:.3f}", delay=f"{0.3 * sck / 2:.3f}"),
        }

    def data_port(self) -> str:
        """How polynomials travel."""
        return "bytes over the serial link"


_PORT = """\
This page is for a driver of your own. ringsmith's runs programs on it by the UART:
`ringsmith run KERNEL.py --on "board:/dev/ttyUSB0?baud={baud}"`."""

_BUS = """\
- A frame writes or reads whole words, one or many. A write to a register that only reads is answered Ok and does
  nothing; an address that holds no register is answered Refused."""

_TRANSFER = """
## Serial link
Frames as in `rtl/rs_serial_pkg.sv`, each with a number and CRCs: what is lost or damaged is sent again. A LOAD or STORE
waits until the host has moved its bytes: enable IRQ transfer, read
TRANSFER {valid, store, log2_n, buffer}, then send WriteData or ReadData frames for all lanes, lane 0 first.
"""

_CLOCKS = """\
- `clk_i`: core, registers, UART and byte port.
- `spi_sck_i`: the SPI slave's shift registers, asynchronous to `clk_i`. Bytes cross by a toggle through three
  flip-flops each way, beside data that has been stable since; a byte takes 8 cycles of `clk_i` or more. Nothing else
  crosses."""

_RESET = """
- Keep `spi_csn_i` high and `spi_sck_i` still while `rst_ni` rises: it also resets registers of the SPI clock."""

_PINS = """\
- `spi_sck_i`, `spi_mosi_i`, `spi_miso_o`: SPI mode 0. `spi_csn_i`: asynchronous reset of the SPI clock's shift
  registers, and synchronised to `clk_i`.
- `uart_rx_i`: asynchronous, synchronised inside; `uart_tx_o`: from a register. 8 data bits, no parity, one
  stop bit; a bit takes UartDivisor cycles of `clk_i`, here {divisor}: {baud} baud at {clock} MHz. Set the
  parameter for another rate.
- `byte_in_*`, `byte_out_*`: valid and ready in the clock's domain. `irq_o`: level. `ev_*_o`, `cycles_o` may stay
  open."""

_CONSTRAINTS = """
# The SPI clock knows nothing of the core's: bytes cross by toggles. Data leaves at the falling edge.
create_clock -name spi_sck -period {sck} [get_ports spi_sck_i]
set_clock_groups -asynchronous -group {{clk}} -group {{spi_sck}}
set_input_delay {delay} -clock spi_sck [get_ports spi_mosi_i]
set_output_delay {delay} -clock spi_sck [get_ports spi_miso_o]
set_false_path -from [get_ports {{spi_csn_i uart_rx_i}}]
"""
