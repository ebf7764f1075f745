# SPDX-License-Identifier: Apache-2.0
"""Opening co-processors by name: `model:PRESET` and `rtl:PRESET`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.hw.device import build_device
from ringsmith.hw.firmware import firmware
from ringsmith.presets import OPERATIONS, Preset, load_preset

KINDS = ("model", "rtl")


class Opened(Protocol):
    """A device that is open."""

    @property
    def native(self) -> _native.Device:
        """The device itself."""

    @property
    def name(self) -> str:
        """Its name in reports."""

    @property
    def clock_mhz(self) -> float:
        """The clock at which times are given."""

    def link_ms(self, size: int, cycles: int) -> float:
        """Milliseconds that a transfer takes."""

    def lacks(self, operation: str) -> str:
        """Say why the host did all of an operation."""


@dataclass(frozen=True)
class OpenDevice:
    """A device with the preset it was made from."""

    kind: str
    preset: Preset
    native: _native.Device

    @property
    def name(self) -> str:
        """Name in reports, such as `rtl:cofhee`."""
        return f"{self.kind}:{self.preset.name}"

    @property
    def clock_mhz(self) -> float:
        """The clock at which times are given: the preset's last, which is its fastest."""
        return self.preset.clock_mhz[-1]

    def link_ms(self, size: int, cycles: int) -> float:
        """Milliseconds to move `size` bytes: at the serial link's rate, or the transfer's own cycles with AXI4."""
        if self.preset.host == "serial":
            return size * 8 / self.preset.serial_mhz / 1e3
        return cycles / self.clock_mhz / 1e3

    def lacks(self, operation: str) -> str:
        """Say why the host did all of an operation."""
        if operation in OPERATIONS and operation not in self.preset.operations:
            return f"the operations of preset {self.preset.name} do not name it"
        return "the build lacks the degree, the primes or the unit for it, or fewer polynomials cross so"


def open_device(
    kind: str, preset: str | Preset, overrides: Mapping[str, Any] | None = None, *, options: str = ""
) -> OpenDevice:
    """Open the model of a preset, or its Verilated RTL (built first, then from the cache).

    `options` are those of the simulation (harness/abi.h): `registers=spi` has a serial host's commands take that line.
    """
    if kind not in KINDS:
        raise InputError(f"no device {kind!r}; there is {' and '.join(KINDS)}")
    made = preset if isinstance(preset, Preset) else load_preset(preset, overrides)
    name = f"{kind}:{made.name}"
    if kind == "model":
        return OpenDevice(
            kind, made, _native.Device.model(name, list(made.operations), made.numbers(), made.port_memory)
        )
    image = firmware(made)
    library = build_device(made)
    return OpenDevice(
        kind,
        made,
        _native.Device.rtl(name, list(made.operations), library, made.port_memory, firmware=image, options=options),
    )
