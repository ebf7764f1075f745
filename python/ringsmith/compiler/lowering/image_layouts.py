# SPDX-License-Identifier: Apache-2.0
"""Layouts of an image that a linear map makes: one element after the other, or on the grid of the image it is made of.

A stride of s leaves s * s times as many slots as elements: channels share a block then, each at another offset of the
gaps ("multiplexed", Lee et al., ICML 2022).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ringsmith.compiler.lowering.layout import Packed, power_of_two
from ringsmith.ir.geometry import Index, Slots
from ringsmith.ir.graph import Shape


@dataclass(frozen=True, eq=False)
class ImageLayout:
    """Where elements stand: of each, row-major, ciphertext and slot, all within the first `period` slots."""

    name: str
    ct: Index
    slot: Index
    period: int
    cts: int


def layouts(x: Packed, shape: Shape, stride: tuple[int, int], slots: Slots) -> Iterator[ImageLayout]:
    """Yield layouts of a result: one element after the other, and images on the operand's grid."""
    size = math.prod(shape)
    every = np.arange(size)
    period = min(power_of_two(size), slots.width)
    yield ImageLayout("one after the other", every // slots.width, every % slots.width, period, -(-size // slots.width))
    grid = _grid(x, shape, stride)
    if grid is None:
        return
    places, gaps = grid
    shared = 1
    while shared <= min(len(gaps), power_of_two(shape[0])):
        name = f"{shared} channels in a block" if shared > 1 else "a block for each channel"
        layout = blocks(name, places, gaps[:shared], shape[0], slots)
        if layout is not None:
            yield layout
        shared *= 2


def _grid(x: Packed, shape: Shape, stride: tuple[int, int]) -> tuple[Index, Index] | None:
    """Return where a channel's elements stand on the operand's grid, and the offsets of its gaps; None without one."""
    if len(x.shape) != 3 or len(shape) != 3 or (x.ct[0] != x.ct[0, 0, 0]).any():
        return None
    first, (_, height, width) = x.slot[0], x.shape
    across = int(first[0, 1] - first[0, 0]) if width > 1 else 1
    down = int(first[1, 0] - first[0, 0]) if height > 1 else across * width
    y, column = np.indices(first.shape)
    if across < 1 or down < 1 or down % across or (first - first[0, 0] != y * down + column * across).any():
        return None
    y, column = np.indices(shape[1:])
    places = (y * down * stride[0] + column * across * stride[1]).reshape(-1)
    gap_down, gap_across = np.indices((across * stride[0], across * stride[1]))
    return places, (gap_down * (down // across) + gap_across).reshape(-1)


def blocks(name: str, places: Index, gaps: Index, channels: int, slots: Slots) -> ImageLayout | None:
    """Return the layout of channels in blocks, as many in one as there are gaps; None if elements collide."""
    block = power_of_two(int(places.max() + gaps.max()) + 1)
    if block > slots.width or len(np.unique(places[:, None] + gaps)) < places.size * gaps.size:
        return None
    number = np.arange(channels) // len(gaps)
    each = slots.width // block
    count = power_of_two(int(number.max()) + 1)
    slot = (number % each * block + gaps[np.arange(channels) % len(gaps)])[:, None] + places
    ct = np.broadcast_to((number // each)[:, None], slot.shape)
    made = ct.reshape(-1).astype(np.intp)
    return ImageLayout(name, made, slot.reshape(-1), min(count, each) * block, int(made.max()) + 1)
