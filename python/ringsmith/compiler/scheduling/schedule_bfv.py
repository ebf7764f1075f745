# SPDX-License-Identifier: Apache-2.0
"""BFV: where to relinearise. Products keep three polynomials through sums; a product's factor, what moves slots
and a result have two (lazy relinearisation)."""

from __future__ import annotations

from ringsmith.ir.circuit import Circuit, OutputPacking, Step
from ringsmith.ir.kinds import Kind
from ringsmith.ir.slot_program import CIPHER_PRODUCTS, SlotOp, SlotProgram


def schedule(program: SlotProgram, level: int, *, relinearize_results: bool = True) -> Circuit:
    """Return the circuit; every ciphertext stays at `level`, the top of the chain.

    Results may keep three polynomials: half as many bytes more to send back, but no key switch after the last product.
    """
    return _Scheduler(program, level, relinearize_results).run()


class _Scheduler:
    """One pass over a slot program."""

    def __init__(self, program: SlotProgram, level: int, relinearize_results: bool) -> None:
        self.program = program
        self.relinearize_results = relinearize_results
        self.level = level
        self.steps: list[Step] = []
        self.number: dict[int, int] = {}
        self.reduced: dict[int, int] = {}

    def run(self) -> Circuit:
        for number, op in enumerate(self.program.ops):
            self.number[number] = self._step(op)
        finish = self._reduced if self.relinearize_results else self.number.__getitem__
        outputs = tuple(finish(number) for number in self.program.outputs)
        program = self.program
        output = OutputPacking(program.output_ct.shape, program.output_ct, program.output_slot)
        return Circuit(
            "bfv", program.slots, program.inputs, program.bounds, tuple(self.steps), program.plains, outputs, output
        )

    def _step(self, op: SlotOp) -> int:
        needs_two = op.kind in (*CIPHER_PRODUCTS, Kind.ROTATE, Kind.SWAP_ROWS, Kind.LINEAR_TRANSFORM)
        args = tuple(self._reduced(arg) if needs_two else self.number[arg] for arg in op.args)
        size = 3 if op.kind in CIPHER_PRODUCTS else max((self.steps[arg].size for arg in args), default=2)
        self.steps.append(
            Step(
                op.kind,
                args,
                op.where,
                self.level,
                1.0,
                size,
                op.plain,
                1.0,
                op.steps,
                op.bound,
                op.everywhere,
                op.error,
                op.transform,
            )
        )
        return len(self.steps) - 1

    def _reduced(self, number: int) -> int:
        """Return the two-polynomial form of an operation's result."""
        step = self.number[number]
        if self.steps[step].size == 2:
            return step
        if step not in self.reduced:
            where = self.steps[step].where
            self.steps.append(Step(Kind.RELINEARIZE, (step,), where, self.level, 1.0, 2))
            self.reduced[step] = len(self.steps) - 1
        return self.reduced[step]
