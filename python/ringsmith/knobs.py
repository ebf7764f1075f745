# SPDX-License-Identifier: Apache-2.0
# Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit.
# ruff: noqa: E501, E713
# fmt: off
"""The knobs of a hardware build: docs/knobs.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


def _ceil_log2(x: int) -> int:
    return (x - 1).bit_length() if x > 1 else 0


# Numbers of names.
REDUCTION = {"barrett": 0, "montgomery": 1}
MULTIPLIER = {"asic": 0, "dsp26x17": 1, "dsp18x18": 2}
MONTGOMERY_STEPS = {"dsp": 0, "mixed": 1, "luts": 2}
TWIDDLES = {"slot": 0, "memory": 1}
HOST = {"axi4": 0, "serial": 1}
CONTROLLER = {"none": 0, "riscv": 1}
VARIANT = {"cn": 0, "pn3": 1, "pn1": 2, "pn3d": 3, "stream": 4}

# Parameters that the top behind AXI4 alone has.
AXI4_PARAMETERS = ("AddrWidth", "WidePort", "EnStream", "Cores",)

# Fields of core_cfg_t in SystemVerilog, the highest first: bits, and the value in SmallCore.
CORE_CFG = {
    "W": (32, 32),
    "Lanes": (32, 1),
    "P": (32, 2),
    "NMaxLog2": (32, 6),
    "MulKind": (32, 0),
    "MulStyle": (32, 1),
    "MontSteps": (32, 0),
    "ModMinBits": (32, 5),
    "EnPmul": (1, 1),
    "EnCyclic": (1, 1),
    "Moduli": (32, 2),
    "Consts": (32, 4),
    "RnsRate": (32, 0),
    "RnsConversions": (32, 2),
    "RnsEntries": (32, 16),
    "Moves": (32, 0),
    "AddrWidth": (32, 40),
    "WidePort": (1, 0),
    "EnStream": (1, 0),
    "EnPointwise": (1, 0),
    "Controller": (32, 0),
    "ControllerWords": (32, 1024),
    "Cores": (32, 1),
    "FifoDepth": (32, 16),
    "Slots": (32, 5),
    "SinglePort": (32, 16),
    "TwTables": (32, 2),
    "MontW": (32, 7),
}


@dataclass(frozen=True, kw_only=True)
class Knobs:
    """The hardware knobs of a preset, and the values derived from them."""

    word_bits: int
    lanes: int
    butterflies: int
    n_max: int
    reduction: str = "montgomery"
    multiplier: str = "dsp26x17"
    montgomery_steps: str = "dsp"
    modulus_bits_min: int
    pmul: bool = False
    cyclic: bool = False
    dual_port_slots: int
    single_port_slots: int = 0
    twiddles: str = "memory"
    moduli_slots: int = 1
    constants: int = 8
    rns_rate: int = 0
    rns_conversions: int = 0
    rns_entries: int = 0
    moves: int = 0
    host: str = "axi4"
    address_bits: int = 40
    wide_port: bool = False
    stream: bool = False
    pointwise_unit: bool = False
    controller: str = "none"
    controller_words: int = 1024
    cores: int = 1
    fifo_depth: int = 64

    @property
    def slots(self) -> int:
        """Polynomial slots that instructions can name."""
        return self.dual_port_slots + self.single_port_slots - (1 if self.twiddles == "slot" else 0)

    @property
    def single_port_mask(self) -> int:
        """Bit s, slot s is single-port; the dual-port slots come first."""
        return (1 << self.slots) - (1 << self.dual_port_slots)

    @property
    def twiddle_tables(self) -> int:
        """Twiddle tables of a lane, one for all modulus indices or one for each."""
        return 1 if self.twiddles == "slot" else self.moduli_slots

    @property
    def montgomery_bits(self) -> int:
        """Bits that a step of Montgomery reduction removes; moduli are 1 modulo 2 to that power. 0 with Barrett."""
        return _ceil_log2(self.n_max) + 1 if self.reduction == "montgomery" else 0

    def numbers(self) -> dict[str, int]:
        """Every knob as the number that hardware has."""
        return {
            "word_bits": self.word_bits,
            "lanes": self.lanes,
            "butterflies": self.butterflies,
            "n_max": self.n_max,
            "reduction": REDUCTION[self.reduction],
            "multiplier": MULTIPLIER[self.multiplier],
            "montgomery_steps": MONTGOMERY_STEPS[self.montgomery_steps],
            "modulus_bits_min": self.modulus_bits_min,
            "pmul": int(self.pmul),
            "cyclic": int(self.cyclic),
            "dual_port_slots": self.dual_port_slots,
            "single_port_slots": self.single_port_slots,
            "twiddles": TWIDDLES[self.twiddles],
            "moduli_slots": self.moduli_slots,
            "constants": self.constants,
            "rns_rate": self.rns_rate,
            "rns_conversions": self.rns_conversions,
            "rns_entries": self.rns_entries,
            "moves": self.moves,
            "host": HOST[self.host],
            "address_bits": self.address_bits,
            "wide_port": int(self.wide_port),
            "stream": int(self.stream),
            "pointwise_unit": int(self.pointwise_unit),
            "controller": CONTROLLER[self.controller],
            "controller_words": self.controller_words,
            "cores": self.cores,
            "fifo_depth": self.fifo_depth,
        }

    def parameters(self) -> dict[str, int]:
        """The parameters of the top in SystemVerilog."""
        numbers = self.numbers()
        return {
            "W": numbers["word_bits"],
            "Lanes": numbers["lanes"],
            "P": numbers["butterflies"],
            "NMaxLog2": _ceil_log2(self.n_max),
            "MulKind": numbers["reduction"],
            "MulStyle": numbers["multiplier"],
            "MontSteps": numbers["montgomery_steps"],
            "ModMinBits": numbers["modulus_bits_min"],
            "EnPmul": numbers["pmul"],
            "EnCyclic": numbers["cyclic"],
            "Moduli": numbers["moduli_slots"],
            "Consts": numbers["constants"],
            "RnsRate": numbers["rns_rate"],
            "RnsConversions": max(self.rns_conversions, 2),
            "RnsEntries": max(self.rns_entries, 16),
            "Moves": numbers["moves"],
            "AddrWidth": numbers["address_bits"],
            "WidePort": numbers["wide_port"],
            "EnStream": numbers["stream"],
            "EnPointwise": numbers["pointwise_unit"],
            "Controller": numbers["controller"],
            "ControllerWords": numbers["controller_words"],
            "Cores": numbers["cores"],
            "FifoDepth": numbers["fifo_depth"],
            "Slots": self.slots,
            "SinglePort": self.single_port_mask,
            "TwTables": self.twiddle_tables,
            "MontW": _ceil_log2(self.n_max) + 1,
        }

    def broken(self) -> Iterator[str]:
        """Violated rules: the knob, its legal values, its value."""
        if not (self.word_bits >= 14 and self.word_bits <= 128):
            yield f"word_bits must be 14..128, got {self.word_bits}"
        if not (self.lanes >= 1 and self.lanes <= 15):
            yield f"lanes must be 1..15, got {self.lanes}"
        if not self.butterflies in (1, 2, 4, 8, 16, 32):
            yield f"butterflies must be 1, 2, 4, 8, 16 or 32, got {self.butterflies}"
        if not (self.n_max >= 8 and self.n_max <= 32768 and (1 << _ceil_log2(self.n_max) == self.n_max)):
            yield f"n_max must be a power of two from 8 to 32768, got {self.n_max}"
        if self.reduction not in REDUCTION:
            yield f"reduction must be barrett or montgomery, got {self.reduction!r}"
        if self.multiplier not in MULTIPLIER:
            yield f"multiplier must be asic, dsp26x17 or dsp18x18, got {self.multiplier!r}"
        if self.montgomery_steps not in MONTGOMERY_STEPS:
            yield f"montgomery_steps must be dsp, mixed or luts, got {self.montgomery_steps!r}"
        if not (self.modulus_bits_min >= 5 and self.modulus_bits_min <= self.word_bits):
            yield f"modulus_bits_min must be 5..word_bits = {self.word_bits}, got {self.modulus_bits_min}"
        if not (self.dual_port_slots >= 2 and self.dual_port_slots <= 32):
            yield f"dual_port_slots must be 2..32, got {self.dual_port_slots}"
        if not (self.single_port_slots >= 0 and self.single_port_slots <= 31):
            yield f"single_port_slots must be 0..31, got {self.single_port_slots}"
        if self.twiddles not in TWIDDLES:
            yield f"twiddles must be slot or memory, got {self.twiddles!r}"
        if not (self.moduli_slots >= 1 and self.moduli_slots <= 16):
            yield f"moduli_slots must be 1..16, got {self.moduli_slots}"
        if not (self.constants >= 1 and self.constants <= 32):
            yield f"constants must be 1..32, got {self.constants}"
        if not self.rns_rate in (0, 1, 2, 4):
            yield f"rns_rate must be 0, 1, 2 or 4, got {self.rns_rate}"
        if not (self.rns_conversions >= 2 and self.rns_conversions <= 32 if self.rns_rate != 0 else self.rns_conversions == 0):
            yield f"rns_conversions must be 2..32 where rns_rate != 0, else 0, got {self.rns_conversions}"
        if not (self.rns_entries >= 16 and self.rns_entries <= 128 if self.rns_rate != 0 else self.rns_entries == 0):
            yield f"rns_entries must be 16..128 where rns_rate != 0, else 0, got {self.rns_entries}"
        if not self.moves in (0, 4, 8, 16, 32):
            yield f"moves must be 0, 4, 8, 16 or 32, got {self.moves}"
        if self.host not in HOST:
            yield f"host must be axi4 or serial, got {self.host!r}"
        if not (self.address_bits >= 32 and self.address_bits <= 64):
            yield f"address_bits must be 32..64, got {self.address_bits}"
        if self.controller not in CONTROLLER:
            yield f"controller must be none or riscv, got {self.controller!r}"
        if not (self.controller_words >= 64 and self.controller_words <= 16384 and (1 << _ceil_log2(self.controller_words) == self.controller_words)):
            yield f"controller_words must be a power of two from 64 to 16384, got {self.controller_words}"
        if not (self.cores >= 1 and self.cores <= 8):
            yield f"cores must be 1..8, got {self.cores}"
        if not (self.fifo_depth >= 2 and self.fifo_depth <= 1024 and (1 << _ceil_log2(self.fifo_depth) == self.fifo_depth)):
            yield f"fifo_depth must be a power of two from 2 to 1024, got {self.fifo_depth}"
        if not self.n_max >= 4 * self.butterflies:
            yield f"n_max must be at least 4 * butterflies = {4 * self.butterflies}, got {self.n_max}"
        if not (self.twiddles == "memory" or self.single_port_slots >= 1):
            yield f"single_port_slots must be at least 1 with twiddles = slot, which keeps the table there, got {self.single_port_slots}"
        if not (self.reduction == "barrett" or _ceil_log2(self.n_max) + 3 <= self.word_bits):
            yield f"word_bits must be at least {_ceil_log2(self.n_max) + 3} with reduction = montgomery at n_max = {self.n_max}, got {self.word_bits}"
        if not (self.montgomery_steps == "dsp" or (self.reduction == "montgomery" and self.multiplier == "dsp26x17")):
            yield f"montgomery_steps must be dsp unless reduction = montgomery and multiplier = dsp26x17, got {self.montgomery_steps!r}"
        if not (self.rns_rate == 0 or self.word_bits <= 64):
            yield f"word_bits must be at most 64 with base conversion (rns_rate), got {self.word_bits}"
        if not (self.rns_rate == 0 or self.lanes <= 8):
            yield f"lanes must be at most 8 with base conversion (rns_rate), got {self.lanes}"
        if not (self.moves == 0 or self.word_bits <= 64):
            yield f"word_bits must be at most 64 with moves between lanes (moves), got {self.word_bits}"
        if not (self.host == "axi4" or self.wide_port == 0):
            yield f"wide_port must be false on the serial host, which moves bytes (it needs host = axi4), got {self.wide_port}"
        if not (self.host == "axi4" or self.address_bits == 40):
            yield f"address_bits must be 40 on the serial host, which has no addresses (others need host = axi4), got {self.address_bits}"
        if not (self.stream == 0 or self.wide_port == 1):
            yield f"stream must be false without a wide port, which alone brings a word of every lane at a time, got {self.stream}"
        if not (self.host == "axi4" or self.cores == 1):
            yield f"cores must be 1 on the serial host, which has one byte port (several need host = axi4), got {self.cores}"
        if not (self.slots >= 3 and self.slots <= 32):
            yield f"slots must be 3..32, got {self.slots}"
        if not self.twiddle_tables in (1, self.moduli_slots):
            yield f"twiddle_tables must be 1 or moduli_slots, got {self.twiddle_tables}"


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The keys of a preset that are no hardware."""

    name: str
    paper: str = ""
    scheme: str
    clock_mhz: tuple[float, ...]
    serial_mhz: float = 50.0
    memory_gbs: float = 0.0
    memory_latency_ns: float = 0.0
    operations: tuple[str, ...]
    prime_bits: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Ntt8Knobs:
    """The hardware knobs of a preset of an 8-point accelerator."""

    variant: str
    word_bits: int
    multiplier: str = "dsp26x17"
    modulus_bits_min: int

    def numbers(self) -> dict[str, int]:
        """Every knob as the number that hardware has."""
        return {
            "variant": VARIANT[self.variant],
            "word_bits": self.word_bits,
            "multiplier": MULTIPLIER[self.multiplier],
            "modulus_bits_min": self.modulus_bits_min,
        }

    def parameters(self) -> dict[str, int]:
        """The parameters of the top in SystemVerilog."""
        numbers = self.numbers()
        return {
            "Variant": numbers["variant"],
            "W": numbers["word_bits"],
            "MulStyle": numbers["multiplier"],
            "ModMinBits": numbers["modulus_bits_min"],
        }

    def broken(self) -> Iterator[str]:
        """Violated rules: the knob, its legal values, its value."""
        if self.variant not in VARIANT:
            yield f"variant must be cn, pn3, pn1, pn3d or stream, got {self.variant!r}"
        if not (self.word_bits >= 14 and self.word_bits <= 32):
            yield f"word_bits must be 14..32, got {self.word_bits}"
        if self.multiplier not in MULTIPLIER:
            yield f"multiplier must be asic, dsp26x17 or dsp18x18, got {self.multiplier!r}"
        if not (self.modulus_bits_min >= 5 and self.modulus_bits_min <= self.word_bits):
            yield f"modulus_bits_min must be 5..word_bits = {self.word_bits}, got {self.modulus_bits_min}"


@dataclass(frozen=True, kw_only=True)
class Ntt8Keys:
    """The keys of a preset of an 8-point accelerator that are no hardware."""

    name: str
    paper: str = ""
    scheme: str
    clock_mhz: tuple[float, ...]
    modulus: int = 0
