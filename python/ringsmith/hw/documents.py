# SPDX-License-Identifier: Apache-2.0
"""What a package says in words and to tools: pages, C headers, constraints, Makefile, FuseSoC core."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from string import Template

from ringsmith import shipped
from ringsmith.hw import registers
from ringsmith.hw.tops.top import TEMPLATES, Top
from ringsmith.hw.verilator import BUILD_FLAGS, LINT_FLAGS

_LINK = re.compile(r"\[([^\]]*)\]\(([^):#]+)\)")


def write_documents(
    top: Top,
    build_hash: str,
    work: Path,
    *,
    rtl: Sequence[str],
    verilog: Sequence[str],
    has_projects: bool,
) -> None:
    """Write all of a package at `work` that is no RTL and no C++: its pages come first, the files that name it last.

    `rtl` and `verilog` are the sources, in the order to read them; `tb/` is there already; `has_projects`
    says whether `vivado/` will be.
    """
    names = {
        **_names(top, build_hash),
        **_plain_verilog(top, verilog),
        "vivado_row": _VIVADO_ROW if has_projects else "",
    }
    _pages(top, work, names)
    for name, text in top.c_headers().items():
        (work / "include" / name).write_text(text)
    (work / "constraints" / f"{top.name}.sdc").write_text(template("constraints.sdc", **names))
    (work / f"{top.name}.f").write_text("".join(f"{name}\n" for name in rtl))
    harness = " ".join(str(path.relative_to(work)) for path in sorted((work / "tb").glob("*.cpp")))
    (work / "Makefile").write_text(template("Makefile", **names, harness=harness))
    (work / f"{top.name}.core").write_text(_core(top, names, rtl, work))


def template(file: str, **names: str) -> str:
    """A template with its placeholders replaced."""
    return Template((TEMPLATES / file).read_text()).substitute(names)


def _pages(top: Top, work: Path, names: dict[str, str]) -> None:
    docs = work / "docs"
    for stem in top.documented():
        registers.html(docs / stem, stem)
    if top.documented():
        (docs / "registers.md").write_text(registers.page(*map(registers.load, top.documented())))
    (docs / "driver.md").write_text(template(top.driver, **names))
    (docs / "integration.md").write_text(template("integration.md", **names))
    shutil.copyfile(shipped.root() / "docs" / "knobs.md", docs / "knobs.md")
    (work / "README.md").write_text(template("README.md", **names))
    shutil.copyfile(shipped.root() / "LICENSE", work / "LICENSE")
    top.write_extras(work)
    for page in docs.glob("*.md"):
        page.write_text(_without_dead_links(page))


def _without_dead_links(page: Path) -> str:
    """The page's text; a link to a page that the package does not have is its text alone."""
    return _LINK.sub(lambda link: link[0] if (page.parent / link[2]).exists() else link[1], page.read_text())


def _names(top: Top, build_hash: str) -> dict[str, str]:
    """Values of the templates' placeholders."""
    period = 1000 / top.clock_mhz
    return {
        "name": top.name,
        "top": top.module,
        "kind": top.kind,
        "build_hash": build_hash,
        "clock_mhz": f"{top.clock_mhz:g}",
        "period_ns": f"{period:.3f}",
        "io_delay_ns": f"{0.3 * period:.3f}",
        "build_flags": " ".join(BUILD_FLAGS),
        "lint_flags": " ".join(LINT_FLAGS),
        "oldest": top.oldest_verilator,
        "optimise": top.test_optimise,
        "defines": " ".join(_macros(top)),
        **top.texts(),
    }


def _macros(top: Top) -> list[str]:
    """Macros of the testbench's C++: a failed assertion is reported, not the end of the process."""
    return [f"-D{name}={value}" for name, value in {"VL_USER_STOP": 1, "VL_USER_FATAL": 1, **top.defines()}.items()]


def _plain_verilog(top: Top, files: Sequence[str]) -> dict[str, str]:
    """Placeholders that speak of the plain Verilog, empty without it."""
    if not files:
        return dict.fromkeys(("verilog_rules", "verilog_row", "verilog_commands", "verilog_targets"), "")
    names = {"top": top.module, "verilog": " ".join(files)}
    return {
        "verilog_rules": template("verilog.mk", **names),
        "verilog_targets": " test-verilog check-verilog",
        "verilog_row": _VERILOG_ROW,
        "verilog_commands": _VERILOG_COMMANDS,
    }


def _core(top: Top, names: dict[str, str], rtl: Sequence[str], work: Path) -> str:
    tb = sorted(path for path in (work / "tb").iterdir() if path.suffix in (".cpp", ".h"))
    headers = [f"      - tb/{p.name}: {{is_include_file: true}}" for p in tb if p.suffix == ".h"]
    headers += [f"      - include/{name}: {{is_include_file: true}}" for name in top.c_headers()]
    headers.append("      - tb/fusesoc/Vtop.h: {is_include_file: true}")
    return template(
        "core.txt",
        **names,
        version=version_of_package(),
        description=f"ringsmith {top.kind}, preset {top.name}",
        rtl_files="\n".join(f"      - {name}" for name in rtl),
        tb_files="\n".join([*headers, *(f"      - tb/{p.name}" for p in tb if p.suffix == ".cpp")]),
        build_options="\n".join(f"          - {' '.join(flag)}" for flag in _options(BUILD_FLAGS)),
        macros="\n".join(f"          - -CFLAGS {macro}" for macro in _macros(top)),
        lint_options=", ".join(LINT_FLAGS),
    )


def version_of_package() -> str:
    """Version of ringsmith; that of a checkout that is not installed is 0.1.0."""
    try:
        return version("ringsmith")
    except ModuleNotFoundError:
        return "0.1.0"


def _options(flags: Sequence[str]) -> list[list[str]]:
    """Flags with the values that follow them."""
    groups: list[list[str]] = []
    for flag in flags:
        if flag.startswith("-"):
            groups.append([])
        groups[-1].append(flag)
    return groups


_VIVADO_ROW = """\
| `vivado/README.md` | the design as an IP of AMD's Vivado, and its project on each platform that was asked for |
"""
_VERILOG_ROW = """\
| `verilog/` | the same design as plain Verilog (IEEE 1364-2005), for tools that cannot read SystemVerilog: parameters \
are set, assertions and vendors' primitives left out; `rs_reset_sync.v` beside it |
"""

_VERILOG_COMMANDS = """\
| `make test-verilog` | the testbench on the plain Verilog |
| `make check-verilog` | Icarus Verilog and Yosys read the plain Verilog, where they are installed |
"""
