# SPDX-License-Identifier: Apache-2.0
"""Programs that the on-chip controller feeds: the same bytes as without it, few accesses of the host, no hang."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ringsmith import _native
from ringsmith.cli.simulate_host import LINES, applies, compare, text_rows
from ringsmith.errors import DeviceError, ToolError
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.hw import firmware
from ringsmith.presets import load_preset
from ringsmith.runtime.devices import OpenDevice, open_device
from ringsmith.runtime.test_coprocessor import client, products

pytestmark = pytest.mark.hw

SERIAL = {"host": "serial", "controller": "riscv"}
# As small as a build gets.
NARROW = SERIAL | {"lanes": 1, "butterflies": 1, "n_max": 64}


@pytest.fixture(scope="module", autouse=True)
def compiler() -> None:
    """Skip without rustc and its target."""
    try:
        firmware.build()
    except ToolError as error:
        pytest.skip(str(error))


def opened(settings: dict[str, Any]) -> OpenDevice:
    return open_device("rtl", "tiny", settings)


def tensor(device: OpenDevice, n: int) -> tuple[dict[str, Any], list[int]]:
    """Measure a tensor; the words of its work without transfers."""
    moduli = _native.default_moduli(list(device.preset.lane_bits()), n, device.preset.n_max)
    outcome = device.native.simulate_operation("tensor", moduli, n)
    lines = device.native.program("tensor", moduli, n).splitlines()
    return outcome, _native.assemble("\n".join(line for line in lines if not line.startswith(("load", "store"))))


def test_a_client_gives_the_same_bytes_with_a_controller() -> None:
    assert client(opened(SERIAL)) == client(None)


def test_a_tensor_takes_two_accesses_of_the_host() -> None:
    device = opened(SERIAL)
    outcome, work = tensor(device, 256)
    assert outcome["correct"]
    for loads in (True, False):
        device.native.run(work)
        used = device.native.last_round()
        assert used is not None
        # The start and the look at the end; what is loaded stays.
        assert used["transactions"] == 2
        assert used["load_transactions"] == (2 * len(work) + 2 if loads else 0)
        assert outcome["cycles"] < used["cycles"] < outcome["cycles"] + 3000


@pytest.mark.slow
def test_programs_longer_than_the_memory_run_in_parts() -> None:
    # Two instructions fit behind the firmware.
    whole, parts = opened(NARROW), opened(NARROW | {"controller_words": 64})
    outcome, work = tensor(parts, 64)
    assert outcome["correct"]
    assert len(work) == 11
    parts.native.run(work)
    used = parts.native.last_round()
    assert used is not None
    assert used["transactions"] > 2 * 6
    source = random.Random(3)
    results = []
    values: list[list[int]] = []
    for device in (whole, parts):
        native, moduli = device.native, _native.default_moduli(list(device.preset.lane_bits()), 64, 64)
        values = values or [[source.randrange(m) for _ in range(64)] for m in moduli]
        native.set_moduli(0, moduli)
        native.load_twiddles(0, 64)
        buffer = native.allocate(2)
        native.upload(buffer, values)
        text = f"load s2 n=64 buf={buffer}\nntt s3, s2 n=64\npmodmul s4, s3, s3 n=64\nintt s3, s4 n=64\n"
        native.run(_native.assemble(text + f"store s3 n=64 buf={buffer + 1}\n"))
        results.append(native.download(buffer + 1, 64))
    assert results[0] == results[1] != values


def test_a_device_that_hangs_comes_back_after_its_reset() -> None:
    device = opened(SERIAL)
    outcome, _ = tensor(device, 256)
    device.native.inject_stall(True, patience=20_000)
    with pytest.raises(DeviceError, match="did not finish within"):
        tensor(device, 256)
    again, _ = tensor(device, 256)
    assert again["correct"]
    assert again["cycles"] == outcome["cycles"]


# A UART takes 10,000 cycles for an instruction, a minute of simulation for all.
@pytest.mark.slow
@pytest.mark.parametrize("lines", [("byte", "spi"), LINES["serial"]], ids=str)
def test_host_and_controller_stand_side_by_side(lines: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    preset = load_preset("tiny", NARROW)
    assert applies(preset, "tensor", 64)
    assert not applies(preset, "ntt", 64)
    assert not applies(preset, "tensor", 128)
    assert not applies(load_preset("tiny"), "tensor", 64)
    monkeypatch.setitem(LINES, "serial", lines)
    rows = compare(preset, "tensor", 64)
    assert [(row["by"], row["line"]) for row in rows] == [
        (by, line) for by in ("one", "queue", "controller") for line in lines
    ]
    assert all(row["correct"] for row in rows)
    cycles = {(row["by"], row["line"]): row["cycles"] for row in rows}
    transactions = {row["by"]: row["transactions"] for row in rows}
    # A slow line slows the host; the controller takes it twice only.
    slowest = lines[-1]
    assert cycles["one", slowest] > cycles["queue", slowest]
    assert slowest != "uart" or cycles["queue", "uart"] > cycles["controller", "uart"]
    assert cycles["one", slowest] > cycles["one", "byte"] > cycles["queue", "byte"]
    assert transactions["one"] > transactions["queue"] > transactions["controller"] == 2
    assert len(text_rows(rows)) == len(rows)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [SERIAL, {"controller": "riscv", "cores": 2}], ids=str)
def test_whole_programs_give_the_same_bytes(settings: dict[str, Any]) -> None:
    primes = tuple(_native.ntt_primes(256, 31, 4, exclude=[]))
    params = ParamRequest(scheme="bfv", n=256, moduli=primes[:3], special=primes[3:], plain_modulus=7681)
    compiled = products.options(params=params, allow_insecure=True).compile()
    answers = []
    for device in (None, opened(settings)):
        program = compiled if device is None else replace(compiled, device=device.native)
        client = program.client(seed="7", sample_data=True)
        server = program.server(client.evaluation_keys)
        sent = [client.encrypt(x=np.full(256, value), y=np.arange(256) % 20) for value in (3, -2, 5)]
        results = list(server.evaluate_many(sent))
        assert (client.decrypt(results[1]) == -2 * (np.arange(256) % 20)).all()
        answers.append([(one.ciphertexts, two.ciphertexts) for one, two in zip(sent, results, strict=True)])
        usage = None if device is None else device.native.take_usage()
    assert answers[0] == answers[1]
    assert usage is not None
    assert usage["offloaded"]["tensor"] == 3


@pytest.mark.slow
def test_the_full_size_tensor() -> None:
    device = open_device("rtl", "cofhee", {"controller": "riscv"})
    outcome, work = tensor(device, 4096)
    assert outcome["correct"]
    for _ in range(2):
        device.native.run(work)
    used = device.native.last_round()
    assert used is not None
    assert used["transactions"] <= 4
    assert used["cycles"] <= 1.02 * outcome["cycles"]
