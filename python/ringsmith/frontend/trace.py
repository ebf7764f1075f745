# SPDX-License-Identifier: Apache-2.0
"""Running a kernel's function once on stand-ins: tensors, ciphertext handles (manual) or clear vectors (manual)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, KernelError
from ringsmith.frontend import numpy_functions as numpy_functions  # Tensors answer numpy through it.
from ringsmith.frontend.clear_slots import ClearSlots
from ringsmith.frontend.complex_tensor import ComplexTensor
from ringsmith.frontend.complex_tensor import joined as complex_node
from ringsmith.frontend.declare import Argument, Output, parts_of, real_arguments
from ringsmith.frontend.definition import KernelDefinition
from ringsmith.frontend.manual import Chain, PlainVector, Recorder, collect
from ringsmith.frontend.promises import manual_result
from ringsmith.frontend.quotient import Quotient
from ringsmith.frontend.tensor import Tensor, as_tensor
from ringsmith.ir.circuit import Circuit, OutputPacking
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Graph, Node, Op, frozen
from ringsmith.ir.index_map import placement
from ringsmith.ir.numbers import exact, integers, magnitude, reals
from ringsmith.ir.reading import Reading
from ringsmith.ir.slot_program import InputPacking
from ringsmith.location import Location

Array = NDArray[Any]
Pack = Callable[[Array, int], Array]
Shapes = Mapping[str, tuple[int, ...]]


def trace(kernel: KernelDefinition, shapes: Shapes) -> Graph:
    """Run the function on tensors and return its graph."""
    integral = kernel.scheme == "bfv"
    own = real_shapes(kernel.arguments, shapes)
    inputs = {
        name: _input(name, argument, own[name], kernel.where, exact=integral)
        for name, argument in real_arguments(kernel.arguments).items()
    }
    handles: dict[str, Any] = {name: Tensor(node, owns=False) for name, node in inputs.items()}
    for name, argument in kernel.arguments.items():
        if argument.complex:
            handles[name] = ComplexTensor(*(handles.pop(part) for part in parts_of(name)))
    result = traced_call(kernel, handles)
    if isinstance(result, tuple | list):
        raise KernelError("return one tensor; join several with rs.stack or rs.concatenate", kernel.where)
    output, reading = _result(kernel, result)
    if not output.encrypted:
        raise KernelError("the result does not depend on any encrypted argument", kernel.where)
    return Graph(kernel.name, frozen(inputs), output, reading)


def _result(kernel: KernelDefinition, result: Any) -> tuple[Node, Reading]:
    """Return the node of a result, and how its numbers are read."""
    if isinstance(result, ComplexTensor):
        return complex_node(result, kernel.where), Reading(complex=True)
    if not isinstance(result, Quotient):
        return as_tensor(result, kernel.where).node, Reading()
    node, t = result.numerator.node, kernel.plain_modulus
    if result.divisor > 1 and t is not None and 2 * node.bound >= t:
        raise KernelError(
            f"sums up to {node.bound} wrap modulo plain_modulus {t}, which leaves nothing to divide by "
            f"{result.divisor}; leave plain_modulus out, or use a larger one",
            kernel.where,
        )
    return node, Reading(divisor=result.divisor)


def real_shapes(arguments: Mapping[str, Argument], shapes: Shapes) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a program's arguments: both parts of a complex one have its shape."""
    names = ((name, parts_of(name) if argument.complex else (name,)) for name, argument in arguments.items())
    return {part: shapes[name] for name, parts in names for part in parts}


def traced_call(kernel: KernelDefinition, handles: Mapping[str, Any]) -> Any:
    """Call the function on stand-ins; numpy may wrap a refusal in an error of its own, which would hide the reason."""
    try:
        return kernel.function(**handles)
    except (TypeError, ValueError) as error:
        cause = error.__cause__ or error.__context__
        if isinstance(cause, KernelError):
            raise cause from None
        raise


def _input(name: str, argument: Argument, shape: tuple[int, ...], where: Location, *, exact: bool) -> Node:
    ends = argument.range(name, exact=exact)
    low, high = (np.full(shape, end, dtype=ends.dtype) for end in ends)
    return Node(Op.INPUT, (), shape, argument.encrypted, low, high, where, frozen({"name": name}))


def record(kernel: KernelDefinition, shapes: Shapes, chain: Chain) -> Circuit:
    """Run a manual kernel's function on ciphertext handles and return its circuit."""
    recorder = Recorder(chain)
    inputs: dict[str, InputPacking] = {}
    handles: dict[str, Any] = {}
    # Inputs come first among the steps, in order of declaration.
    ordered = sorted(kernel.arguments.items(), key=lambda item: not item[1].encrypted)
    for name, argument in ordered:
        packing = _manual_packing(name, argument, shapes[name], chain)
        if argument.encrypted:
            inputs[name] = packing
            flat: list[Any] = [recorder.fresh(kernel.where) for _ in packing.gather]
        else:
            node = _plain_input(name, argument, shapes[name], packing, kernel)
            flat = [
                PlainVector(recorder, recorder.plains.number(node, row))
                for row in _rows_of(node, packing, chain.slots.count)
            ]
        handles[name] = _array_of(flat, _handle_shape(argument, shapes[name], len(flat)))
    outputs = collect(traced_call(kernel, {name: handles[name] for name in kernel.arguments}))
    if kernel.output is None:
        raise AssertionError("a manual kernel declares its output")
    output = _manual_output(kernel.output, len(outputs), chain, kernel.where)
    integral = kernel.scheme == "bfv"
    bounds = {n: magnitude(a.range(n, exact=integral)) for n, a in kernel.arguments.items() if a.encrypted}
    return Circuit(
        chain.scheme, chain.slots, frozen(inputs), frozen(bounds), tuple(recorder.steps), tuple(recorder.plains.items),
        tuple(cipher.number for cipher in outputs), output,
    )  # fmt: skip


def _own_packing(name: str, argument: Argument, shape: tuple[int, ...], chain: Chain, own: Pack) -> InputPacking:
    """Lay out an argument by the user's own function."""
    pack = partial(packed_rows, name, own, slots=chain.slots.count)
    made = placement(pack, shape, argument.low, argument.high, _dtype(chain.scheme))
    if made.gather is not None:
        return InputPacking(name, made.gather)
    rows = len(pack(np.zeros(shape)))
    return InputPacking(name, np.full((rows, chain.slots.count), -1, dtype=np.intp), own, made.trace)


def _dtype(scheme: str) -> type:
    return np.int64 if scheme == "bfv" else np.float64


def _manual_packing(name: str, argument: Argument, shape: tuple[int, ...], chain: Chain) -> InputPacking:
    """Lay out an argument without repetition: values from slot 0, zeros after them."""
    if callable(argument.packing):
        return _own_packing(name, argument, shape, chain, argument.packing)
    slots = chain.slots.count
    elements = np.arange(int(np.prod(shape))).reshape(shape)
    if argument.packing == "each":
        rows = elements.reshape(-1, 1)
    elif argument.packing == "columns":
        rows = elements.reshape(shape[0], -1).T
    else:
        rows = elements.reshape(-1, shape[-1] if shape else 1)
    chunks = -(-rows.shape[1] // slots)
    gather = np.full((len(rows), chunks * slots), -1, dtype=np.intp)
    gather[:, : rows.shape[1]] = rows
    return InputPacking(name, gather.reshape(-1, slots))


def packed_rows(
    name: str, pack: Callable[[Array, int], Array], values: Array, slots: int, bound: float | None = None
) -> Array:
    """Apply a user's packing function, hold the declared bound against it, and pad its rows with zeros to all slots."""
    what = f"argument {name} as packed"
    rows = (integers if exact(values) else reals)(pack(values, slots), what)
    if bound is not None and magnitude(rows) > bound:
        raise InputError(f"{what} reaches {magnitude(rows)}, the kernel declares at most {bound}")
    if rows.ndim != 2 or not 1 <= rows.shape[1] <= slots or not len(rows):
        raise InputError(
            f"argument {name}: the packing function returned shape {rows.shape}; "
            f"(ciphertexts, at most {slots}) is needed"
        )
    return np.pad(rows, ((0, 0), (0, slots - rows.shape[1])))


def _handle_shape(argument: Argument, shape: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Return the shape of the array of handles a manual kernel receives."""
    if callable(argument.packing):
        return (count,)
    outer = {"each": shape, "columns": shape[1:]}.get(argument.packing, shape[:-1])
    per = int(np.prod(outer))
    return outer if count == per else (*outer, count // per)


def _array_of(values: list[Any], shape: tuple[int, ...]) -> Any:
    """Return an object array of handles; the handle itself when there is no axis."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array[0] if shape == () else array.reshape(shape)


def _plain_input(
    name: str, argument: Argument, shape: tuple[int, ...], packing: InputPacking, kernel: KernelDefinition
) -> Node:
    """Return the node of a plain argument; with a packing function, its packed rows are the node's elements."""
    integral = kernel.scheme == "bfv"
    if packing.pack is None:
        return _input(name, argument, shape, kernel.where, exact=integral)
    ends = argument.range(name, exact=integral)
    high = np.full(packing.gather.shape, magnitude(ends), dtype=ends.dtype)
    attributes = frozen({"name": name, "pack": packing.pack, "trace": packing.trace})
    return Node(Op.INPUT, (), high.shape, False, -high, high, kernel.where, attributes)


def _rows_of(node: Node, packing: InputPacking, slots: int) -> Index:
    if packing.pack is None:
        return packing.gather
    return np.arange(len(packing.gather) * slots, dtype=np.intp).reshape(-1, slots)


def _unpack_named(output: Output, rows: Array) -> Array:
    """Read a result by a named packing: one row of slots for each output ciphertext."""
    shape = output.shape
    if output.packing == "each":
        return rows[:, 0].reshape(shape)
    if output.packing == "columns":
        return np.asarray(rows[:, : shape[0]].T.reshape(shape))
    width = shape[-1] if shape else 1
    return rows.reshape(rows.size // width if width > rows.shape[1] else len(rows), -1)[:, :width].reshape(shape)


def _reading(output: Output, count: int, chain: Chain, unpack: Callable[[Array], Array]) -> OutputPacking:
    """Return the slots that a result is read from, or the function that reads it."""
    rows = (count, chain.slots.count)
    made = placement(lambda probe: np.asarray(unpack(probe)).reshape(output.shape), rows, -1, 1, _dtype(chain.scheme))
    if made.gather is not None and (made.gather >= 0).all():
        return OutputPacking(output.shape, *np.divmod(made.gather, chain.slots.count))
    return OutputPacking(output.shape, None, None, unpack, made.trace)


def _manual_output(output: Output, count: int, chain: Chain, where: Location) -> OutputPacking:
    """Check that the number of ciphertexts fits the declared output."""
    if callable(output.packing):
        return _reading(output, count, chain, output.packing)
    slots = chain.slots.count
    width = output.shape[-1] if output.shape else 1
    size = int(np.prod(output.shape))
    wanted = {"each": size, "columns": size // output.shape[0] if output.shape else 1}.get(
        output.packing, size // width * -(-width // slots)
    )
    if count != wanted:
        raise KernelError(
            f"the kernel returned {count} ciphertexts; an output of shape {output.shape} "
            f"packed {output.packing!r} has {wanted}",
            where,
        )
    return _reading(output, count, chain, partial(_unpack_named, output))


def clear_manual(kernel: KernelDefinition, arrays: Mapping[str, Array], slots: Slots) -> Array:
    """Run a manual kernel's function on clear vectors of all slots."""
    return manual_result(lambda: _clear_manual(kernel, arrays, slots))


def _clear_manual(kernel: KernelDefinition, arrays: Mapping[str, Array], slots: Slots) -> Array:
    handles = {}
    for name, argument in kernel.arguments.items():
        packing = _manual_packing(name, argument, arrays[name].shape, Chain(kernel.scheme, slots, (), 0.0))
        if packing.pack is not None:
            rows = packed_rows(name, packing.pack, arrays[name], slots.count)
        else:
            rows = np.where(packing.gather >= 0, arrays[name].reshape(-1)[packing.gather], 0)
        vectors = [ClearSlots.of(row, slots) for row in rows]
        handles[name] = _array_of(vectors, _handle_shape(argument, arrays[name].shape, len(rows)))
    result = _clear_rows(kernel.function(**handles))
    if kernel.output is None:
        raise AssertionError("a manual kernel declares its output")
    unpack = kernel.output.packing if callable(kernel.output.packing) else partial(_unpack_named, kernel.output)
    return np.asarray(unpack(np.stack(result)))


def _clear_rows(result: Any) -> list[Array]:
    """Flatten a manual kernel's result on clear vectors."""
    if isinstance(result, np.ndarray) and result.ndim == 1 and not isinstance(result[0], np.ndarray):
        return [result]
    return [row for part in result for row in _clear_rows(part)]
