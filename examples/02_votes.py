# SPDX-License-Identifier: Apache-2.0
"""2. Exact integers: counting secret votes.

Eight precincts encrypt how many votes each of five lists received. The counting office adds the encrypted rows,
weights the lists' totals and returns the result; under BFV every digit is exact. The second half makes the mistakes
that a kernel's author makes, and prints what ringsmith says.
"""

from __future__ import annotations

import numpy as np

import ringsmith as rs

PRECINCTS, LISTS = 8, 5


@rs.kernel(
    scheme="bfv",
    votes=rs.Encrypted(PRECINCTS, LISTS, low=0, high=5000),
    weights=rs.Plain(LISTS, low=0, high=3),
)
def tally(votes, weights):
    """Weighted votes of each list over all precincts."""
    return rs.sum(votes, axis=0) * weights


@rs.kernel(scheme="bfv", votes=rs.Encrypted(PRECINCTS, LISTS, low=0, high=5000))
def wrong(votes):
    """A line that cannot work: eight rows against five columns."""
    return votes @ votes


def main() -> None:
    """Count, compare, then fail on purpose."""
    rng = np.random.default_rng(4)
    votes = rng.integers(0, 5000, (PRECINCTS, LISTS))
    weights = np.array([1, 1, 2, 1, 3])

    program = tally.compile()
    print(program.box())
    office, precincts = program.server, program.client()
    sent = precincts.encrypt(votes=votes)
    answer = office(precincts.evaluation_keys).evaluate(sent, weights=weights)
    counted = precincts.decrypt(answer)
    print("encrypted  ", counted)
    print("in the clear", votes.sum(axis=0) * weights)
    assert np.array_equal(counted, votes.sum(axis=0) * weights)

    for attempt in (lambda: wrong(votes), lambda: tally(votes[:, :4], weights), lambda: tally(votes + 9000, weights)):
        try:
            attempt()
        except rs.RingsmithError as error:
            print(f"\n{type(error).__name__}: {error}")
        else:
            raise AssertionError("accepted a wrong line")


if __name__ == "__main__":
    main()
