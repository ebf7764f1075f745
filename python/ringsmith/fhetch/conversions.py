# SPDX-License-Identifier: Apache-2.0
"""Base conversions in a trace: those of ringsmith's records found again, words of other moduli as conversions.

A record writes a conversion as y_k = x_k f_k, their quotient v and sums Σ y_k m_k + v c (docs/record.md). Other
recorders have no quotient: they multiply words of one modulus by a constant modulo another, with words from 0 to q - 1
where a device converts centred ones. With h = (q - 1) / 2 the centred representative of x - h is x - h itself, so
x mod p = convert(x - h) + h.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from ringsmith.fhetch.nodes import Node, Nodes


def combined(nodes: Nodes, total: int) -> int:
    """Return the conversion that a sum with the last term of one makes; another sum as it is."""
    node = nodes[total]
    if node.kind != "add":
        return total
    of = next((one for one in node.operands if _quotient(nodes, one) is not None), None)
    if of is None:
        return total
    rows = nodes[nodes[of].operands[0]].operands
    terms = _terms(nodes, total, len(rows) + 1)
    if terms is None or terms.pop(nodes[of].operands[0], None) is None or set(terms) != set(rows):
        return total
    last = nodes[of].number
    return _converted(nodes, rows, [terms[row] for row in rows], (node.modulus, last)) or total


def _quotient(nodes: Nodes, number: int) -> int | None:
    """Return the quotient that a node multiplies by a constant."""
    node = nodes[number]
    is_term = node.kind == "foreign" and nodes[node.operands[0]].kind == "quotient"
    return node.operands[0] if is_term else None


def _terms(nodes: Nodes, total: int, most: int) -> dict[int, int] | None:
    """Return what a sum multiplies by which constants; None for another number of terms."""
    found: dict[int, int] = {}
    waiting, steps = [total], 0
    while waiting and steps <= 2 * most:
        node, number, steps = nodes[waiting[-1]], waiting.pop(), steps + 1
        if node.kind == "add":
            waiting += node.operands
        elif node.kind in ("foreign", "scale"):
            found[node.operands[0]] = node.number
        else:
            found[number] = 1
    return found if len(found) == most and not waiting else None


def _converted(nodes: Nodes, rows: tuple[int, ...], factors: list[int], last: tuple[int, int]) -> int | None:
    """Return the node of a conversion with these constants, or None if they are those of no conversion."""
    modulus, of_quotient = last
    p, values = nodes.moduli[modulus], [nodes.q(row) for row in rows]
    if len(set(values)) < len(values):
        return None
    product = prod(values)
    inverses = [pow(product // q, -1, q) for q in values]
    if of_quotient == -product % p and factors == [product // q % p for q in values]:
        operands = _unscaled(nodes, rows, inverses)
        return None if operands is None else nodes.add(Node("convert", operands, modulus))
    if of_quotient != 1 or p in values or factors != [-pow(q, -1, p) % p for q in values]:
        return None
    q, first = values[0], nodes[rows[0]]
    for factor in (first.number if first.kind == "scale" else 1, 1):
        numerator = factor * (product // q) % q
        operands = _unscaled(nodes, rows, [numerator * one % q for one, q in zip(inverses, values, strict=True)])
        if operands is not None and numerator:
            return nodes.add(Node("round", operands, modulus, numerator))
    return None


def _unscaled(nodes: Nodes, rows: tuple[int, ...], factors: list[int]) -> tuple[int, ...] | None:
    """Return what the rows are products of with these factors."""
    found = []
    for row, factor in zip(rows, factors, strict=True):
        node = nodes[row]
        if factor == 1:
            found.append(row)
        elif node.kind == "scale" and node.number == factor:
            found.append(node.operands[0])
        else:
            return None
    return tuple(found)


def converted(nodes: Nodes, outputs: Sequence[int]) -> tuple[Nodes, list[int]]:
    """Return nodes anew, words of other moduli as conversions; and the outputs."""
    made = Nodes(nodes.moduli)
    numbers: dict[int, int] = {}
    order = list(nodes.needed(outputs))
    long = {nodes[one].operands[0] for one in order if _is_long(nodes, one)}
    for number in order:
        node = nodes[number]
        operands = tuple(numbers[one] for one in node.operands)
        if node.kind == "foreign":
            numbers[number] = _foreign(made, operands[0], node, is_long=node.operands[0] in long)
        elif node.kind in ("add", "sub"):
            # Constants around a conversion become one, or none.
            numbers[number] = made.sum(*operands) if node.kind == "add" else made.difference(*operands)
        else:
            numbers[number] = made.add(replace(node, operands=operands))
    return made, [numbers[one] for one in outputs]


def _is_long(nodes: Nodes, number: int) -> bool:
    """Whether words are converted to a modulus that is half theirs or less: a product has to reduce them."""
    node = nodes[number]
    return node.kind == "foreign" and nodes.q(node.operands[0]) >= 2 * nodes.moduli[node.modulus]


def _foreign(made: Nodes, source: int, node: Node, *, is_long: bool) -> int:
    """Return words from 0 to q - 1 times a constant, modulo another modulus."""
    if made[source].kind == "quotient":
        return made.add(replace(node, operands=(source,)))
    half, modulus = made.q(source) // 2, node.modulus
    shifted = made.sum(source, made.constant(-half, made[source].modulus))
    moved = made.add(Node("convert", (shifted,), modulus))
    if node.number != 1 or is_long:
        moved = made.add(Node("scale", (moved,), modulus, node.number))
    return made.sum(moved, made.constant(half * node.number, modulus))
