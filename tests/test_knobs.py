# SPDX-License-Identifier: Apache-2.0
"""A knob of the hardware touches few files: no file written by hand lists them, but for those named here."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from ringsmith.gen import build, expr
from ringsmith.gen.files import generated

ROOT = Path(__file__).parents[1]
BUILD = build.load(ROOT / "spec" / "build.yaml")
KNOBS = BUILD.knobs

#: Files by hand for a knob without new RTL that a device tells.
HOMES = (
    "spec/build.yaml",
    "spec/registers.rdl",
    "rtl/host/rs_host_ctrl.sv",
    "crates/device/src/info_block.rs",
    "crates/isa/src/info.rs",
)
#: A build in Rust with each of its fields, which a new knob must be written into.
WHOLE = re.compile(r"(?<!struct )(?<!for )\bBuildInfo \{\n(?:(?!\.\.).)*?\n {,4}\}", re.DOTALL)
#: Other files that name most knobs, by hand, and why: a new knob may have to be written there.
LISTS = {
    "python/ringsmith/test_presets.py": "breaks each rule of a preset in turn",
}
#: Files of tests, which may set any knob.
TESTS = re.compile(r"(^|/)(tests?(/|_|\.rs)|conftest)")
#: Most knobs that other files may name: those that they compute with.
SOME = 0.75


def listing(files: Mapping[str, str]) -> set[str]:
    """Return the files that name more than `SOME` of the knobs, or their parameters."""
    names = [{knob.name, *([knob.parameter.name] if knob.parameter else [])} for knob in KNOBS]
    found = set()
    for path, text in files.items():
        words = set(re.findall(r"[A-Za-z_]\w*", text))
        if sum(not words.isdisjoint(either) for either in names) > SOME * len(names):
            found.add(path)
    return found


def by_hand() -> dict[str, str]:
    """Return the text of each file of the tree that is written by hand, generated parts left out."""
    made = {str(path) for path in generated()}
    texts = {}
    for path in subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True).split(
        "\n"
    ):
        if (
            path.endswith((".py", ".rs", ".sv", ".cpp", ".h", ".toml", ".yaml", ".rdl", ".j2", ".md"))
            and path != "CHANGELOG.md"
        ):
            text = (ROOT / path).read_text() if (ROOT / path).is_file() else ""
            texts[path] = re.sub(r"// Begin: (\w+), generated.*?// End: \1\.", "", text, flags=re.DOTALL)
            if path in made and texts[path] == text:
                del texts[path]
    return texts


def names_of(knob: build.Value) -> list[str]:
    """Return the names of a knob: in presets, and in SystemVerilog."""
    return [knob.name, *([knob.parameter.name] if knob.parameter else [])]


def taken_by_rtl(files: Mapping[str, str]) -> set[str]:
    """Return the knobs that modules compute with: those of derived values, those that RTL outside the homes names."""
    rtl = "\n".join(text for path, text in files.items() if path.endswith(".sv") and path not in HOMES)
    made_of = set[str]().union(*(expr.names(value.follows) for value in BUILD.derived if value.follows))
    return {knob.name for knob in KNOBS if knob.name in made_of or re.search(rf"\b({'|'.join(names_of(knob))})\b", rtl)}


def strays(files: Mapping[str, str], taken: Collection[str]) -> set[tuple[str, str]]:
    """Return file and name where a file outside the homes, tests aside, names a knob that no RTL takes."""
    return {
        (path, name)
        for path, text in files.items()
        if path not in HOMES and path.startswith(("crates/", "python/", "rtl/")) and not TESTS.search(path)
        for knob in KNOBS
        if knob.name not in taken
        for name in names_of(knob)
        if re.search(rf"\b{name}\b", text)
    }


def test_no_other_file_lists_the_knobs() -> None:
    assert listing(by_hand()) - set(HOMES) == LISTS.keys()


def test_no_other_file_names_a_knob_that_no_rtl_takes() -> None:
    files = by_hand()
    assert not strays(files, taken_by_rtl(files))


@pytest.mark.parametrize("name", ["fifo_depth", "FifoDepth"])
@pytest.mark.parametrize("path", ["python/ringsmith/hw/stray.py", "crates/model/src/stray.rs"])
def test_a_planted_name_is_found(path: str, name: str) -> None:
    planted = {path: f"uses {name} 3", "spec/build.yaml": "FifoDepth"}
    assert "fifo_depth" not in taken_by_rtl(planted)
    assert strays(planted, taken_by_rtl(planted)) == {(path, name)}


def whole_builds(files: Mapping[str, str]) -> set[str]:
    """Return the files in Rust that write a build with all its fields, not what differs from another one."""
    return {path for path, text in files.items() if path.endswith(".rs") and _whole(text)}


def _whole(text: str) -> bool:
    return any("word_bits:" in found[0] and "lanes:" in found[0] for found in WHOLE.finditer(text))


def test_a_new_knob_is_written_into_six_files_at_most() -> None:
    """Its homes on the page; no other file writes a build whole, tests take the small one of spec/build.yaml."""
    (row,) = (line for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines() if line.startswith("| knob of a b"))
    assert all(f"`{path}`" in row for path in HOMES)
    assert len(HOMES) <= 6
    assert whole_builds(by_hand()) == {"crates/device/src/info_block.rs"}


def test_a_build_written_whole_is_found() -> None:
    whole = "fn build() -> BuildInfo {\n    BuildInfo {\n        word_bits: 32,\n        lanes: 2,\n%s    }\n}\n"
    planted = {"a.rs": whole % "", "b.rs": whole % "        ..BuildInfo::small().unwrap()\n"}
    assert whole_builds(planted) == {"a.rs"}


def test_a_preset_names_few_knobs() -> None:
    """The median preset says what its base does not, in at most a dozen lines."""
    sizes = sorted(path.read_text().count(" = ") for path in (ROOT / "spec" / "presets").glob("*.toml"))
    assert sizes[len(sizes) // 2] <= 12


@pytest.mark.parametrize("parameters", [False, True])
def test_a_list_of_knobs_is_found(parameters: bool) -> None:
    """Planted: a file that names all knobs, or their parameters; one that computes with half of them stays."""
    names = [knob.parameter.name if parameters and knob.parameter else knob.name for knob in KNOBS]
    planted = {"list.sv": "\n".join(names), "some.py": " ".join(names[: len(names) // 2])}
    assert listing(planted) == {"list.sv"}
