# SPDX-License-Identifier: Apache-2.0
"""Presets: named hardware design points, read from `spec/presets/NAME.toml` or from a file of the user's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from ringsmith import shipped
from ringsmith.errors import ParameterError
from ringsmith.knobs import Keys, Knobs
from ringsmith.specs import build, checked_name, parsed_toml, read_toml, shown

# Clock frequencies in MHz that the info block's kHz registers can hold.
SLOWEST_MHZ, FASTEST_MHZ = 0.001, 4000.0
# Measurements of the base-conversion unit beside its instructions.
CONVERSIONS = ("scale-lift", "decomp")
OPERATIONS = ("polymul", "tensor", "zero-encrypt", "delta-m-decrypt", "decrypt", "key-switch")


#: The key `top` of a co-processor's preset, which its file may leave out.
SYSTEM = "system"


@dataclass(frozen=True, kw_only=True)
class Preset(Keys, Knobs):
    """A design point; the keys of its file: docs/knobs.md."""

    top: ClassVar[str] = SYSTEM
    what: ClassVar[str] = "a co-processor"
    #: Folders of `rtl/` with its modules.
    folders: ClassVar[tuple[str, ...]] = ("prim", "arith", "ntt", "rns", "mem", "core", "host", "system", "top")

    @property
    def shell(self) -> str:
        """What its top puts around the cores: the host's buses or lines."""
        return self.host

    @property
    def values(self) -> bool:
        """Whether its scheme keeps ciphertexts as values, so that a client's results need no inverse transform."""
        return self.scheme == "ckks"

    @property
    def word_bytes(self) -> int:
        """Bytes of one coefficient in a host buffer: as many as hold a word with a wide port, else a power of two."""
        least = (self.word_bits + 7) // 8
        return least if self.wide_port else 1 << (least - 1).bit_length()

    @property
    def piece_bytes(self) -> int:
        """Bytes of one lane that lie together in a host buffer: its polynomial, or one memory word with a wide port."""
        return (self.butterflies if self.wide_port else self.n_max) * self.word_bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of a piece of every lane, side by side; a wide port pads them to whole beats of up to 128 bytes."""
        row = self.lanes * self.piece_bytes
        beat = min(128, 1 << (row - 1).bit_length()) if self.wide_port else 1
        return -(-row // beat) * beat

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

    def complaints(self) -> Iterator[str]:
        """Return errors in the keys that are no hardware."""
        if not SLOWEST_MHZ <= self.serial_mhz <= FASTEST_MHZ:
            yield f"serial_mhz must be positive, {SLOWEST_MHZ:g} to {FASTEST_MHZ:g}, got {self.serial_mhz}"
        if self.host == "serial" and self.serial_mhz > max(self.clock_mhz):
            yield f"serial_mhz must be at most the fastest clock_mhz, got {self.serial_mhz:g}"
        for key, value, low, high in (
            ("memory_gbs", self.memory_gbs, 0.01, 10000.0),
            ("memory_latency_ns", self.memory_latency_ns, 1.0, 1e6 / max(SLOWEST_MHZ, *self.clock_mhz)),
        ):
            if value != 0 and not (self.host == "axi4" and low <= value <= high):
                yield f"{key} must be 0 or, with host = axi4, {low:g} to {high:g}, got {value:g}"
        if not set(self.operations) <= set(OPERATIONS):
            yield f"operations must be among {', '.join(OPERATIONS)}, got {', '.join(self.operations)}"
        if not self.prime_bits:
            yield "prime_bits must name at least one modulus"
        least = max((2 * self.n_max).bit_length(), self.modulus_bits_min)
        if min(self.lane_bits()) < least:
            bits = list(self.lane_bits())
            yield f"word_bits and prime_bits must leave at least {least} bits for a prime 1 mod 2 n_max, got {bits}"


#: Rooms of presets with another top, by their key `top`. A room has `KIND` in its `preset`, the class of its presets;
#: `TOPS` in its `top`, what describes its hardware by `shell`; and `measured` in its `measure`, for `simulate`.
ROOMS: Mapping[str, str] = {"ntt8": "ringsmith.ntt8"}


#: Every top, for `preset_names`.
EVERY = (SYSTEM, *ROOMS)


class AnyPreset(Protocol):
    """What presets of each top have."""

    top: ClassVar[str]
    #: What a message calls it.
    what: ClassVar[str]
    #: Folders of `rtl/` with its modules.
    folders: ClassVar[tuple[str, ...]]

    @property
    def name(self) -> str:
        """The name of its file."""

    @property
    def paper(self) -> str:
        """The paper that it stands for."""

    @property
    def scheme(self) -> str:
        """The scheme that it serves."""

    @property
    def clock_mhz(self) -> tuple[float, ...]:
        """Clocks, the fastest last."""

    @property
    def n_max(self) -> int:
        """The largest ring degree."""

    @property
    def shell(self) -> str:
        """What its top puts around it."""

    def numbers(self) -> dict[str, int]:
        """Every knob as the number that hardware has."""

    def parameters(self) -> dict[str, int]:
        """The parameters of the top in SystemVerilog."""

    def broken(self) -> Iterator[str]:
        """Return violated rules of the hardware."""

    def complaints(self) -> Iterator[str]:
        """Return errors in the keys that are no hardware."""


Kind = TypeVar("Kind", bound=AnyPreset)


def room(top: str, part: str) -> Any:
    """Return a module of the room of a top."""
    return import_module(f"{ROOMS[top]}.{part}")


#: Bases that may stand behind each other.
DEEPEST = 8
#: Where a value comes from that no file sets.
DEFAULT = "default"


@dataclass(frozen=True)
class Setting:
    """A key's value, and where it comes from: a file's name, `--set`, or `DEFAULT`."""

    value: Any
    source: str


def preset_names(*tops: str) -> list[str]:
    """Names of the presets that ship with the package, sorted: the co-processor's, or those of the tops named."""
    wanted = tops or (SYSTEM,)
    found = sorted((shipped.spec() / "presets").glob("*.toml"))
    return [path.stem for path in found if _top(_chain(path.stem)) in wanted]


def load_preset(name: str, overrides: Mapping[str, Any] | None = None) -> Preset:
    """Load a co-processor's preset by name, or from a path ending in `.toml`, with some keys replaced.

    Override values may be TOML text (as from `--set key=value`) or Python values. Unknown presets and keys, wrong
    types, impossible combinations and presets with another top raise `ParameterError` naming the key and what would
    work.
    """
    kind, settings = resolved(name, overrides)
    if kind is not Preset:
        able = ", ".join(preset_names())
        raise ParameterError(f"preset {name} is {kind.what}, for simulate, generate and synth; here: {able}")
    return _made(Preset, name, settings)


def load_any(name: str, overrides: Mapping[str, Any] | None = None) -> AnyPreset:
    """Load a preset of any top as `load_preset` does one of the co-processor."""
    kind, settings = resolved(name, overrides)
    made: AnyPreset = _made(kind, name, settings)
    return made


def _made(kind: type[Kind], name: str, settings: Mapping[str, Setting]) -> Kind:
    """Return a checked preset. Raises ParameterError for the first rule that it breaks."""
    preset = build(kind, f"preset {name}", {key: setting.value for key, setting in settings.items()})
    checked_name("a preset", preset.name)
    # The first alone: what comes later may not even be computable.
    for reason in _complaints(preset):
        raise ParameterError(f"preset {preset.name}: {reason}")
    return preset


def resolved(name: str, overrides: Mapping[str, Any] | None = None) -> tuple[type[Any], dict[str, Setting]]:
    """Return the class of a preset and its keys with where each value comes from; values are not checked yet.

    Raises:
        ParameterError: a preset or a base that is not there, a base of another top, bases in a circle, a key to
            replace that the preset has not.
    """
    chain = _chain(name)
    top = _top(chain)
    kind: type[Any] = Preset if top == SYSTEM else room(top, "preset").KIND
    settings = {
        field.name: Setting(field.default, DEFAULT)
        for field in dataclasses.fields(kind)
        if field.default is not dataclasses.MISSING
    }
    for source, values in reversed(chain):
        settings |= {key: Setting(value, source) for key, value in values.items() if key not in ("base", "top")}
    if "name" not in chain[0][1]:
        settings.pop("name", None)
    order = [field.name for field in dataclasses.fields(kind) if field.name in settings]
    settings = {key: settings[key] for key in dict.fromkeys((*order, *settings))}
    for key, value in (overrides or {}).items():
        if key not in settings:
            raise ParameterError(f"preset {name} has no key {key!r}; keys: {', '.join(settings)}")
        settings[key] = Setting(parse_setting(key, value) if isinstance(value, str) else value, "--set")
    return kind, settings


def parse_overrides(settings: list[str]) -> dict[str, str]:
    """Split `key=value` texts; a text without `=` raises `ParameterError`."""
    pairs = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise ParameterError(f"--set {setting!r} is not key=value, for example --set butterflies=2")
        pairs[key.strip()] = value.strip()
    return pairs


def _chain(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Read a preset's file, by name or by path, and those of its bases behind it: the name and the keys of each."""
    path, whose = _file(name, None, ""), f"preset {name}"
    seen: dict[Path, str] = {}
    chain: list[tuple[str, dict[str, Any]]] = []
    while path not in seen:
        if len(chain) > DEEPEST:
            raise ParameterError(f"{whose} stands on more than {DEEPEST} bases: {' -> '.join(seen.values())}")
        seen[path] = path.stem if not name.endswith(".toml") else name
        values = read_toml(path, "preset")
        chain.append((seen[path], values))
        if "base" not in values:
            return chain
        whose, name = f"{seen[path]}: base", values["base"]
        path = _file(name, path.parent, whose)
    raise ParameterError(f"presets are bases of each other in a circle: {' -> '.join((*seen.values(), seen[path]))}")


def _file(name: Any, folder: Path | None, whose: str) -> Path:
    """Return the file of a preset: one that ships with the package, or a path, a base's from the folder of its user.

    Raises:
        ParameterError: no such preset.
    """
    start = f"{whose}: " if whose else ""
    if isinstance(name, str) and name.endswith(".toml"):
        return Path(name) if folder is None else folder / name
    shelf = shipped.spec() / "presets"
    names = sorted(path.stem for path in shelf.glob("*.toml"))
    if name not in names:
        raise ParameterError(f"{start}no preset {shown(name)}; presets: {', '.join(names)}, or a path to a .toml file")
    return shelf / f"{name}.toml"


def _top(chain: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return the top that a chain of presets is for: what its last one says, and no other may say otherwise."""
    last, values = chain[-1]
    top = values.get("top", SYSTEM)
    for source, own in chain:
        if own.get("top", top) != top:
            raise ParameterError(
                f"preset {source}: top is {shown(own['top'])}, but its base {last} is for {shown(top)}"
            )
    if top not in EVERY:
        raise ParameterError(f"preset {last}: top must be {' or '.join(EVERY)}, got {shown(top)}")
    return str(top)


def parse_setting(key: str, text: str) -> Any:
    """Parse the value of a `key=value` setting: TOML, or a bare word for a string."""
    try:
        return parsed_toml(f"value = {text}")["value"]
    except ValueError:
        pass
    if any(mark in text for mark in "[]=\"'\n"):
        raise ParameterError(f"{key}={shown(text)} is not a TOML value")
    return text


def _complaints(p: AnyPreset) -> Iterator[str]:
    """Errors in the knobs of the hardware, then in the other keys."""
    yield from p.broken()
    if not p.clock_mhz or not all(SLOWEST_MHZ <= clock <= FASTEST_MHZ for clock in p.clock_mhz):
        yield f"clock_mhz must be positive, {SLOWEST_MHZ:g} to {FASTEST_MHZ:g}, got {shown(list(p.clock_mhz))}"
    yield from p.complaints()
