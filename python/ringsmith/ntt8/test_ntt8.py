# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith import shipped
from ringsmith.errors import DeviceError, InputError, ParameterError
from ringsmith.ntt8.device import Device
from ringsmith.ntt8.encryption import Client, decode, encode
from ringsmith.ntt8.measure import side_by_side
from ringsmith.ntt8.preset import Ntt8Preset
from ringsmith.ntt8.ring import Ring
from ringsmith.ntt8.simulate import simulate
from ringsmith.ntt8.top import transform_latency
from ringsmith.presets import load_any, load_preset, preset_names


def load_ntt8(name: str, overrides: dict[str, str] | None = None) -> Ntt8Preset:
    preset = load_any(name, overrides)
    assert isinstance(preset, Ntt8Preset)
    return preset


RING = Ring(load_ntt8("zynq-cn").prime)


def client(ring: Ring, *, allow_insecure: bool = False) -> Client:
    return Client(
        ring,
        scale=2.0**20,
        seed=5,
        forward=lambda polys: [ring.forward(list(poly)) for poly in polys],
        inverse=lambda polys: [ring.inverse(list(poly)) for poly in polys],
        allow_insecure=allow_insecure,
    )


def test_the_five_variants_share_their_keys() -> None:
    assert preset_names("ntt8") == ["zynq-cn", "zynq-pn1", "zynq-pn3", "zynq-pn3d", "zynq-stream"]
    assert [transform_latency(load_ntt8(name)) for name in ("zynq-cn", "zynq-pn3", "zynq-pn1")] == [1, 3, 3]


def test_the_software_transform_is_evaluation_at_odd_powers_of_psi() -> None:
    poly = [3, 1, 4, 1, 5, 9, 2, 6]
    points = [pow(RING.psi, 2 * int(f"{i:03b}"[::-1], 2) + 1, RING.modulus) for i in range(8)]
    assert RING.forward(poly) == [
        sum(c * pow(x, j, RING.modulus) for j, c in enumerate(poly)) % RING.modulus for x in points
    ]
    assert RING.inverse(RING.forward(poly)) == poly


def test_encode_and_decode_are_inverse_and_multiplicative() -> None:
    values = [1 + 2j, -0.5, 3j, 0.25 - 1j]
    assert np.allclose(decode(encode(values, 2.0**20, RING.modulus), 2.0**20, RING.modulus), values, atol=1e-5)


@pytest.mark.parametrize("values", [[1, 2, 3], [1, 2, 3, float("nan")], [1, 2, 3, float("inf")], [1e9, 0, 0, 0]])
def test_what_cannot_be_encoded_is_refused(values: list[float]) -> None:
    with pytest.raises(InputError):
        encode(values, 2.0**20, RING.modulus)


def test_the_toy_ring_needs_an_opt_in() -> None:
    with pytest.raises(ParameterError, match="no security"):
        client(RING)


def test_encryption_decrypts() -> None:
    alice = client(RING, allow_insecure=True)
    keys = alice.keygen()
    values = [0.5, -0.25 + 0.125j, 0.75j, -1]
    assert np.allclose(alice.decrypt(alice.encrypt(values, keys), keys), values, atol=1e-3)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"word_bits": "13"}, "14..32"),
        ({"variant": "pn2"}, "variant must be"),
        ({"modulus": "97"}, "bits"),
        ({"modulus": "1073741823"}, "prime 1 mod 16"),
        ({"clock_mhz": "0"}, "positive"),
        ({"colour": "1"}, "no key"),
        ({"word_bits": "wide"}, "of type int"),
        ({"modulus": "-536870927"}, "bits"),
        ({"multiplier": "lut"}, "asic, dsp26x17 or dsp18x18"),
        ({"modulus_bits_min": "31"}, "5..word_bits = 30"),
    ],
)
def test_impossible_presets_are_refused(setting: dict[str, str], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        load_ntt8("zynq-cn", setting)


@pytest.mark.hw
@pytest.mark.parametrize("name", ["zynq-pn3", "zynq-stream"])
def test_transforms_on_the_rtl(name: str) -> None:
    report = simulate(load_ntt8(name), "ntt")
    assert report["correct"]
    assert report["cycles"] == report["predicted_cycles"]
    per = report["per_transform"]
    assert per["overlapped"]["cycles"] < per["alone"]["cycles"]


@pytest.mark.hw
def test_encryption_on_the_rtl_equals_software() -> None:
    preset = load_ntt8("zynq-pn3")
    report = simulate(preset, "encrypt")
    assert report["correct"]
    assert report["overlap_gain"] > 1
    assert report["per_transform"]["alone"]["writes"] == 9
    split = report["split"]
    assert split["fabric_us"] == 9 / preset.clock_mhz[-1]  # three transforms of three cycles
    assert split["fabric_us"] + split["bus_us"] == pytest.approx(report["time_us"])
    assert min(split["host_us"], split["processor_us"]) > 0


def test_the_table_names_every_variant_and_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    def report(name: str, *, correct: bool) -> dict[str, Any]:
        per = {"writes": 9.0, "reads": 10.0, "polls": 2.0, "beats": 0.0, "cycles": 38.0}
        split = {"fabric_us": 0.25, "bus_us": 9.75, "host_us": 30.0, "processor_us": 15.0}
        times = {"time_us": 10.0, "time_us_overlapped": 8.0, "overlap_gain": 1.25, "clock_mhz": 12.5}
        per_transform = {"alone": per, "overlapped": per}
        return {"preset": name, "correct": correct, "split": split, "per_transform": per_transform, **times}

    side_by_side([report("zynq-cn", correct=True), report("zynq-pn3", correct=False)])
    shown = capsys.readouterr().out
    assert "INSECURE" in shown
    assert "processor alone" in shown
    row = next(line for line in shown.splitlines() if "zynq-cn" in line)
    assert [cell.strip() for cell in row.split("│")[2:-1]] == ["12.5", "10.00", "0.25", "9.75", "8.00", "1.25×"]
    assert "WRONG results from zynq-pn3" in shown


@pytest.mark.hw
def test_the_driver_refuses() -> None:
    preset = load_ntt8("zynq-pn3")
    with pytest.raises(InputError, match="no operation"):
        simulate(preset, "tensor")
    device = Device(preset)
    with pytest.raises(DeviceError, match="residues below"):
        device.transform([device.ring.modulus] + [0] * 7)
    with pytest.raises(DeviceError, match="bus error: register write at 0 is refused"):
        device.write("magic", 1)
    assert transform_latency(dataclasses.replace(preset, variant="cn")) == 1


def test_another_top_is_refused_where_a_co_processor_is_meant() -> None:
    with pytest.raises(ParameterError, match=r"zynq-pn3 is an 8-point accelerator.*here: .*heaws"):
        load_preset("zynq-pn3")


def test_a_file_of_ones_own_chooses_its_top(tmp_path: Path) -> None:
    text = (shipped.spec() / "presets" / "zynq-pn1.toml").read_text()
    own = tmp_path / "own.toml"
    own.write_text(text + "word_bits = 28\n")
    assert load_ntt8(str(own)).word_bits == 28
    own.write_text(text + 'top = "ntt16"\n')
    with pytest.raises(ParameterError, match="top is 'ntt16', but its base zynq-cn is for 'ntt8'"):
        load_any(str(own))
