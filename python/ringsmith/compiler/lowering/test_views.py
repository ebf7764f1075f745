# SPDX-License-Identifier: Apache-2.0
"""Paddings, reshapes, slices, transposes and joins before a product: right, and hardly dearer than without them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import pytest

from ringsmith.compiler.lowering.test_lowering import check
from ringsmith.frontend import functions as rs
from ringsmith.frontend.declare import Encrypted, Plain
from ringsmith.runtime.kernel import kernel

WEIGHTS = np.array([[1, 2, -1], [2, 1, 2], [3, -1, 1]])


def encrypted(*shape: int) -> Encrypted:
    return Encrypted(*shape, low=-3, high=3)


def plain(*shape: int) -> Plain:
    return Plain(*shape, low=-3, high=3)


def convolved(x: Any, *, apart: int = 1, stride: int = 1, scale: float = 1) -> Any:
    """Return the valid convolution of the last two axes with 3x3 weights `apart` elements from each other."""
    rows, columns = (extent - 2 * apart for extent in x.shape[-2:])
    return sum(
        scale * WEIGHTS[i, j] * x[..., i * apart : i * apart + rows : stride, j * apart : j * apart + columns : stride]
        for i in range(3)
        for j in range(3)
    )


def key_switches(function: Any, scheme: str, slots: int, arguments: dict[str, Any]) -> int:
    """Return the key switches of a kernel that is compared with numpy."""
    return int(check(kernel(scheme=scheme, **arguments)(function), slots).counts().get("key_switch", 0))


#: Of `x`, `y` encrypted and `w` plain: a kernel with changes of shape, one without, and their arguments' shapes.
Pair = tuple[Callable[..., Any], Callable[..., Any], dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]


def dense(x: Any, w: Any) -> Any:
    return x @ w


def channels(x: Any) -> Any:
    return np.stack([sum(convolved(x[i], scale=i + k) for i in range(2)) for k in (1, 2, 3, 4)])


FLAT: dict[str, tuple[int, ...]] = {"x": (42,), "w": (42, 5)}
PAIRS: dict[str, Pair] = {
    **{
        f"padded {shape}": (
            lambda x: convolved(np.pad(x, 1)), convolved, {"x": shape}, {"x": (shape[0] + 2, shape[1] + 2)},
        )
        for shape in ((6, 7), (8, 8), (1, 9), (9, 1), (16, 16))
    },
    "padded by two": (lambda x: convolved(np.pad(x, 2)), convolved, {"x": (6, 7)}, {"x": (10, 11)}),
    "padded on two sides": (
        lambda x: np.pad(x, 1)[:-2, 1:-1] + np.pad(x, 1)[2:, 1:-1], lambda x: x[:-2] + x[2:], {"x": (6, 7)},
        {"x": (8, 7)},
    ),
    "padded with twos": (
        lambda x: convolved(np.pad(x, 1, constant_values=2)), convolved, {"x": (6, 7)}, {"x": (8, 9)},
    ),
    "dilated": (
        lambda x: convolved(np.pad(x, 2), apart=2), lambda x: convolved(x, apart=2), {"x": (6, 7)}, {"x": (10, 11)},
    ),
    "strides": (
        lambda x: convolved(np.pad(x, 1), stride=2), lambda x: convolved(x, stride=2), {"x": (8, 9)}, {"x": (10, 11)},
    ),
    "channels": (
        lambda x: channels(np.pad(x, ((0, 0), (1, 1), (1, 1)))), channels, {"x": (2, 5, 6)}, {"x": (2, 7, 8)},
    ),
    "two layers": (
        lambda x: convolved(np.pad(convolved(np.pad(x, 1)) ** 2, 1)), lambda x: convolved(convolved(x) ** 2),
        {"x": (6, 7)}, {"x": (8, 9)},
    ),
    **{
        f"reshaped {shape}": (lambda x, w: x.reshape(-1) @ w, dense, {"x": shape, "w": (42, 5)}, FLAT)
        for shape in ((6, 7), (2, 3, 7), (1, 42), (42, 1), (3, 1, 14))
    },
    "transposed and reshaped": (lambda x, w: x.T.reshape(-1) @ w, dense, {"x": (6, 7), "w": (42, 5)}, FLAT),
    "turned": (lambda x, w: x[::-1, ::-1].ravel() @ w, dense, {"x": (6, 7), "w": (42, 5)}, FLAT),
    "sliced": (
        lambda x, w: x[1:5, ::2].ravel() @ w, dense, {"x": (6, 7), "w": (16, 5)}, {"x": (16,), "w": (16, 5)},
    ),
    "reshaped to rows": (
        lambda x, w: x.reshape(6, 7) @ w, dense, {"x": (42,), "w": (7, 3)}, {"x": (6, 7), "w": (7, 3)},
    ),
    "rows of a batch": (
        lambda x, w: x.reshape(4, -1) @ w, dense, {"x": (4, 3, 5), "w": (15, 4)}, {"x": (4, 15), "w": (15, 4)},
    ),
    "transposed": (lambda x, w: x.T @ w, dense, {"x": (7, 6), "w": (7, 3)}, {"x": (6, 7), "w": (7, 3)}),
    "padded rows": (
        lambda x, w: np.pad(x, 1) @ w, dense, {"x": (4, 5), "w": (7, 3)}, {"x": (6, 7), "w": (7, 3)},
    ),
    "padded columns": (
        lambda x, w: w @ np.pad(x, 1), lambda x, w: w @ x, {"x": (4, 5), "w": (3, 6)}, {"x": (6, 7), "w": (3, 6)},
    ),
    "both encrypted": (lambda x, y: x.reshape(-1) @ y, dense, {"x": (6, 7), "y": (42,)}, {"x": (42,), "w": (42,)}),
    "joined": (
        lambda x, y, w: np.concatenate([x, y]) @ w, lambda x, y, w: x @ w[:20] + y @ w[20:],
        {"x": (20,), "y": (22,), "w": (42, 5)}, {"x": (20,), "y": (22,), "w": (42, 5)},
    ),
    "joined to itself": (lambda x, w: np.concatenate([x[10:], x[:10]]) @ w, dense, FLAT, FLAT),
    "joined to zeros": (
        lambda x, w: np.concatenate([np.zeros(3, int), x, np.zeros(5, int)]) @ w, dense, {"x": (34,), "w": (42, 5)},
        FLAT,
    ),
    "rolled with zeros": (
        lambda x: x - np.concatenate([np.zeros(3, int), x[:-3]]), lambda x: x[3:] - x[:-3], {"x": (20,)}, {"x": (20,)},
    ),
    "windows": (
        lambda x, w: np.stack([np.pad(x, 1)[i : i + 6, j : j + 7].ravel() for i in range(3) for j in range(3)], 1) @ w,
        lambda x, w: convolved(x) + w[0], {"x": (6, 7), "w": (9,)}, {"x": (8, 9), "w": (9,)},
    ),
    "sum of a padding": (lambda x: np.pad(x, 2).sum(), lambda x: x.sum(), {"x": (6, 7)}, {"x": (10, 11)}),
    "sum of a reshape": (lambda x: x.reshape(-1).sum(), lambda x: x.sum(), {"x": (6, 7)}, {"x": (6, 7)}),
}  # fmt: skip


def squared(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel of the square of its first argument, which no client can send in another layout."""

    @wraps(function)
    def made(x: Any, **others: Any) -> Any:
        return function(x * x, **others)

    return made


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize("inner", [False, True], ids=["argument", "inner value"])
@pytest.mark.parametrize("name", PAIRS)
def test_a_view_takes_at_most_twice_the_key_switches(name: str, inner: bool, scheme: str) -> None:
    function, without, shapes, others = PAIRS[name]

    def count(one: Callable[..., Any], own: dict[str, tuple[int, ...]]) -> int:
        arguments = {key: plain(*shape) if key == "w" else encrypted(*shape) for key, shape in own.items()}
        return key_switches(squared(one) if inner else one, scheme, 512, arguments)

    assert count(function, shapes) <= 2 * count(without, others)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize("slots", [32, 64])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: convolved(np.pad(x, 1)) + y,
        lambda x, y: convolved(np.pad(x * x, 1, constant_values=2)),
        lambda x, y: np.pad(x * y, ((0, 3), (2, 0))),
        lambda x, y: np.pad(x, 3)[:2].sum(0) + y[0, 0],
        lambda x, y: np.pad(x, 3)[:2, :6] * y[:2] + 1,
        lambda x, y: np.pad(x, 3)[:2],
        lambda x, y: rs.polynomial(np.pad(x * y, 1)[:4, 1:], [2, 1, 3]),
        lambda x, y: rs.polynomial(np.pad(x, 1), [0, 1, 3]),
        lambda x, y: np.pad(x, 1) ** 3 - np.pad(y, 1)[::-1],
        lambda x, y: np.pad(x, 1) @ np.pad(y, 1).T,
        lambda x, y: np.pad(x * x, 1) @ np.pad(y, 1).T[:, :3],
        lambda x, y: np.where(np.eye(5, 6) == 1, x, 0) + np.where(np.eye(5, 6) == 1, 3, y),
        lambda x, y: np.stack([x[0], np.zeros(6, int)], 1).ravel() - np.stack([np.zeros(6, int), y[1]], 1).ravel(),
        lambda x, y: np.pad(x[:1, :1], 1) + np.pad(y[:1], ((1, 1), (0, 0)))[:, :3],
        lambda x, y: np.repeat(np.repeat(x * x, 2, 0), 2, 1)[1:-1] * np.pad(y, ((2, 1), (3, 3))),
        lambda x, y: np.cumsum(x) + np.pad(y, 1).sum(1, keepdims=True)[1],
    ],
)
def test_zeros_that_stand_nowhere_stay_zero(function: Any, slots: int, scheme: str) -> None:
    check(kernel(scheme=scheme, x=encrypted(5, 6), y=encrypted(5, 6))(function), slots)


@pytest.mark.parametrize("packing", ["rows", "columns", "each"])
def test_fixed_packings_are_padded(packing: str) -> None:
    made = kernel(x=Encrypted(4, 5, bound=1, packing=packing), w=Plain(6, 3, bound=1))
    check(made(lambda x, w: w.T @ np.pad(x, 1)))
    check(made(lambda x, w: convolved(np.pad(x, 1)) * w[0, 0] + np.pad(x, 1)[1:-1, 2:]))


def weighed(x: Any) -> Any:
    """Return the valid convolution with 5x5 weights: four rotations along a row, four of rows."""
    rows, columns = (extent - 4 for extent in x.shape)
    return sum((3 * i - j + 1.5) * x[i : i + rows, j : j + columns] for i in range(5) for j in range(5))


def test_the_figures_of_whole_images() -> None:
    image, flat = {"x": encrypted(28, 28)}, {"x": encrypted(28, 28), "w": plain(676, 10)}
    assert key_switches(lambda x: weighed(np.pad(x, 2)), "ckks", 2048, image) <= 8
    for scheme in ("ckks", "bfv"):
        assert key_switches(lambda x: convolved(np.pad(x, 1)), scheme, 2048, image) <= 8
        assert key_switches(lambda x, w: convolved(x).ravel() @ w, scheme, 2048, flat) <= 8 + 18
        assert key_switches(lambda x, w: (convolved(x) ** 2).ravel() @ w, scheme, 2048, flat) <= 9 + 18


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_images_of_a_batch_stand_in_blocks(scheme: str) -> None:
    # Five images of 16 by 16 places, two in a ciphertext: three convolutions, three products.
    def network(x: Any, w: Any) -> Any:
        return convolved(np.pad(x, ((0, 0), (1, 1), (1, 1)))).reshape(5, -1) @ w

    assert key_switches(network, scheme, 512, {"x": encrypted(5, 9, 10), "w": plain(90, 4)}) <= 3 * (8 + 13)
