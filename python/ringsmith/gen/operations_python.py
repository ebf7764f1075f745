# SPDX-License-Identifier: Apache-2.0
"""Homomorphic operations in Python: kinds and their facts, the independent reader's table."""

from __future__ import annotations

from typing import Any

from ringsmith.gen.comments import WIDTH, comment
from ringsmith.gen.operations import Operation, Operations

HEADER = '''\
# SPDX-License-Identifier: Apache-2.0
# Generated from spec/operations.yaml by `python -m ringsmith.gen`; do not edit.
"""Kinds of homomorphic operations, and what is known of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Kind(StrEnum):
    """Kind of a homomorphic operation; the names are those of the reports."""

'''
FACTS = '''

@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a kind; the words are those of `spec/operations.yaml`. 0 polynomials taken: any number."""

    code: int
    schemes: tuple[str, ...]
    operands: int
    takes: int
    attributes: tuple[str, ...]
    parts: str | int
    level: str
    scale: str
    key: str
    runs: bool


#: The facts of each kind.
FACTS: Mapping[Kind, Facts] = MappingProxyType(
    {
'''
ORACLE = '''\
# SPDX-License-Identifier: Apache-2.0
# Generated from spec/operations.yaml by `python -m ringsmith.gen`; do not edit.
"""Operations on ciphertexts by code: name, number of operands, attributes."""

CIPHER_OPERATIONS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
'''


def kinds(spec: Operations) -> str:
    """Return the text of `python/ringsmith/ir/kinds.py`."""
    lines = []
    for own in spec.operations:
        lines += [*comment(own.meaning, "#:", 4), f"    {own.name.upper()} = {_text(own.name)}"]
    rows = [_row(own) for own in spec.operations]
    return HEADER + "\n".join(lines) + "\n" + FACTS + "".join(rows) + "    }\n)\n"


def oracle(spec: Operations) -> str:
    """Return the text of `tests/oracle/operations.py`."""
    rows = [f"    ({_text(own.name)}, {len(own.operands)}, {_words(own.attributes)}),\n" for own in spec.operations]
    return ORACLE + "".join(rows) + ")\n"


def _row(own: Operation) -> str:
    """Return the row of a kind, in three lines where one is too long."""
    kind, facts = f"        Kind.{own.name.upper()}: Facts(", _facts(own)
    one = f"{kind}{facts}),\n"
    return one if len(one) <= WIDTH + 1 else f"{kind}\n            {facts}\n        ),\n"


def _facts(own: Operation) -> str:
    takes = 0 if own.takes == "any" else own.takes
    words: list[Any] = [own.code, _words(own.schemes), len(own.operands), takes, _words(own.attributes)]
    words += [_text(word) if isinstance(word, str) else word for word in (own.parts, own.level, own.scale, own.key)]
    return ", ".join(map(str, [*words, own.runs]))


def _text(word: str) -> str:
    return f'"{word}"'


def _words(words: tuple[str, ...]) -> str:
    """Return a tuple of words as Python writes it."""
    return f"({', '.join(map(_text, words))}{',' if len(words) == 1 else ''})"
