# SPDX-License-Identifier: Apache-2.0
"""What a board's pins are for (`spec/pinouts/*.toml`): clock, reset button, serial port, lamp."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ringsmith.specs import Catalogue, shown

#: Dies that nextpnr knows, with the name of each in the bitstream's device.
DIES = {"12k": "LFE5U-12F", "25k": "LFE5U-25F", "45k": "LFE5U-45F", "85k": "LFE5U-85F"}
SPEEDS = (6, 7, 8)
_PIN = re.compile(r"[A-Z]{1,2}[1-9][0-9]?")
_PACKAGE = re.compile(r"[A-Z]{2,8}[0-9]{2,4}")
_IO_TYPE = re.compile(r"LVCMOS(33|25|18|15|12)|SSTL(15|135)_I")
#: Bits a second that serial ports in the field can do.
BAUDS = (9_600, 12_000_000)


@dataclass(frozen=True, kw_only=True)
class Pinout:
    """A board by its pins.

    `device` names its entry in `spec/boards`, `die` and `package` are nextpnr's names. The oscillator has `clock_mhz`,
    the core `core_mhz` by default. The reset button pulls `reset_pin` low. The board's bridge sends on `uart_rx_pin`
    and receives on `uart_tx_pin`, `baud` bits a second; `port` says where a reader finds it, `loader` is the
    board's name for openFPGALoader. A bank's voltage gives `io_type`; the button's may be another.
    The lamp is lit when its pin is `led_lit`, high or low.
    """

    name: str
    device: str
    die: str
    package: str
    speed: int
    clock_pin: str
    clock_mhz: float
    core_mhz: float
    reset_pin: str
    uart_rx_pin: str
    uart_tx_pin: str
    led_pin: str
    led_lit: str
    io_type: str
    reset_io_type: str
    baud: int
    port: str
    loader: str
    source: str

    def pins(self) -> dict[str, str]:
        """Sites of the pins by the port of the top that each is for."""
        return {
            "clk_i": self.clock_pin,
            "rst_ni": self.reset_pin,
            "uart_rx_i": self.uart_rx_pin,
            "uart_tx_o": self.uart_tx_pin,
            "led_o": self.led_pin,
        }

    def io_type_of(self, port: str) -> str:
        """Signal standard of the pin of a port of the top."""
        return self.reset_io_type if port == "rst_ni" else self.io_type


def _wrong(pinout: Pinout) -> list[str]:
    """Return what is wrong with a board's pins."""
    found = []
    if pinout.die not in DIES:
        found.append(f"die must be {', '.join(DIES)}, got {shown(pinout.die)}")
    if pinout.speed not in SPEEDS:
        found.append(f"speed must be {', '.join(map(str, SPEEDS))}, got {pinout.speed}")
    for key, rule in (("package", _PACKAGE), ("io_type", _IO_TYPE), ("reset_io_type", _IO_TYPE)):
        if not rule.fullmatch(getattr(pinout, key)):
            found.append(f"{key} is none of this family, got {shown(getattr(pinout, key))}")
    sites = pinout.pins()
    found += [
        f"{port}: {shown(site)} is no site of a package" for port, site in sites.items() if not _PIN.fullmatch(site)
    ]
    if pinout.led_lit not in ("high", "low"):
        found.append(f"led_lit must be high or low, got {shown(pinout.led_lit)}")
    if len(set(sites.values())) < len(sites):
        found.append(f"two pins have one site: {', '.join(f'{port} {site}' for port, site in sites.items())}")
    found += [
        f"{key} must be from 1 to 400 MHz, got {getattr(pinout, key):g}"
        for key in ("clock_mhz", "core_mhz")
        if not 1 <= getattr(pinout, key) <= 400
    ]
    if not BAUDS[0] <= pinout.baud <= BAUDS[1]:
        found.append(f"baud must be from {BAUDS[0]} to {BAUDS[1]}, got {pinout.baud}")
    return found


_PINOUTS = Catalogue("pinouts", Pinout, "pinout", _wrong)


def pinout_names() -> list[str]:
    """Names of the boards whose pins are known, sorted."""
    return _PINOUTS.names()


def load_pinout(name: str) -> Pinout:
    """Load a board's pins by its name. Raises InputError for an unknown one, ParameterError for a wrong file."""
    return _PINOUTS.load(name)
