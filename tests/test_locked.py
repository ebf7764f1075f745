# SPDX-License-Identifier: Apache-2.0
"""What is installed is what is locked: hashes of every package, bill of materials, `--locked`, licences, no hosts."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from loading import loaded

ROOT = Path(__file__).resolve().parents[1]
GROUPS = ("core", "build", "run", "dev", "hw", "service", "examples", "tools")


def sbom() -> ModuleType:
    module: ModuleType = loaded("tools/sbom.py")
    return module


def requirement_lines(group: str) -> list[str]:
    """The requirements of a lock file, each with its hashes as one line; comments left out."""
    text = (ROOT / "requirements" / f"{group}.txt").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


@pytest.mark.parametrize("group", GROUPS)
def test_every_requirement_is_pinned_with_hashes(group: str) -> None:
    lines = requirement_lines(group)
    assert lines
    for line in lines:
        assert re.fullmatch(r"[a-z0-9._-]+==[\w.]+( ; [^#]*?)?( +--hash=sha256:[0-9a-f]{64})+ *", line), line
    assert len(sbom().python_locked(group)) == len(lines)


@pytest.mark.parametrize("group", GROUPS)
def test_the_lock_file_holds_what_is_asked_for(group: str) -> None:
    asked = (ROOT / "requirements" / f"{group}.in").read_text().splitlines()
    locked = {line.split()[0] for line in requirement_lines(group)}
    for line in asked:
        if line and not line.startswith(("#", "-c ", "-r ")):
            name, equals, version = line.partition(" ;")[0].partition("==")
            assert equals, f"{line} is not pinned"
            assert f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}" in locked


def test_groups_that_are_installed_together_agree() -> None:
    versions: dict[str, set[str]] = {}
    for group in ("core", "build", "run", "dev", "hw", "service", "examples"):
        for name, marked in (line.split("--hash")[0].split("==", 1) for line in requirement_lines(group)):
            if ";" not in marked:
                versions.setdefault(name, set()).add(marked.strip())
    assert [name for name, found in versions.items() if len(found) > 1] == []


@pytest.mark.parametrize(
    "manifest", ["Cargo.lock", "fuzz/Cargo.lock", "bench/peers/poulpy/Cargo.lock", "bench/peers/rust/Cargo.lock"]
)
def test_every_rust_package_has_a_checksum(manifest: str) -> None:
    for package in tomllib.loads((ROOT / manifest).read_text())["package"]:
        if not package["name"].startswith(("ringsmith", "fuzz", "peers")) or "source" in package:
            assert package.get("source", "").startswith("registry+"), package["name"]
            assert re.fullmatch(r"[0-9a-f]{64}", package["checksum"])


def test_the_bill_of_materials_is_the_lock_files() -> None:
    module = sbom()
    document: dict[str, Any] = module.document()
    assert json.dumps(module.document()) == json.dumps(document)
    references = [component["bom-ref"] for component in document["components"]]
    assert len(set(references)) == len(references)
    rust = {f"pkg:cargo/{p['name']}@{p['version']}" for p in module.rust_locked()}
    python = {f"pkg:pypi/{line.split()[0].replace('==', '@')}" for group in GROUPS for line in requirement_lines(group)}
    assert set(references) == rust | python
    checksums = {p["checksum"] for p in module.rust_locked() if "checksum" in p}
    assert checksums == {h["content"] for c in document["components"] for h in c.get("hashes", ())}
    assert {edge["ref"] for edge in document["dependencies"]} == rust
    assert {ref for edge in document["dependencies"] for ref in edge["dependsOn"]} <= rust
    hashes = {h for group in GROUPS for line in requirement_lines(group) for h in re.findall("[0-9a-f]{64}", line)}
    files = {p["value"] for c in document["components"] for p in c.get("properties", ()) if "sha256" in p["name"]}
    assert files == hashes


def test_rust_licences_are_among_the_allowed() -> None:
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    seen = 0
    for component in sbom().document()["components"]:
        for licence in component.get("licenses", ()):
            seen += 1
            for part in licence["expression"].split(" AND "):
                choices = {choice.strip(" ()") for choice in part.split(" OR ")}
                assert choices & allowed, f"{component['name']}: {licence['expression']}"
    assert seen > 50


def test_cargo_never_leaves_the_lock_file() -> None:
    builds = re.compile(r"cargo\b[^\n#]*\b(test|build|clippy|bench|miri)\b(?! --version)|maturin\b[^\n]*\bdevelop\b")
    for path in [ROOT / "Makefile", *sorted((ROOT / "tools").glob("*.sh")), ROOT / "tools/build.py"]:
        for line in path.read_text().splitlines():
            if builds.search(line.split("# ")[0]) and not line.lstrip().startswith(("#", "echo")):
                assert "--locked" in line or "cargo fuzz" in line, f"{path.name}: {line}"
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]["locked"] is True


def test_no_file_names_a_registry_host_or_a_place_on_a_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("no git checkout")
    # In two parts, so that this file does not name them itself.
    parts = (
        "pypi|org",
        "pythonhosted|org",
        "static.crates|io",
        "index.crates|io",
        "registry.npmjs|org",
        "proxy.golang|org",
    )
    hosts = "|".join(re.escape(part.replace("|", ".")) for part in parts)
    places = "|".join(
        (
            "/work/" + "(main|wt|shared)",
            "/home/" + r"\w",
            "/root" + r"/\S",
            "--(extra-)?index" + "-url",
            "find-" + "links",
        )
    )
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        try:
            text = (ROOT / name).read_text()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        found += [f"{name}: {match[0]}" for match in re.finditer(f"{hosts}|{places}", text)]
    assert [entry for entry in found if not entry.startswith("tools/lock.sh: --")] == []
