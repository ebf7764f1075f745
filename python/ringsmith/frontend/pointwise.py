# SPDX-License-Identifier: Apache-2.0
"""A user's function of one variable, called on many points at once, and the check that it is one.

A function of arrays may look at all of its points (`t - t.mean()`, a softmax, a sort). As a polynomial it would lose
that without a word, so the same points are given again in another order and number, and have to keep their values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InputError, RingsmithError
from ringsmith.files import reason

Array = NDArray[np.float64]
Function = Callable[[Any], Any]

# Values of one point may differ by what vectorised and scalar loops of a library round differently.
_ROUNDING = 1e-9
# Shares of the points in further calls, at least three, and the place of each call's first point among them in
# ascending order: some functions take their type from the first value. None has the ends, where extremes mostly are.
_FURTHER = ((0.6, 0.0), (0.004, 1.0), (0.0, 0.5))


class Pointwise:
    """A function from points to values, a value for each point; `name` is what errors call it.

    A function of numbers, such as math.sin, is called once for each point.
    """

    def __init__(self, function: Function, name: str) -> None:
        """Wrap a function of one array, or of one number."""
        self.function, self.name = function, name
        self._single: bool | None = None
        if isinstance(function, np.vectorize) and not (function.otypes or function.signature or function.excluded):
            # Without a stated type the first value decides, and integers cut off what follows.
            self.function, self._single = function.pyfunc, True

    def __call__(self, points: Array) -> Array:
        """Return a finite value for each point, under the points' shape.

        Raises:
            InputError: the function fails, gives another shape or no real numbers, or is not finite.
        """
        flat = np.asarray(points, dtype=np.float64).reshape(-1)
        with np.errstate(all="ignore"):
            values = self._checked(self._called(flat), flat)
        return values.reshape(np.shape(points))

    def hold(self, points: Array, values: Array) -> None:
        """Refuse a function whose values depend on the order or number of the points it is called with."""
        room = _ROUNDING * float(np.abs(values).max())
        order = np.random.default_rng(len(points)).permutation(np.arange(1, len(points) - 1))
        for share, first in _FURTHER:
            chosen = order[: max(3, int(share * len(order)))]
            begin = np.argsort(points[chosen])[int(first * (len(chosen) - 1))]
            chosen = np.roll(chosen, -begin)
            again = self(points[chosen])
            worst = int(np.abs(again - values[chosen]).argmax())
            before, now = values[chosen][worst], again[worst]
            if abs(now - before) > room:
                raise InputError(
                    f"approximate: {self.name} is not a function of one number: at {points[chosen][worst]:g} it gives "
                    f"{before:.9g} among {len(points)} points and {now:.9g} among {len(chosen)} of them in another "
                    "order; compute sums, means and products of elements in the kernel, and give the "
                    "client what needs all elements at once: rs.refresh(x, function, low=A, high=B)"
                )

    def _called(self, points: Array) -> Any:
        """Call the function on a copy, which it may write into, or on every point by itself."""
        if self._single is None:
            self._single = not self._takes_arrays(points)
        if self._single:
            return [self._tried(point, f" at {point:g}") for point in points.tolist()]
        return self._tried(points.copy(), "")

    def _takes_arrays(self, points: Array) -> bool:
        """Return whether the function takes an array: those of math, and branches on the value, take one number."""
        inputs = self.function.nin if isinstance(self.function, np.ufunc) else 1
        if inputs != 1:
            raise InputError(
                f"approximate: {self.name} takes {inputs} arrays, a function of one is needed: "
                f"lambda t: np.{self.name}(t, 0.5)"
            )
        try:
            self.function(points.copy())
        except (TypeError, ValueError):
            return not self._takes_numbers(float(points[len(points) // 2]))
        except Exception:
            return True
        return True

    def _takes_numbers(self, point: float) -> bool:
        """Return whether the function takes one number; a failure that concerns its value says that it does."""
        try:
            return np.ndim(self.function(point)) == 0
        except (TypeError, AttributeError, IndexError):
            return False
        except Exception:
            return True

    def _tried(self, argument: Any, place: str) -> Any:
        """Call the function; what it raises becomes an `InputError`."""
        try:
            return self.function(argument)
        except RingsmithError:
            raise
        except Exception as error:
            raise InputError(
                f"approximate: {self.name} fails{place}: {reason(error)}; a function of one array or one number is "
                "needed that is defined on the whole interval"
            ) from None

    def _checked(self, values: Any, points: Array) -> Array:
        try:
            array = np.asarray(values)
        except ValueError:
            array = np.empty(0, dtype=object)
        if array.shape != points.shape:
            raise InputError(
                f"approximate: {self.name} gives shape {array.shape} for points of shape {points.shape}; "
                "it has to give a value for each point, which depends on that point alone"
            )
        if array.dtype.kind not in "biuf":
            raise InputError(f"approximate: {self.name} gives {array.dtype} values; real numbers are needed")
        bad = ~np.isfinite(array)
        if bad.any():
            raise InputError(
                f"approximate: {self.name} is {array[bad][0]} at {points[bad][0]:g}; "
                "take an interval on which it is finite"
            )
        return array.astype(np.float64)
