# SPDX-License-Identifier: Apache-2.0
"""Write the bill of materials (CycloneDX 1.6, JSON) of everything that is locked: tools/sbom.py FILE.

Rust packages come from Cargo.lock (with SHA-256 and dependencies) and their licences from cargo; Python packages from
requirements/*.txt (with the SHA-256 of each of their files). The same lock files give the same bytes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

from ringsmith.files import write_text

ROOT = Path(__file__).resolve().parents[1]
GROUPS = {
    "core": "required", "build": "excluded", "run": "excluded", "dev": "excluded", "hw": "optional",
    "service": "optional", "examples": "excluded", "tools": "excluded",
}  # fmt: skip
_LOCKED = re.compile(
    r"^([a-z0-9][a-z0-9._-]*)==([^\s;]+)[^\n]*\\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.M
)


def python_locked(group: str) -> list[tuple[str, str, list[str]]]:
    """Return (name, version, SHA-256 of its files) of each package of a requirements file."""
    text = (ROOT / "requirements" / f"{group}.txt").read_text()
    return [(name, version, re.findall(r"[0-9a-f]{64}", hashes)) for name, version, hashes in _LOCKED.findall(text)]


def rust_locked() -> list[dict[str, Any]]:
    """Return the packages of Cargo.lock."""
    packages: list[dict[str, Any]] = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    return packages


def _licences() -> dict[tuple[str, str], str]:
    """Return the licence of each Rust package that this machine has."""
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"sbom: {' '.join(command)} failed: {(done.stderr.splitlines() or ['no output'])[-1]}; build first")
    packages = json.loads(done.stdout)["packages"]
    return {(package["name"], package["version"]): package["license"] or "" for package in packages}


def _cargo(name: str, version: str) -> str:
    return f"pkg:cargo/{name}@{version}"


def _rust_component(package: dict[str, Any], licence: str | None) -> dict[str, Any]:
    name, version = package["name"], package["version"]
    ours = "source" not in package
    component: dict[str, Any] = {"type": "library", "bom-ref": _cargo(name, version), "name": name, "version": version}
    if not ours:
        component["purl"] = _cargo(name, version)
        component["hashes"] = [{"alg": "SHA-256", "content": package["checksum"]}]
    if licence:
        component["licenses"] = [{"expression": licence.replace(" / ", " OR ").replace("/", " OR ")}]
    return component


def _rust_depends(packages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the edges; an entry names a version where several packages share a name."""
    versions = {package["name"]: package["version"] for package in packages}

    def reference(entry: str) -> str:
        name, _, version = entry.partition(" ")
        return _cargo(name, version or versions[name])

    return [
        {
            "ref": _cargo(package["name"], package["version"]),
            "dependsOn": sorted(map(reference, package.get("dependencies", []))),
        }
        for package in packages
    ]


def _python_components() -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for group, scope in GROUPS.items():
        for name, version, hashes in python_locked(group):
            purl = f"pkg:pypi/{name}@{version}"
            component = found.setdefault(
                purl,
                {
                    "type": "library", "bom-ref": purl, "name": name, "version": version, "scope": scope, "purl": purl,
                    "properties": [],
                },
            )  # fmt: skip
            component["properties"] += [{"name": "ringsmith:requirements", "value": group}]
            component["properties"] += [{"name": f"ringsmith:{group}:file:sha256", "value": hash_} for hash_ in hashes]
    return list(found.values())


def document() -> dict[str, Any]:
    """Return the bill of materials."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    rust, licences = rust_locked(), _licences()
    components = [_rust_component(package, licences.get((package["name"], package["version"]))) for package in rust]
    components += _python_components()
    facts = json.dumps(components, sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, facts)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": "ringsmith", "name": project["name"], "version": project["version"],
                "licenses": [{"expression": project["license"]}],
            }
        },
        "components": sorted(components, key=lambda component: component["bom-ref"]),
        "dependencies": _rust_depends(rust),
    }  # fmt: skip


def main() -> None:
    """Write the file named on the command line."""
    if len(sys.argv) != 2:
        sys.exit("sbom: name the file to write: tools/sbom.py FILE")
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(document(), indent=1) + "\n")


if __name__ == "__main__":
    main()
