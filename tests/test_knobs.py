# SPDX-License-Identifier: Apache-2.0
"""A knob of the hardware touches few files: no file written by hand lists them, but for those named here."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from ringsmith.gen import build
from ringsmith.gen.files import generated

ROOT = Path(__file__).parents[1]
KNOBS = build.load(ROOT / "spec" / "build.yaml").knobs

#: Files by hand for a knob without new RTL that a device tells; what breaks its rules in tests is in `LISTS`.
HOMES = (
    "spec/build.yaml",
    "spec/registers.rdl",
    "rtl/host/rs_host_ctrl.sv",
    "crates/device/src/info_block.rs",
    "crates/isa/src/info.rs",
)
#: A build in Rust with each of its fields, which a new knob must be written into.
WHOLE = re.compile(r"(?<!struct )(?<!for )\bBuildInfo \{\n(?:(?!\.\.).)*?\n {,4}\}", re.DOTALL)
#: Files that name most knobs, by hand, and why: a new knob may have to be written there.
LISTS = {
    "spec/build.yaml": "the home of knobs",
    "rtl/host/rs_host_ctrl.sv": "drives the fields of the info block, which crates/device/src/info_block.rs reads",
    "crates/isa/src/info.rs": "the build that they describe, of structs and choices",
    "crates/isa/src/tests.rs": "breaks each rule of a build in turn",
    "python/ringsmith/test_presets.py": "breaks each rule of a preset in turn",
}
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


def test_no_other_file_lists_the_knobs() -> None:
    assert listing(by_hand()) == LISTS.keys()


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
