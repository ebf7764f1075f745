# SPDX-License-Identifier: Apache-2.0
"""Reader of spec/vectors/*.txt."""

from collections.abc import Iterator
from pathlib import Path

VECTORS = Path(__file__).parents[2] / "spec" / "vectors"


class Case:
    """One case: named lines of text."""

    def __init__(self, fields: dict[str, str]) -> None:
        """Keep the fields."""
        self.fields = fields

    def __getitem__(self, key: str) -> str:
        """The text of a field."""
        return self.fields[key]

    def number(self, key: str) -> int:
        """A field of one number."""
        return int(self.fields[key])

    def numbers(self, key: str) -> list[int]:
        """A field of numbers."""
        return [int(x) for x in self.fields[key].split()]

    def bytes(self, key: str) -> bytes:
        """A field of bytes."""
        return bytes.fromhex(self.fields[key])

    def limbs(self, key: str, n: int) -> list[list[int]]:
        """A polynomial's limbs."""
        flat = self.numbers(key)
        return [flat[i : i + n] for i in range(0, len(flat), n)]


def read_cases(name: str) -> Iterator[Case]:
    """The cases of a file."""
    for block in (VECTORS / name).read_text().split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if lines:
            yield Case(dict(line.split(": ", 1) if ": " in line else (line.rstrip(":"), "") for line in lines))
