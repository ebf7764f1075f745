# SPDX-License-Identifier: Apache-2.0
"""Layouts: whatever is chosen is right, and the choice for whole kernels takes few key switches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import Encrypted, Kernel, Plain, kernel
from ringsmith.compiler.lowering import blocks, search
from ringsmith.compiler.lowering.choices import Choices, Taken
from ringsmith.compiler.lowering.layout import Packed, pack
from ringsmith.compiler.lowering.lower import lowered
from ringsmith.compiler.lowering.price import key_switches, price
from ringsmith.compiler.lowering.test_lowering import check, clear_run, random_arrays, scheduled_circuit
from ringsmith.frontend.trace import trace
from ringsmith.ir.geometry import Slots
from ringsmith.ir.graph import Graph
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import SlotProgram, TooLongError


def times(a: Any, b: Any) -> Any:
    return a @ b


def product(a: tuple[int, ...], b: tuple[int, ...], first: type, second: type, scheme: str = "ckks") -> Kernel:
    """Return a kernel of a matrix product."""
    return kernel(scheme=scheme, a=first(*a, bound=3), b=second(*b, bound=3))(times)


def graph_of(made: Kernel) -> Graph:
    """Trace a kernel."""
    return trace(made, {name: argument.fix(name, None) for name, argument in made.arguments.items()})


def every_choice(made: Kernel, slots: Slots) -> Iterator[tuple[Taken, SlotProgram]]:
    """Yield the program of the first choices, and of each change of one of them."""
    graph = graph_of(made)
    first = Choices({})
    yield first.picked(), lowered(graph, made.arguments, slots, first)
    for decision, options in first.offered.items():
        for option in options[1:]:
            changed = Choices({decision: option})
            yield changed.picked(), lowered(graph, made.arguments, slots, changed)


def check_every_choice(made: Kernel, slots: Slots) -> int:
    """Compare all of them with numpy; return how many there were."""
    arrays = random_arrays(made)
    expected = np.asarray(made.function(**arrays))
    count = 0
    for taken, program in every_choice(made, slots):
        found = clear_run(scheduled_circuit(made, program), arrays)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=str(taken))
        count += 1
    return count


SHAPES = [
    ((8,), (8, 8)), ((7,), (7, 3)), ((5,), (5, 11)), ((3, 8), (8, 2)), ((5, 6), (6, 4)), ((4, 16), (16, 3)),
    ((2, 3), (3, 9)), ((9, 4), (4,)), ((6,), (6,)), ((16, 4), (4, 16)), ((1, 5), (5, 1)), ((3, 13), (13, 4)),
]  # fmt: skip


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize("kinds", [(Encrypted, Plain), (Plain, Encrypted), (Encrypted, Encrypted)])
@pytest.mark.parametrize("shapes", SHAPES)
def test_every_choice_gives_the_product(shapes: Any, kinds: Any, scheme: str) -> None:
    made = product(shapes[0], shapes[1], kinds[0], kinds[1], scheme)
    for count in (32, 64, 256):
        check_every_choice(made, Slots(2, count // 2) if scheme == "bfv" else Slots(1, count))


def chained(x: Any, a: Any, b: Any) -> Any:
    return b @ (a @ x + x[:4]) - x[:3]


def distances(x: Any, y: Any) -> Any:
    return rs.sum(x * x, axis=1) - 2 * (x @ y) + rs.sum(y * y)


def layers(x: Any, a: Any, b: Any) -> Any:
    return (x @ a) ** 2 @ b


def turned(x: Any, y: Any) -> Any:
    return rs.rotate(x, 3) * y - x[::-1] + y[1, ::2].sum()


KERNELS = [
    kernel(x=Encrypted(16, bound=1), a=Plain(4, 16, bound=1), b=Plain(3, 4, bound=1))(chained),
    kernel(x=Encrypted(6, 4, bound=1), y=Plain(4, bound=1))(distances),
    kernel(x=Encrypted(6, 4, bound=1), y=Encrypted(4, bound=1))(distances),
    kernel(scheme="bfv", x=Encrypted(6, 4, bound=2), y=Encrypted(4, bound=2))(distances),
    kernel(x=Encrypted(5, 12, bound=1), a=Plain(12, 4, bound=1), b=Plain(4, 3, bound=1))(layers),
    kernel(x=Encrypted(4, 4, bound=1))(lambda x: x @ x - x.T @ x),
    kernel(x=Encrypted(8, bound=1), y=Encrypted(3, 8, bound=1))(turned),
]  # fmt: skip


@pytest.mark.parametrize("made", KERNELS, ids=range(len(KERNELS)))
def test_every_choice_of_whole_kernels(made: Kernel) -> None:
    for count in (64, 512):
        assert check_every_choice(made, Slots(2, count // 2) if made.scheme == "bfv" else Slots(1, count)) > 1


def test_a_fixed_packing_stays() -> None:
    made = kernel(a=Encrypted(8, 8, bound=1, packing="rows"), b=Encrypted(8, 8, bound=1, packing="rows"))(times)
    taken, program = next(every_choice(made, Slots(1, 256)))
    assert not [decision for decision in taken if decision[0] == "input"]
    assert sum(op.kind is Kind.INPUT for op in program.ops) == 2


def test_transposed_packing_lays_columns_side_by_side() -> None:
    _, slot, period, gather = pack((3, 4), "transposed", Slots(1, 64))
    assert (period.width, slot[:, 1].tolist()) == (16, [4, 5, 6])
    assert gather[0, :8].tolist() == [0, 4, 8, -1, 1, 5, 9, -1]
    check(kernel(x=Encrypted(3, 4, bound=1, packing="transposed"))(lambda x: x.sum(1) * x[:, 0]))
    with pytest.raises(rs.KernelError, match="manual kernels pack by rows, columns, each"):
        kernel(mode="manual", x=Encrypted(3, 4, bound=1, packing="transposed"), output=rs.Output(3))(lambda x: x)


SQUARE = kernel(x=Encrypted(128, bound=1), a=Plain(128, 128, bound=0.1))
LIMITS = [
    (SQUARE(lambda x, a: x * (a @ x)), 4096, 24, 1),
    (SQUARE(lambda x, a: a @ (a @ x)), 4096, 48, 1),
    (product((500,), (500, 4), Encrypted, Encrypted, "bfv"), 4096, 20, 1),
    (product((32, 32), (32, 32), Encrypted, Encrypted), 2048, 20, 1),
    (kernel(x=Encrypted(1000, 64, bound=1), y=Plain(64, bound=1))(distances), 4096, 40, 1),
    (kernel(x=Encrypted(1000, 64, bound=1), y=Encrypted(64, bound=1))(distances), 4096, 40, 1),
    (kernel(x=Encrypted(784, bound=1), a=Plain(784, 64, bound=1), b=Plain(64, 10, bound=1))(layers), 4096, 40, 1),
    (kernel(scheme="bfv", x=Encrypted(1024, bound=3))(lambda x: rs.sum(x * x)), 4096, 16, 1),
]


@pytest.mark.parametrize(("made", "slots", "most", "results"), LIMITS)
def test_key_switches_of_whole_kernels(made: Kernel, slots: int, most: int, results: int) -> None:
    circuit = check(made, slots)
    assert circuit.counts()["key_switch"] <= most
    assert len(circuit.outputs) == results


def test_the_search_never_takes_what_is_dearer_than_its_start() -> None:
    for made in KERNELS:
        slots = Slots(2, 128) if made.scheme == "bfv" else Slots(1, 256)
        prices = [price(program) for _, program in every_choice(made, slots)]
        found = search.cheapest(partial(lowered, graph_of(made), made.arguments, slots))
        assert price(found.program) <= min(prices)
        assert [layout.price for layout in found.layouts] == sorted(layout.price for layout in found.layouts)


def test_a_program_over_its_limit_is_given_up() -> None:
    made = KERNELS[2]
    with pytest.raises(TooLongError):
        lowered(graph_of(made), made.arguments, Slots(1, 64), Choices({}), 5)
    # One with long moves, before they are made.
    moved = kernel(x=Encrypted(64, bound=1), y=Encrypted(64, bound=1, packing="rows"))(lambda x, y: x[::-1] * y)
    with pytest.raises(TooLongError):
        lowered(graph_of(moved), moved.arguments, Slots(1, 64), Choices({("operands", 3): "moved"}), 30)


def test_counts_are_those_of_the_circuit() -> None:
    for made, slots, _, _ in LIMITS[:1] + LIMITS[6:]:
        geometry = Slots(2, slots // 2) if made.scheme == "bfv" else Slots(1, slots)
        for _, program in every_choice(made, geometry):
            if len(program.ops) < 1000:
                own = scheduled_circuit(made, program).counts()["key_switch"]
                assert own == pytest.approx(key_switches(program), abs=2, rel=0.1)


def packed(slot: Any, period: int, slots: Slots) -> Packed:
    """Return a tensor in one ciphertext."""
    slot = np.asarray(slot)
    return Packed((0,), np.zeros_like(slot), slot, Slots(1, period), np.zeros((1, slots.count), dtype=bool))


def found_blocks(slot: Any, period: int) -> tuple[int, int, int, bool] | None:
    """Return stride, length, first slot and whether places go around."""
    own = blocks.blocks_of(packed(slot, period, Slots(1, 64)), Slots(1, 64))
    return None if own is None else (own.stride, own.length, own.first, own.around)


def test_blocks_are_found_where_all_vectors_lie_alike() -> None:
    rows = np.arange(4)[:, None] * 16
    assert found_blocks(rows + np.arange(5), 64) == (1, 16, 0, False)
    assert found_blocks(rows + 3 + np.arange(5), 64) == (1, 16, 3, False)
    assert found_blocks(np.arange(5) % 64, 8) == (1, 8, 0, True)
    assert found_blocks(np.arange(4)[:, None] + 4 * np.arange(8), 32) == (4, 8, 0, True)
    # Not evenly spaced, not a power of two apart, in falling order.
    assert found_blocks([0, 1, 3], 64) == found_blocks([0, 3, 6], 64) == (1, 64, 0, True)
    assert found_blocks(rows + 4 - 2 * np.arange(3), 64) == (2, 8, 0, False)
    # Two in one place, over the end of a block, unlike each other.
    for slot in ([[0, 1], [0, 1]], rows + 13 + np.arange(5), [[0, 1], [8, 10]]):
        assert found_blocks(slot, 64) is None


def test_places_of_a_block_hold_the_elements_in_any_order() -> None:
    own = blocks.blocks_of(packed([[6, 2, 0], [14, 10, 8]], 16, Slots(1, 64)), Slots(1, 64))
    assert own is not None
    assert own.columns.tolist() == [2, 1, -1, 0]


def key_switches_of(function: Any, scheme: str = "ckks", slots: int = 2048, **arguments: Any) -> int:
    """Return the key switches of a kernel in the cheapest layouts found, which are right."""
    circuit = check(kernel(scheme=scheme, **arguments)(function), slots)
    return int(circuit.counts().get("key_switch", 0))


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: x.reshape(-1) @ w,
        lambda x, w: (x * x).T.reshape(-1) @ w,
        lambda x, w: (x * x)[:, ::-1].ravel() @ w + x[0, :3],
        lambda x, w: (x.reshape(-1) * w[:, 0]).sum(),
        lambda x, w: (x * x).reshape(-1)[[9, 3, 8, 1, 7, 2]].sum() * w[0, 0],
    ],
)
def test_a_change_of_shape_before_a_product_costs_no_key_switches(function: Any, scheme: str) -> None:
    small: Any = {"low": -2, "high": 2}
    flat = key_switches_of(lambda x, w: x @ w, scheme, x=Encrypted(63, **small), w=Plain(63, 3, **small))
    assert key_switches_of(function, scheme, x=Encrypted(7, 9, **small), w=Plain(63, 3, **small)) <= flat + 3


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize("slots", [64, 128])
def test_vectors_over_rows_and_ciphertexts_meet_their_columns(slots: int, scheme: str) -> None:
    small: Any = {"low": -2, "high": 2}
    made = kernel(scheme=scheme, x=Encrypted(13, 11, **small), w=Plain(143, 5, **small))
    check(made(lambda x, w: x.reshape(-1) @ w), slots)
    check(made(lambda x, w: (x * x).T.reshape(-1) @ w), slots)
    batch = kernel(scheme=scheme, x=Encrypted(6, 5, 3, **small), w=Plain(15, 4, **small))
    check(batch(lambda x, w: (2 * x).reshape(6, -1) @ w), slots)


def test_many_distances_are_moved_by_baby_steps_and_giant_steps() -> None:
    made = kernel(x=Encrypted(28, 28, bound=1), y=Encrypted(784, bound=1, packing="rows"))
    assert check(made(lambda x, y: (x * x).reshape(-1) + y), 1024).counts()["key_switch"] <= 1 + 10
    assert (
        check(kernel(x=Encrypted(28, 28, bound=1))(lambda x: x * x - (x * x).T), 1024).counts()["key_switch"] <= 1 + 16
    )
