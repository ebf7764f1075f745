# SPDX-License-Identifier: Apache-2.0
"""The ports of the IP: those of `rs_top_axi` by the names that AXI tools know, and the Verilog that joins the two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ringsmith.hw.documents import template
from ringsmith.presets import Preset

CLOCK, RESET, INTERRUPT = "aclk", "aresetn", "irq"
#: The buses by their prefix: registers and data.
REGISTERS, DATA = "s_axil", "m_axi"
#: Bytes of a core's registers.
BLOCK = 4096


@dataclass(frozen=True)
class Port:
    """A port of the IP: its bus ("" for none), the bus's name of the signal, direction, width, what the core lacks.

    `constant` is what an output that the core does not have gives, or "-" for an input that it does not look at.
    """

    bus: str
    signal: str
    direction: str
    bits: int
    constant: str = ""

    @property
    def name(self) -> str:
        """Its name in the wrapper."""
        return f"{self.bus}_{self.signal.lower()}" if self.bus else self.signal

    @property
    def inner(self) -> str:
        """Its name in the core."""
        return f"{self.name}_{'i' if self.direction == 'in' else 'o'}"


def register_bytes(preset: Preset) -> int:
    """Bytes of the registers of all cores: a power of two, which Vivado wants."""
    return BLOCK << (preset.cores - 1).bit_length()


def ports(preset: Preset, data_bits: int) -> list[Port]:
    """All ports of the IP of a preset whose data port has `data_bits`."""
    alone = [Port("", CLOCK, "in", 1), Port("", RESET, "in", 1), Port("", INTERRUPT, "out", 1)]
    return [*alone, *_registers((register_bytes(preset) - 1).bit_length()), *_data(preset.address_bits, data_bits)]


def _registers(address_bits: int) -> Iterator[Port]:
    """AXI4-Lite, 32 bits, a slave."""
    widths = {"ADDR": address_bits, "DATA": 32, "STRB": 4, "RESP": 2, "PROT": 3, "VALID": 1, "READY": 1}
    for channel, forward, back in (
        ("AW", ("ADDR", "VALID"), ("READY",)),
        ("W", ("DATA", "STRB", "VALID"), ("READY",)),
        ("B", ("READY",), ("RESP", "VALID")),
        ("AR", ("ADDR", "VALID"), ("READY",)),
        ("R", ("READY",), ("DATA", "RESP", "VALID")),
    ):
        for direction, names in (("in", forward), ("out", back)):
            yield from (Port(REGISTERS, channel + name, direction, widths[name]) for name in names)
        if channel in ("AW", "AR"):
            yield Port(REGISTERS, f"{channel}PROT", "in", widths["PROT"], "-")


def _data(address_bits: int, data_bits: int) -> Iterator[Port]:
    """AXI4, a master: normal memory that may be buffered and cached, data, not secure, not privileged."""
    address = {"ADDR": address_bits, "LEN": 8, "SIZE": 3, "BURST": 2, "VALID": 1}
    fixed = {"CACHE": (4, "4'b1111"), "PROT": (3, "3'b000"), "LOCK": (1, "1'b0"), "QOS": (4, "4'b0000")}
    for channel in ("AW", "AR"):
        yield from (Port(DATA, channel + name, "out", bits) for name, bits in address.items())
        yield from (Port(DATA, channel + name, "out", bits, value) for name, (bits, value) in fixed.items())
        yield Port(DATA, f"{channel}READY", "in", 1)
    write = {"WDATA": data_bits, "WSTRB": data_bits // 8, "WLAST": 1, "WVALID": 1, "BREADY": 1, "RREADY": 1}
    answer = {"WREADY": 1, "BRESP": 2, "BVALID": 1, "RDATA": data_bits, "RRESP": 2, "RLAST": 1, "RVALID": 1}
    yield from (Port(DATA, name, "out", bits) for name, bits in write.items())
    yield from (Port(DATA, name, "in", bits) for name, bits in answer.items())


def wrapper(module: str, preset: Preset, of: list[Port]) -> str:
    """The IP's top in Verilog: the core, a reset in step with the clock, what the core's buses lack."""
    declared = ",\n".join(_declared(port) for port in of)
    joined = [
        f"    .{port.inner}({port.name})" for port in of if not port.constant and (port.bus or port.name == INTERRUPT)
    ]
    constants = [f"  assign {port.name} = {port.constant};" for port in of if port.constant not in ("", "-")]
    return template(
        "vivado/ip.v",
        module=module,
        preset=preset.name,
        ports=declared,
        joined=",\n".join(joined),
        constants="\n".join(constants),
        unused=", ".join(port.name for port in of if port.constant == "-"),
    )


def _declared(port: Port) -> str:
    """The port's line, with what tells Vivado's block designs its meaning."""
    width = f"[{port.bits - 1}:0] " if port.bits > 1 else ""
    return f"{_ATTRIBUTES.get(port.name, '')}  {port.direction}put wire {width}{port.name}"


_INFO = '  (* X_INTERFACE_INFO = "xilinx.com:signal:{what}:1.0 {name} {role}" *)\n'
_PARAMETER = '  (* X_INTERFACE_PARAMETER = "{values}" *)\n'
#: The others are told by their names.
_ATTRIBUTES = {
    CLOCK: _INFO.format(what="clock", name=CLOCK, role="CLK")
    + _PARAMETER.format(values=f"ASSOCIATED_BUSIF {REGISTERS}:{DATA}, ASSOCIATED_RESET {RESET}"),
    RESET: _INFO.format(what="reset", name=RESET, role="RST") + _PARAMETER.format(values="POLARITY ACTIVE_LOW"),
    INTERRUPT: _INFO.format(what="interrupt", name=INTERRUPT, role="INTERRUPT")
    + _PARAMETER.format(values="SENSITIVITY LEVEL_HIGH"),
}
