# SPDX-License-Identifier: Apache-2.0
"""A homomorphic operation touches few files: its name stands in no file written by hand but for those that the row of
ARCHITECTURE.md lists."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from ringsmith.gen.files import generated
from ringsmith.gen.operations import load_operations

ROOT = Path(__file__).parents[1]
NAMES = [one.name for one in load_operations(ROOT / "spec" / "operations.yaml").operations]
#: Where operations of programs are at work; the libraries below them have functions of the same names.
READERS = ("crates/program/", "crates/backend/", "crates/python/", "crates/fuzz-targets/", "python/ringsmith/")
#: Names that other things have as well: operations on polynomials and tensors, promises.
COMMON = {"input", "add", "sub", "negate", "multiply", "square", "within"}
#: Names in quotes that are no operation's, and why.
QUOTED = {
    "python/ringsmith/cli/measure.py": "a workload of `simulate`",
    "python/ringsmith/explore/search.py": "a workload of `simulate`",
    "crates/python/src/program/facts.rs": "the key of a row swap, a field of `required_keys`",
    "python/ringsmith/cli/params.py": "the key of a row swap, a field of `required_keys`",
    "python/ringsmith/heir/program.py": "an operation of HEIR's",
    "python/ringsmith/heir/rules.py": "operations of HEIR's",
    "python/ringsmith/runtime/joined.py": "the key of a row swap, a field of `required_keys`",
    "python/ringsmith/runtime/program_data.py": "the key of a row swap, a field of `required_keys`",
    "python/ringsmith/runtime/scheme.py": "the key of a row swap, a field of `required_keys`",
}


def row() -> tuple[str, ...]:
    """Return the files and folders of the row, the latter with a slash."""
    (line,) = [one for one in (ROOT / "ARCHITECTURE.md").read_text().splitlines() if "| homomorphic operation |" in one]
    found = []
    for name in re.findall(r"`([\w./-]+)`", line):
        places = [root / name for root in (ROOT, ROOT / "python" / "ringsmith") if (root / name).exists()]
        found += [f"{place.relative_to(ROOT)}{'/' * place.is_dir()}" for place in places]
    return tuple(found)


def strays(files: Mapping[str, str], allowed: tuple[str, ...], quoted: Iterable[str]) -> dict[str, set[str]]:
    """Return the names of operations in files that may not have them: variants, kinds, strings."""
    found: dict[str, set[str]] = {}
    for path, text in files.items():
        if not path.startswith(READERS) or path.startswith(allowed):
            continue
        for name in NAMES:
            variant = "".join(word.capitalize() for word in name.split("_"))
            forms = [rf"\bKind\.{name.upper()}\b"]
            if name not in COMMON:
                forms += [rf"\b(Operation|Kind)::{variant}\b"]
                forms += [rf"[\"']{name}[\"']"] * (path not in quoted)
            if any(re.search(form, text) for form in forms):
                found.setdefault(path, set()).add(name)
    return found


def by_hand() -> dict[str, str]:
    """Return the text of each source file that is written by hand, tests left out."""
    made = {str(path) for path in generated()}
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True).split("\n")
    return {
        path: (ROOT / path).read_text()
        for path in listed
        if path.endswith((".rs", ".py"))
        and path not in made
        and not re.search(r"(^|/)tests?(/|_|\.rs)", path)
        and (ROOT / path).is_file()
    }


def test_the_row_names_what_is_there() -> None:
    line = next(
        one for one in (ROOT / "ARCHITECTURE.md").read_text().splitlines() if "| homomorphic operation |" in one
    )
    named = {name for name in re.findall(r"`([\w./-]+)`", line) if "/" in name}
    assert len(row()) == len(named)


def test_no_other_file_names_an_operation() -> None:
    assert not strays(by_hand(), row(), QUOTED)


def test_each_exception_is_needed() -> None:
    texts = by_hand()
    assert strays({path: texts[path] for path in QUOTED}, row(), ()).keys() == QUOTED.keys()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("crates/backend/src/cpu/walk.rs", "match x { Operation::Relinearize(a) => 1 }"),
        ("crates/program/src/repeat.rs", "if kind == Kind::ModDrop {"),
        ("crates/python/src/program/step.rs", 'name == "encrypt_zero"'),
        ("python/ringsmith/compiler/params/choose.py", "if step.kind is Kind.ADD:"),
        ("python/ringsmith/compiler/params/keys.py", 'step.kind == "linear_transform"'),
        ("python/ringsmith/runtime/joined.py", "Kind.SWAP_ROWS"),
        ("python/ringsmith/compiler/compile.py", "kind in ('rotate', 'x')"),
    ],
)
def test_a_planted_stray_is_found(path: str, text: str) -> None:
    assert strays({path: text}, row(), QUOTED).keys() == {path}
