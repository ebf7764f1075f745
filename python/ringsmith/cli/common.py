# SPDX-License-Identifier: Apache-2.0
"""Shared code of the verbs: loading kernel files, progress on stderr, output as JSON."""

from __future__ import annotations

import importlib.util
import json
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringsmith.errors import InputError, RingsmithError
from ringsmith.files import read_bytes, reason
from ringsmith.heir.program import kernels_of
from ringsmith.report.terminal import Console, plain_console
from ringsmith.runtime.kernel import Kernel

#: How names of HEIR's files end.
HEIR = ".mlir"
#: Largest kernel file, in bytes.
MAX_SOURCE = 16 << 20


@dataclass(frozen=True)
class KernelFile:
    """The kernels of a file, in order of definition."""

    path: Path
    kernels: tuple[Kernel, ...]

    def pick(self, name: str | None, variant: str | None) -> Kernel:
        """Return the kernel of that name and variant; the first defined where one is not given."""
        names = list(dict.fromkeys(kernel.name for kernel in self.kernels))
        if name is None:
            name = names[0]
        if name not in names:
            raise InputError(f"{self.path}: no kernel {name!r}; there is {', '.join(names)}")
        same = [kernel for kernel in self.kernels if kernel.name == name]
        for kernel in same:
            if variant is None or kernel.variant == variant:
                return kernel
        raise InputError(f"{self.path}: no variant {variant!r}; there is {', '.join(k.variant for k in same)}")

    def others(self, kernel: Kernel) -> dict[str, Kernel]:
        """Return the other variants of a kernel."""
        return {k.variant: k for k in self.kernels if k.name == kernel.name and k is not kernel}


def load_kernels(path: Path) -> KernelFile:
    """Run a Python file, its own folder first on the import path, and collect its kernels; read a file of HEIR's."""
    if path.suffix == HEIR:
        return KernelFile(path, kernels_of(path))
    if path.suffix != ".py":
        raise InputError(f"{path}: a Python file with a kernel is needed, or a .mlir file of HEIR's")
    read_bytes(path, MAX_SOURCE)
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(f"ringsmith_kernel_{path.stem.replace('-', '_')}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: cannot be loaded as a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with user_code(path, loading=True):
        spec.loader.exec_module(module)
    found = tuple(value for value in vars(module).values() if isinstance(value, Kernel))
    if not found:
        raise InputError(f"{path}: defines no kernel; decorate a function with @rs.kernel(...)")
    own = [kernel for kernel in found if Path(kernel.where.file).resolve() == path.resolve()]
    return KernelFile(path, tuple(dict.fromkeys(own or found)))


@contextmanager
def user_code(path: Path, *, loading: bool = False) -> Iterator[None]:
    """Turn an exception of the user's own file into one line that names the place; what it prints goes to stderr.

    While the file is `loading`, whatever is raised is its own.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except RingsmithError:
        raise
    except SyntaxError as error:
        raise InputError(f"{error.filename or path}:{error.lineno}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        own = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve() == path.resolve()]
        if not own and not loading:
            raise  # Not theirs: a defect of ours must not be laid at their door.
        place = f"{path}:{own[-1].lineno}" if own else str(path)
        raise InputError(f"{place}: {type(error).__name__}: {reason(error)}") from error


def option_changes(
    params: str | None, security: int | None, standard: str | None, allow_insecure: bool
) -> dict[str, Any]:
    """Return the kernel options that the command line overrides."""
    given = {"params": params, "security": security, "standard": standard, "allow_insecure": allow_insecure or None}
    return {name: value for name, value in given.items() if value is not None}


def policy(security: int | None, standard: str | None, allow_insecure: bool) -> dict[str, Any]:
    """Return how the parameters of a program that is read are judged."""
    if security not in (None, 128, 192, 256):
        raise InputError(f"--security {security}: 128, 192 or 256")
    if standard not in (None, "2024", "2018"):
        raise InputError(f"--standard {standard}: 2024 or 2018")
    return {"security": security or 128, "standard": standard or "2024", "allow_insecure": allow_insecure}


def console() -> Console:
    """Return the console for people: stderr, so that stdout holds the answer only."""
    return plain_console(stderr=True)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout."""
    print(json.dumps(value, indent=2))
