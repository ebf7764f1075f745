# SPDX-License-Identifier: Apache-2.0
"""Everything made from the register maps: `spec/registers.rdl` (the co-processor), `controller.rdl` and `ntt8.rdl`.

`python -m ringsmith.hw.registers` writes the committed files, `--check` compares them. The register block itself is
a build product: it is generated into the cache, keyed by the hash of its source and of the generator's version.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ringsmith import shipped
from ringsmith.hw.registers.maps import BLOCKS, CONTROLLER, HOST, NTT8, Field, Register, RegisterMap, block, html, load
from ringsmith.hw.registers.printed import c_header, causes_rust, causes_sv, page, rust_constants, sv_words

__all__ = [
    "BLOCKS", "CONTROLLER", "HOST", "NTT8", "Field", "Register", "RegisterMap", "block", "c_header", "committed",
    "html", "load", "main", "page", "rust_constants",
]  # fmt: skip


def committed() -> dict[Path, str]:
    """Files kept in the repository and their right contents."""
    root, host, ntt8 = shipped.root(), load(HOST), load(NTT8)
    return {
        root / "crates" / "device" / "src" / "registers.rs": rust_constants(host),
        root / "crates" / "device" / "src" / "controller_registers.rs": rust_constants(load(CONTROLLER)),
        root / "crates" / "model" / "src" / "cause.rs": causes_rust(host),
        root / "rtl" / "core" / "rs_error_pkg.sv": causes_sv(host),
        root / "rtl" / "ntt8" / "rs_ntt8_pkg.sv": sv_words(ntt8),
        root / "docs" / "registers.md": page(host, load(CONTROLLER), ntt8),
    }


def main(arguments: list[str]) -> int:
    """Write the committed files, or with `--check` report those that differ; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m ringsmith.hw.registers", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a file differs")
    check = parser.parse_args(arguments).check
    wanted = committed()
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if check:
            print(f"error: {path.relative_to(shipped.root())} differs from spec/*.rdl", file=sys.stderr)
        else:
            path.write_text(wanted[path])
    return 1 if stale and check else 0
