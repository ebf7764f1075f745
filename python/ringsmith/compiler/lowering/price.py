# SPDX-License-Identifier: Apache-2.0
"""Price of a slot program, in rotations: what layouts of one kernel at one ring degree are compared by."""

from __future__ import annotations

from ringsmith.compiler.lowering import cost
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import CIPHER_PRODUCTS, SlotOp, SlotProgram

#: Shares of a rotation's time (docs/performance.md): a relinearisation, a product of two ciphertexts, a rescale, a sum.
RELINEARIZE, PRODUCT, RESCALE, SUM = 1.0, 0.3, 0.15, 0.02
#: A product with an encoded plaintext, and encoding one, which serves all its products.
PLAIN_PRODUCT, ENCODE = 0.025, 0.1
#: A ciphertext to encrypt, send and receive, and one to send back and decrypt.
INPUT, OUTPUT = 1.5, 1.0
# Key switches, products and transforms take longer by about this share for each level more that a program needs.
_LEVEL = 0.35

_LINEAR = (Kind.ADD, Kind.SUB, Kind.NEGATE, Kind.ADD_PLAIN, Kind.SUB_PLAIN)


def price(program: SlotProgram, key: float = cost.KEY) -> float:
    """Return the price: time of the operations, of the client's ciphertexts, and keys to make, send and hold."""
    keys = {steps for op in program.ops for steps in _rotations(op)}
    work = sum(_operation(op) for op in program.ops) + RELINEARIZE * _relinearizations(program)
    ends = INPUT * sum(op.kind is Kind.INPUT for op in program.ops) + OUTPUT * len(program.outputs)
    work += ENCODE * len(program.plains)
    return (work + ends) * (1 + _LEVEL * _depth(program)) + key * len(keys)


def key_switches(program: SlotProgram) -> int:
    """Return how many key switches a program takes."""
    return sum(len(_rotations(op)) for op in program.ops) + _relinearizations(program)


def _rotations(op: SlotOp) -> list[int]:
    """Return the rotations of an operation that take a key; a row swap is 0."""
    if op.transform is not None:
        return op.transform.rotations
    return {Kind.ROTATE: [op.steps], Kind.SWAP_ROWS: [0]}.get(op.kind, [])


def _operation(op: SlotOp) -> float:
    if op.transform is not None:
        giants = sum(giant.rotation != 0 for giant in op.transform.giants)
        babies = len(op.transform.rotations) - giants
        plains = len(op.transform.plains)
        rotations = cost.transform(babies, giants, 0) - cost.KEY * (babies + giants)
        return rotations + plains * PLAIN_PRODUCT + (RESCALE if plains else 0.0)
    if op.kind in CIPHER_PRODUCTS:
        return PRODUCT
    if op.kind in (Kind.ROTATE, Kind.SWAP_ROWS):
        return 1.0
    return {Kind.MULTIPLY_PLAIN: PLAIN_PRODUCT + RESCALE, Kind.ADD: SUM, Kind.SUB: SUM}.get(op.kind, 0.0)


def _relinearizations(program: SlotProgram) -> int:
    """Return how many relinearisations and rescales of products are needed: one for each sum of products."""
    needed: set[int] = set(program.outputs)
    longer = [op.kind in CIPHER_PRODUCTS for op in program.ops]
    for number, op in enumerate(program.ops):
        if op.kind in _LINEAR:
            longer[number] = any(longer[arg] for arg in op.args)
        else:
            needed.update(op.args)
    return sum(longer[number] for number in needed)


def _depth(program: SlotProgram) -> int:
    """Return the products along the longest way through the program."""
    depth: list[int] = []
    for op in program.ops:
        product = op.kind in (*CIPHER_PRODUCTS, Kind.MULTIPLY_PLAIN) or (op.transform is not None and op.plains)
        depth.append(max((depth[arg] for arg in op.args), default=0) + bool(product))
    return max(depth, default=0)
