# SPDX-License-Identifier: Apache-2.0
"""The known programs of spec/vectors/program.txt, read without ringsmith."""

import hashlib

import pytest

from .program import listing
from .vectors import Case, read_cases
from .wire import fingerprint, unseal

CASES = list(read_cases("program.txt"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["line 1"].split()[0])
def test_bytes_are_what_the_listing_says(case: Case) -> None:
    data = case.bytes("bytes")
    # The envelope carries the fingerprint of the parameters inside.
    start = data.index(b"RSMI", 4)
    length = 40 + int.from_bytes(data[start + 24 : start + 32], "little")
    payload = unseal(data, 64, fingerprint(data[start : start + length]))
    expected = [text for key, text in case.fields.items() if key.startswith("line ")]
    assert listing(payload) == expected
    assert hashlib.sha256(data).hexdigest() == case["hash"]
