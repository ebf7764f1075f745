# SPDX-License-Identifier: Apache-2.0
"""Packed structs of the RTL's packages as the simulator shows them: one number, first field highest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from math import prod
from typing import Any, ClassVar

from ringsmith.hw import sources

Layout = tuple[tuple[str, int], ...]

PACKAGES = ("rs_error_pkg", "rs_core_pkg", "rs_bundle_pkg", "rs_axil_pkg", "rs_serial_pkg")
#: A struct that counts as one field: its number is a slot, or ZERO_SOURCE.
WHOLE = "source_t"
_TYPEDEF = re.compile(r"typedef (?:enum )?(logic|struct packed)\s*([^{;]*?)\s*(?:\{(.*?)\})?\s*(\w+);", re.DOTALL)
_PORT = re.compile(r"^ *(?:input|output) +(\w+_t)\b[^\w]*[^;]*?\b(\w+),?$", re.MULTILINE)

ZERO_SOURCE = 32
"""A source_t that reads as zero; below it, the slot's number."""


@cache
def _text(module: str) -> str:
    """A source file without its comments; nothing of a module that is not in the library."""
    path = sources.library().get(module)
    return re.sub(r"//.*", "", path.read_text("utf-8")) if path else ""


def _bits(dimensions: str, constants: Mapping[str, int]) -> int:
    """Elements of packed dimensions such as `[MaxSlots-1:0][3:0]`."""
    tops = re.findall(r"\[\s*(\w+?)\s*(-1)?\s*:0\]", dimensions)
    return prod((constants.get(top) or int(top)) + (0 if less else 1) for top, less in tops)


def _fields(body: str, types: Mapping[str, Layout], constants: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    for kind, dimensions, names in re.findall(r"(\w+)\s*((?:\[[^\]]*\]\s*)*)([\w, ]+);", body):
        count, inner = _bits(dimensions, constants), types.get(kind, (("", 1),))
        for name in names.replace(" ", "").split(","):
            if count > 1 or kind == WHOLE or len(inner) == 1:
                yield name, count * sum(bits for _, bits in inner)
            else:
                yield from ((f"{name}.{field}", bits) for field, bits in inner)


@cache
def layouts() -> dict[str, Layout]:
    """Fields and bits of every type of the packages, structs within structs by their path."""
    types: dict[str, Layout] = {}
    constants: dict[str, int] = {}
    for package in PACKAGES:
        text = _text(package)
        constants |= {name: int(value) for name, value in re.findall(r"localparam int unsigned (\w+) = (\d+);", text)}
        for kind, dimensions, body, name in _TYPEDEF.findall(text):
            scalar = (("", _bits(dimensions, constants)),)
            types[name] = scalar if kind == "logic" else tuple(_fields(body, types, constants))
    return types


COMPUTE, MEMORY, CONVERSION, DECODED = (
    layouts()[name] for name in ("compute_t", "memory_t", "conversion_t", "decoded_t")
)


def pack(layout: Layout, values: Mapping[str, int]) -> int:
    """The number of a struct with the given fields, the others 0."""
    word, left = 0, dict(values)
    for name, bits in layout:
        value = int(left.pop(name, 0))
        assert value >> bits == 0, (name, value)
        word = word << bits | value
    assert not left, left
    return word


def unpack(layout: Layout, word: int) -> dict[str, int]:
    """The fields of a struct."""
    fields: dict[str, int] = {}
    for name, bits in reversed(layout):
        fields[name] = word & (1 << bits) - 1
        word >>= bits
    assert word == 0
    return fields


class Pins:
    """The pins of a module by name: `port`, `port.field` of a bundle, `port[1].field` of the second of several.

    All objects share what was driven last: a simulation has one module.
    """

    _written: ClassVar[dict[str, int]] = {}

    def __init__(self, dut: Any) -> None:
        """Hold the simulator's handle of the module."""
        self.dut = dut
        self._bundles = {name: layouts()[kind] for kind, name in _PORT.findall(_text(dut._name)) if kind in layouts()}
        self._places: dict[str, tuple[str, int, int]] = {}

    def set(self, values: Mapping[str, int]) -> None:
        """Drive pins; the other fields of a bundle stay."""
        changed = dict[str, None]()
        for name, value in values.items():
            port, low, bits = self._place(name)
            word = int(value)
            if bits:
                assert word >> bits == 0, (name, value)
                word = self._written.get(port, 0) & ~((1 << bits) - 1 << low) | word << low
            self._written[port] = word
            changed[port] = None
        for port in changed:
            getattr(self.dut, port).value = self._written[port]

    def __getitem__(self, name: str) -> int:
        """The value of a pin now."""
        port, low, bits = self._place(name)
        word = int(getattr(self.dut, port).value)
        return word >> low & (1 << bits) - 1 if bits else word

    def _place(self, name: str) -> tuple[str, int, int]:
        """The port of a pin, its lowest bit there and its bits; 0 bits for the whole port."""
        if name not in self._places:
            self._places[name] = self._found(name)
        return self._places[name]

    def _found(self, name: str) -> tuple[str, int, int]:
        port, _, path = name.partition(".")
        port, _, index = port.partition("[")
        if not path:
            return port, 0, 0
        low, layout = 0, self._bundles[port]
        each = sum(bits for _, bits in layout)
        for field, bits in reversed(layout):
            if field == path:
                return port, low + each * int(index[:-1] or 0), bits
            low += bits
        raise KeyError(f"{port} has no field {path}; it has {', '.join(field for field, _ in layout)}")


def source(slot: int) -> int:
    """The source_t of a slot number of an instruction, 63 the zero slot."""
    return ZERO_SOURCE | 31 if slot == 63 else slot


def mask(*slots: int) -> int:
    """A mask with the bits of the slots, the zero slot left out."""
    return sum(1 << s for s in set(slots) if s < 32)
