# SPDX-License-Identifier: Apache-2.0
"""Records whose inner product with a query exceeds 0.8, found on encrypted records with an encrypted query.

A ciphertext holds one coordinate of up to 8192 records, and the client sends each coordinate of the query in every
slot: an inner product is a sum of products of ciphertexts, without a rotation, so payloads are fetched with one key,
that for relinearisation. A polynomial of degree 63 makes 1 of similar records and 0 of others; it multiplies payloads,
or is summed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from sizes import PAYLOAD, PAYLOAD_END, RECORDS

import ringsmith as rs

#: What a stage is called with: the place of a size.
SIZES = {str(number): name for number, name in enumerate(RECORDS)}
#: Records of one message: the slots of the smallest ring that is deep enough.
BLOCK = 8192
DEGREE = 63
#: Parts of [-1, 1], the value wanted there, and how much an error there weighs. By the workload's promise hardly any
#: inner product lies between 0.7 and 0.85; nearly all lie in the part that weighs most, where an error would add up
#: over all records.
PARTS = ((-1.0, -0.45, 0.0, 0.3), (-0.45, 0.45, 0.0, 30.0), (0.45, 0.7, 0.0, 0.3), (0.85, 1.0, 1.0, 1.0))
#: What a payload is scaled by: its numbers p are sent as (p + 1)/SCALE, so that a matching record has no zero.
SCALE = PAYLOAD_END + 1


def similar() -> NDArray[np.float64]:
    """Return the Chebyshev coefficients of the polynomial, the best by weighted least squares."""
    points = np.concatenate([np.linspace(low, high, 1500) for low, high, _, _ in PARTS])
    weights = np.repeat([weight for *_, weight in PARTS], 1500)
    values = np.repeat([value for _, _, value, _ in PARTS], 1500)
    system = chebyshev.chebvander(points, DEGREE) * weights[:, None]
    return np.asarray(np.linalg.lstsq(system, values * weights, rcond=None)[0])


def program(size: str, counted: bool) -> Any:
    """Return the program for one block of a size: the masked payloads, or the number of matches."""
    count, dimension = RECORDS[size]
    rows = min(count, BLOCK)
    coefficients = similar()
    match = rs.approximate(lambda x: chebyshev.chebval(x, coefficients), -1, 1, degree=DEGREE)
    vectors = rs.Encrypted(rows, dimension, bound=1.0, packing="columns")
    if counted:

        @rs.kernel(records=vectors, query=vectors, tolerance=0.03, guarantee="probable")
        def counting(records: Any, query: Any) -> Any:
            return rs.sum(match(rs.within(rs.sum(records * query, axis=1), 1.0)))

        return counting.compile()
    numbers = rs.Encrypted(rows, PAYLOAD, low=0.0, high=1.0, packing="columns")

    @rs.kernel(records=vectors, query=vectors, payloads=numbers, tolerance=2**-11, guarantee="probable")
    def fetching(records: Any, query: Any, payloads: Any) -> Any:
        return payloads * match(rs.within(rs.sum(records * query, axis=1), 1.0))[:, None]

    return fetching.compile()


def blocks(size: str) -> list[slice]:
    """Return the records of each block."""
    count = RECORDS[size][0]
    return [slice(begin, min(begin + BLOCK, count)) for begin in range(0, count, BLOCK)]


def filled(values: NDArray[Any], size: str) -> NDArray[np.float64]:
    """Return the rows of a block, and zeros for those that its last one lacks."""
    whole = np.zeros((min(RECORDS[size][0], BLOCK), values.shape[1]))
    whole[: len(values)] = values
    return whole
