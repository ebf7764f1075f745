# SPDX-License-Identifier: Apache-2.0
"""Functions that a crate compiles for those above it (`zq::instantiate`) are shared only if they are never inlined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: A function that is never inlined, with what may stand between the attribute and its name.
NEVER_INLINED = re.compile(r"#\[inline\(never\)\]\n(?:\s*#\[.*\]\n)*\s*(?:pub(?:\([^)]*\))? )?fn (\w+)")


def named(text: str) -> Iterator[str]:
    """Yield the function of each instance: the last name of its path that is no argument."""
    for listed in re.findall(r"^(?:\w+::)*instantiate!\((?:\w+:)?\n(.*?)^\);", text, re.M | re.S):
        for path in re.findall(r"^    (.+),$", listed, re.M):
            yield re.sub(r"<[^<>]*>|<.*>", "", path).rstrip(":").split("::")[-1]


def shared_by_none(crate: Path) -> set[str]:
    """Return the instances of a crate that every crate above compiles again."""
    sources = [path for path in (crate / "src").rglob("*.rs") if path.name != "instances.rs"]
    never = {name for path in sources for name in NEVER_INLINED.findall(path.read_text())}
    return set(named((crate / "src/instances.rs").read_text())) - never


def test_every_instance_is_shared() -> None:
    lists = sorted(ROOT.glob("crates/*/src/instances.rs"))
    assert {path.parts[-3] for path in lists} >= {"zq", "ntt", "rns", "rlwe", "bfv", "backend"}
    assert {str(path): shared_by_none(path.parents[1]) for path in lists} == {str(path): set() for path in lists}


def test_an_instance_that_may_be_inlined_is_found(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "ring.rs").write_text("#[inline(never)]\npub fn add<W>() {}\n\npub fn neg<W>() {}\n")
    instances = "zq::instantiate!(W:\n    add::<W>,\n    Ring::<W, Coeff>::neg,\n);\n"
    (source / "instances.rs").write_text(instances)
    assert list(named(instances)) == ["add", "neg"]
    assert shared_by_none(tmp_path) == {"neg"}
