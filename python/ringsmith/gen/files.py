# SPDX-License-Identifier: Apache-2.0
"""The generated files and their sources; writing and comparing them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ringsmith import shipped
from ringsmith.errors import FormatError
from ringsmith.gen import (
    build,
    build_doc,
    build_python,
    build_rust,
    build_sv,
    build_top,
    isa_doc,
    isa_rust,
    isa_sv,
    latency,
    operations_doc,
    operations_python,
    operations_rust,
    pages,
    peers,
    security_rust,
    stub,
)
from ringsmith.gen.isa import load_isa
from ringsmith.gen.operations import load_operations

REPO = shipped.root()
#: Words of the lines before and after the generated part of a file that is written by hand otherwise.
GENERATED_PART = "generated from spec/operations.yaml"


def generated(root: Path = REPO) -> dict[Path, str]:
    """Return every generated file, or file with a generated part, relative to `root`, with the text it must have."""
    isa = load_isa(root / "spec" / "isa.yaml")
    files = {
        Path("rtl/core/rs_isa_pkg.sv"): isa_sv.render(isa),
        Path("crates/isa/src/spec/opcodes.rs"): isa_rust.opcodes(isa),
        Path("crates/isa/src/spec/table.rs"): isa_rust.table(isa),
        Path("docs/isa.md"): isa_doc.render(isa),
    }
    core, ntt8 = (build.load(root / "spec" / "build.yaml", top) for top in ("", "ntt8"))
    files |= {
        Path("rtl/core/rs_build_pkg.sv"): build_sv.render_package(core, ntt8),
        Path("rtl/core/rs_build_check.sv"): build_sv.render_config_check(core, "rs_build_check"),
        Path("rtl/ntt8/rs_ntt8_check.sv"): build_sv.render_check(ntt8, "rs_ntt8_check", "an 8-point accelerator"),
        Path("crates/isa/src/facts.rs"): build_rust.render(core),
        Path("python/ringsmith/knobs.py"): build_python.render(core, ntt8),
        Path("docs/knobs.md"): build_doc.render(core, ntt8),
    }
    # Tops are written by hand but for a part; a tree without them has none to renew.
    for host, path in (("axi4", Path("rtl/top/rs_top_axi.sv")), ("serial", Path("rtl/top/rs_top_serial.sv"))):
        if (root / path).exists():
            files[path] = build_top.render(core, (root / path).read_text(), host)
    operations = load_operations(root / "spec" / "operations.yaml")
    files |= {
        Path("crates/program/src/operation/table.rs"): operations_rust.render(operations),
        Path("python/ringsmith/ir/kinds.py"): operations_python.kinds(operations),
        Path("tests/oracle/operations.py"): operations_python.oracle(operations),
    }
    if (page := root / "docs" / "format.md").exists():
        files[Path("docs/format.md")] = _with_part(page, operations_doc.render(operations))
    if (crate := root / "crates" / "python" / "src").exists():
        files[Path("python/ringsmith/_native.pyi")] = stub.render(crate)
    if (tables := root / "spec" / "params" / "security.toml").exists():
        files[Path("crates/rlwe/src/security/figures.rs")] = security_rust.render(tables)
    spec = root / "spec" / "latency.yaml"
    if spec.exists():
        functions = latency.load(spec)
        files[Path("rtl/core/rs_latency_pkg.sv")] = latency.render_sv(functions)
        files[Path("crates/model/src/latency.rs")] = latency.render_rust(functions)
    return files | (pages.render(root) | peers.render(root) if (root / "spec" / "claims.toml").exists() else {})


def _with_part(path: Path, text: str) -> str:
    """Return a file with its generated part, which stands between two lines that say so, made anew."""
    whole = path.read_text()
    lines = whole.splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if GENERATED_PART in line]
    if len(ends) != 2:
        raise FormatError(f"{path}: {len(ends)} lines with {GENERATED_PART!r}; a generated part stands between two")
    return "".join([*lines[: ends[0] + 1], text, *lines[ends[1] :]])


def stale(root: Path = REPO) -> list[Path]:
    """Return the generated files whose text in the tree differs from the specification, or that are missing.

    The list of old figures in a page does not count: it changes with every source, not with the specification.
    """
    return [path for path, text in generated(root).items() if not _is_equal(root / path, text, pages.without_ages)]


def _is_equal(path: Path, text: str, seen: Callable[[str], str] = str) -> bool:
    """Whether a file holds a text, or what counts of it."""
    return path.exists() and seen(path.read_text(encoding="utf-8")) == seen(text)


def write_all(root: Path = REPO) -> list[Path]:
    """Write every generated file that differs; return those written."""
    files = generated(root)
    changed = [path for path, text in files.items() if not _is_equal(root / path, text)]
    for path in changed:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(files[path])
    return changed
