# SPDX-License-Identifier: Apache-2.0
"""Options of a model's conversion to a kernel."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ringsmith.errors import InputError
from ringsmith.frontend.composite_sign import checked
from ringsmith.ir.numbers import reals
from ringsmith.runtime.kernel import kernel
from ringsmith.scalars import is_number, is_whole

#: Options of `rs.kernel` that a model's conversion decides itself.
_OWN = {"misplaced", "arguments", "scheme", "mode", "variant", "output", "sample", "reference", "plain_modulus"}
#: Largest part of a score's extent by which the polynomials may move it.
DEVIATION = 0.02


@dataclass(frozen=True)
class Options:
    """Options of a model's conversion to a kernel.

    `degree` of the approximations, or the `error` that they reach at most; without either, the degree is raised until
    no score of the calibration data moves by more than `deviation`, a part of that score's extent in the data. A
    model that moves further is refused (None: taken). `sign`: Relu and the largest of windows (MaxPool) by a sign that
    is composed of polynomials, of these odd degrees such as (15, 15, 27), or True for the least of some that `error` or
    `deviation` asks for; None: Relu as one polynomial, MaxPool refused. `inner_error`: what errors around activations
    and squares are promised to stay within, a part of the extent of their values; on trust, as their ranges are, after
    a simulation on the calibration data kept well within it (None: bounds are proven, through every layer). `margin`:
    by what part of their extent the ranges found in the calibration data are widened on each side. `domain` (low,
    high), each a number or one for each
    feature: the range of the features in place of the calibrated one. `clip`: the client moves a feature outside of
    its range to the range's end, in place of refusing it. `rows`: samples in one encrypted call (1: a vector, else a
    ciphertext for each feature). `tolerance`: the error of a score beside the polynomials, 1e-3 or 1e-5 of the largest
    score's extent in the data, if that is more. `most_entries`: entries of the matrices of all layers, which
    compilation takes time and memory for. `memory_limit`: bytes that an evaluation may take with its keys
    (`Model.cost`), None for any.
    `kernel`: options of `rs.kernel`, given as they are: `keys_limit=`, `guarantee=`, ...
    """

    degree: int | None = None
    error: float | None = None
    deviation: float | None = DEVIATION
    inner_error: float | None = None
    sign: Any = None
    margin: float = 0.1
    domain: Any = None
    clip: bool = False
    rows: int = 1
    tolerance: float | None = None
    most_entries: int = 1 << 23
    memory_limit: int | None = None
    kernel: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check what the kernel does not check itself."""
        if not (is_number(self.margin) and 0 <= self.margin <= 10):
            raise InputError(f"margin={self.margin!r}: a number from 0 to 10, a part of the range")
        if not (is_whole(self.rows) and self.rows >= 1):
            raise InputError(f"rows={self.rows!r}: how many samples one call takes, at least 1")
        if not (is_whole(self.most_entries) and self.most_entries >= 1):
            raise InputError(f"most_entries={self.most_entries!r}: entries of all matrices, at least 1")
        if self.memory_limit is not None and not (is_whole(self.memory_limit) and self.memory_limit >= 1):
            raise InputError(f"memory_limit={self.memory_limit!r}: bytes of an evaluation, at least 1, or None")
        if self.deviation is not None and not (is_number(self.deviation) and self.deviation > 0):
            raise InputError(f"deviation={self.deviation!r}: a part of a score's extent above 0, such as 0.02, or None")
        if self.inner_error is not None and not (is_number(self.inner_error) and 0 < self.inner_error < 1):
            raise InputError(
                f"inner_error={self.inner_error!r}: a part of the extent of inner values, such as 1e-5, or None"
            )
        if self.inner_error is not None and self.kernel.get("publish"):
            raise InputError(
                "inner_error= is taken on trust, and publish=True takes proven bounds: a false promise would give the "
                "key away; leave out one of them"
            )
        if not isinstance(self.clip, bool | np.bool_):
            raise InputError(f"clip={self.clip!r}: True moves features to the ends of their range, False refuses them")
        if self.sign is not None and self.sign is not True:
            checked(self.sign)
        if self.degree is not None and self.error is not None:
            raise InputError("give degree or error, not both")


def options_of(given: Mapping[str, Any]) -> Options:
    """Return options by name, those of `rs.kernel` among them."""
    own = [name for name in Options.__dataclass_fields__ if name != "kernel"]
    passed = [name for name in inspect.signature(kernel).parameters if name not in _OWN and name not in own]
    unknown = sorted(set(given) - {*own, *passed})
    if unknown:
        raise InputError(f"unknown option {unknown[0]}; there are {', '.join(own)}; of rs.kernel {', '.join(passed)}")
    if "precision" in given and "tolerance" in given:
        raise InputError("give tolerance or precision, not both")
    return Options(
        **{name: value for name, value in given.items() if name in own},
        kernel={name: value for name, value in given.items() if name in passed},
    )


def domain_of(options: Options, size: int) -> tuple[Any, Any] | None:
    """Return the ends of the stated domain for each feature, None where none is stated."""
    if options.domain is None:
        return None
    if not (isinstance(options.domain, tuple | list) and len(options.domain) == 2):
        raise InputError(f"domain={options.domain!r}: two ends, (low, high), each a number or one for each feature")
    ends = []
    for end, name in zip(options.domain, ("low", "high"), strict=True):
        found = reals(end, f"domain's {name} end")
        if found.ndim > 0 and found.size != size:
            raise InputError(f"domain: {found.size} {name} ends; one number, or one for each of {size} features")
        ends.append(np.broadcast_to(found.reshape(-1), (size,)).astype(np.float64))
    wrong = np.flatnonzero(~(ends[0] < ends[1]))
    if len(wrong):
        raise InputError(
            f"domain: feature {wrong[0]} from {ends[0][wrong[0]]:g} to {ends[1][wrong[0]]:g}; low < high is needed"
        )
    return ends[0], ends[1]
