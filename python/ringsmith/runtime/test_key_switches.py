# SPDX-License-Identifier: Apache-2.0
"""Key switches on the presets of coxHE and HEAX, and in both orders on one machine; the evaluator is the oracle."""

from __future__ import annotations

from typing import Any

import pytest

from ringsmith.presets import load_preset
from ringsmith.runtime.devices import OpenDevice, open_device

# coxHE, Table III: n, bits of a prime, butterflies a unit on a ZCU104 (points 1) and on a ZCU102 (points 2).
POINTS = {
    "a": (2048, 18, 8, 16),
    "b": (4096, 25, 8, 16),
    "c": (4096, 33, 8, 16),
    "d": (8192, 25, 8, 16),
    "e": (8192, 33, 8, 16),
    "f": (8192, 43, 4, 16),
}
BOARDS = {1: "coxhe-zcu104", 2: "coxhe-zcu102"}
NAMES = [f"{board}-{point}{number}" for number, board in BOARDS.items() for point in POINTS]

# Degree, data primes, lanes; fifteen lanes at most, so that seven data primes and a special one are there once.
SHAPES = [
    (4096, 2, 6),
    (8192, 3, 8),
    (8192, 4, 10),
    (16384, 5, 12),
    (16384, 6, 14),
    (16384, 7, 8),
]


def switched(device: OpenDevice, n: int, primes: int, **how: Any) -> int:
    """Cycles of one key switch from the first transform to the last result on chip.

    Every byte is as the evaluator has it, the host has no part in it, and the cycles are those predicted.
    """
    outcome = device.native.simulate_key_switch(min(device.preset.lane_bits()), n, primes=primes, **how)
    assert outcome["correct"]
    assert outcome["predicted_cycles"] == outcome["cycles"]
    assert outcome["usage"]["host_operations"] == 0
    events = outcome["profile"]["events"]
    begin: int = min(event[3] for event in events if event[2] == "compute")
    end: int = max(event[4] for event in events if event[2] in ("compute", "rns"))
    return end - begin


def published(n: int, primes: int, butterflies: int) -> int:
    """coxHE's latency of a key switch, T (k + 5) with T = n log2(n) / (2P)."""
    return n * (n.bit_length() - 1) // (2 * butterflies) * (primes + 5)


@pytest.mark.parametrize("name", NAMES)
def test_the_points_of_table_iii_switch_keys_in_the_published_latency(name: str) -> None:
    """Where there are lanes for both halves, at fewer butterflies; with three lanes it is one half after the other."""
    n, bits, *parallel = POINTS[name[-2]]
    preset = load_preset(name)
    assert (preset.n_max, preset.word_bits, preset.butterflies) == (n, bits, parallel[int(name[-1]) - 1])
    share = switched(open_device("model", preset), n, 2) / published(n, 2, preset.butterflies)
    assert preset.lanes in (3, 6)
    assert share < 1 if preset.lanes == 6 else share < 1.51


@pytest.mark.parametrize(("name", "primes", "butterflies"), [("heax-a", 2, 96), ("heax-b", 4, 80)])
def test_the_sets_of_heax_switch_keys(name: str, primes: int, butterflies: int) -> None:
    preset = load_preset(name)
    assert preset.lanes == 2 * (primes + 1)
    assert preset.lanes * preset.butterflies == butterflies
    assert switched(open_device("model", preset), preset.n_max, primes) <= published(
        preset.n_max, primes, preset.butterflies
    )


@pytest.mark.parametrize(("n", "primes", "lanes"), SHAPES)
def test_the_order_of_heax_takes_half_as_long_again_on_the_same_machine(n: int, primes: int, lanes: int) -> None:
    """At least 33 % saved by all digits at a time, both halves side by side where there are lanes for them."""
    # Where lanes are few, products take as long as transforms: there they have multipliers of their own, both ways.
    knobs = {"lanes": lanes, "n_max": n, "pointwise_unit": primes == 7}
    device = open_device("model", load_preset("coxhe-zcu102-p8", knobs))
    ours, digit_major = (switched(device, n, primes, digit_major=order) for order in (False, True))
    assert ours <= 0.67 * digit_major
    if lanes == 2 * (primes + 1):
        assert ours <= published(n, primes, device.preset.butterflies)
    else:
        assert ours <= 1.2 * published(n, primes, device.preset.butterflies)


def test_seven_primes_in_eight_lanes_switch_keys_in_the_published_latency() -> None:
    """Both halves' special primes in a section of their own: eleven transforms, 64 of the formula's 96 butterflies."""
    knobs = {"lanes": 8, "n_max": 16384, "pointwise_unit": True, "moduli_slots": 2, "dual_port_slots": 10}
    device = open_device("model", load_preset("coxhe-zcu102-p8", knobs))
    assert switched(device, 16384, 7) <= published(16384, 7, device.preset.butterflies)


@pytest.mark.parametrize(("n", "primes", "lanes"), SHAPES[:3])
def test_one_division_takes_six_sevenths_of_two(n: int, primes: int, lanes: int) -> None:
    device = open_device("model", load_preset("coxhe-zcu102-p8", {"lanes": lanes, "n_max": n}))
    one, two = (
        switched(device, n, primes, purpose=purpose) for purpose in ("relinearize-rescale", "relinearize-then-rescale")
    )
    assert one <= 0.85 * two


@pytest.mark.slow
@pytest.mark.hw
@pytest.mark.parametrize(("sides", "tables"), [(1, 1), (1, 2), (2, 1)])
@pytest.mark.parametrize("butterflies", [1, 4])
@pytest.mark.parametrize(
    ("primes", "special", "digit_primes"), [(1, 1, 1), (2, 1, 1), (3, 1, 2), (4, 2, 2), (5, 2, 3), (4, 3, 4), (7, 1, 1)]
)
def test_key_switches_of_every_shape_on_the_simulated_rtl(
    primes: int, special: int, digit_primes: int, butterflies: int, sides: int, tables: int
) -> None:
    """Degrees from the least to the most, digits and special primes; both halves one after the other and at once.

    With a second set of moduli both divide by the special primes together; products beside transforms there.
    """
    lanes = sides * (primes + special)
    settings = {"moduli_slots": tables, "pointwise_unit": tables > 1} | {
        "moves": 32,
        "constants": 32,
        "word_bits": 30,
        "dual_port_slots": 8,
        "single_port_slots": 0,
    }
    shape = {"lanes": min(lanes, 15), "butterflies": butterflies, "reduction": "montgomery", "wide_port": True}
    device = open_device("rtl", "tiny", {**settings, **shape, "n_max": 256})
    for n in (max(8, 4 * butterflies), 64, 256):
        for purpose in ("rotation", "relinearize-rescale")[: min(primes, 2)]:
            outcome = device.native.simulate_key_switch(
                30,
                n,
                primes=primes,
                special=special,
                digit_primes=digit_primes,
                purpose=purpose,
                allow_insecure=True,
            )
            assert outcome["correct"], (n, purpose)
            assert outcome["predicted_cycles"] == pytest.approx(outcome["cycles"], rel=0.01), (n, purpose)
            assert outcome["usage"]["host_operations"] == 0, (n, purpose)


@pytest.mark.parametrize(("n", "primes", "lanes"), SHAPES[:2])
def test_eight_rotations_of_one_ciphertext_take_six_tenths_of_eight_single_ones(
    n: int, primes: int, lanes: int
) -> None:
    """They share its decomposition; the preset's slots hold two digits, ten hold three."""
    slots = {} if primes == 2 else {"dual_port_slots": 10}
    device = open_device("model", load_preset("coxhe-zcu102-p8", {"lanes": lanes, "n_max": n} | slots))
    bits = min(device.preset.lane_bits())
    one, eight = (device.native.simulate_key_switch(bits, n, primes=primes, count=count) for count in (1, 8))
    assert one["correct"]
    assert eight["correct"]
    assert eight["cycles"] <= 0.6 * 8 * one["cycles"]
