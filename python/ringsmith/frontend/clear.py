# SPDX-License-Identifier: Apache-2.0
"""Evaluation of a kernel's function on known numbers: the reference for encrypted results.

BFV's is exact whatever the magnitudes: the traced bounds tell whether int64 holds every value on the way, and Python's
own integers take over where it does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError
from ringsmith.frontend.declare import Encrypted
from ringsmith.frontend.definition import KernelDefinition
from ringsmith.frontend.trace import clear_manual, trace
from ringsmith.ir.evaluate import evaluate
from ringsmith.ir.geometry import Slots
from ringsmith.ir.graph import Graph
from ringsmith.ir.numbers import integers, narrowed, residues

Array = NDArray[Any]


def real(kernel: KernelDefinition, arrays: Mapping[str, Array]) -> Array:
    """Run a CKKS kernel's function on arrays of float64 or complex128."""
    return np.asarray(kernel.function(**_read_only(arrays)))


def exact(kernel: KernelDefinition, arrays: Mapping[str, Array]) -> Array:
    """Run a BFV kernel's function on integers; modulo `plain_modulus`, centred, where the kernel has one."""
    fitting = {n: a.around(arrays[n]) if isinstance(a, Encrypted) else a for n, a in kernel.arguments.items()}
    kernel = replace(kernel, arguments=fitting)
    graph = trace(kernel, {name: array.shape for name, array in arrays.items()})
    if graph.reading.divisor > 1:
        return graph.reading.read(narrowed(evaluate(graph.nodes(), arrays)[id(graph.output)]))
    result = _exact(kernel, graph, arrays)
    return result if kernel.plain_modulus is None else residues(result, kernel.plain_modulus)


def _exact(kernel: KernelDefinition, graph: Graph, arrays: Mapping[str, Array]) -> Array:
    wide = any(node.low.dtype == object for node in graph.nodes())
    given = {name: array.astype(object) for name, array in arrays.items()} if wide else arrays
    result = np.asarray(kernel.function(**_read_only(given)), dtype=object if wide else None)
    try:
        return narrowed(_integers(result))
    except InputError:
        # Floats among the function's own constants: the graph has them as the integers they are.
        return narrowed(evaluate(graph.nodes(), arrays)[id(graph.output)])


def _integers(result: Array) -> Array:
    if result.dtype.kind == "f":
        raise InputError("floats have been rounded")
    if result.dtype == object and any(isinstance(item, float) for item in result.flat):
        raise InputError("floats have been rounded")
    return integers(result, "the result")


def manual(kernel: KernelDefinition, arrays: Mapping[str, Array], slots: Slots) -> Array:
    """Run a manual kernel's function on clear vectors of all slots."""
    if kernel.scheme != "bfv":
        return clear_manual(kernel, arrays, slots)
    wide = {name: array.astype(object) for name, array in arrays.items()}
    result = integers(clear_manual(kernel, wide, slots), "the result")
    return result if kernel.plain_modulus is None else residues(result, kernel.plain_modulus)


def _read_only(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return views that the function cannot write into: the arrays may be the caller's own."""
    views = {name: array.view() for name, array in arrays.items()}
    for view in views.values():
        view.flags.writeable = False
    return views
