# SPDX-License-Identifier: Apache-2.0
"""A trace as a program of polynomial operations, for a device: `ringsmith run TRACE.fhetch --on model:PRESET`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ringsmith import _native
from ringsmith.errors import InputError, ParameterError
from ringsmith.fhetch import arithmetic
from ringsmith.fhetch.arithmetic import Words
from ringsmith.fhetch.bundles import Bundle, Bundles, Forms, Place
from ringsmith.fhetch.conversions import converted
from ringsmith.fhetch.flow import Flow
from ringsmith.fhetch.fusion import fused
from ringsmith.fhetch.nodes import GIVEN
from ringsmith.fhetch.trace import Trace

#: Instructions of a trace on a device at most: some 1.4 KB of memory each.
MOST_INSTRUCTIONS = 1 << 20


class TraceProgram:
    """The operations of a trace, its inputs in place."""

    def __init__(self, trace: Trace, n: int, inputs: Mapping[int, Words], outputs: Sequence[int]) -> None:
        """Read the trace.

        Raises:
            InputError: what only the CPU computes, with file and line.
        """
        if len(trace.instructions) > MOST_INSTRUCTIONS:
            raise InputError(
                f"{trace.path}: {len(trace.instructions)} instructions, a device takes {MOST_INSTRUCTIONS}; "
                "--on cpu computes it"
            )
        self._trace, self._n, self._inputs, self._outputs = trace, n, inputs, outputs
        flow = Flow(trace, n, inputs)
        found = flow.read(outputs)
        nodes, computed = converted(flow.nodes, [one for one in found if one is not None])
        self._nodes, computed = fused(nodes, computed)
        made = iter(computed)
        self._found = [None if one is None else next(made) for one in found]
        self._roots = flow.roots
        self._check(computed)
        self._forms = Forms(self._nodes, computed)
        self._bundles = Bundles(self._nodes, computed, self._forms)

    def _check(self, computed: Sequence[int]) -> None:
        if any(self._nodes[one].kind == "quotient" for one in self._nodes.needed(computed)):
            raise InputError(
                f"{self._trace.path}: an rs_quotient that belongs to no base conversion, which no device computes; "
                "--on cpu does"
            )

    @property
    def mixes_forms(self) -> bool:
        """Whether words are taken as coefficients here and as values there, or coefficients are multiplied."""
        return self._forms.mixed is not None

    def moduli(self) -> list[int]:
        """Return the moduli that are computed with, in the order of their first operation."""
        return [self._trace.moduli[one] for one in self._order()]

    def kinds(self) -> list[str]:
        """Return the operations, each of several moduli."""
        return [bundle.kind for bundle in self._bundles.all]

    def _order(self) -> list[int]:
        return list(dict.fromkeys(modulus for bundle in self._bundles.all for modulus in bundle.rows))

    def run(self, device: _native.Device | None = None, *, alone: bool = False) -> NDArray[np.uint64]:
        """Return the residues of the outputs, a row each.

        Raises:
            InputError: a modulus without transforms of degree n.
            DeviceError: an operation that the device cannot take or did not finish.
        """
        wanted = self._computed()
        rows = _Writer(self).run(wanted, device, alone=alone)
        at = {node: row for row, node in enumerate(wanted)}
        return np.stack([self._output(address, rows, at) for address in range(len(self._outputs))])

    def _computed(self) -> list[int]:
        """Return the outputs that are no inputs and no constants."""
        return list(dict.fromkeys(one for one in self._found if one is not None and self._nodes[one].kind not in GIVEN))

    def _output(self, place: int, rows: NDArray[np.uint64], at: Mapping[int, int]) -> NDArray[np.uint64]:
        node = self._found[place]
        if node is None:
            return self._inputs[self._outputs[place]]
        return self.words(node) if self._nodes[node].kind in GIVEN else rows[at[node]]

    def words(self, number: int) -> NDArray[np.uint64]:
        """Return the words of what is given."""
        node = self._nodes[number]
        if node.kind == "monomial":
            q = self._nodes.moduli[node.modulus]
            coefficients = np.zeros(self._n, dtype=np.uint64)
            coefficients[node.number % self._n] = 1 if node.number < self._n else q - 1
            return arithmetic.transform(coefficients, self._roots[node.modulus], q)
        if node.kind == "constant":
            return np.full(self._n, node.number, dtype=np.uint64)
        words: NDArray[np.uint64] = self._inputs[node.number] % np.uint64(self._nodes.moduli[node.modulus])
        return words


class _Writer:
    """Writes bundles as a native program."""

    def __init__(self, program: TraceProgram) -> None:
        self._of, self._nodes = program, program._nodes
        order = program._order()
        self._number = {modulus: at for at, modulus in enumerate(order)}
        family = [(program._trace.moduli[one], program._roots.get(one, 0)) for one in order]
        try:
            self._native = _native.Polynomials(program._n, [family] if family else [])
        except ParameterError as error:
            raise InputError(f"{program._trace.path}: {error}; --on cpu computes it") from None
        self._limbs: dict[Place, int] = {}
        self._sources: list[NDArray[np.uint64]] = []
        for bundle in program._bundles.all:
            self._write(bundle)

    def run(self, wanted: Sequence[int], device: _native.Device | None, *, alone: bool) -> NDArray[np.uint64]:
        if not wanted:
            return np.zeros((0, self._of._n), dtype=np.uint64)
        self._native.output([self._limbs[one] for one in wanted])
        return self._native.run(self._sources, device, alone=alone)

    def _write(self, bundle: Bundle) -> None:
        rows = sorted(bundle.rows.items(), key=lambda row: self._number[row[0]])
        moduli, places = [self._number[modulus] for modulus, _ in rows], [place for _, place in rows]
        if bundle.kind == "given":
            limbs = self._counted(self._native.source(bundle.form, moduli), places)
            self._sources.append(
                np.stack([self._of.words(place if isinstance(place, int) else place[0]) for place in places])
            )
        elif bundle.kind in ("convert", "round"):
            limbs = self._converted(bundle, moduli, places)
        else:
            limbs = self._by_limb(bundle, places)
        self._limbs.update(zip(places, limbs, strict=True))

    def _counted(self, first: int, places: Sequence[Place]) -> list[int]:
        return list(range(first, first + len(places)))

    def _by_limb(self, bundle: Bundle, places: Sequence[Place]) -> list[int]:
        numbers = [place for place in places if isinstance(place, int)]
        columns = zip(*(self._of._bundles.places(number) for number in numbers), strict=True)
        operands = [[self._limbs[one] for one in column] for column in columns]
        if bundle.kind == "permute":
            node = self._nodes[numbers[0]]
            return self._counted(self._native.permute(operands[0], node.number, node.form), places)
        scales = bundle.kind in ("scale", "scale_add")
        constants = [self._nodes[number].number for number in numbers] if scales else []
        return self._native.apply(bundle.kind, operands, constants)

    def _converted(self, bundle: Bundle, moduli: Sequence[int], places: Sequence[Place]) -> list[int]:
        """Return the limbs of a conversion; residues of a single modulus are their own."""
        first = places[0]
        assert isinstance(first, int)
        node = self._nodes[first]
        operand = [self._limbs[one] for one in node.operands]
        own = self._number[self._nodes[node.operands[0]].modulus] if len(operand) == 1 else -1
        to = [modulus for modulus in moduli if modulus != own]
        if not to:
            return operand
        if bundle.kind == "round":
            made = iter(self._counted(self._native.round(operand, to, node.number), to))
        else:
            made = iter(self._counted(self._native.convert(operand, to), to))
        return [operand[0] if modulus == own else next(made) for modulus in moduli]
