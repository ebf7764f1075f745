# SPDX-License-Identifier: Apache-2.0
"""Every Cargo.lock holds what the manifests ask for: `--locked` builds, the fuzzer's too, would end at a stale one."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("Cargo.lock", "fuzz/Cargo.lock", "bench/peers/poulpy/Cargo.lock", "bench/peers/rust/Cargo.lock")

Table = dict[str, Any]


@cache
def manifest(path: Path) -> Table:
    return tomllib.loads(path.read_text())


def local_manifests(workspace: Path) -> dict[str, Path]:
    """The manifests of a workspace's own packages and of those that they take by path, by the package's name."""
    found: dict[str, Path] = {}
    known = manifest(workspace)
    members = known.get("workspace", {}).get("members", [])
    waiting = [workspace] * ("package" in known)
    waiting += [folder / "Cargo.toml" for member in members for folder in workspace.parent.glob(member)]
    while waiting:
        path = waiting.pop().resolve()
        name = manifest(path)["package"]["name"]
        if name not in found:
            found[name] = path
            waiting += [folder / "Cargo.toml" for _, folder in asked(path, tests=False) if folder is not None]
    return found


def asked(path: Path, *, tests: bool) -> Iterator[tuple[str, Path | None]]:
    """The packages that a manifest asks for, each with its folder where it is taken by path."""
    own = manifest(path)
    kinds = ["dependencies", "build-dependencies", *["dev-dependencies"] * tests]
    for table in (own, *own.get("target", {}).values()):
        for name, wanted in (item for kind in kinds for item in table.get(kind, {}).items()):
            entry, home = wanted if isinstance(wanted, dict) else {}, path.parent
            if entry.get("workspace"):
                home = next(p for p in path.parents if "workspace" in manifest_or_empty(p / "Cargo.toml"))
                shared = manifest(home / "Cargo.toml")["workspace"]["dependencies"][name]
                entry = shared if isinstance(shared, dict) else {}
            yield entry.get("package", name), home / entry["path"] if "path" in entry else None


def manifest_or_empty(path: Path) -> Table:
    return manifest(path) if path.exists() else {}


def stale(lock: Table, workspace: Path) -> list[str]:
    """The packages of this tree whose entry in a lock file is missing, or lists other packages than the manifest."""
    entries = {package["name"]: package for package in lock["package"] if "source" not in package}
    found = []
    for name, path in local_manifests(workspace).items():
        inside = path.is_relative_to(workspace.parent.resolve())
        wanted = {package for package, _ in asked(path, tests=inside)}
        held = {entry.split()[0] for entry in entries.get(name, {}).get("dependencies", ())}
        if name not in entries or wanted != held:
            found.append(f"{name}: {' '.join(sorted(wanted ^ held)) or 'missing'}")
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_file_is_current(name: str) -> None:
    path = ROOT / name
    lock = tomllib.loads(path.read_text())
    renew = f"{name} is stale: run cargo metadata --manifest-path {path.parent.relative_to(ROOT)}/Cargo.toml"
    assert stale(lock, path.with_name("Cargo.toml")) == [], renew
    assert len(local_manifests(path.with_name("Cargo.toml"))) >= 1


@pytest.mark.parametrize("name", LOCKS)
def test_a_stale_lock_file_is_found(name: str) -> None:
    path = ROOT / name
    for fault in ("dependency", "package"):
        lock = tomllib.loads(path.read_text())
        own = [package for package in lock["package"] if "source" not in package and package.get("dependencies")]
        if fault == "dependency":
            own[-1]["dependencies"].pop()
        else:
            lock["package"].remove(own[-1])
        assert stale(lock, path.with_name("Cargo.toml")) != [], fault


def test_every_lock_file_is_checked() -> None:
    listed = subprocess.run(["git", "ls-files", "*Cargo.lock"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("no git checkout")
    assert set(listed.stdout.split()) == set(LOCKS)
