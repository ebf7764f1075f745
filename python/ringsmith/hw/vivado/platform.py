# SPDX-License-Identifier: Apache-2.0
"""Platforms (`spec/platforms/*.toml`): a board with a host beside the programmable logic, in the chip or on PCIe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ringsmith.specs import Catalogue, shown

#: Hosts that a block design is known for, and the bits of an address in the memory that it gives the core, from 0 on.
KINDS = {"zynq7000": 29, "zynqmp": 31, "xdma": 34}
_PART = re.compile(r"xc[0-9a-z]{3,14}-[0-9a-z-]{1,20}")
_BOARD = re.compile(r"[a-z0-9][a-z0-9_-]{1,30}")
#: Registers begin at a multiple of what Vivado gives a slave at least, in a host's address space.
PAGE, HOST_BITS = 4096, 40


@dataclass(frozen=True, kw_only=True)
class Platform:
    """A platform by what Vivado and Linux call it.

    `kind` is the host: `zynq7000` and `zynqmp` processing systems, `xdma` a PCIe card with AMD's DMA. `part` is the
    device, `board` the name in the vendor's board files. The core runs at `clock_mhz`. Its registers begin at byte
    `registers` of the host's address space (of the card's BAR for `xdma`); `interrupt` is the number of its line among
    the shared ones of the interrupt controller, 0 on PCIe. `source` says where this was read.
    """

    name: str
    kind: str
    part: str
    board: str
    clock_mhz: float
    registers: int
    interrupt: int
    source: str

    @property
    def memory_bits(self) -> int:
        """Bits of an address in the memory that the core's data port is given."""
        return KINDS[self.kind]

    @property
    def is_linux(self) -> bool:
        """Whether the host is in the chip, so that Linux there is told of the core by a device tree."""
        return self.kind != "xdma"


def _wrong(platform: Platform) -> Iterator[str]:
    """Yield what is wrong with a platform's values."""
    if platform.kind not in KINDS:
        yield f"kind must be {', '.join(KINDS)}, got {shown(platform.kind)}"
    for key, form in (("part", _PART), ("board", _BOARD)):
        if not form.fullmatch(getattr(platform, key)):
            yield f"{key} is none of the vendor's names, got {shown(getattr(platform, key))}"
    if not 1 <= platform.clock_mhz <= 1000:
        yield f"clock_mhz must be from 1 to 1000, got {platform.clock_mhz:g}"
    if platform.registers % PAGE or not 0 <= platform.registers < 1 << HOST_BITS:
        yield f"registers must be a multiple of {PAGE} below 2^{HOST_BITS}, got {platform.registers:#x}"
    if not 0 <= platform.interrupt <= 987 or (platform.interrupt > 0) != platform.is_linux:
        yield f"interrupt must be 1 to 987, or 0 on PCIe, got {platform.interrupt}"


_PLATFORMS = Catalogue("platforms", Platform, "platform", _wrong)


def platform_names() -> list[str]:
    """Names of the platforms that ship with the package, sorted."""
    return _PLATFORMS.names()


def load_platform(name: str) -> Platform:
    """Load a platform by name. Raises InputError for an unknown one, ParameterError for a file that describes none."""
    return _PLATFORMS.load(name)
