# SPDX-License-Identifier: Apache-2.0
"""What a guarantee takes on trust is told by name and line, and compared with the producer where that is at hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.errors import InputError, RingsmithError
from ringsmith.runtime.box import why
from ringsmith.runtime.describe import describe
from ringsmith.runtime.trust import check_producer, taken_on_trust


def chain(bound: float, promise: float = 3.0, scheme: str = "ckks") -> tuple[rs.Program, rs.Program]:
    """A program with a promise, and one that takes its result."""
    argument = rs.Encrypted(4, bound=bound) if scheme == "ckks" else rs.Encrypted(4, low=-9, high=9)
    options: dict[str, Any] = {"tolerance": 1e-1} if scheme == "ckks" else {}

    @rs.kernel(scheme=scheme, x=argument, **options)
    def first(x: Any) -> Any:
        y = rs.within(x @ np.ones((4, 4), int), promise)
        return y * y

    @rs.kernel(scheme=scheme, x=rs.Encrypted(of=first), **options)
    def second(x: Any) -> Any:
        return x * 2

    made = rs.compile([first, second])
    return made[0], made[1]


def test_promises_and_results_of_others_are_told_by_name_and_line(tmp_path: Path) -> None:
    first, second = chain(2.0)
    (promise,) = taken_on_trust(first)
    assert promise.startswith("values at test_trust.py:")
    assert promise.endswith("stay within 3 (rs.within)")
    (handed,) = taken_on_trust(second)
    assert handed.startswith("x: output 0 of first is off by 2^-")
    assert handed.endswith("at most, and at most 9")
    assert any(promise in line for line in why(first))
    for program, line in ((first, promise), (second, handed)):
        program.save(tmp_path / "program.rsp")
        assert describe(tmp_path / "program.rsp")[0]["taken_on_trust"] == [line]


def doubled(error: float | None, **options: Any) -> rs.Program:
    """Sixteen times the argument, through a promise about errors."""

    @rs.kernel(x=rs.Encrypted(4, bound=1.0), tolerance=1e-3, **options)
    def own(x: Any) -> Any:
        return 16 * rs.within(x * x, 1.0, error=error)

    return own.compile()


@pytest.mark.parametrize("guarantee", ["certain", "probable"])
def test_a_promise_about_errors_takes_their_place_where_it_says_less(guarantee: str, tmp_path: Path) -> None:
    without = doubled(None, guarantee=guarantee)
    far = doubled(1e-2, guarantee=guarantee)
    assert far.noise_bits == without.noise_bits
    found = without.noise_bits
    near = doubled(2 ** (found - 14), guarantee=guarantee)
    assert near.noise_bits < found
    (told,) = taken_on_trust(near)
    assert told.startswith("errors at test_trust.py:")
    near.save(tmp_path / "near")
    # That the bound on values needs no trust was found where the program was compiled.
    assert describe(tmp_path / "near")[0]["taken_on_trust"][-1] == told
    assert near.native.promises()[0][2] == 2 ** (found - 14)


def test_promises_about_errors_are_refused_where_they_mean_nothing() -> None:
    @rs.kernel(scheme="bfv", x=rs.Encrypted(4, low=0, high=9))
    def exact(x: Any) -> Any:
        return rs.within(x, 9, error=1)

    @rs.kernel(mode="manual", scheme="ckks", x=rs.Encrypted(4, bound=1.0), output=rs.Output(4), tolerance=1e-3)
    def manual(x: Any) -> Any:
        return rs.within(x, 1.0, error=1e-3)

    for kernel, told in ((exact, "belongs to CKKS"), (manual, "for tensors of real numbers")):
        with pytest.raises(RingsmithError, match=told):
            kernel.compile()
    with pytest.raises(RingsmithError, match="would give the key away"):
        doubled(1e-3, publish=True)
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(RingsmithError, match="must be a positive finite number"):
            doubled(bad)
    with pytest.raises(RingsmithError, match="beside bound="):
        rs.within(np.ones(4), low=0, high=1, error=1e-3)
    assert np.array_equal(rs.within(np.ones(4), 1.0, error=1e-3), np.ones(4))


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_what_is_said_of_a_producer_is_compared_with_it(scheme: str, tmp_path: Path) -> None:
    first, second = chain(2.0, scheme=scheme)
    first.save(tmp_path / "first.rsp")
    second.save(tmp_path / "second.rsp")
    describe(tmp_path / "second.rsp", producers=[tmp_path / "first.rsp"])
    with pytest.raises(InputError, match="takes no result of second"):
        describe(tmp_path / "first.rsp", producers=[tmp_path / "second.rsp"])


class Claims:
    """A program of the engine that says something else of the results that it takes."""

    def __init__(self, native: Any, **claimed: Any) -> None:
        self._native, self._claimed = native, claimed

    def handed(self, name: str) -> list[Any]:
        ((output, level, scale, noise),) = self._native.handed(name)
        own = {"output": output, "level": level, "scale": scale, "noise": noise} | self._claimed
        return [tuple(own.values())]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)


@pytest.mark.parametrize(
    ("claimed", "told"),
    [
        ({"noise": (-200.0, 9.0, 9.0)}, r"noise of 2\^-200.00 claimed, that program guarantees 2\^-"),
        ({"noise": (100.0, 1.0, 1.0)}, "at most 1 claimed, that program guarantees 9"),
        ({"level": 7}, "level 7, scale .* claimed"),
        ({"scale": 3.0}, "scale 2.* claimed"),
        ({"output": 5}, "there are 1 outputs"),
    ],
)
def test_a_false_claim_is_refused(claimed: dict[str, Any], told: str) -> None:
    first, second = chain(2.0)
    claims: Any = Claims(second.native, **claimed)
    lying = replace(second, native=claims)
    with pytest.raises(InputError, match=told):
        check_producer(lying, first)


def test_a_promise_that_follows_from_the_ranges_is_not_on_trust(tmp_path: Path) -> None:
    far = rs.kernel(x=rs.Encrypted(12, low=1000, high=1001), tolerance=1e-3)(lambda x: np.var(x)).compile()
    assert far.native.promises()
    assert taken_on_trust(far) == []
    far.save(tmp_path / "far.rsp")
    assert len(describe(tmp_path / "far.rsp")[0]["taken_on_trust"]) == 1

    @rs.kernel(x=rs.Encrypted(4, bound=2.0), tolerance=1e-1)
    def both(x: Any) -> Any:
        return rs.within(x * x, 4.0) * rs.within(x + x, 3.0)

    (promise,) = taken_on_trust(both.compile())
    assert promise.endswith("stay within 3 (rs.within)")

    @rs.kernel(x=rs.Encrypted(4, bound=2.0), tolerance=1e-1)
    def same_line(x: Any) -> Any:
        return rs.within(x * x, 4.0) * rs.within(x * x * x, 4.0)

    assert all("within 4" in line for line in taken_on_trust(same_line.compile()))
    assert taken_on_trust(same_line.compile())
