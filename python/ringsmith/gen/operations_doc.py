# SPDX-License-Identifier: Apache-2.0
"""The table of homomorphic operations in the page on the byte format."""

from __future__ import annotations

from ringsmith.gen.operations import Operation, Operations

#: What the rules for results are called in the table.
_LEVELS = {"top": "top", "chosen": "chosen", "same": "kept", "lower": "chosen, lower", "next": "−1",
    "refreshed": "refreshed",
}  # fmt: skip
_SCALES = {
    "set": "the set's", "chosen": "chosen", "same": "kept", "product": "product", "square": "squared",
    "divided": "divided",
}  # fmt: skip


def render(spec: Operations) -> str:
    """Return the table of `docs/format.md`."""
    rows = [_row(spec, own) for own in spec.operations]
    head = ("code", "name", "operands", "attributes", "polynomials", "level", "scale", "key", "meaning")
    return "\n".join([_line(*head), "|" + "---|" * len(head), *rows]) + "\n"


def _row(spec: Operations, own: Operation) -> str:
    scheme = f" ({own.schemes[0].upper()})" if len(own.schemes) == 1 else ""
    takes = "" if own.takes == "any" else f" of {own.takes}"
    operands = ", ".join(own.operands) + takes
    parts = "kept" if own.parts == "same" else str(own.parts)
    key = "" if own.key == "none" else own.key.replace("_", " ")
    attributes = "; ".join(spec.attribute(name).bytes for name in own.attributes)
    head = (str(own.code), f"`{own.name}`{scheme}", operands, attributes, parts)
    return _line(*head, _LEVELS[own.level], _SCALES[own.scale], key, own.meaning)


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
