# SPDX-License-Identifier: Apache-2.0
"""Presets: named hardware design points, read from `spec/presets/NAME.toml` or from a file of the user's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ringsmith import shipped
from ringsmith.errors import ParameterError
from ringsmith.knobs import Knobs
from ringsmith.specs import build, checked_name, parsed_toml, read_toml, shown

T = TypeVar("T")
# What the info block's kHz registers hold.
SLOWEST_MHZ, FASTEST_MHZ = 0.001, 4000.0
# Measurements of the base-conversion unit beside its instructions.
CONVERSIONS = ("scale-lift", "decomp")
OPERATIONS = ("polymul", "tensor", "zero-encrypt", "delta-m-decrypt", "key-switch")


@dataclass(frozen=True, kw_only=True)
class Preset(Knobs):
    """A design point; the keys of the preset file are the knobs of the hardware (docs/knobs.md) and these."""

    name: str
    paper: str
    scheme: str
    clock_mhz: tuple[float, ...]
    serial_mhz: float
    memory_gbs: float
    memory_latency_ns: float
    operations: tuple[str, ...]
    prime_bits: tuple[int, ...]

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

    @property
    def port_memory(self) -> tuple[float, float, float]:
        """The memory behind the data port: GB/s, latency in ns (0: ideal), and the clock in MHz it is seen from."""
        return self.memory_gbs, self.memory_latency_ns, self.clock_mhz[-1]

    def lane_bits(self) -> tuple[int, ...]:
        """Bits of each lane's default modulus."""
        return tuple(min(self.prime_bits[i % len(self.prime_bits)], self.word_bits) for i in range(self.lanes))

    def to_dict(self) -> dict[str, Any]:
        """Return the keys and values, lists instead of tuples, ready for JSON."""
        values = dataclasses.asdict(self)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def preset_names(kind: str = "") -> list[str]:
    """Names of the presets that ship with the package, sorted; `kind` is a folder of presets with keys of their own."""
    return sorted(path.stem for path in (shipped.spec() / "presets" / kind).glob("*.toml"))


def load_preset(name: str, overrides: Mapping[str, Any] | None = None) -> Preset:
    """Load a preset by name, or from a path ending in `.toml`, with some keys replaced.

    Override values may be TOML text (as from `--set key=value`) or Python values. Unknown presets and keys, wrong types
    and impossible combinations raise `ParameterError` naming the key and what would work.
    """
    return checked(Preset, name, read_preset(name), overrides or {}, _complaints)


def checked(
    kind: type[T],
    name: str,
    values: Mapping[str, Any],
    overrides: Mapping[str, Any],
    complaints: Callable[[T], Iterator[str]],
) -> T:
    """Return a preset: the values of its file with some keys replaced; `complaints` say what is wrong with it."""
    merged = dict(values)
    for key, value in overrides.items():
        if key not in merged:
            raise ParameterError(f"preset {name} has no key {key!r}; keys: {', '.join(merged)}")
        merged[key] = parse_setting(key, value) if isinstance(value, str) else value
    preset = build(kind, f"preset {name}", merged)
    checked_name("a preset", merged["name"])
    # The first alone: what comes later may not even be computable.
    for reason in complaints(preset):
        raise ParameterError(f"preset {merged['name']}: {reason}")
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


def read_preset(name: str, kind: str = "") -> dict[str, Any]:
    """Read a preset's file, by name or by path; `kind` as for `preset_names`.

    Raises:
        ParameterError: no such preset.
        InputError: a file that cannot be read or is no TOML.
    """
    if name.endswith(".toml"):
        return read_toml(Path(name), "preset")
    names = preset_names(kind)
    if name not in names:
        raise ParameterError(f"no preset {shown(name)}; presets: {', '.join(names)}, or a path to a .toml file")
    return read_toml(shipped.spec() / "presets" / kind / f"{name}.toml", "preset")


def parse_setting(key: str, text: str) -> Any:
    """Parse the value of a `key=value` setting: TOML, or a bare word for a string."""
    try:
        return parsed_toml(f"value = {text}")["value"]
    except ValueError:
        pass
    if any(mark in text for mark in "[]=\"'\n"):
        raise ParameterError(f"{key}={shown(text)} is not a TOML value")
    return text


def clock_complaints(clock_mhz: Sequence[float]) -> Iterator[str]:
    """What is wrong with the clocks of a preset of any kind."""
    if not clock_mhz or not all(SLOWEST_MHZ <= clock <= FASTEST_MHZ for clock in clock_mhz):
        yield f"clock_mhz must be positive, {SLOWEST_MHZ:g} to {FASTEST_MHZ:g}, got {shown(list(clock_mhz))}"


def _complaints(p: Preset) -> Iterator[str]:
    """What is wrong with the knobs of the hardware, then with the other keys."""
    yield from p.broken()
    yield from clock_complaints(p.clock_mhz)
    if not SLOWEST_MHZ <= p.serial_mhz <= FASTEST_MHZ:
        yield f"serial_mhz must be positive, {SLOWEST_MHZ:g} to {FASTEST_MHZ:g}, got {p.serial_mhz}"
    if p.host == "serial" and p.serial_mhz > max(p.clock_mhz):
        yield f"serial_mhz must be at most the fastest clock_mhz, got {p.serial_mhz:g}"
    for key, value, low, high in (
        ("memory_gbs", p.memory_gbs, 0.01, 10000.0),
        ("memory_latency_ns", p.memory_latency_ns, 1.0, 1e6 / max(SLOWEST_MHZ, *p.clock_mhz)),
    ):
        if value != 0 and not (p.host == "axi4" and low <= value <= high):
            yield f"{key} must be 0 or, with host = axi4, {low:g} to {high:g}, got {value:g}"
    if not set(p.operations) <= set(OPERATIONS):
        yield f"operations must be among {', '.join(OPERATIONS)}, got {', '.join(p.operations)}"
    if not p.prime_bits:
        yield "prime_bits must name at least one modulus"
    least = max((2 * p.n_max).bit_length(), p.modulus_bits_min)
    if min(p.lane_bits()) < least:
        bits = list(p.lane_bits())
        yield f"word_bits and prime_bits must leave at least {least} bits for a prime 1 mod 2 n_max, got {bits}"
