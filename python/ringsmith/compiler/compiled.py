# SPDX-License-Identifier: Apache-2.0
"""Output of the compiler: the program as data, and how it was made."""

from __future__ import annotations

from dataclasses import dataclass

from ringsmith import _native
from ringsmith.compiler.params.choose import Rejected
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.compiler.signature import Signature
from ringsmith.compiler.user_functions import UserFunctions
from ringsmith.ir.circuit import Circuit
from ringsmith.ir.layout_note import LayoutNote


@dataclass(frozen=True, eq=False)
class Compiled:
    """A kernel compiled for one parameter set; `ringsmith.runtime.program.Program` runs it.

    `native` is the program as the engine runs, writes and hashes it; `circuit`, `rejected` and `layouts` tell how it
    was made. `proven`: promises, by place and bound, that follow from the declared ranges.
    """

    signature: Signature
    params: ParameterSet
    native: _native.Program
    circuit: Circuit
    rejected: tuple[Rejected, ...]
    functions: UserFunctions
    layouts: tuple[LayoutNote, ...] = ()
    proven: frozenset[tuple[str, float]] = frozenset()
