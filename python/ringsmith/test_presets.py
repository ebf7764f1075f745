# SPDX-License-Identifier: Apache-2.0
import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ringsmith import shipped
from ringsmith.errors import ParameterError
from ringsmith.presets import EVERY, Preset, load_any, load_preset, parse_overrides, preset_names, resolved
from ringsmith.specs import read_toml


@pytest.mark.parametrize("name", preset_names(*EVERY))
def test_every_preset_loads_and_says_only_what_differs(name: str, tmp_path: Path) -> None:
    assert load_any(name).name == name
    assert repeated(read_toml(shipped.spec() / "presets" / f"{name}.toml", "preset"), tmp_path) == []


def repeated(own: Mapping[str, Any], folder: Path) -> list[str]:
    """Keys of a preset that its base, or the defaults, have already."""
    below = folder / "below.toml"
    below.write_text("".join(f"{key} = {json.dumps(own[key])}\n" for key in ("base", "top") if key in own))
    _, settings = resolved(str(below))
    return [key for key, value in own.items() if key in settings and settings[key].value == value]


def test_a_key_said_again_is_found(tmp_path: Path) -> None:
    """Planted: a value of the base, and a default."""
    own = {"name": "own", "base": "heaws", "lanes": 6, "word_bits": 30, "controller": "none"}
    assert repeated(own, tmp_path) == ["word_bits", "controller"]
    tiny = read_toml(shipped.spec() / "presets" / "tiny.toml", "preset")
    assert repeated({**tiny, "moves": 0}, tmp_path) == ["moves"]


def test_each_value_says_where_it_comes_from(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    middle, own = tmp_path / "deep" / "middle.toml", tmp_path / "own.toml"
    middle.write_text('name = "middle"\nbase = "heaws-x6"\nlanes = 5\n')
    own.write_text('name = "own"\nbase = "deep/middle.toml"\nbutterflies = 4\n')
    kind, settings = resolved(str(own), {"constants": "6"})
    assert kind is Preset
    found = {key: (made.value, made.source) for key, made in settings.items()}
    assert found["butterflies"] == (4, str(own))
    assert found["lanes"] == (5, "deep/middle.toml")
    assert found["cores"] == (6, "heaws-x6")
    assert found["word_bits"] == (30, "heaws")
    assert found["moves"] == (0, "default")
    assert found["constants"] == (6, "--set")
    assert list(found) == [field.name for field in dataclasses.fields(Preset)]
    assert load_preset(str(own)).to_dict() == {**load_preset("heaws-x6").to_dict(), "name": "own"} | {
        "lanes": 5,
        "butterflies": 4,
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('base = "nosuch"', "own.toml: base: no preset 'nosuch'; presets: bfv-client"),
        ("base = 3", "base: no preset 3; presets: "),
        ('base = ["tiny"]', "base: no preset ['tiny']"),
        ('base = "gone.toml"', "gone.toml: no such preset file"),
        ('base = "own.toml"', "in a circle: "),
        ('base = "other.toml"', "own.toml -> other.toml -> /"),
        ('base = "zynq-cn"\ntop = "system"', "top is 'system', but its base zynq-cn is for 'ntt8'"),
        ('base = "tiny"\ntop = "other"', "top is 'other', but its base tiny is for 'system'"),
        ('top = "other"', "top must be system or ntt8, got 'other'"),
        ('base = "tiny"', "lacks name"),
        ('base = "tiny"\nname = "x"\nvariant = "cn"', "has unknown keys ['variant']"),
        ('base = "s8.toml"', "on more than 8 bases"),
    ],
)
def test_bases_that_cannot_be_are_refused(tmp_path: Path, text: str, words: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(text)
    (tmp_path / "other.toml").write_text('base = "own.toml"')
    for step in range(9):
        (tmp_path / f"s{step}.toml").write_text(f'base = "{f"s{step - 1}.toml" if step else "tiny"}"')
    with pytest.raises(ParameterError) as refused:
        load_any(str(own))
    assert words in str(refused.value)


def test_cofhee_is_seven_memories_of_one_mebibit() -> None:
    preset = load_preset("cofhee")
    assert (preset.slots, preset.twiddle_tables, preset.buffer_bytes) == (6, 1, 8192 * 16)
    assert load_preset("bfv-client").buffer_bytes == 3 * 4096 * 8


def test_a_wide_port_lays_lanes_side_by_side() -> None:
    narrow, wide = (load_preset("heaws", {"wide_port": on, "stream": on}) for on in (False, True))
    assert (narrow.piece_bytes, narrow.row_bytes, narrow.buffer_bytes) == (4096 * 4, 7 * 4096 * 4, 7 * 4096 * 4)
    assert (wide.piece_bytes, wide.row_bytes, wide.buffer_bytes) == (2 * 4, 512 // 8, 8 * 4096 * 4)
    one = load_preset("heaws", {"wide_port": True, "lanes": 1})
    assert (one.row_bytes, one.buffer_bytes) == (2 * 4, 4096 * 4)
    packed = load_preset("coxhe-zcu102-p8", {"word_bits": 43, "lanes": 8})
    assert (packed.word_bytes, packed.piece_bytes, packed.row_bytes) == (6, 48, 3 * 128)
    padded = load_preset("coxhe-zcu102-p8", {"word_bits": 36, "lanes": 6})
    assert (padded.word_bytes, padded.piece_bytes, padded.row_bytes) == (5, 40, 2 * 128)


def test_overrides_take_toml_values_and_bare_words() -> None:
    overrides = parse_overrides(["butterflies=8", "clock_mhz=[100, 200.5]", "reduction=montgomery", "word_bits=60"])
    preset = load_preset("cofhee", overrides)
    assert (preset.butterflies, preset.clock_mhz, preset.reduction) == (8, (100.0, 200.5), "montgomery")
    assert preset.lane_bits() == (60,)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("butterflies=3", "1, 2, 4, 8, 16 or 32, got 3"),
        ("word_bits=129", "14..128, got 129"),
        ("word_bits=14", "at least 15 bits"),
        ("n_max=1000", "power of two"),
        ("lanes=16", "1..15, got 16"),
        ("lanes=two", "of type int"),
        ("dual_port_slots=1", "dual_port_slots must be 2..32"),
        ("single_port_slots=0", "single_port_slots must be at least 1 with twiddles = slot"),
        ("multiplier=lut", "asic, dsp26x17 or dsp18x18"),
        ("pmul=1", "of type bool"),
        ("fifo_depth=12", "power of two"),
        ("cores=9", "1..8, got 9"),
        ("host=usb", "axi4 or serial"),
        ("clock_mhz=0", "positive"),
        ("operations=['lift']", "must be among"),
        ("butterfly=2", "no key 'butterfly'"),
        ("butterflies", "not key=value"),
        ("prime_bits=[", "not a TOML value"),
        ("prime_bits=" + "[" * 9000, "not a TOML value"),
        ("prime_bits=1" + "0" * 5000, "of type int, got"),
        ("lanes=100000000000", "1..15, got 100000000000"),
        ("lanes=1" + "0" * 30, "must fit in 64 bits"),
        ("clock_mhz=nan", "clock_mhz must be positive"),
        ("clock_mhz=[100.0, inf]", "clock_mhz must be positive"),
        ("clock_mhz=1e-9", "clock_mhz must be positive"),
        ("serial_mhz=300.0", "at most the fastest clock_mhz"),
        ("rns_rate=3", "rns_rate must be 0, 1, 2 or 4, got 3"),
        ("moves=5", "moves must be 0, 4, 8, 16 or 32, got 5"),
        ("moves=4", "word_bits must be at most 64 with moves between lanes (moves), got 128"),
        ("rns_rate=2", "rns_conversions must be 2..32 where rns_rate != 0, else 0, got 0"),
        ("rns_entries=16", "rns_entries must be 16..128 where rns_rate != 0, else 0, got 16"),
        (
            "wide_port=true",
            "wide_port must be false on the serial host, which moves bytes (it needs host = axi4), got True",
        ),
        ("memory_gbs=19.2", "memory_gbs must be 0 or, with host = axi4, 0.01 to 10000, got 19.2"),
        ("memory_latency_ns=100.0", "memory_latency_ns must be 0 or, with host = axi4, 1 to 4000, got 100"),
    ],
)
def test_impossible_settings_are_refused_with_the_reason(setting: str, words: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(words)):
        load_preset("cofhee", parse_overrides([setting]))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("rns_conversions=1", "rns_conversions must be 2..32 where rns_rate != 0, else 0, got 1"),
        ("rns_entries=129", "rns_entries must be 16..128 where rns_rate != 0, else 0, got 129"),
        ("memory_gbs=-1.0", "memory_gbs must be 0 or, with host = axi4, 0.01 to 10000, got -1"),
        ("memory_gbs=nan", "memory_gbs must be 0 or, with host = axi4, 0.01 to 10000, got nan"),
        ("memory_latency_ns=5001.0", "memory_latency_ns must be 0 or, with host = axi4, 1 to 5000, got 5001"),
    ],
)
def test_units_and_memories_that_cannot_be_are_refused(setting: str, words: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(words)):
        load_preset("heaws", parse_overrides([setting]))


def test_four_coefficients_per_butterfly_is_the_least() -> None:
    with pytest.raises(ParameterError, match="4 \\* butterflies = 128, got 64"):
        load_preset("tiny", {"n_max": 64, "butterflies": 32})


def test_montgomery_leaves_room_for_its_word() -> None:
    with pytest.raises(
        ParameterError, match="word_bits must be at least 15 with reduction = montgomery at n_max = 4096, got 14"
    ):
        load_preset("tiny", {"reduction": "montgomery", "n_max": 4096, "word_bits": 14, "modulus_bits_min": 14})


@pytest.mark.parametrize(
    "name",
    [
        "a$(shell touch pwned)",
        "../../x",
        "",
        "-o",
        "a b",
        "a;b",
        "a\nb",
        "a'b",
        'a"b',
        "a/b",
        "a.b",
        "1a",
        "\u00e9",
        "a" * 65,
    ],
)
def test_a_name_is_safe_wherever_it_goes(name: str) -> None:
    with pytest.raises(ParameterError, match="name must be a letter, then"):
        load_preset("tiny", {"name": json.dumps(name)})


@pytest.mark.parametrize("name", ["../tiny", "tiny.toml/", "../boards/zcu102", "", "a\0b"])
def test_a_preset_is_asked_for_by_its_own_name(name: str) -> None:
    with pytest.raises(ParameterError, match="no preset"):
        load_preset(name)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    text = (shipped.spec() / "presets" / "tiny.toml").read_text()
    own = tmp_path / "own.toml"
    own.write_text(text.replace("lanes = 2", "lanes = 5"))
    assert load_preset(str(own)).lanes == 5
    own.write_text(text.replace("lanes = 2", ""))
    with pytest.raises(ParameterError, match="lacks lanes"):
        load_preset(str(own))
    own.write_text("lanes = ")
    with pytest.raises(ParameterError, match="not a preset file"):
        load_preset(str(own))
    with pytest.raises(ParameterError, match="presets: bfv-client, cofhee"):
        load_preset("no-such-preset")
