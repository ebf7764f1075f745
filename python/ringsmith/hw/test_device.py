# SPDX-License-Identifier: Apache-2.0
"""The Verilated co-processor behind its C ABI, on both hosts: data, results, errors, hangs, the serial lines."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from ringsmith.errors import InputError
from ringsmith.hw import registers
from ringsmith.hw.device import build_device, effort
from ringsmith.presets import Preset, load_preset

pytestmark = pytest.mark.hw
MAP = {r.name: r for r in registers.load().registers}
MODULUS = 0x3FFFFFF - 63 * 64 - 62  # any odd number of 26 bits serves the pointwise instructions
FREE = next(field for field in MAP["status"].fields if field.name == "free")
PMODMUL, PMODADD, LOAD, STORE = 5, 3, 18, 19


class Event(ctypes.Structure):
    _fields_: ClassVar = [
        ("cycle", ctypes.c_uint64),
        ("index", ctypes.c_uint32),
        *((n, ctypes.c_uint8) for n in ("unit", "end", "op", "pad")),
    ]


class LinkUse(ctypes.Structure):
    _fields_: ClassVar = [(n, ctypes.c_uint64) for n in ("frames", "to_device", "from_device", "cycles")]


class Device:
    """A thin driver over the C ABI."""

    def __init__(self, library: Path, preset: Preset, options: str = "") -> None:
        self.preset = preset
        self.lib = ctypes.CDLL(str(library))
        self.lib.rs_open.restype = ctypes.c_void_p
        for name in ("rs_open_error", "rs_error"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        self.lib.rs_cycles.restype = self.lib.rs_events.restype = ctypes.c_uint64
        handle = self.lib.rs_open(options.encode())
        if not handle:
            raise RuntimeError(self.lib.rs_open_error().decode())
        self.handle = ctypes.c_void_p(handle)

    def close(self) -> None:
        self.lib.rs_close(self.handle)

    def call(self, name: str, *args: object) -> int:
        result: int = getattr(self.lib, name)(self.handle, *args)
        if result < 0:
            raise RuntimeError(self.lib.rs_error(self.handle).decode())
        return result

    def read(self, name: str, index: int = 0) -> int:
        value = ctypes.c_uint32()
        self.call("rs_reg_read", MAP[name].address + 4 * index, ctypes.byref(value))
        return value.value

    def write(self, name: str, value: int, index: int = 0) -> None:
        self.call("rs_reg_write", MAP[name].address + 4 * index, ctypes.c_uint32(value))

    def table(self, kind: int, lane: int, index: int, value: int) -> None:
        for i in range(5):
            self.write("table_data", value >> (32 * i) & 0xFFFFFFFF, i)
        self.write("table_address", kind << 12 | lane << 8 | index)
        self.write("control", 4)

    def modulus(self, value: int) -> None:
        k = value.bit_length()
        mu = (1 << (k + self.preset.word_bits + 2)) // value
        for lane in range(self.preset.lanes):
            for kind, word in ((1, mu), (2, k), (0, value)):
                self.table(kind, lane, 0, word)

    def push(self, *words: int) -> None:
        for word in words:
            self.write("command_lo", word & 0xFFFFFFFF)
            self.write("command_hi", word >> 32)

    def put(self, buffer: int, lanes: list[list[int]]) -> None:
        size = self.preset.word_bytes
        for lane, values in enumerate(lanes):
            data = b"".join(v.to_bytes(size, "little") for v in values)
            self.call("rs_mem_write", ctypes.c_uint64(self.where(buffer, lane)), data, ctypes.c_uint64(len(data)))

    def get(self, buffer: int, n: int) -> list[list[int]]:
        size = self.preset.word_bytes
        found = []
        for lane in range(self.preset.lanes):
            data = ctypes.create_string_buffer(n * size)
            self.call("rs_mem_read", ctypes.c_uint64(self.where(buffer, lane)), data, ctypes.c_uint64(n * size))
            found.append([int.from_bytes(data.raw[i * size : (i + 1) * size], "little") for i in range(n)])
        return found

    def where(self, buffer: int, lane: int) -> int:
        return (buffer * self.preset.lanes + lane) * self.preset.n_max * self.preset.word_bytes

    def run(self, cycles: int = 1_000_000) -> int:
        return self.call("rs_run", ctypes.c_uint64(cycles))


def word(op: int, n: int, dst: int = 63, a: int = 63, b: int = 63, buf: int = 0) -> int:
    return op | dst << 6 | a << 12 | b << 18 | 63 << 24 | (n.bit_length() - 1) << 30 | buf << 44


def multiply(device: Device, n: int, seed: int) -> None:
    """Load two polynomials, multiply pointwise, store, compare."""
    rng = random.Random(seed)
    a, b = ([[rng.randrange(MODULUS) for _ in range(n)] for _ in range(device.preset.lanes)] for _ in range(2))
    device.put(0, a)
    device.put(1, b)
    device.push(
        word(LOAD, n, dst=2), word(LOAD, n, dst=3, buf=1), word(PMODMUL, n, 4, 2, 3), word(STORE, n, a=4, buf=2)
    )
    assert device.run() == 0
    assert device.read("error") == 0
    wanted = [[x * y % MODULUS for x, y in zip(p, q, strict=True)] for p, q in zip(a, b, strict=True)]
    assert device.get(2, n) == wanted


SERIAL = {"host": "serial", "lanes": "1", "n_max": "64", "butterflies": "1"}


@pytest.fixture(scope="module")
def axi() -> Path:
    return build_device(load_preset("tiny"))


@pytest.fixture(scope="module")
def serial() -> Path:
    return build_device(load_preset("tiny", SERIAL))


@pytest.fixture
def device(axi: Path) -> Iterator[Device]:
    device = Device(axi, load_preset("tiny"))
    device.modulus(MODULUS)
    yield device
    device.close()


def test_info_block_describes_the_preset(device: Device) -> None:
    shape = device.read("shape")
    preset = device.preset
    assert device.read("magic") == 0x52534350
    assert (shape & 255, shape >> 8 & 63, shape >> 16 & 15) == (preset.word_bits, preset.butterflies, preset.lanes)
    assert [device.read("build", i) for i in range(4)] != [0, 0, 0, 0]


def test_products_of_every_size(device: Device) -> None:
    for n in (8, 64, 256):
        multiply(device, n, n)


@pytest.mark.parametrize("seed", [1, 2, 2147483647])
def test_nothing_depends_on_what_registers_and_memories_start_with(axi: Path, serial: Path, seed: int) -> None:
    for library, settings, links in ((axi, {}, ("axi",)), (serial, SERIAL, ("byte", "spi"))):
        for link in links:
            device = Device(library, load_preset("tiny", settings), f"seed={seed};link={link}")
            device.modulus(MODULUS)
            multiply(device, 16, seed % 7)
            device.close()


def test_events_and_counters(device: Device) -> None:
    multiply(device, 256, 1)
    events = (Event * 64)()
    count = device.lib.rs_events(device.handle, events, ctypes.c_uint64(64))
    starts = [(e.index, e.op) for e in events[:count] if not e.end]
    assert starts == [(0, LOAD), (1, LOAD), (2, PMODMUL), (3, STORE)]
    assert [e.index for e in events[:count] if e.end] == [0, 1, 2, 3]
    device.write("control", 2)
    words = 256 // device.preset.butterflies * device.preset.lanes
    assert device.read("words_read") == 2 * words
    assert device.read("words_written") == words
    assert device.read("busy_compute") >= 256 // device.preset.butterflies
    assert device.read("retired") == 4


def test_core_errors_reach_the_driver(device: Device) -> None:
    device.push(word(PMODMUL, 64, 4, 2, 3))
    assert device.run() == 1
    assert device.read("error") == 6
    assert device.read("error_index") == 0
    assert device.read("error_command") | device.read("error_command", 1) << 32 == word(PMODMUL, 64, 4, 2, 3)
    device.write("control", 1)
    multiply(device, 64, 2)


def test_bus_error(device: Device) -> None:
    device.call("rs_inject_bus_error", ctypes.c_uint64(device.where(1, 0) + 64), ctypes.c_uint64(1))
    device.push(word(LOAD, 64, dst=2), word(LOAD, 64, dst=3, buf=1))
    assert device.run() == 1
    assert (device.read("error"), device.read("error_index")) == (7, 1)
    device.call("rs_inject_bus_error", ctypes.c_uint64(0), ctypes.c_uint64(0))
    device.write("control", 1)
    multiply(device, 64, 3)
    beyond = (1 << 20) - 1
    device.push(word(LOAD, 64, dst=2, buf=beyond))
    assert device.run() == 1
    assert device.read("error") == 7


def test_hang_times_out_and_reset_recovers(device: Device) -> None:
    device.call("rs_inject_hang", 1)
    device.push(word(LOAD, 64, dst=2))
    assert device.run(5000) == 2
    assert device.read("retired") == 0
    device.call("rs_inject_hang", 0)
    device.call("rs_reset")
    device.modulus(MODULUS)
    multiply(device, 64, 4)


def test_fault_changes_a_result(device: Device) -> None:
    n = 64
    device.put(0, [[5] * n] * device.preset.lanes)
    device.push(word(LOAD, n, dst=2))
    assert device.run() == 0
    device.call("rs_inject_fault", ctypes.c_uint64(0), ctypes.c_uint64(1000))
    device.push(word(PMODADD, n, 3, 2, 2), word(STORE, n, a=3, buf=1))
    assert device.run() == 0
    assert device.get(1, n)[0] != [10] * n


def test_queue_overflow_is_remembered(device: Device) -> None:
    device.call("rs_inject_hang", 1)
    depth = device.preset.fifo_depth
    device.push(*[word(LOAD, 64, dst=2)] * (depth + 4))
    assert device.read("irq_status") >> 3 & 1 == 1


def test_bad_options(axi: Path) -> None:
    for options, text in (
        ("link=spi", "link=axi only"),
        ("colour=red", "unknown option"),
        ("memory=x", "not a number"),
        ("seed=0", "must be from 1 to 2147483647"),
        ("seed=2147483648", "must be from 1 to 2147483647"),
    ):
        with pytest.raises(RuntimeError, match=text):
            Device(axi, load_preset("tiny"), options)


def test_a_serial_program_longer_than_the_queue_ends(serial: Path) -> None:
    """The queue fills with commands that wait for a LOAD, which waits for the host, which waits for room in it."""
    device = Device(serial, load_preset("tiny", SERIAL))
    rows = [[[buffer] * 64] * device.preset.lanes for buffer in range(3 * device.preset.fifo_depth)]
    for buffer, lanes in enumerate(rows):
        device.put(buffer, lanes)
    program = [word(LOAD, 64, dst=2, buf=buffer) for buffer in range(len(rows))] + [word(STORE, 64, a=2, buf=len(rows))]
    for _ in range(100_000):
        if not program:
            break
        if device.read("status") >> FREE.low & (1 << FREE.width) - 1:
            device.push(program.pop(0))
        device.call("rs_step", ctypes.c_uint64(64))
    assert not program, f"{len(program)} commands never found room"
    assert device.run() == 0
    assert device.get(len(rows), 64) == rows[-1]
    device.close()


@pytest.mark.parametrize("link", ["byte", "spi", "uart"])
def test_serial_lines(serial: Path, link: str) -> None:
    preset = load_preset("tiny", SERIAL)
    device = Device(serial, preset, f"link={link}")
    device.modulus(MODULUS)
    before, use = LinkUse(), LinkUse()
    device.lib.rs_link(device.handle, ctypes.byref(before))
    multiply(device, 16 if link == "uart" else 64, 5)
    device.lib.rs_link(device.handle, ctypes.byref(use))
    moved = use.to_device - before.to_device + use.from_device - before.from_device
    spent = use.cycles - before.cycles
    bits = 8 * {"byte": 0.125, "spi": preset.clock_mhz[-1] / preset.serial_mhz, "uart": 64 * 10 / 8}[link]
    assert spent >= 0.99 * moved * bits  # the last stop bit is left half-way
    with pytest.raises(RuntimeError, match="no register"):
        device.call("rs_reg_read", 0xF00, ctypes.byref(ctypes.c_uint32()))
    device.close()


def test_the_variable_lowers_the_compilers_effort_and_never_raises_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RINGSMITH_SIM_EFFORT")
    assert [effort(usual) for usual in ("-O0", "-O2")] == ["-O0", "-O2"]
    monkeypatch.setenv("RINGSMITH_SIM_EFFORT", "-O1")
    assert [effort(usual) for usual in ("-O0", "-O2")] == ["-O0", "-O1"]
    monkeypatch.setenv("RINGSMITH_SIM_EFFORT", "fast")
    with pytest.raises(InputError, match="RINGSMITH_SIM_EFFORT is 'fast'; it takes one of -O0, -O1, -O2, -O3"):
        effort("-O2")
