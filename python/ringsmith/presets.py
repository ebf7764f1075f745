# SPDX-License-Identifier: Apache-2.0
"""Presets: named hardware design points, read from `spec/presets/NAME.toml` or from a file of the user's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringsmith import shipped
from ringsmith.errors import ParameterError
from ringsmith.specs import build, checked_name, parsed_toml, read_toml, shown

# What the info block's kHz registers hold.
SLOWEST_MHZ, FASTEST_MHZ = 0.001, 4000.0
# Measurements of the base-conversion unit beside its instructions.
CONVERSIONS = ("scale-lift", "decomp")
OPERATIONS = ("polymul", "tensor", "zero-encrypt", "delta-m-decrypt", "key-switch")


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A design point; the fields are the keys of the preset file, documented in `spec/presets/cofhee.toml`."""

    name: str
    paper: str
    scheme: str
    word_bits: int
    lanes: int
    butterflies: int
    n_max: int
    reduction: str
    multiplier: str
    modulus_bits_min: int
    pmul: bool
    cyclic: bool
    dual_port_slots: int
    single_port_slots: int
    twiddles: str
    moduli_slots: int
    constants: int
    rns_rate: int
    rns_conversions: int
    rns_entries: int
    host: str
    wide_port: bool
    fifo_depth: int
    clock_mhz: tuple[float, ...]
    serial_mhz: float
    memory_gbs: float
    memory_latency_ns: float
    operations: tuple[str, ...]
    prime_bits: tuple[int, ...]

    @property
    def slots(self) -> int:
        """Slots that instructions can name, the work slots included and a twiddle memory left out."""
        return self.dual_port_slots + self.single_port_slots - (self.twiddles == "slot")

    @property
    def twiddle_tables(self) -> int:
        """Twiddle tables a lane can hold: one shared by all modulus indices, or one for each."""
        return 1 if self.twiddles == "slot" else self.moduli_slots

    @property
    def word_bytes(self) -> int:
        """Bytes of one coefficient in a host buffer: the smallest power of two that holds a word."""
        return max(2, 1 << ((self.word_bits + 7) // 8 - 1).bit_length())

    @property
    def piece_bytes(self) -> int:
        """Bytes of one lane that lie together in a host buffer: its polynomial, or one memory word with a wide port."""
        return (self.butterflies if self.wide_port else self.n_max) * self.word_bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of a piece of every lane, side by side; a wide port pads the lanes to a power of two."""
        return (1 << (self.lanes - 1).bit_length() if self.wide_port else self.lanes) * self.piece_bytes

    @property
    def buffer_bytes(self) -> int:
        """Bytes of one host buffer: rows of a piece of every lane, one row alone without a wide port."""
        return self.n_max * self.word_bytes // self.piece_bytes * self.row_bytes

    def lane_bits(self) -> tuple[int, ...]:
        """Bits of each lane's default modulus."""
        return tuple(min(self.prime_bits[i % len(self.prime_bits)], self.word_bits) for i in range(self.lanes))

    def to_dict(self) -> dict[str, Any]:
        """Return the keys and values, lists instead of tuples, ready for JSON."""
        values = dataclasses.asdict(self)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def preset_names() -> list[str]:
    """Names of the presets that ship with the package, sorted."""
    return sorted(path.stem for path in (shipped.spec() / "presets").glob("*.toml"))


def load_preset(name: str, overrides: Mapping[str, Any] | None = None) -> Preset:
    """Load a preset by name, or from a path ending in `.toml`, with some keys replaced.

    Override values may be TOML text (as from `--set key=value`) or Python values. Unknown presets and keys, wrong types
    and impossible combinations raise `ParameterError` naming the key and what would work.
    """
    values = _read(name)
    for key, value in (overrides or {}).items():
        if key not in values:
            raise ParameterError(f"preset {name} has no key {key!r}; keys: {', '.join(values)}")
        values[key] = parse_setting(key, value) if isinstance(value, str) else value
    preset = build(Preset, f"preset {name}", values)
    _check(preset)
    return preset


def parse_overrides(settings: list[str]) -> dict[str, str]:
    """Split `key=value` texts; a text without `=` raises `ParameterError`."""
    pairs = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise ParameterError(f"--set {setting!r} is not key=value, for example --set butterflies=2")
        pairs[key.strip()] = value.strip()
    return pairs


def _read(name: str) -> dict[str, Any]:
    if name.endswith(".toml"):
        return read_toml(Path(name), "preset")
    if name not in preset_names():
        raise ParameterError(
            f"no preset {shown(name)}; presets: {', '.join(preset_names())}, or a path to a .toml file"
        )
    return read_toml(shipped.spec() / "presets" / f"{name}.toml", "preset")


def parse_setting(key: str, text: str) -> Any:
    """Parse the value of a `key=value` setting: TOML, or a bare word for a string."""
    try:
        return parsed_toml(f"value = {text}")["value"]
    except ValueError:
        pass
    if any(mark in text for mark in "[]=\"'\n"):
        raise ParameterError(f"{key}={shown(text)} is not a TOML value")
    return text


def _check(preset: Preset) -> None:
    checked_name("a preset", preset.name)
    for holds, reason in _rules(preset):
        if not holds:
            raise ParameterError(f"preset {preset.name}: {reason}")


def _rules(p: Preset) -> list[tuple[bool, str]]:
    powers = p.n_max & (p.n_max - 1) == 0
    bits = p.lane_bits() if p.prime_bits and p.lanes <= 8 else ()
    montgomery_bits = p.n_max.bit_length()
    least = max((2 * p.n_max).bit_length(), p.modulus_bits_min)
    return [
        (14 <= p.word_bits <= 128, f"word_bits must be 14..128, got {p.word_bits}"),
        (1 <= p.lanes <= 8, f"lanes must be 1..8, got {p.lanes}"),
        (p.butterflies in (1, 2, 4, 8, 16, 32), f"butterflies must be 1, 2, 4, 8, 16 or 32, got {p.butterflies}"),
        (powers and 8 <= p.n_max <= 32768, f"n_max must be a power of two from 8 to 32768, got {p.n_max}"),
        (
            p.n_max >= 4 * p.butterflies,
            f"n_max must be at least 4 * butterflies = {4 * p.butterflies}, got {p.n_max}",
        ),
        (p.dual_port_slots >= 2, f"dual_port_slots must be at least 2 (the work slots), got {p.dual_port_slots}"),
        (p.single_port_slots >= 0, f"single_port_slots must not be negative, got {p.single_port_slots}"),
        (p.twiddles in ("slot", "memory"), f"twiddles must be slot or memory, got {p.twiddles!r}"),
        (
            p.twiddles == "memory" or p.single_port_slots >= 1,
            "twiddles = slot needs a single-port slot for the table, got single_port_slots 0",
        ),
        (3 <= p.slots <= 32, f"the slots, a twiddle memory left out, must be 3..32, got {p.slots}"),
        (p.reduction in ("barrett", "montgomery"), f"reduction must be barrett or montgomery, got {p.reduction!r}"),
        (
            p.reduction != "montgomery" or montgomery_bits + 2 <= p.word_bits,
            f"reduction montgomery needs word_bits of at least {montgomery_bits + 2} at n_max = {p.n_max}, "
            f"got {p.word_bits}",
        ),
        (
            p.multiplier in ("asic", "dsp26x17", "dsp18x18"),
            f"multiplier must be asic, dsp26x17 or dsp18x18, got {p.multiplier!r}",
        ),
        (
            5 <= p.modulus_bits_min <= p.word_bits,
            f"modulus_bits_min must be 5..word_bits = {p.word_bits}, got {p.modulus_bits_min}",
        ),
        (1 <= p.moduli_slots <= 16, f"moduli_slots must be 1..16, got {p.moduli_slots}"),
        (1 <= p.constants <= 32, f"constants must be 1..32, got {p.constants}"),
        (p.rns_rate in (0, 1, 2, 4), f"rns_rate must be 0, 1, 2 or 4, got {p.rns_rate}"),
        (
            p.rns_rate == 0 or p.word_bits <= 64,
            f"word_bits must be at most 64 with base conversion (rns_rate), got {p.word_bits}",
        ),
        *(
            (
                (low <= value <= high) if p.rns_rate else value == 0,
                f"{key} must be {f'{low}..{high}' if p.rns_rate else '0 without base conversion (rns_rate = 0)'}, "
                f"got {value}",
            )
            for key, value, low, high in (
                ("rns_conversions", p.rns_conversions, 2, 32),
                ("rns_entries", p.rns_entries, 16, 128),
            )
        ),
        (p.host in ("axi4", "serial"), f"host must be axi4 or serial, got {p.host!r}"),
        (
            p.host != "serial" or not p.wide_port,
            "wide_port must be false on the serial host, which moves bytes: it needs host = axi4",
        ),
        *(
            (
                value == 0 or (p.host == "axi4" and low <= value <= high),
                f"{key} must be 0 or, with host = axi4, {low:g} to {high:g}, got {value:g}",
            )
            for key, value, low, high in (
                ("memory_gbs", p.memory_gbs, 0.01, 10000.0),
                ("memory_latency_ns", p.memory_latency_ns, 1.0, 1e6 / max(SLOWEST_MHZ, *p.clock_mhz)),
            )
        ),
        (
            2 <= p.fifo_depth <= 1024 and p.fifo_depth & (p.fifo_depth - 1) == 0,
            f"fifo_depth must be a power of two from 2 to 1024, got {p.fifo_depth}",
        ),
        (
            bool(p.clock_mhz) and all(SLOWEST_MHZ <= clock <= FASTEST_MHZ for clock in p.clock_mhz),
            f"clock_mhz must be positive, {SLOWEST_MHZ:g} to {FASTEST_MHZ:g}, got {shown(list(p.clock_mhz))}",
        ),
        (
            SLOWEST_MHZ <= p.serial_mhz <= FASTEST_MHZ,
            f"serial_mhz must be positive, {SLOWEST_MHZ:g} to {FASTEST_MHZ:g}, got {p.serial_mhz}",
        ),
        (
            p.host != "serial" or p.serial_mhz <= max(p.clock_mhz, default=0.0),
            f"serial_mhz must be at most the fastest clock_mhz, got {p.serial_mhz:g}",
        ),
        (
            set(p.operations) <= set(OPERATIONS),
            f"operations must be among {', '.join(OPERATIONS)}, got {', '.join(p.operations)}",
        ),
        (bool(p.prime_bits), "prime_bits must name at least one modulus"),
        (
            all(width >= least for width in bits),
            f"word_bits and prime_bits must leave at least {least} bits for a prime 1 mod 2 n_max, got {list(bits)}",
        ),
    ]
