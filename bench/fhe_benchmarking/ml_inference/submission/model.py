# SPDX-License-Identifier: Apache-2.0
"""Digits from encrypted images: a network of one hidden layer whose activation is a square.

The client straightens an image before it encrypts it (moments, in the clear); weights are known to the server alone:
programs and keys tell nothing of them but their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sizes import IMAGES

import ringsmith as rs

SIDE, PIXELS, HIDDEN, DIGITS = 28, 784, 128, 10
#: What a stage is called with: the place of a size.
SIZES = {str(number): name for number, name in enumerate(IMAGES)}
#: Images of one message, five ciphertexts; a single image has a kernel of its own.
MESSAGE = 20
#: Magnitudes of weights, of the hidden layer before its square and of the scores; training stays well below them.
WEIGHT, SHIFT, BEFORE, SCORE = 1.0, 1.0, 16.0, 192.0


def program(images: int) -> Any:
    """Return the program for one image, or for messages of several: scores of each digit.

    Scores are tens apart; the probable guarantee of an error below a half leaves room for the smallest set.
    """
    shape = (PIXELS,) if images == 1 else (MESSAGE, PIXELS)

    @rs.kernel(
        x=rs.Encrypted(*shape, low=0.0, high=1.0),
        first=rs.Plain(PIXELS, HIDDEN, bound=WEIGHT),
        shifts=rs.Plain(HIDDEN, bound=SHIFT),
        second=rs.Plain(HIDDEN, DIGITS, bound=WEIGHT),
        offsets=rs.Plain(DIGITS, bound=SHIFT),
        tolerance=0.5,
        guarantee="probable",
    )
    def scores(x: Any, first: Any, shifts: Any, second: Any, offsets: Any) -> Any:
        before = rs.within(x @ first + shifts, BEFORE)
        return rs.within(rs.square(before) @ second + offsets, SCORE)

    return scores.compile()


def straightened(images: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return images (N, 784) whose strokes stand upright in the middle: centre and slant are taken from moments."""
    square = images.reshape(-1, SIDE, SIDE)
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    mass = np.maximum(square.sum((1, 2)), 1e-6)

    def mean(of: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray((square * of).sum((1, 2)) / mass)[:, None, None]

    down, right = mean(y), mean(x)
    slant = mean((y - down) * (x - right)) / np.maximum(mean((y - down) ** 2), 1e-6)
    middle = (SIDE - 1) / 2
    return sampled(square, y - middle + down, x - middle + right + slant * (y - middle)).reshape(-1, PIXELS)


def sampled(images: NDArray[np.float32], y: NDArray[np.float32], x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return each image (N, 28, 28) at places (y, x) of the same shape, bilinear; places beyond the edge are at it."""
    y, x = (np.clip(np.broadcast_to(place, images.shape), 0, SIDE - 1.001) for place in (y, x))
    above, left = y.astype(np.int32), x.astype(np.int32)
    low, far = y - above, x - left
    flat = images.reshape(len(images), PIXELS)
    corner = (above * SIDE + left).reshape(len(images), PIXELS)

    def at(offset: int) -> NDArray[np.float32]:
        return np.take_along_axis(flat, corner + offset, 1).reshape(images.shape)

    upper = (1 - far) * at(0) + far * at(1)
    return np.asarray((1 - low) * upper + low * ((1 - far) * at(SIDE) + far * at(SIDE + 1)), np.float32)


def messages(images: int) -> list[slice]:
    """Return the images of each message."""
    step = 1 if images == 1 else MESSAGE
    return [slice(begin, min(begin + step, images)) for begin in range(0, images, step)]
