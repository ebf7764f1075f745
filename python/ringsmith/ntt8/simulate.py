# SPDX-License-Identifier: Apache-2.0
"""Measurements on the Verilated 8-point accelerators: a transform's cycles, and the study's encryption side by side."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from ringsmith.errors import InputError
from ringsmith.ntt8.device import Device, Traffic
from ringsmith.ntt8.encryption import SLOTS, Client, Keys
from ringsmith.ntt8.preset import Ntt8Preset
from ringsmith.ntt8.ring import N, Ring
from ringsmith.ntt8.top import transform_latency
from ringsmith.presets import load_any, preset_names
from ringsmith.specs import shown

OPERATIONS = ("ntt", "intt", "encrypt")
SAMPLES = 64
# Cycles of the stream shell around a lone transform: the beat that brings it and the result queue.
STREAM_SHELL = 2
SCALE = 2.0**20
TOLERANCE = 1e-3
NOTICE = "INSECURE toy ring (n = 8), run by explicit opt-in"


def simulate(preset: Ntt8Preset, operation: str, *, seed: int = 1) -> dict[str, Any]:
    """Run one operation on the RTL, check its result and tell its cycles beside the prediction.

    Raises:
        InputError: an operation these accelerators do not have.
    """
    if operation not in OPERATIONS:
        raise InputError(f"{preset.name} has no operation {shown(operation)}; there is {', '.join(OPERATIONS)}")
    device = Device(preset)
    outcome = _encryption(device, seed) if operation == "encrypt" else _transform(device, operation, seed)
    return {**outcome, "simulated_cycles": device.traffic.cycles}


def compare(*, seed: int = 1) -> list[dict[str, Any]]:
    """The encryption on every variant, side by side as in the study's table."""
    presets = [load_any(name) for name in preset_names(Ntt8Preset.top)]
    made = [preset for preset in presets if isinstance(preset, Ntt8Preset)]
    return [
        {"preset": preset.name, "clock_mhz": preset.clock_mhz[-1], **simulate(preset, "encrypt", seed=seed)}
        for preset in made
    ]


def _transform(device: Device, operation: str, seed: int) -> dict[str, Any]:
    ring, inverse = device.ring, operation == "intt"
    draw = random.Random(seed)
    polys = [[draw.randrange(ring.modulus) for _ in range(N)] for _ in range(SAMPLES)]
    wanted = [ring.inverse(poly) if inverse else ring.forward(poly) for poly in polys]
    before = device.traffic
    alone = [device.transform(poly, inverse=inverse) for poly in polys]
    middle = device.traffic
    cycles = middle.cycles - before.cycles if device.preset.streams else None
    overlapped = device.transform_many(polys, inverse=inverse)
    after = device.traffic
    taken = cycles // SAMPLES if cycles is not None else device.field("status", "cycles")
    predicted = transform_latency(device.preset) + (STREAM_SHELL if device.preset.streams else 0)
    return {
        "cycles": taken,
        "predicted_cycles": predicted,
        "correct": alone == wanted and overlapped == wanted,
        "accepts_every_cycles": 3 if device.preset.variant == "pn1" else 1,
        "busy": {"compute": taken},
        "per_transform": {"alone": _per(middle - before, SAMPLES), "overlapped": _per(after - middle, SAMPLES)},
    }


def _encryption(device: Device, seed: int) -> dict[str, Any]:
    def one_by_one(polys: Sequence[Sequence[int]], inverse: bool) -> list[list[int]]:
        return [device.transform(poly, inverse=inverse) for poly in polys]

    def together(polys: Sequence[Sequence[int]], inverse: bool) -> list[list[int]]:
        return device.transform_many(polys, inverse=inverse)

    software = _run(device.ring, lambda polys, inverse: _software(device.ring, polys, inverse), seed, None)
    alone = _run(device.ring, one_by_one, seed, device)
    overlapped = _run(device.ring, together, seed, device)
    clock = device.preset.clock_mhz[-1]
    same = software["ciphertexts"] == alone["ciphertexts"] == overlapped["ciphertexts"]
    transforms = 3 * SAMPLES
    fabric = 3 * transform_latency(device.preset)
    return {
        "notice": NOTICE,
        "cycles": round(alone["traffic"].cycles / SAMPLES),
        "predicted_cycles": None,
        "time_us": alone["traffic"].cycles / SAMPLES / clock,
        "time_us_overlapped": overlapped["traffic"].cycles / SAMPLES / clock,
        "overlap_gain": alone["traffic"].cycles / overlapped["traffic"].cycles,
        "correct": same and max(r["error"] for r in (software, alone, overlapped)) < TOLERANCE,
        "max_abs_error": alone["error"],
        "per_transform": {
            "alone": _per(alone["traffic"], transforms),
            "overlapped": _per(overlapped["traffic"], transforms),
        },
        "split": {
            "fabric_us": fabric / clock,
            "bus_us": alone["traffic"].cycles / SAMPLES / clock - fabric / clock,
            "host_us": software["other_us"],
            "processor_us": software["transform_us"],
        },
        "busy": {"compute": fabric},
    }


def _software(ring: Ring, polys: Sequence[Sequence[int]], inverse: bool) -> list[list[int]]:
    return [ring.inverse(list(poly)) if inverse else ring.forward(list(poly)) for poly in polys]


def _run(
    ring: Ring, transforms: Callable[[Sequence[Sequence[int]], bool], list[list[int]]], seed: int, device: Device | None
) -> dict[str, Any]:
    """Encrypt and decrypt random slots; traffic and times of the encryptions alone."""
    spent = 0.0

    def timed(polys: Sequence[Sequence[int]], inverse: bool) -> list[list[int]]:
        nonlocal spent
        started = time.perf_counter()
        results = transforms(polys, inverse)
        spent += time.perf_counter() - started
        return results

    client = Client(
        ring,
        scale=min(SCALE, ring.modulus / 64),
        seed=seed,
        forward=lambda polys: timed(polys, False),
        inverse=lambda polys: timed(polys, True),
        allow_insecure=True,
    )
    keys: Keys = client.keygen()
    draw = random.Random(seed)
    slots = [[complex(draw.uniform(-1, 1), draw.uniform(-1, 1)) for _ in range(SLOTS)] for _ in range(SAMPLES)]
    before, spent = device.traffic if device else Traffic(), 0.0
    started = time.perf_counter()
    ciphertexts = [client.encrypt(values, keys) for values in slots]
    elapsed, in_transforms = time.perf_counter() - started, spent
    traffic = device.traffic - before if device else Traffic()
    error = max(
        abs(a - b) for ct, values in zip(ciphertexts, slots, strict=True)
        for a, b in zip(client.decrypt(ct, keys), values, strict=True)
    )  # fmt: skip
    return {
        "ciphertexts": ciphertexts,
        "traffic": traffic,
        "error": float(error),
        "transform_us": in_transforms / SAMPLES * 1e6,
        "other_us": (elapsed - in_transforms) / SAMPLES * 1e6,
    }


def _per(traffic: Traffic, count: int) -> dict[str, float]:
    return {name: value / count for name, value in vars(traffic).items()}
