# SPDX-License-Identifier: Apache-2.0
"""Register maps as PeakRDL reads them from `spec/*.rdl`, and its output; kept in the cache."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ringsmith import shipped
from ringsmith.errors import ToolError
from ringsmith.extras import to_install
from ringsmith.hw import paths
from ringsmith.hw.process import checked, run

#: The maps, by the name of their file in `spec/`.
HOST, CONTROLLER, NTT8 = "registers", "controller", "ntt8"
# Those whose register block is a module of ours.
BLOCKS = (HOST, CONTROLLER)
# Habits of the generator's output that our lint would refuse.
_PREAMBLE = "".join(f"/* verilator lint_off {rule} */\n" for rule in ("WIDTH", "UNUSED", "GENUNNAMED", "MULTIDRIVEN"))


@dataclass(frozen=True)
class Choice:
    """One of the named values of a field."""

    name: str
    number: int
    description: str


@dataclass(frozen=True)
class Field:
    """A field: name, lowest bit, width, software access (`r`, `rw`, …), description, value after reset, choices."""

    name: str
    low: int
    width: int
    access: str
    description: str
    reset: int | None
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Register:
    """A register, or `count` consecutive ones: name, byte address of the first, fields, description."""

    name: str
    address: int
    count: int
    fields: tuple[Field, ...]
    description: str

    def named_fields(self) -> Iterator[tuple[Field, str]]:
        """Fields worth a name of their own: not the single full-width `value` of a plain word."""
        for field in self.fields:
            if field.width < 32:
                yield field, f"{self.name}_{field.name}".upper()


@dataclass(frozen=True)
class RegisterMap:
    """A map: the stem of its file, its title and description, its registers in address order."""

    stem: str
    title: str
    description: str
    registers: tuple[Register, ...]

    def __getitem__(self, name: str) -> Register:
        """The register of a name."""
        return next(register for register in self.registers if register.name == name)

    @property
    def notice(self) -> str:
        """The notice of origin in a generated file."""
        return f"Generated from spec/{self.stem}.rdl by `python -m ringsmith.hw.registers`; do not edit."


def load(stem: str = HOST) -> RegisterMap:
    """Read a map."""
    data = json.loads((_products(stem) / "registers.json").read_text())
    return RegisterMap(stem, data["title"], data["description"], tuple(map(_register, data["registers"])))


def _register(data: dict[str, object]) -> Register:
    fields = tuple(
        Field(**{**field, "choices": tuple(Choice(**choice) for choice in field["choices"])})
        for field in data.pop("fields")  # type: ignore[attr-defined]
    )
    return Register(**data, fields=fields)  # type: ignore[arg-type]


def block(stem: str = HOST) -> Path:
    """Directory with a map's generated register block (`rs_host_regs.sv`, its package)."""
    return _products(stem)


def html(directory: Path, stem: str = HOST) -> None:
    """Write the browsable HTML documentation of a map into a directory."""
    with tempfile.TemporaryDirectory() as scratch:
        _read(stem, Path(scratch), "html", last="html/index.html")
        # Its launchers start browsers with their file security switched off.
        launchers = shutil.ignore_patterns("*.bat", ".launcher_data", "launcher-*")
        shutil.copytree(Path(scratch) / "html", directory, dirs_exist_ok=True, ignore=launchers)


def _products(stem: str) -> Path:
    """Directory with a map as JSON, and its register block if it has one; built on first use."""
    try:
        version = importlib.metadata.version("peakrdl-regblock")
    except importlib.metadata.PackageNotFoundError:
        raise ToolError(f"PeakRDL is not installed: {to_install('hw')}") from None
    reader = Path(__file__).with_name("rdl.py").read_bytes()
    state = _source(stem).read_bytes() + reader + f"{version}{_PREAMBLE}".encode()
    target = paths.cache("registers") / hashlib.sha256(state).hexdigest()[:16]
    if target.exists():
        return target
    work = Path(tempfile.mkdtemp(prefix=".registers-", dir=target.parent))
    try:
        _read(stem, work, *(["block"] if stem in BLOCKS else []), last="registers.json")
        for path in work.glob("*.sv"):
            path.write_text(f"// Generated from spec/{stem}.rdl; do not edit.\n{_PREAMBLE}{path.read_text()}")
        work.chmod(0o755)
        work.replace(target)
    except OSError:
        if not target.exists():
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def _source(stem: str) -> Path:
    return shipped.spec() / f"{stem}.rdl"


def _read(stem: str, directory: Path, *products: str, last: str) -> None:
    """Let the child process write its products; they count even if it crashes after it has written the last one."""
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "ringsmith.hw.registers.rdl",
        _source(stem),
        directory,
        *products,
    ]
    written = directory / last
    checked(f"reading spec/{stem}.rdl", run(command, timeout_s=300), ok=lambda f: f.status <= 0 and written.exists())
