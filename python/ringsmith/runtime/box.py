# SPDX-License-Identifier: Apache-2.0
"""The parameter box: what was chosen, why, and what else was possible."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from textwrap import wrap

from ringsmith.compiler.params import bootstrapping, noise
from ringsmith.compiler.params.alternatives import Alternative, alternatives
from ringsmith.compiler.params.sets import ParameterSet
from ringsmith.compiler.params.steps import described
from ringsmith.frontend.definition import GUARANTEES
from ringsmith.ir.slot_program import CIPHER_PRODUCTS
from ringsmith.location import Location
from ringsmith.runtime.program_data import ProgramData
from ringsmith.runtime.trust import taken_on_trust

# Columns of text inside the frame.
_WIDTH = 96
# Two computations of one bound differ by less.
_SAME_BITS = 1e-6
# Source lines whose cost is told.
_LINES = 5


def depth_of(program: ProgramData) -> int:
    """Return how many primes the deepest path of the circuit drops."""
    return len(program.params.moduli) - 1 - program.native.lowest_level


def standard_of(params: ParameterSet) -> str:
    """Return which standard a set was judged by."""
    return params.security.table.split("-")[0]


def facts(program: ProgramData) -> list[tuple[str, str]]:
    """Return the lines of the box as (label, text)."""
    params = program.params
    lines = [
        ("scheme", params.scheme.upper()),
        ("n", f"{params.n} ({params.slots} slots)"),
        ("modulus", f"{params.split}{_special(params)}"),
        ("log2 QP", f"{params.log2_qp:.1f} (q {params.log2_q:.1f}, special {params.log2_p:.1f}), dnum {params.dnum}"),
    ]
    if params.scheme == "ckks":
        lines.append(("scale", f"2^{params.log2_scale:g}"))
    else:
        lines.append(("plaintext modulus", f"{params.plain_modulus} ({params.plain_modulus.bit_length()} bits)"))
    if program.native.complex:
        lines.append(("result", "complex numbers: real and imaginary parts in slots of their own"))
    if program.native.divisor > 1:
        lines.append(("result", f"exact integers, divided by {program.native.divisor} after decryption"))
    lines.append(("security", _security(params)))
    lines.append(("source", params.security.source))
    lines.append(("chosen", _origin(params)))
    lines.append(("keys", keys(program)))
    lines.extend(("refreshes", text) for text in refreshes(program))
    lines.extend(promises(program))
    lines.extend(("why", reason) for reason in why(program))
    lines.extend(("cost", str(cost)) for cost in by_line(program)[:_LINES])
    lines.extend(("layout", text) for text in layouts(program))
    return lines


@dataclass(frozen=True)
class LineCost:
    """What the operations of one source line take."""

    where: Location
    key_switches: int
    products: int

    def __str__(self) -> str:
        """Return it with the line's text."""
        text = self.where.text().strip()
        return f"line {self.where.line}: {self.key_switches} key switches, {self.products} products" + (
            f": {text}" if text else ""
        )


def by_line(program: ProgramData) -> list[LineCost]:
    """Return what each source line takes, the most key switches first; nothing for a program read from bytes."""
    if program.made_from is None:
        return []
    switches: Counter[Location] = Counter()
    products: Counter[Location] = Counter()
    for step in program.made_from.steps:
        where = replace(step.where, column=0, end_column=0)
        switches[where] += step.key_switches
        products[where] += len(step.plains) + (step.kind in CIPHER_PRODUCTS)
    found = [LineCost(where, count, products[where]) for where, count in switches.items() if count or products[where]]
    return sorted(found, key=lambda cost: (-cost.key_switches, -cost.products, cost.where.line))


def layouts(program: ProgramData) -> list[str]:
    """Return the layout taken and the next best: what differs from it, price and key switches."""
    if len(program.layouts) < 2:
        return []
    taken = dict(program.layouts[0].decisions)
    told = "; ".join(f"{subject}: {option}" for subject, option in taken.items())
    found = [f"{told} ({program.layouts[0].key_switches} key switches)"]
    for other in program.layouts[1:]:
        changed = "; ".join(
            f"{subject}: {option}" for subject, option in other.decisions if taken.get(subject) != option
        )
        found.append(f"{_dearer(other.price)}: {changed} ({other.key_switches} key switches)")
    return found


def _dearer(price: float) -> str:
    """Return an alternative's price beside the one taken, as words where two digits show no difference."""
    return "at about the same price" if f"{price:.2f}" == "1.00" else f"{price:.2f} times the price"


def _special(params: ParameterSet) -> str:
    count = len(params.special)
    return "" if not count else f" (the last {'is' if count == 1 else f'{count} are'} special)"


def _security(params: ParameterSet) -> str:
    judged = params.security
    if judged.enough:
        return f"{judged.bits:.0f} bits (wanted {judged.wanted}, limit log2 QP <= {judged.limit})"
    limit = (
        "the table has no limit for this degree, secret and error"
        if judged.limit is None
        else f"log2 QP <= {judged.limit}"
    )
    return f"INSECURE, allowed by opt-in: about {judged.bits:.0f} bits, {judged.wanted} wanted ({limit})"


def _origin(params: ParameterSet) -> str:
    return params.source.removeprefix("chosen ") if params.name == "chosen" else f"{params.name}: {params.source}"


def why(program: ProgramData) -> list[str]:
    """Return the reasons: depth, rotations, rejected degrees."""
    params, counts = program.params, program.counts
    depth = depth_of(program)
    reasons = [f"{depth} rescaling level{'' if depth == 1 else 's'}"] if params.scheme == "ckks" else []
    reasons += [f"{counts['key_switch']} key switches, {program.rotation_keys} rotation keys"]
    made = program.signature.producers
    reasons += [
        f"takes {name}, the result of {own[0]}, whose guarantee is part of this one" for name, own in made.items()
    ]
    reasons += [f"on trust: {line}" for line in taken_on_trust(program)]
    if program.signature.measured:
        reasons.append(f"{program.signature.measured}; beyond them a result may be wrong")
    return reasons + _digits(program) + [rejected.reason for rejected in program.rejected[-2:]]


def keys(program: ProgramData) -> str:
    """Return which evaluation keys there are, the bytes that a client sends and those that they take in memory."""
    own = program.keys
    named = [f"{own.automorphisms} of rotations"] if own.automorphisms else []
    named += ["1 of relinearisation"] if own.relinearization is not None else []
    named += ["1 public"] if own.public else []
    named += ["those of refreshes"] if own.refreshes else []
    if not named:
        return "none"
    sent, held = own.nbytes(program.params) / 1e6, program.native.cost()["keys"] / 1e6
    return f"{', '.join(named)}: {sent:.3g} MB sent, {held:.3g} MB in the evaluator's memory"


def refreshes(program: ProgramData) -> list[str]:
    """Return how often ciphertexts are refreshed, what one takes and does to the error, and where they are."""
    own, count = program.native.bootstrapping, program.native.refreshes
    if own is None or not count:
        return []
    added = math.log2(own.added(program.native.guarantee["failure_bits"] + 1))
    taken = float(f"{bootstrapping.in_products(own, program.params.n):.2g}")
    failing = own.log2_failure + math.log2(count)
    never = "never fails" if failing == -math.inf else f"all of them fail with a probability below 2^{failing:.1f}"
    told = [
        f"{count}, each from level {own.input_level} or above to level {own.output_level}: "
        f"{len(own.effort()['switches'])} key switches, about the time of "
        f"{taken:g} products at that level, an error below 2^{added:.1f} "
        f"on values up to {own.bound:g}; {never}"
    ]
    least, whole = (size / 1e6 for size in own.key_memory)
    told.append(
        f"their keys: {own.key_bytes / 1e6:.3g} MB sent, {whole:.3g} MB in memory, or from {least:.3g} MB on by "
        "server(key_memory=), with seeds grown at each use"
    )
    steps = program.made_from.steps if program.made_from else ()
    places = Counter(step.where.line for step in steps if step.refreshes)
    return told + [f"line {line}: {times}" for line, times in sorted(places.items())]


#: What either guarantee takes for granted (docs/parameters.md).
_ASSUMED = {"certain": "errors may all depend on each other", "probable": "what operations draw is independent"}


def promises(program: ProgramData) -> list[tuple[str, str]]:
    """Return a line for each guarantee: what it says, when it fails, what it takes for granted."""
    lines = []
    for name, bits in guarantees(program).items():
        if program.params.scheme == "ckks":
            said, wanted = f"error below 2^{bits:.1f}", f"2^{math.log2(program.signature.tolerance):.1f} wanted"
        else:
            said, wanted = f"{bits:.1f} bits of noise budget left", "more than 0 wanted"
        asked = f", {wanted}" if name == program.signature.guarantee else ""
        failing = program.native.guarantee["failure_bits"]
        lines.append((name, f"{said}{asked}; fails with a probability below 2^-{failing}; {_ASSUMED[name]}"))
    return lines


def guarantees(program: ProgramData) -> dict[str, float]:
    """Return what either guarantee says: CKKS log2 of the error bound, BFV bits of noise budget.

    Of a program that was read from bytes only its own is known.
    """
    own, circuit = program.signature.guarantee, program.made_from
    if circuit is None:
        return {own: program.noise_bits}

    def kept(assume: noise.Assume) -> bool:
        return abs(float(program.native.bound(assume.name.lower())["bits"]) - program.noise_bits) < _SAME_BITS

    assume = next((a for a in reversed(noise.Assume) if kept(a)), noise.Assume.NONE)
    bits = program.native.guarantee["failure_bits"]
    found = {
        name: noise.bound(
            circuit, program.params, encryption=program.encryption, assume=assume, failure_bits=bits, guarantee=name
        ).bits
        for name in GUARANTEES
    }
    return found | {own: program.noise_bits}


def _digits(program: ProgramData) -> list[str]:
    """Return why a chosen set has as many digits of key switching as it has."""
    params, circuit = program.params, program.made_from
    count, specials = len(params.moduli), len(params.special)
    if circuit is None or params.name != "chosen" or not specials or count == 1:
        return []
    if specials == 1:
        return [f"{params.dnum} digits of key switching: fewer would be slower or need more bits than are secure"]
    taken = partial(described(circuit, program.encryption).work, params.n, count)
    part = taken(specials, params.dnum) / taken(1, count)
    digits = "1 digit" if params.dnum == 1 else f"{params.dnum} digits"
    return [
        f"{digits} of key switching with {specials} special primes: about {part:.0%} of the time of {count} with one"
    ]


def lines(program: ProgramData) -> list[str]:
    """Return the box as lines of text without a frame."""
    width = max(len(label) for label, _ in facts(program))
    body = [f"{label:<{width}}  {text}" for label, text in facts(program)]
    others = others_of(program)
    return [*body, *_alternative_lines(others)]


def others_of(program: ProgramData) -> list[Alternative]:
    """Return the alternatives of a program's set; none where it is refreshed, as no other set does."""
    if program.native.refreshes:
        return []
    return list(alternatives(program.params, depth_of(program), standard_of(program.params)))


def _alternative_lines(others: Sequence[Alternative]) -> list[str]:
    if not others:
        return []
    return ["alternatives", *(f"  {other.name}, n = {other.n}: {other.split}; {other.note}" for other in others)]


def _wrapped(line: str) -> list[str]:
    """Break a long line; what follows stands under the text, not under its label."""
    indent = len(line) - len(line.lstrip())
    return (
        wrap(line, _WIDTH, subsequent_indent=" " * (indent + 4), drop_whitespace=False)
        if len(line) > _WIDTH
        else [line]
    )


def box(program: ProgramData) -> str:
    """Return the box with a frame, as plain text."""
    body = [part for line in lines(program) for part in _wrapped(line)]
    title = f" parameters of {program.signature.name} "
    width = max(len(title) + 2, *(len(line) for line in body))
    top = f"+-{title}{'-' * (width - len(title))}-+"
    return "\n".join([top, *(f"| {line:<{width}} |" for line in body), f"+{'-' * (width + 2)}+"])
