# SPDX-License-Identifier: Apache-2.0
"""Values of several moduli side by side: equal operations on operands that stand side by side become one bundle.

A trace has one instruction for each modulus; a device works on several moduli at once, each in its lane. What is given
has no place of its own: it is put where its first reader stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product

from ringsmith.fhetch.nodes import GIVEN, Node, Nodes

#: Operand that is given and not yet in a bundle.
_OPEN = -1


#: A node; a constant with the form it is read in.
Place = int | tuple[int, str]


@dataclass(slots=True)
class Bundle:
    """An operation on several moduli: the node of each, and the bundle of each operand."""

    kind: str
    form: str
    operands: tuple[int, ...]
    rows: dict[int, Place] = field(default_factory=dict)


class Bundles:
    """Bundles by number, operands first."""

    def __init__(self, nodes: Nodes, outputs: Iterable[int], forms: Forms) -> None:
        """Bundle what outputs need."""
        self.all: list[Bundle] = []
        self._nodes, self._forms = nodes, forms
        self._of: dict[Place, int] = {}
        self._keys: dict[object, list[int]] = {}
        self._next: dict[tuple[object, int], int] = {}
        for number in nodes.needed(outputs):
            if nodes[number].kind not in GIVEN:
                self._put(number)

    def _put(self, number: int) -> None:
        node = self._nodes[number]
        key = self._key(number, node)
        found = self._joined(key, number, node)
        if found is None:
            homes = self._homes(number, node)
            found = self._new(node.kind, self._forms[number], homes)
            if not _converts(node):
                key = (*key[:-1], homes)
            for one in _wider(key, [self.all[home].kind == "given" for home in homes]):
                self._keys.setdefault(one, []).append(found)
        self._of[number] = found
        self.all[found].rows[node.modulus] = number
        for operand, home in zip(self.places(number), self.all[found].operands, strict=True):
            self._give(operand, home)

    def places(self, number: int) -> list[Place]:
        """Return the operands of a node; a constant has a place for each form."""
        nodes, form = self._nodes, self._forms[number]
        return [(one, form) if nodes[one].kind == "constant" else one for one in nodes[number].operands]

    def _key(self, number: int, node: Node) -> tuple[object, ...]:
        """Return what nodes of one bundle have in common; the operands' bundles last, those not known open."""
        if _converts(node):
            return (node.kind, node.number, node.operands, ())
        element = (node.number, node.form) if node.kind == "permute" else ()
        operands = tuple(self._of.get(place, _OPEN) for place in self.places(number))
        return (node.kind, element, self._forms[number], operands)

    def _joined(self, key: tuple[object, ...], number: int, node: Node) -> int | None:
        """Return the first bundle with this key that has room for a modulus."""
        known, place = self._keys.get(key, []), (key, node.modulus)
        at = self._next.get(place, 0)
        # A bundle without room never has any again.
        while at < len(known) and not self._has_room(self.all[known[at]], number, node):
            at += 1
        self._next[place] = at
        return known[at] if at < len(known) else None

    def _has_room(self, bundle: Bundle, number: int, node: Node) -> bool:
        if node.modulus in bundle.rows:
            return False
        pairs = {
            place: home
            for place, home in zip(self.places(number), bundle.operands, strict=True)
            if place not in self._of and not _converts(node)
        }
        # Each of what is given needs a place of its own.
        return len(set(pairs.values())) == len(pairs) and all(
            node.modulus not in self.all[home].rows for home in pairs.values()
        )

    def _homes(self, number: int, node: Node) -> tuple[int, ...]:
        """Return the bundles of operands, new ones for what is given and has none."""
        fresh: dict[Place, int] = {}
        for place in self.places(number):
            if place not in self._of and place not in fresh:
                # Limbs that are converted together stand side by side.
                shared = next(iter(fresh.values()), None) if _converts(node) else None
                fresh[place] = self._new("given", _form(place, self._forms), ()) if shared is None else shared
        return tuple(self._of[place] if place in self._of else fresh[place] for place in self.places(number))

    def _give(self, place: Place, home: int) -> None:
        """Put what is given into its first reader's bundle."""
        if place not in self._of:
            self._of[place] = home
            self.all[home].rows[self._nodes[place if isinstance(place, int) else place[0]].modulus] = place

    def _new(self, kind: str, form: str, operands: tuple[int, ...]) -> int:
        self.all.append(Bundle(kind, form, operands))
        return len(self.all) - 1


def _converts(node: Node) -> bool:
    return node.kind in ("convert", "round")


def _form(place: Place, forms: Forms) -> str:
    return forms[place] if isinstance(place, int) else place[1]


def _wider(key: tuple[object, ...], given: list[bool]) -> Iterator[tuple[object, ...]]:
    """Yield a key with every choice of its given operands left open."""
    operands = key[-1]
    assert isinstance(operands, tuple)
    if not operands:
        yield key
        return
    choices = [(one, _OPEN) if is_given else (one,) for one, is_given in zip(operands, given, strict=True)]
    for choice in product(*choices):
        yield (*key[:-1], choice)


class Forms:
    """Which nodes are coefficients and which values: what transforms, products and automorphisms take and give."""

    def __init__(self, nodes: Nodes, outputs: Iterable[int]) -> None:
        """Follow the nodes that outputs need."""
        self._parents = list(range(len(nodes)))
        self._of: dict[int, str] = {}
        #: A node that is taken as both, if there is one: its words are multiplied as coefficients, say.
        self.mixed: int | None = None
        order = list(nodes.needed(outputs))
        for number in order:
            self._join(number, nodes)
        for number in order:
            self._say(number, nodes)

    def __getitem__(self, number: int) -> str:
        """Return `coefficients` or `values`."""
        return self._of.get(self._root(number), "values")

    def _join(self, number: int, nodes: Nodes) -> None:
        node = nodes[number]
        if node.kind in ("add", "sub", "neg", "scale", "scale_add", "mul", "mul_add", "permute"):
            for operand in (one for one in node.operands if nodes[one].kind != "constant"):
                self._parents[self._root(operand)] = self._root(number)

    def _say(self, number: int, nodes: Nodes) -> None:
        node = nodes[number]
        taken, given = {
            "ntt": ("coefficients", "values"),
            "intt": ("values", "coefficients"),
            "convert": ("coefficients", "coefficients"),
            "round": ("coefficients", "coefficients"),
            "mul": ("values", "values"),
            "mul_add": ("values", "values"),
            "permute": (node.form, node.form),
        }.get(node.kind, ("", ""))
        for one, form in [(number, given), *((operand, taken) for operand in node.operands)]:
            if form and nodes[one].kind != "constant" and self._of.setdefault(self._root(one), form) != form:
                self.mixed = one

    def _root(self, number: int) -> int:
        while self._parents[number] != number:
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number
