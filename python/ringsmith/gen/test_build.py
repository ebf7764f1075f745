# SPDX-License-Identifier: Apache-2.0
import re
from pathlib import Path

import pytest

from ringsmith import shipped
from ringsmith.errors import FormatError, ParameterError
from ringsmith.gen import build, build_top, expr
from ringsmith.gen.files import REPO, generated
from ringsmith.knobs import CORE_CFG
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
        ("default: montgomery", "default: montgomerie", "reduction: default is 'montgomerie', must be barrett or"),
        ("default: 40", "default: 31", "address_bits: default is 31, must be 32..64"),
        ("default: false", "default: 0", "pmul: default is 0, must be true or false"),
        ("only: axi4", "only: axi5", "only is 'axi5', no host"),
        ("  pmul: true\n", "  pmul: false\n", "small: pmul is the default, False: leave it out"),
        ("  lanes: 1\n  butt", "  butt", "small: lanes is missing"),
        ("    type: float\n", "", "keys: serial_mhz: no type"),
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
    (root / "spec" / "params").mkdir()
    for name in ("isa.yaml", "latency.yaml", "operations.yaml", "params/security.toml"):
        (root / "spec" / name).write_text((REPO / "spec" / name).read_text())
    ends = changed(tmp_path, "legal: 1..16\n    default: 1\n", "legal: 3..13\n    default: 3\n")
    (root / "spec" / "build.yaml").write_text(ends.read_text())
    before, after = generated(), generated(root)
    for path in before:
        if path not in after:
            assert path.parts[:2] == ("rtl", "top") or path.suffix in (".md", ".pyi")
        elif "moduli_slots" in before[path] or path.name == "rs_build_pkg.sv":
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
    some = {
        "W": 30,
        "NMaxLog2": 12,
        "MulKind": 1,
        "MontSteps": 1,
        "EnPmul": 0,
        "Slots": 8,
        "SinglePort": 0,
        "MontW": 13,
    }
    assert {name: parameters[name] for name in some} == some
    assert list(parameters) == list(CORE_CFG)
    serial = load_preset("cofhee")
    assert (serial.slots, serial.single_port_mask, serial.parameters()["TwTables"]) == (6, 0b111000, 1)
    assert serial.parameters()["RnsConversions"] == 2
    assert serial.numbers()["host"] == 1


@pytest.mark.parametrize(("host", "top"), [("axi4", "rs_top_axi"), ("serial", "rs_top_serial")])
def test_a_top_has_every_parameter_of_its_host(host: str, top: str) -> None:
    text = (REPO / "rtl" / "top" / f"{top}.sv").read_text()
    core = build.load(SPEC)
    had = set(re.findall(r"^  parameter .* (\w+) = ", text, re.MULTILINE))
    for value in core.values:
        if value.parameter:
            assert (value.parameter.name in had) == (value.only in ("", host)), value.parameter.name
            assert f"    {value.parameter.name}: " in text
    with pytest.raises(FormatError, match="no lines `// Begin: configuration"):
        build_top.render(core, text.replace("// End: configuration.", ""), host)
