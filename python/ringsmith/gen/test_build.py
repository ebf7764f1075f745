# SPDX-License-Identifier: Apache-2.0
import re
from pathlib import Path

import pytest

from ringsmith import shipped
from ringsmith.errors import FormatError, ParameterError
from ringsmith.gen import REPO, build, expr, generated
from ringsmith.presets import load_preset

SPEC = shipped.spec() / "build.yaml"


def changed(tmp_path: Path, old: str, new: str) -> Path:
    text = SPEC.read_text()
    assert old in text
    path = tmp_path / "build.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("legal: 14..128", "legal: 14 to 128", "legal is '14 to 128'"),
        ("legal: 5..word_bits", "legal: 5..words", "unknown name"),
        ("parameter: W\n", "parameters: W\n", "unknown parameters"),
        ("    doc: Commands that can wait.\n", "", "no doc"),
        ("holds: n_max >= 4 * butterflies", "holds: n_max >= 4 * butterfly", "unknown name"),
        ("{4 * butterflies}", "{4 * wings}", "unknown name"),
        ("holds: n_max >= 4 * butterflies", "holds: n_max >=", "cannot read"),
        ("knob: n_max", "knob: n", "unknown name"),
        ("{axi4: 0, serial: 1}", "{axi4: 0, lanes: 1}", "stands for two things"),
    ],
)
def test_a_mistake_in_the_knobs_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(FormatError, match=words):
        build.load(changed(tmp_path, old, new))


def test_a_range_has_one_home(tmp_path: Path) -> None:
    """The new ends of a changed range are in every generated file, and the old ones in none."""
    root = tmp_path / "tree"
    (root / "spec").mkdir(parents=True)
    for name in ("isa.yaml", "latency.yaml"):
        (root / "spec" / name).write_text((REPO / "spec" / name).read_text())
    (root / "spec" / "build.yaml").write_text(changed(tmp_path, "legal: 1..16", "legal: 3..13").read_text())
    before, after = generated(), generated(root)
    for path in before:
        if "moduli_slots" in before[path] or path.name == "rs_build_pkg.sv":
            lines = set(after[path].splitlines()) - set(before[path].splitlines())
            assert lines, f"{path} does not follow"
            assert all(re.search(r"\b(3|13)\b", line) for line in lines)


def test_fields_of_the_info_block_hold_what_they_must() -> None:
    text = (shipped.spec() / "registers.rdl").read_text()
    fields: dict[str, int] = {}
    for body, register in re.findall(r"reg \{(.*?)\n    \} (\w+)", text, re.DOTALL):
        for name, high, low in re.findall(r"\} (\w+)\[(\d+):(\d+)\]", body):
            fields[f"{register}.{name}"] = int(high) - int(low) + 1
    known = build.load(SPEC)
    wide = {value.name: value.legal.most for value in known.values if value.legal and value.legal.most is not None}
    for value in known.values:
        if value.register is None or value.register.name == "dual_port.value":
            continue
        bits = fields[value.register.name]
        if value.name in wide:
            held = expr.evaluate(value.register.formula, {value.name: wide[value.name]}, {})
            assert held < 1 << bits, f"{value.register.name} has {bits} bits, {value.name} goes up to {held}"


def test_a_knob_with_a_default_may_be_left_out_and_set() -> None:
    assert load_preset("tiny").address_bits == 40
    assert load_preset("tiny", {"address_bits": "64"}).parameters()["AddrWidth"] == 64
    for name, bits, words in (("tiny", "31", "must be 32..64"), ("cofhee", "64", "must be 40 on the serial host")):
        with pytest.raises(ParameterError, match=words):
            load_preset(name, {"address_bits": bits})


def test_knobs_become_parameters() -> None:
    parameters = load_preset("heaws").parameters()
    assert parameters == {
        "W": 30, "Lanes": 7, "P": 2, "NMaxLog2": 12, "MulKind": 1, "MulStyle": 1, "ModMinBits": 30, "EnPmul": 0,
        "EnCyclic": 0, "Moduli": 2, "Consts": 4, "RnsRate": 4, "RnsConversions": 16, "RnsEntries": 64, "Moves": 0,
        "WidePort": 1, "Cores": 1, "FifoDepth": 64, "Slots": 8, "SinglePort": 0, "TwTables": 2, "MontW": 13,
            "MontSteps": 1, "EnStream": 1, "EnPointwise": 0, "Controller": 0, "ControllerWords": 1024,
        "AddrWidth": 40,
    }  # fmt: skip
    serial = load_preset("cofhee")
    assert (serial.slots, serial.single_port_mask, serial.parameters()["TwTables"]) == (6, 0b111000, 1)
    assert serial.parameters()["RnsConversions"] == 2
    assert serial.numbers()["host"] == 1
