# SPDX-License-Identifier: Apache-2.0
"""The model and the Verilated RTL of `tiny` behind one driver: same results, same cycles, same refusals."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from ringsmith import _native
from ringsmith.errors import DeviceError, InputError, RingsmithError
from ringsmith.presets import CONVERSIONS, OPERATIONS, Preset, load_preset
from ringsmith.runtime.devices import OpenDevice, open_device

N = 64
CONVERTING = {"rns_rate": 2, "rns_conversions": 4, "rns_entries": 16, "moves": 4}
# Both reductions; both data ports, the wide one with lanes to pad.
SHAPES: list[dict[str, Any]] = [{"reduction": "barrett"}, {"reduction": "montgomery", "lanes": 3, "wide_port": True}]
SHAPED = pytest.mark.parametrize("shape", SHAPES, ids=["barrett", "montgomery-wide"])
STREAMING = CONVERTING | SHAPES[1] | {"stream": True, "dual_port_slots": 5, "single_port_slots": 1}
# Key switches: tests that need the same units open the same build, which is then built once. Lanes for both halves at
# once; for one after the other; products beside transforms, with the special primes' moduli beside the others.
SWITCHING = {
    "moves": 32, "word_bits": 30, "constants": 32, "dual_port_slots": 8, "single_port_slots": 0, "n_max": 256,
}  # fmt: skip
BOTH_HALVES = SWITCHING | {"lanes": 6, "reduction": "montgomery", "wide_port": True}
ONE_HALF = SWITCHING | {"lanes": 3, "reduction": "barrett"}
POINTWISE = SWITCHING | {"lanes": 3, "reduction": "montgomery", "pointwise_unit": True}
APART = POINTWISE | {"wide_port": True, "moduli_slots": 2, "dual_port_slots": 10}
# A slow and distant memory.
MEMORY = {"memory_gbs": 0.57, "memory_latency_ns": 870.0}
KINDS = ["model", pytest.param("rtl", marks=pytest.mark.hw)]
SLOW_RTL = ["model", pytest.param("rtl", marks=[pytest.mark.hw, pytest.mark.slow])]


def product_of(kinds: list[Any], shapes: dict[str, dict[str, Any]]) -> list[Any]:
    """Each kind of device with each shape, under the names of both."""
    marked = [(kind, ()) if isinstance(kind, str) else (kind.values[0], kind.marks) for kind in kinds]
    return [pytest.param(k, s, marks=m, id=f"{name}-{k}") for name, s in shapes.items() for k, m in marked]


@pytest.fixture(params=KINDS)
def tiny(request: pytest.FixtureRequest) -> OpenDevice:
    return open_device(request.param, "tiny")


def lane_moduli(preset: Preset, index: int) -> list[int]:
    """The primes of a modulus index; no prime stands on both."""
    return _native.default_moduli([width - 2 * index for width in preset.lane_bits()], N, preset.n_max)


def set_up(device: OpenDevice, *, tables: bool = True) -> _native.Device:
    """Moduli on both indices, tables for n = 64, residues of index i in host buffer i, constants, 200 buffers."""
    native, preset = device.native, device.preset
    first = native.allocate(200)
    source = random.Random(7)
    for index in range(2):
        moduli = lane_moduli(preset, index)
        native.set_moduli(index, moduli)
        if tables:
            native.load_twiddles(index, N)
        native.upload(first + index, [[source.randrange(m) for _ in range(N)] for m in moduli])
    for constant in range(preset.constants):
        native.set_constant(constant, [source.randrange(1 << 28) for _ in range(preset.lanes)])
    return native


def run(native: _native.Device, text: str) -> dict[str, Any]:
    return native.run(_native.assemble(text))


#: First of the buffers that `set_up` makes: an opened device has operand buffers before them.
FIRST = 8


def test_the_info_block_describes_the_preset(tiny: OpenDevice) -> None:
    info = tiny.native.info()
    preset = load_preset("tiny")
    assert info["word_bits"] == preset.word_bits
    assert info["lanes"] == preset.lanes
    assert 1 << info["log2_n_max"] == preset.n_max
    assert info["dual_port_slots"] + info["single_port_slots"] == preset.slots
    assert info["host"] == preset.host


@pytest.mark.parametrize("n", [8, 64, 256])
def test_every_instruction_is_right_and_predicted(tiny: OpenDevice, n: int) -> None:
    moduli = _native.default_moduli(list(tiny.preset.lane_bits()), n, tiny.preset.n_max)
    for mnemonic, _, implemented in _native.instruction_set():
        if implemented and mnemonic not in ("lift", "scale", "auto", "decomp"):
            outcome = tiny.native.simulate_instruction(mnemonic, moduli, n)
            assert outcome["correct"], mnemonic
            assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01), mnemonic


@pytest.mark.parametrize("kind", KINDS)
@SHAPED
def test_base_conversions_are_right_and_predicted_to_the_cycle(kind: str, shape: dict[str, Any]) -> None:
    device = open_device(kind, "tiny", CONVERTING | shape)
    for n in (8, 64, 256):
        moduli = _native.default_moduli(list(device.preset.lane_bits()), n, device.preset.n_max)
        for what in ("lift", "scale"):
            assert device.native.simulate_instruction(what, moduli, n)["correct"], (what, n)
        for what in ("lift", "scale", *CONVERSIONS):
            outcome = device.native.simulate_conversion(what, moduli, n)
            assert outcome["correct"], (what, n)
            assert outcome["cycles"] == outcome["predicted_cycles"] > n / 2, (what, n)


@pytest.mark.parametrize("kind", KINDS)
@SHAPED
def test_moves_are_right_and_take_a_word_a_cycle(kind: str, shape: dict[str, Any]) -> None:
    device = open_device(kind, "tiny", CONVERTING | shape)
    for n in (8, 64, 256):
        moduli = _native.default_moduli(list(device.preset.lane_bits()), n, device.preset.n_max)
        for what in ("auto", "decomp"):
            outcome = device.native.simulate_instruction(what, moduli, n)
            assert outcome["correct"], (what, n)
            assert outcome["cycles"] == outcome["predicted_cycles"] == n // device.preset.butterflies + 6, (what, n)


#: A streamed operand that is waited for, one that waits, in place between transforms.
STREAMED = """
load s2 n=64 buf=8
load s3 n=64 buf=8
load stream n=64 buf=8
pmodmul s3, s2, stream n=64
ntt s2, s2 n=64
load stream n=64 buf=8
intt s3, s3, s2 n=64
pmac s3, s2, stream, s3 n=64
ntt s3, s3 n=64
load stream n=64 buf=8
pmac s2, s3, stream, s2 n=64
load s3 n=64 buf=8
pmodadd s3, s2, s3 n=64
store s3 n=64 buf=20
sync
"""


@pytest.mark.hw
@pytest.mark.parametrize("memory", [{}, MEMORY], ids=["ideal", "slow"])
def test_a_streamed_operand_is_right_and_predicted(memory: dict[str, Any]) -> None:
    outcomes, stored = [], []
    for kind in ("model", "rtl"):
        device = open_device(kind, "tiny", STREAMING | memory)
        native = set_up(device)
        outcomes.append(run(native, STREAMED))
        stored.append(native.download(20, N))
    assert stored[0] == stored[1]
    timelines = [[e for e in outcome["events"] if e[1] != "sync"] for outcome in outcomes]
    if memory:
        assert outcomes[0]["cycles"] == pytest.approx(outcomes[1]["cycles"], rel=0.01)
    else:
        assert timelines[0] == sorted(timelines[1], key=lambda event: event[0])


@pytest.mark.parametrize("kind", KINDS)
def test_multiplications_with_streamed_keys_are_right_and_predicted(kind: str) -> None:
    device = open_device(kind, "tiny", STREAMING)
    for n in (8, 64, 256):
        outcome = device.native.simulate_multiplication(30, n, allow_insecure=True)
        assert outcome["correct"], n
        assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01), n


@pytest.mark.parametrize("kind", KINDS)
@SHAPED
def test_whole_multiplications_are_the_evaluators_and_predicted(kind: str, shape: dict[str, Any]) -> None:
    """One submission; conversions of single primes are moves."""
    device = open_device(kind, "tiny", CONVERTING | shape)
    for n in (8, 64, 256):
        outcome = device.native.simulate_multiplication(30, n, allow_insecure=True)
        assert outcome["correct"], n
        assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01), n
        usage = outcome["usage"]
        assert usage["host_operations"] == 0, n
        assert (usage["conversions"], usage["submissions"]) == ((4, 1) if "lanes" in shape else (1, 1)), n


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        *product_of(KINDS, {"both halves at once": BOTH_HALVES}),
        *product_of(SLOW_RTL, {"one after the other": ONE_HALF}),
    ],
)
def test_rotations_are_the_evaluators_and_predicted(kind: str, shape: dict[str, Any]) -> None:
    """One submission, nothing left to the host; three rotations share their digits."""
    device = open_device(kind, "tiny", shape)
    for n in (64, 256):
        one, three = (
            device.native.simulate_key_switch(30, n, primes=2, count=count, allow_insecure=True) for count in (1, 3)
        )
        for outcome in (one, three):
            assert outcome["correct"], n
            assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01), n
            assert (outcome["usage"]["host_operations"], outcome["usage"]["submissions"]) == (0, 1), n
        assert three["cycles"] < 2.5 * one["cycles"], n


@pytest.mark.parametrize("kind", SLOW_RTL)  # the short run simulates two cores in the test of multiplications below
def test_key_switches_in_flight_and_digit_by_digit_are_predicted(kind: str) -> None:
    """Three ciphertexts on two cores; all digits at a time, and one after another, which takes longer."""
    device = open_device(kind, "tiny", BOTH_HALVES | {"moves": 8, "constants": 8, "cores": 2})
    cycles = []
    for digit_major, batch in ((False, 1), (True, 1), (False, 3)):
        outcome = device.native.simulate_key_switch(
            30, 256, primes=2, batch=batch, digit_major=digit_major, allow_insecure=True
        )
        assert outcome["correct"]
        assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01)
        assert outcome["usage"]["host_operations"] == 0
        assert len(outcome["shift"]["cores"]) == min(batch, 2)
        cycles.append(outcome["cycles"])
    one, digit_major_one, three = cycles
    assert one < 0.8 * digit_major_one
    assert three < 2 * one


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        *product_of(KINDS, {"montgomery": BOTH_HALVES, "special primes apart": APART}),
        *product_of(SLOW_RTL, {"barrett": ONE_HALF, "pointwise unit": POINTWISE | {"moduli_slots": 1}}),
    ],
)
def test_residues_of_longer_special_primes_are_reduced_by_a_product(kind: str, shape: dict[str, Any]) -> None:
    """Words beyond the modulus reach the multiplier, and no other adder: an assertion of the lane would say so."""
    device = open_device(kind, "tiny", shape)
    for data_bits, how in (
        (20, {"primes": 2}), (29, {"primes": 2}), (20, {"primes": 2, "purpose": "relinearize-rescale"})
    ):  # fmt: skip
        outcome = device.native.simulate_key_switch(30, 256, data_bits=data_bits, **how, allow_insecure=True)
        assert outcome["correct"], (data_bits, how)
        assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01), (data_bits, how)
        assert (outcome["usage"]["host_operations"], outcome["usage"]["submissions"]) == (0, 1), (data_bits, how)


@pytest.mark.parametrize("kind", KINDS)
def test_special_primes_of_both_halves_are_transformed_together(kind: str) -> None:
    """Lanes for all primes once, two sets of moduli; products beside transforms; keys and results as everywhere."""
    device = open_device(kind, "tiny", APART)
    for n in (64, 256):
        for how in (
            {"primes": 2},
            {"primes": 2, "count": 3},
            {"primes": 1, "special": 2},
            {"primes": 2, "purpose": "relinearize-then-rescale"},
        ):
            outcome = device.native.simulate_key_switch(30, n, **how, allow_insecure=True)
            assert outcome["correct"], (n, how)
            assert outcome["predicted_cycles"] == outcome["cycles"], (n, how)
            assert (outcome["usage"]["host_operations"], outcome["usage"]["submissions"]) == (0, 1), (n, how)
    transforms = [event for event in outcome["profile"]["events"] if event[1] in ("ntt", "intt")]
    # Of a relinearisation k + 4: two digits, one there and two back; each half is divided by the last prime after it.
    assert len(transforms) == 6 + 4


@pytest.mark.parametrize("kind", KINDS)
def test_several_primes_are_taken_off_one_after_another(kind: str) -> None:
    """Relinearised and rescaled with one division; a digit of two primes; two special primes, a shorter digit."""
    device = open_device(kind, "tiny", BOTH_HALVES)
    cycles = []
    for how in (
        {"purpose": "relinearize-rescale", "primes": 2},
        {"purpose": "relinearize-then-rescale", "primes": 2},
        {"purpose": "relinearize-rescale", "primes": 3, "special": 2, "digit_primes": 2},
        {"primes": 2, "digit_primes": 2},
        {"primes": 3, "special": 2, "digit_primes": 2},
    ):
        outcome = device.native.simulate_key_switch(30, 256, **how, allow_insecure=True)
        assert outcome["correct"], how
        assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01), how
        assert (outcome["usage"]["host_operations"], outcome["usage"]["submissions"]) == (0, 1), how
        cycles.append(outcome["cycles"])
    assert cycles[0] <= 0.85 * cycles[1]


@pytest.mark.parametrize("kind", KINDS)
def test_cores_multiply_together_as_predicted(kind: str) -> None:
    """More multiplications than cores, fewer, as many; keys and tables are fetched for both cores at a time."""
    further = {"cores": 2, "rns_conversions": 8, "rns_entries": 32}
    device = open_device(kind, "tiny", {**CONVERTING, **SHAPES[1], **further})
    for n, batch in ((64, 5), (256, 1), (256, 2)):
        outcome = device.native.simulate_multiplication(30, n, allow_insecure=True, batch=batch)
        assert outcome["correct"], (n, batch)
        assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01), (n, batch)
        shift = outcome["shift"]
        assert [sum(core.values()) for core in shift["cores"]] == [shift["cycles"]] * min(batch, 2)
        assert (shift["port_transfers"] < shift["transfers"]) == (batch > 1)
        assert outcome["usage"]["host_operations"] == 0


@pytest.mark.slow
@pytest.mark.hw
def test_six_cores_of_the_published_shape() -> None:
    outcome = open_device("rtl", "heaws-x6").native.simulate_multiplication(30, 4096, allow_insecure=True, batch=6)
    assert outcome["correct"]
    assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01)
    assert 6 * 200e6 / outcome["cycles"] > 2800


def set_up_conversions(native: _native.Device, preset: Preset) -> list[tuple[int, int]]:
    """Conversions between the moduli of `set_up`; per conversion the modulus indices from and to."""
    q, p = (lane_moduli(preset, index) for index in range(2))
    native.set_conversion(0, 0, q, p)
    native.set_conversion(1, 0, p, q)
    native.set_conversion(2, 0, q, p, 33)
    native.set_conversion(3, 1, q[1:], q)
    return [(0, 1), (1, 0), (0, 1), (0, 0)]


def set_up_moves(native: _native.Device, preset: Preset) -> dict[str, Any]:
    """Automorphisms and digits; what a random program is told of them."""
    q, p = (lane_moduli(preset, index) for index in range(2))
    for number, element in enumerate((5, 25, 2 * N - 1)):
        native.set_automorphism(number, element)
    lanes = range(preset.lanes)
    turned = [(lane + 1) % preset.lanes for lane in lanes]
    for number, (source, target) in enumerate(((q, q), (p, p))):
        least = source.index(min(source))
        native.set_digit(number, [least for _ in lanes], [source[least] for _ in lanes], target)
    native.set_digit(2, turned, [p[lane] for lane in turned], q)
    return {"automorphisms": 3, "digits": [(0, 0), (1, 1), (1, 0)]}


BAD_CONVERSIONS = [
    (lambda d, q: d.set_conversion(4, 0, q, q), "conversion 4 does not exist, the build has 4"),
    (lambda d, q: d.set_conversion(0, 1, q, q), "2 input primes from lane 1 on and 2 output primes, the build has 2"),
    (lambda d, q: d.set_conversion(0, 0, q[:1], [(1 << 33) + 1]), "conversion 0: modulus 8589934593 has 34 bits"),
    (lambda d, q: d.set_conversion(0, 0, [q[0], q[0]], q), "inverse"),
    (lambda d, q: d.set_conversion(0, 0, q, q, 3), "inverse"),
    (lambda d, q: d.set_conversion(0, 0, [1], q), "modulus"),
    (
        lambda d, q: d.run(_native.assemble("load s2 n=64 buf=0\nlift s3, s2 n=64 const=1")),
        "conversion 1 was never set",
    ),
    (lambda d, q: d.set_digit(4, [0, 0], [q[0]] * 2, q), "digit 4 does not exist, the build has 4"),
    (lambda d, q: d.set_digit(0, [0], [q[0]], q), "digit 0: 1 lanes given, the build has 2"),
    (lambda d, q: d.set_digit(0, [0, 2], [q[0]] * 2, q), "digit 0: source lane 2, the build has 2 lanes"),
    (lambda d, q: d.set_digit(0, [0, 0], [2 * q[0] + 1] * 2, q), "must be below 2 \\* "),
    (lambda d, q: d.set_digit(0, [0, 0], [q[0]] * 2, [2, 2]), "must be below 2 \\* 2"),
    (lambda d, q: d.set_automorphism(4, 5), "automorphism 4 does not exist, the build has 4"),
    (lambda d, q: d.set_automorphism(1, 4), "automorphism 1: x -> x\\^4 is none, the exponent must be odd"),
    (
        lambda d, q: d.run(_native.assemble("load s2 n=64 buf=0\nauto s3, s2 n=64 const=1")),
        "automorphism 1 was never set",
    ),
    (
        lambda d, q: d.run(_native.assemble("load s2 n=64 buf=0\ndecomp s3, s2 n=64")),
        "digit 0 was never set",
    ),
    (lambda d, q: d.simulate_key_switch(30, 64, primes=2), "128"),
    (lambda d, q: d.simulate_key_switch(30, 512, primes=2, allow_insecure=True), "n = 512 is beyond the build"),
    (
        lambda d, q: d.simulate_key_switch(30, 64, primes=2, data_bits=30, allow_insecure=True),
        "data primes of 30 bits: 5 or more of the build, and fewer than the 30 of a special prime",
    ),
    (lambda d, q: d.simulate_key_switch(30, 64, primes=0, allow_insecure=True), "needs a data prime and a special"),
    (lambda d, q: d.simulate_key_switch(30, 64, primes=1, special=0, allow_insecure=True), "and a special prime"),
    (
        lambda d, q: d.simulate_key_switch(30, 64, primes=2, digit_primes=3, allow_insecure=True),
        "digits of 3 primes: a digit has 1 to all 2 data primes",
    ),
    (
        lambda d, q: d.simulate_key_switch(30, 64, primes=1, purpose="relinearize-rescale", allow_insecure=True),
        "needs two data primes",
    ),
    (lambda d, q: d.simulate_key_switch(30, 64, primes=2, purpose="bootstrap"), '"bootstrap" is no purpose'),
    (
        lambda d, q: d.simulate_key_switch(30, 64, primes=1, batch=1025, allow_insecure=True),
        "1025 ciphertexts, 1 rotations of each; a measurement has up to 1024 and 64",
    ),
    (lambda d, q: d.simulate_conversion("frob", q, 64), "'?\"?frob\"?'? is no base conversion"),
    (lambda d, q: d.simulate_conversion("lift", q, 512), "n = 512 is beyond the build"),
    (lambda d, q: d.simulate_conversion("lift", q[:1], 64), "1 moduli, the build has 2 lanes"),
]


@pytest.mark.parametrize(("action", "words"), BAD_CONVERSIONS, ids=[words[:30] for _, words in BAD_CONVERSIONS])
def test_bad_conversions_are_refused(action: Callable[[_native.Device, list[int]], object], words: str) -> None:
    device = open_device("model", "tiny", CONVERTING)
    q = _native.default_moduli([30, 30], N, device.preset.n_max)
    with pytest.raises(RingsmithError, match=words):
        action(device.native, q)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_is_right_and_predicted(tiny: OpenDevice, operation: str) -> None:
    for n in (16, 256, 512):
        moduli = _native.default_moduli(list(tiny.preset.lane_bits()), n, tiny.preset.n_max)
        outcome = tiny.native.simulate_operation(operation, moduli, n)
        assert outcome["correct"], n
        assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01), n


def stored(native: _native.Device, words: list[int]) -> list[list[list[int]]]:
    """The contents of every host buffer that a program STOREs to."""
    lines = _native.disassemble(words).splitlines()
    buffers = {int(line.split("buf=")[1].split()[0]) for line in lines if line.startswith("store")}
    return [native.download(buffer, N) for buffer in sorted(buffers)]


def relocate(words: list[int]) -> list[int]:
    """Move a program's buffer numbers to those that `set_up` made."""
    moved = []
    for line in _native.disassemble(words).splitlines():
        head, mark, tail = line.partition("buf=")
        moved.append(head + (f"{mark}{FIRST + int(tail)}" if mark else ""))
    return _native.assemble("\n".join(moved))


def compare_random_programs(seeds: range, length: int, overrides: dict[str, Any] | None = None) -> None:
    """Programs of both rings on three units: results and timelines on model and RTL are the same."""
    devices = [open_device(kind, "tiny", CONVERTING | (overrides or {})) for kind in ("model", "rtl")]
    model, rtl = (set_up(device) for device in devices)
    [routes, _] = [set_up_conversions(device.native, device.preset) for device in devices]
    [moves, _] = [set_up_moves(device.native, device.preset) for device in devices]
    for seed in seeds:
        words = relocate(model.random_program(seed, length=length, n=N, moduli=2, outputs=2, routes=routes, **moves))
        timelines = [device.run(words) for device in (model, rtl)]
        assert stored(model, words) == stored(rtl, words), f"seed {seed}\n{_native.disassemble(words)}"
        # SYNC has no unit and leaves no record in the hardware.
        events = [[e for e in t["events"] if e[1] != "sync"] for t in timelines]
        assert [e[:3] for e in events[0]] == [e[:3] for e in events[1]]
        assert timelines[0]["cycles"] == pytest.approx(timelines[1]["cycles"], rel=0.01), f"seed {seed}"
        assert {"compute", "memory", "rns"} <= {e[2] for e in events[1]}, f"seed {seed}"


@pytest.mark.hw
@SHAPED
def test_random_programs_agree_on_model_and_rtl(shape: dict[str, Any]) -> None:
    compare_random_programs(range(12), 40, shape)
    compare_random_programs(range(12, 16), 40, shape | MEMORY)


@pytest.mark.hw
def test_random_programs_with_streamed_operands_agree_on_model_and_rtl() -> None:
    compare_random_programs(range(20, 30), 40, STREAMING)
    compare_random_programs(range(30, 34), 40, STREAMING | MEMORY)


@pytest.mark.hw
@pytest.mark.slow
@SHAPED
def test_many_random_programs_agree_on_model_and_rtl(shape: dict[str, Any]) -> None:
    compare_random_programs(range(100, 400), 80, shape)
    compare_random_programs(range(400, 500), 80, shape | MEMORY)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("memory", [{}, MEMORY, {"memory_gbs": 0.2}, {"memory_latency_ns": 9999.0}], ids=str)
@SHAPED
def test_transfers_take_as_long_as_port_and_memory_need(
    kind: str, shape: dict[str, Any], memory: dict[str, float]
) -> None:
    """Words that cross, or rows of all lanes' words, at the rate of the slower of port and memory, and a latency."""
    device = open_device(kind, "tiny", CONVERTING | shape | memory)
    preset = device.preset
    for n in (8, 64, 256):
        passes, beat = (1, preset.row_bytes) if preset.wide_port else (preset.lanes, 2 * preset.word_bytes)
        beats = passes * n // preset.butterflies
        gbs, nanoseconds = memory.get("memory_gbs", 0.0), memory.get("memory_latency_ns", 0.0)
        per_beat = max(1, beat * preset.clock_mhz[-1] / (gbs * 1000) if gbs else 0)
        cycles = 1 + (beats - 1) * per_beat
        for op, latency in (("load", 24), ("store", 15)):
            outcome = device.native.simulate_instruction(op, lane_moduli(preset, 0), n)
            assert outcome["correct"], (op, n)
            assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01, abs=1), (op, n)
            extra = nanoseconds * preset.clock_mhz[-1] / 1000 - {"load": 20, "store": 8}[op] if nanoseconds else 0
            assert outcome["cycles"] == pytest.approx(cycles + latency + extra, rel=0.01, abs=3), (op, n)


@pytest.mark.hw
def test_random_programs_keep_their_checksums_instruction_by_instruction() -> None:
    for seed in range(3):
        device = open_device("rtl", "tiny", CONVERTING | {"reduction": "barrett"})
        native = set_up(device, tables=False)
        routes = set_up_conversions(native, device.preset)
        moves = set_up_moves(native, device.preset)
        native.audit()
        for index in range(2):
            native.load_twiddles(index, N)
        words = relocate(native.random_program(seed, length=25, n=N, moduli=2, outputs=2, routes=routes, **moves))
        assert len(native.run(words)["events"]) >= 25


BAD_PROGRAMS = [
    ("lift s2, s3 n=64", "instruction 0: lift is not in this build"),
    ("auto s2, s3 n=64", "instruction 0: auto is not in this build"),
    ("ntt s2, s3 n=512", "n = 512 is beyond the build, which has n = 8..256"),
    ("memcpy s60, zero n=64", "slot 60 does not exist, the build has slots 0..7"),
    ("pmodadd s2, s3, zero n=64", "slot 3 is read but was never written"),
    ("load s5 n=64 buf=8\npmodadd s5, s5, zero n=64", "the result would replace an operand in slot 5"),
    ("load s2 n=64 buf=8\nntt s2, s2 n=64 mod=5", "modulus index 5 does not exist, the build has 2"),
    ("load s2 n=128 buf=8\nntt s2, s2 n=128", "the twiddle table of modulus 0 is for n = 64"),
    ("sync\n" * 4097, "the program has 4097 instructions, one submission takes 4096"),
    ("load s2 n=64 buf=8\nload s3 n=64 buf=1048575", r"instruction 1 \(load s3 n=64 buf=1048575\): bus error"),
    ("load s2 n=64 buf=8\nstore s2 n=64 buf=1048575", r"instruction 1 \(store s2 n=64 buf=1048575\): bus error"),
]


@pytest.mark.parametrize(("text", "words"), BAD_PROGRAMS, ids=[words[:30] for _, words in BAD_PROGRAMS])
def test_bad_programs_get_the_same_words_on_both_devices(tiny: OpenDevice, text: str, words: str) -> None:
    native = set_up(tiny)
    with pytest.raises(DeviceError, match=words):
        run(native, text)


def test_a_device_works_on_after_a_bus_error(tiny: OpenDevice) -> None:
    native = set_up(tiny)
    before = native.download(FIRST, N)
    for text in ("load s2 n=64 buf=1048575", "load s2 n=64 buf=8\nstore s2 n=64 buf=1048575"):
        with pytest.raises(DeviceError, match="bus error"):
            run(native, text)
        run(native, "load s2 n=64 buf=8\nmemcpy s3, s2 n=64\nstore s3 n=64 buf=12")
        assert native.download(12, N) == before


def test_unknown_instructions_are_refused(tiny: OpenDevice) -> None:
    with pytest.raises(DeviceError, match="instruction 1: opcode 0 is no instruction"):
        tiny.native.run([*_native.assemble("sync"), 0])


@pytest.mark.parametrize(
    ("moduli", "words"),
    [
        ([(1 << 32) + 1, 97], "modulus index 0, lane 0: modulus 4294967297 has 33 bits, the build has words of 32"),
        ([97, 98], "lane 1: modulus 98 is even"),
        ([97], "1 lanes given, the build has 2"),
    ],
)
def test_bad_moduli_get_the_same_words_on_both_devices(tiny: OpenDevice, moduli: list[int], words: str) -> None:
    with pytest.raises(DeviceError, match=words):
        tiny.native.set_moduli(0, moduli)


def test_a_modulus_that_is_not_ntt_friendly_is_refused(tiny: OpenDevice) -> None:
    tiny.native.set_moduli(0, [97, 97])
    with pytest.raises(DeviceError, match="modulus 97 is not NTT-friendly for n = 64"):
        tiny.native.load_twiddles(0, 64)


def test_a_hung_device_names_the_instruction_and_recovers(tiny: OpenDevice) -> None:
    native = set_up(tiny)
    native.inject_stall(True)
    with pytest.raises(DeviceError, match=r"instruction 1 \(load s3 n=64 buf=8\) did not finish within"):
        run(native, "memcpy s2, zero n=64\nload s3 n=64 buf=8")
    assert run(native, "load s3 n=64 buf=8")["cycles"] > 64


def test_checksums_catch_a_fault_that_goes_unnoticed_without(tiny: OpenDevice) -> None:
    text = "load s2 n=64 buf=8\npmodadd s3, s2, zero n=64\nstore s3 n=64 buf=12"
    native = set_up(tiny)
    native.inject_faulty_results(0, 10_000_000)
    run(native, text)
    assert native.download(12, N) != native.download(8, N)
    native.reset()
    native = set_up(tiny)
    native.audit()
    native.inject_faulty_results(0, 10_000_000)
    with pytest.raises(DeviceError, match=r"instruction 1 \(pmodadd s3, s2, zero n=64\): checksum of slot 3"):
        run(native, text)


def test_the_text_of_a_program_goes_both_ways() -> None:
    text = "load twiddle n=64 mod=1 buf=3\nintt s3, s0, s5 n=64 mod=1 cyclic=1\nsync\n"
    assert _native.disassemble(_native.assemble(text)) == text
    with pytest.raises(DeviceError, match='line 2: "frob" is no instruction'):
        _native.assemble("sync\nfrob s1")


def test_programs_can_be_printed_and_assembled(tiny: OpenDevice) -> None:
    moduli = _native.default_moduli(list(tiny.preset.lane_bits()), 64, tiny.preset.n_max)
    text = tiny.native.program("tensor", moduli, 64)
    assert text.count("ntt s") == 7
    # Four operands and the twiddle table, the work, three results.
    assert len(_native.assemble(text)) == 5 + 11 + 3


def test_unknown_kinds_and_operations_are_refused(tiny: OpenDevice) -> None:
    refused: list[Callable[[], object]] = [
        lambda: open_device("fpga", "tiny"),
        lambda: tiny.native.simulate_operation("lift", [97, 97], 64),
        lambda: tiny.native.simulate_instruction("ntt", [97, 97], 100),
    ]
    for action in refused:
        with pytest.raises(InputError):
            action()
